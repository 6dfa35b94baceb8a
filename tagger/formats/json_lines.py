"""JSON Lines: one JSON object a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, BinaryIO, NamedTuple

from tagger.formats.entries import Door, Entry, RawText, Tagged
from tagger.formats.history import History, persons_words, split_words
from tagger.formats.json_shapes import LIST_FIELDS, plain_fields
from tagger.formats.json_text import decoded, history, tagged_object
from tagger.formats.sources import Head, Source
from tagger.formats.text_stream import (
    LINE_COST,
    TextWriter,
    check_size,
    without_bytes,
)
from tagger.records import record_fields
from tagger.values import clean_text

__all__ = [
    "JsonLines",
    "entry_of_json",
    "holds_list",
    "json_line",
    "write_as_json_lines",
    "write_json",
]

_LINES_TRIED = 20
_STRING_OR_BREAK = re.compile(r'("(?:[^"\\]|\\.)*")|\s*[\r\n]\s*', re.DOTALL)
_LIST = re.compile(rf'"(?:{"|".join(LIST_FIELDS)})"\s*:\s*\[\s*[{{\]]')


class _JsonText(NamedTuple):
    """A `RawText` with the object that it says, lest it be read again."""

    before: str
    text: str
    after: str
    value: dict[str, Any]


class JsonLines:
    """Records, one JSON object a line; blank lines are kept and not counted."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._tail = ""

    @staticmethod
    def recognise(head: Head) -> bool:
        """Tell whether lines are objects alone: the first, or half of them."""
        lines = [line for line in head.text.splitlines() if line.strip()]
        if not head.whole and len(lines) == 1:
            # One line longer than the head: a record, unless it holds a list.
            return lines[0].lstrip().startswith("{") and not holds_list(lines[0])
        if not head.whole:
            lines = lines[:-1]
        if not lines or not lines[0].lstrip().startswith("{"):
            return False
        if len(lines) == 1 and head.whole:
            return False
        tried = lines[:_LINES_TRIED]
        whole = sum(_is_object(line) for line in tried)
        return _is_object(lines[0]) or whole * 2 >= len(tried)

    def read(self, door: Door) -> Iterator[Entry]:
        """Yield an entry a line."""
        before = ""
        for number, (text, end) in enumerate(self._source.text().lines(), start=1):
            if not text.strip():
                before += text + end
                check_size(len(before) * LINE_COST, door.source, number)
                continue
            yield entry_of_json(door, (before, text, end), number)
            before = ""
        self._tail = before

    def history(self, entry: Entry) -> History:
        """Return the tags of an entry as the file holds them."""
        return history(decoded(entry.raw.text))

    def write(self, pairs: Iterable[Tagged], out: BinaryIO, *, tagged: bool) -> None:
        """Write the lines; a tagged one gains the field ``tags``."""
        writer = self._source.writer(out)
        write_json(pairs, writer, self._source.ascii_only)
        writer.write(self._tail)

    def adopted(self, entry: Entry, other: Any, last: Entry) -> RawText:
        """Return the object on a line of its own."""
        end = last.raw.after or "\n"
        text = _STRING_OR_BREAK.sub(_on_one_line, without_bytes(entry.raw.text).strip())
        return RawText("" if last.raw.after else end, text, end)


def entry_of_json(door: Door, parts: tuple[str, str, str], line: int) -> Entry:
    """Return the entry of a JSON text that should be one object.

    `parts` are those of its `RawText`.
    """
    before, text, after = parts
    try:
        value = decoded(text)
    except ValueError as error:
        return door.bad(
            "not JSON",
            f"this is not JSON: {_reason(error)}. Expected one object such as "
            '{"title": ..., "abstract": ...}.',
            RawText(*parts),
            line,
        )
    if not isinstance(value, dict):
        return door.bad(
            "not an object",
            f"found {text[:40]!r}; expected a JSON object with named fields.",
            RawText(*parts),
            line,
        )
    kind, fields = plain_fields(value)
    if kind:
        door.kinds[kind] += 1
    if kind == "CSL item" and door.holds_labels("keyword"):
        words = split_words(str(fields.get("keyword") or ""))[1]
        fields["keyword"] = persons_words(words, history(value))
    return door.entry(fields, raw=_JsonText(before, text, after, value), line=line)


def _reason(error: ValueError) -> str:
    """Return what is wrong with a text, and where in it."""
    if not isinstance(error, json.JSONDecodeError):
        return str(error)
    what = error.msg.removesuffix(" starting at").removesuffix(" at")
    below = f"line {error.lineno} of it, " if error.lineno > 1 else ""
    return f"{what[:1].lower()}{what[1:]} at {below}column {error.colno}"


def write_json(pairs: Iterable[Tagged], writer: TextWriter, ascii_only: bool) -> None:
    """Write the objects of JSON Lines or of a document, with their tags."""
    for entry, tags in pairs:
        before, text, after = entry.raw[:3]
        if entry.record is not None and tags is not None:
            value = getattr(entry.raw, "value", None)
            text = tagged_object(text, tags, ascii_only=ascii_only, value=value)
        writer.write(before + text + after)


def write_as_json_lines(pairs: Iterable[Tagged], out: BinaryIO) -> None:
    """Write records of a format that has no place for tags as JSON Lines.

    An entry that cannot be used becomes ``{"id": ..., "problem": ...}``, so
    that order and count stay those of the input.
    """
    for entry, tags in pairs:
        text = json_line(entry).raw.text
        if entry.record is not None and tags is not None:
            text = tagged_object(text, tags)
        out.write(text.encode() + b"\n")


def holds_list(text: str) -> bool:
    """Tell whether an object has a field that may hold a list of records."""
    return _LIST.search(text) is not None


def json_line(entry: Entry) -> Entry:
    """Return an entry as one of JSON Lines."""
    fields: dict[str, Any]
    if entry.record is None:
        fields = {"id": entry.id, "problem": entry.problem}
    else:
        fields = record_fields(entry.record)
    line = json.dumps(fields, ensure_ascii=False, default=str)
    return replace(entry, raw=RawText("", clean_text(line)[0], "\n"))


def _on_one_line(found: re.Match[str]) -> str:
    """Return a string without line ends, or a blank for those between values."""
    if not found[1]:
        return " "
    return found[1].replace("\r", "\\r").replace("\n", "\\n")


def _is_object(line: str) -> bool:
    """Tell whether a line is a JSON object."""
    try:
        return isinstance(decoded(line), dict)
    except ValueError:
        return False
