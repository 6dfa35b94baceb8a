"""JSON documents: a list of records, or an object that holds the list."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import islice
from typing import Any, BinaryIO

from tagger.errors import RecordError
from tagger.formats.entries import Door, Entry, RawText, Tagged
from tagger.formats.history import History
from tagger.formats.json_lines import entry_of_json, write_json
from tagger.formats.json_shapes import LIST_FIELDS
from tagger.formats.json_text import DECODER, decoded, history
from tagger.formats.sources import Head, Source
from tagger.formats.text_stream import TextReader, check_size, without_bytes

__all__ = ["JsonDocument"]

_BLANK = " \t\r\n"
_BLANKS = re.compile(r"[ \t\r\n]+")
_CHUNK = 1 << 18
# How far the next member of a list is looked for behind a broken one, and how
# often: a file with more of them is not worth the time.
_SEARCHED = 1 << 20
_BROKEN = 200
# How many places are looked at, and how far a record may reach from one. An error of
# the decoder counts the lines before it, so it must not be given all that is held.
_TRIED = 500
_USUAL = 1 << 16
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_OTHER_LIST = re.compile(rf'"({"|".join(LIST_FIELDS)})"\s*:\s*\[\s*\{{')
_NEXT = re.compile(r"\}\s*,\s*\{")
_FIRST_KEY = re.compile(r'\{\s*"((?:[^"\\]|\\.)*)"\s*:')


class JsonDocument:
    """Records in one JSON document, read a piece at a time."""

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
        window = _Window(self._source.text(), door.source)
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
        broken, key = 0, ""
        names: frozenset[str] = frozenset()
        while True:
            lead = window.blank()
            before += lead
            line = window.line
            if window.peek() in ("]", ""):
                break
            text = window.value()
            if text is None:
                broken += 1
                found = window.broken(key, names, lead) if broken <= _BROKEN else None
                if found is None:
                    found = window.rest()
                yield door.bad(
                    "not JSON",
                    f"the list breaks off or is not JSON here: {found[:40]!r}.",
                    RawText(before, found, ""),
                    line,
                )
            else:
                if not key and (named := _FIRST_KEY.match(text)):
                    key = named[1]
                entry = entry_of_json(door, RawText(before, text, ""), line)
                if not names and entry.record is not None:
                    names = frozenset(entry.raw.value)
                yield entry
            before = window.blank()
            if window.peek() == ",":
                before += window.take(1)
        if window.peek() == "":
            door.remarks.append(
                f"The list of records in {door.source} has no closing bracket; the "
                "file may be cut off."
            )
        self._tail = before + window.rest()
        if other := _OTHER_LIST.search(self._tail):
            door.remarks.append(
                f"{door.source} holds another list of objects, {other[1]!r}, behind "
                "its list of records; it is kept and not read."
            )

    def history(self, entry: Entry) -> History:
        """Return the tags of an entry as the file holds them."""
        return history(decoded(entry.raw.text))

    def write(self, pairs: Iterable[Tagged], out: BinaryIO, *, tagged: bool) -> None:
        """Write the document; a tagged record gains the field ``tags``."""
        writer = self._source.writer(out)
        write_json(pairs, writer, self._source.ascii_only)
        writer.write(self._tail)

    def adopted(self, entry: Entry, other: Any, last: Entry) -> RawText:
        """Return the object as one more member of the list."""
        opened = max(last.raw.before.rfind("["), last.raw.before.rfind(","))
        if opened < 0 or last.reason == "not JSON":
            raise RecordError(
                f"{self._source.name} does not end with a record in a list, so none "
                "can be put behind; mend it, or replace it with --overwrite."
            )
        lead = last.raw.before[opened + 1 :]
        return RawText(f",{lead}", without_bytes(entry.raw.text).strip(), "")

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
            if key[1:-1] == "message" and window.peek() == "{":
                before += key + between + window.take(1) + window.blank()
                continue
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

    def __init__(self, text: TextReader, name: str) -> None:
        self._text = text
        self._name = name
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
        taken: list[str] = []
        size = 0
        while self.peek() and (found := _BLANKS.match(self._held, self._at)):
            taken.append(self.take(found.end() - self._at))
            size += len(taken[-1])
            check_size(size, self._name, self.line)
        return "".join(taken)

    def value(self) -> str | None:
        """Return the text of the value here and move behind it, None if bad."""
        size = _CHUNK
        while True:
            try:
                _, end = DECODER.raw_decode(self._held, self._at)
            except RecursionError:
                return None
            except json.JSONDecodeError as error:
                open_string = error.msg.startswith("Unterminated string")
                if self._ended or not (open_string or self._near_end(error.pos)):
                    return None
            else:
                # A number may go on behind the piece, nothing else may.
                if end < len(self._held) or self._ended:
                    return self.take(end - self._at)
            self._more(size)
            size *= 2

    def broken(self, key: str, names: frozenset[str], lead: str) -> str | None:
        """Return the text of the broken member here and move behind it.

        It ends where its brackets close, or where an object starts with `key`,
        like the members before it; behind the same blanks and line end `lead`,
        or behind ``},`` and with half of their `names`, that counts more than
        brackets, which a lost quote can hide. None if there is no such place.
        """
        if len(self._held) - self._at < _SEARCHED:
            self._more(_SEARCHED)
        text = self._held[self._at : self._at + _SEARCHED]
        if not key and (named := _FIRST_KEY.match(text)):
            key = named[1]
        places = (f.start() for f in _FIRST_KEY.finditer(text, 1) if f[1] == key)
        alike = names if "\n" not in lead else frozenset()
        starts = (
            at
            for at in islice(places, _TRIED)
            if (value := _object_at(text, at)) and _has_half(value, alike)
        )
        start = next(starts, None)
        aligned = start is not None and "\n" in lead and text[:start].endswith(lead)
        if "\n" not in lead:
            similar = _similar(text, names)
            start, aligned = (start, False) if similar is None else (similar, True)
        end = _closing(text)
        if end is not None and text[end:].lstrip(_BLANK)[:1] not in (",", "]"):
            end = None
        if start is not None and (end is None or (aligned and start < end)):
            end = start
        return None if end is None else self.take(end)

    def _near_end(self, at: int) -> bool:
        """Tell whether an error may only mean that more must be read."""
        return at > len(self._held) - 32

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
        check_size(len(self._held) - self._at, self._name, self.line)
        piece = self._text.read(size)
        self._ended = not piece
        self._held += piece


def _closing(text: str) -> int | None:
    """Return where the brackets that open at the start are closed."""
    if text[0] not in "[{":
        return next((n for n, char in enumerate(text) if char in ",]"), None)
    depth = 0
    for token in _TOKEN.finditer(text):
        char = token[0]
        depth += (char in "[{") - (char in "]}")
        if depth <= 0:
            return token.end()
    return None


def _similar(text: str, names: frozenset[str]) -> int | None:
    """Return where the first object behind another starts that has half of `names`.

    Without names, those of the object that has most are taken: those inside a record
    have few.
    """
    most: frozenset[str] = frozenset()
    for place in islice(_NEXT.finditer(text), _TRIED):
        value = _object_at(text, place.end() - 1) or {}
        if names and _has_half(value, names):
            return place.end() - 1
        most = max(most, frozenset(value), key=len)
    return _similar(text, most) if most and not names else None


def _has_half(value: Mapping[str, Any], names: Set[str]) -> bool:
    """Tell whether an object has at least half of some names."""
    return 2 * len(names & value.keys()) >= len(names)


def _object_at(text: str, at: int) -> dict[str, Any] | None:
    """Return the object that starts here, None if it is not whole."""
    try:
        value, _ = DECODER.raw_decode(text[at : at + _USUAL])
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
