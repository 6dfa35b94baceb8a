"""JSON Lines: one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, ClassVar

from tagger.formats.entries import Door, Entry, RawText, Tagged
from tagger.formats.json_text import decoded, tag_list, tagged_object
from tagger.formats.sources import Head, Source, TextWriter
from tagger.records import record_fields

__all__ = ["JsonLines", "write_as_json_lines"]

_LINES_TRIED = 20


class JsonLines:
    """Records, one JSON object a line; blank lines are kept and not counted."""

    name: ClassVar[str] = "jsonl"
    suffixes: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson", ".jsonlines")

    def __init__(self, source: Source) -> None:
        self._source = source
        self._tail = ""

    @staticmethod
    def recognise(head: Head) -> bool:
        """Tell whether a line is an object alone, and not the only line."""
        lines = [line for line in head.text.splitlines() if line.strip()]
        if not head.whole:
            lines = lines[:-1]
        if not lines or not lines[0].lstrip().startswith("{"):
            return False
        if len(lines) == 1 and head.whole:
            return False
        return any(_is_object(line) for line in lines[:_LINES_TRIED])

    def read(self, door: Door) -> Iterator[Entry]:
        """Yield an entry a line."""
        before = ""
        for number, line in enumerate(self._source.text(), start=1):
            text = line.rstrip("\r\n")
            if not text.strip():
                before += line
                continue
            raw = RawText(before, text, line[len(text) :])
            before = ""
            yield entry_of_json(door, raw, number)
        self._tail = before

    def write(self, pairs: Iterable[Tagged], out: BinaryIO, *, tagged: bool) -> None:
        """Write the lines; a tagged one gains the field ``tags``."""
        writer = TextWriter(out, self._source)
        ascii_only = not self._source.encoding.startswith("utf")
        for entry, tags in pairs:
            before, text, after = entry.raw
            if entry.record is not None and tags is not None:
                text = tagged_object(text, tags, ascii_only=ascii_only)
            writer.write(before + text + after)
        writer.write(self._tail)


def entry_of_json(door: Door, raw: RawText, line: int) -> Entry:
    """Return the entry of a JSON text that should be one object."""
    try:
        value = decoded(raw.text)
    except ValueError as error:
        return door.bad(
            "not JSON",
            f"this is not JSON: {error}. Expected one object such as "
            '{"title": ..., "abstract": ...}.',
            raw,
            line,
        )
    if not isinstance(value, dict):
        return door.bad(
            "not an object",
            f"found {raw.text[:40]!r}; expected a JSON object with named fields.",
            raw,
            line,
        )
    return door.entry(value, raw=raw, line=line)


def write_as_json_lines(pairs: Iterable[Tagged], out: BinaryIO) -> None:
    """Write records of a format that has no place for tags as JSON Lines.

    An entry that cannot be used becomes ``{"id": ..., "problem": ...}``, so
    that order and count stay those of the input.
    """
    for entry, tags in pairs:
        fields: dict[str, Any]
        if entry.record is None:
            fields = {"id": entry.id, "problem": entry.problem}
        else:
            fields = record_fields(entry.record)
            if tags is not None:
                fields["tags"] = tag_list(tags)
        out.write(json.dumps(fields, ensure_ascii=False).encode() + b"\n")


def _is_object(line: str) -> bool:
    """Tell whether a line is a JSON object."""
    try:
        return isinstance(decoded(line), dict)
    except ValueError:
        return False
