"""JSON documents: a list of records, or an object that holds the list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO, ClassVar

from tagger.errors import RecordError
from tagger.formats.entries import Door, Entry, RawText, Tagged
from tagger.formats.json_lines import entry_of_json
from tagger.formats.json_text import DECODER, tagged_object
from tagger.formats.sources import Head, Source, TextReader, TextWriter

__all__ = ["LIST_FIELDS", "JsonDocument"]

LIST_FIELDS = ("records", "papers", "results", "data", "items")
"""Fields of the outer object that may hold the list of records."""

_BLANK = " \t\r\n"
_CHUNK = 1 << 18


class JsonDocument:
    """Records in one JSON document, read a piece at a time."""

    name: ClassVar[str] = "json"
    suffixes: ClassVar[tuple[str, ...]] = (".json",)

    def __init__(self, source: Source) -> None:
        self._source = source
        self._tail = ""

    @staticmethod
    def recognise(head: Head) -> bool:
        """Tell whether the text starts like a list of objects or an object."""
        start = "".join(head.text.lstrip()[:200].split())
        return start.startswith(('{"', "[{", "[]", "{}"))

    def read(self, door: Door) -> Iterator[Entry]:
        """Yield an entry for each member of the list, or one for one object."""
        window = _Window(self._source.text())
        before = window.blank()
        first = window.peek()
        if first == "{":
            found = self._list_in_object(window)
            if found is None:
                yield entry_of_json(door, RawText(before, window.rest(), ""), 1)
                return
            before += found
            first = "["
        if first != "[":
            raise RecordError(
                f"{door.source}: found {first!r} at the start; expected a JSON list "
                "of records or an object with one."
            )
        before += window.take(1)
        while True:
            before += window.blank()
            line = window.line
            if window.peek() in ("]", ""):
                break
            text = window.value()
            if text is None:
                rest = window.rest()
                yield door.bad(
                    "not JSON",
                    f"the list breaks off or is not JSON here: {rest[:40]!r}.",
                    RawText(before, rest, ""),
                    line,
                )
                return
            yield entry_of_json(door, RawText(before, text, ""), line)
            before = window.blank()
            if window.peek() == ",":
                before += window.take(1)
        if window.peek() == "":
            door.remarks.append(
                f"The list of records in {door.source} has no closing bracket; the "
                "file may be cut off."
            )
        self._tail = before + window.rest()

    def write(self, pairs: Iterable[Tagged], out: BinaryIO, *, tagged: bool) -> None:
        """Write the document; a tagged record gains the field ``tags``."""
        writer = TextWriter(out, self._source)
        ascii_only = not self._source.encoding.startswith("utf")
        for entry, tags in pairs:
            before, text, after = entry.raw
            if entry.record is not None and tags is not None:
                text = tagged_object(text, tags, ascii_only=ascii_only)
            writer.write(before + text + after)
        writer.write(self._tail)

    @staticmethod
    def _list_in_object(window: _Window) -> str | None:
        """Move to the list of records in an object and return what precedes it.

        None, and the window where it was, if the object is itself a record.
        """
        window.mark()
        before = window.take(1) + window.blank()
        while window.peek() == '"':
            key = window.value()
            between = window.blank()
            if key is None or window.peek() != ":":
                break
            between += window.take(1) + window.blank()
            if key[1:-1] in LIST_FIELDS and window.list_of_objects():
                window.forget()
                return before + key + between
            value = window.value()
            if value is None:
                break
            before += key + between + value + window.blank()
            if window.peek() == ",":
                before += window.take(1) + window.blank()
        window.back()
        return None


class _Window:
    """A text read a piece at a time, with a place in it."""

    def __init__(self, text: TextReader) -> None:
        self._text = text
        self._held = ""
        self._at = 0
        self._ended = False
        self._marked = False
        self.line = 1

    def peek(self) -> str:
        """Return the next character, "" at the end."""
        if self._at >= len(self._held):
            self._more(_CHUNK)
        return self._held[self._at : self._at + 1]

    def take(self, size: int) -> str:
        """Return the next characters and move behind them."""
        taken = self._held[self._at : self._at + size]
        self._at += len(taken)
        self.line += taken.count("\n")
        return taken

    def blank(self) -> str:
        """Return the blanks here and move behind them."""
        taken = ""
        while self.peek() and self.peek() in _BLANK:
            end = self._at
            while end < len(self._held) and self._held[end] in _BLANK:
                end += 1
            taken += self.take(end - self._at)
        return taken

    def value(self) -> str | None:
        """Return the text of the value here and move behind it, None if bad."""
        size = _CHUNK
        while True:
            try:
                _, end = DECODER.raw_decode(self._held, self._at)
            except (ValueError, RecursionError):
                end = len(self._held)
                bad = True
            else:
                bad = False
            # A number may go on behind the piece, nothing else may.
            if end < len(self._held) or self._ended:
                return None if bad else self.take(end - self._at)
            self._more(size)
            size *= 2

    def list_of_objects(self) -> bool:
        """Tell whether a list of objects, or an empty list, starts here."""
        if len(self._held) - self._at < _CHUNK:
            self._more(_CHUNK)
        start = self._held[self._at : self._at + _CHUNK]
        return "".join(start[:1000].split())[:2] in ("[{", "[]")

    def rest(self) -> str:
        """Return all that follows."""
        while not self._ended:
            self._more(1 << 20)
        return self.take(len(self._held) - self._at)

    def mark(self) -> None:
        """Remember this place, which must be the start of what is held."""
        self._held = self._held[self._at :]
        self._at = 0
        self._marked = True

    def forget(self) -> None:
        """Give up the place remembered."""
        self._marked = False

    def back(self) -> None:
        """Return to the place remembered."""
        self._at = 0
        self._marked = False
        self.line = 1

    def _more(self, size: int) -> None:
        """Read on; what lies behind is dropped unless a place is remembered."""
        if not self._marked and self._at > _CHUNK:
            self._held = self._held[self._at :]
            self._at = 0
        piece = self._text.read(size)
        self._ended = not piece
        self._held += piece
