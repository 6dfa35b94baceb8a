"""RIS and nbib: records whose lines start with a tag of a few capitals.

Parsers of RIS (rispy) hold a whole file and drop what stands between records,
so they cannot give it back. The tests compare what is read here with rispy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, ClassVar, NamedTuple

from tagger.formats.entries import Door, Entry, Tagged
from tagger.formats.history import (
    History,
    changed_words,
    check_word,
    history_of_words,
    memory_text,
    parsed_memory,
    persons_words,
    retagged,
)
from tagger.formats.sources import Head, Source
from tagger.formats.text_stream import LINE_COST, check_size, without_bytes
from tagger.formats.unwrapping import unwrapped
from tagger.records import Tag

__all__ = ["Nbib", "Ris"]

_LIST_TAGS = frozenset("AU A1 A2 A3 A4 FAU KW OT MH UR L1 L2 AID LID AD".split())
_DOI = re.compile(r"\s*(10\.\d{4,9}/\S+)\s*\[doi\]\s*\Z")


class _Line(NamedTuple):
    """A tagged line with those that continue it; "" is the tag of a stray line."""

    tag: str
    value: str
    text: str


class _Raw(NamedTuple):
    """The lines of a record, behind what stands before it."""

    before: str
    lines: tuple[_Line, ...]


class TagLines:
    """What RIS and nbib have in common."""

    line_pattern: ClassVar[re.Pattern[str]]
    start_pattern: ClassVar[re.Pattern[str]]
    start: ClassVar[str]
    stop: ClassVar[str | None]
    keyword: ClassVar[str]
    memory: ClassVar[str]

    def __init__(self, source: Source) -> None:
        self._source = source
        self._tail = ""

    @classmethod
    def recognise(cls, head: Head) -> bool:
        """Tell by the first tagged line of a record near the start."""
        found = cls.start_pattern.search(head.text)
        return found is not None and "<" not in head.text[: min(found.start(), 100)]

    def read(self, door: Door) -> Iterator[Entry]:
        """Yield an entry for each start; a missing end is the next start."""
        before, start, size, stray = "", 0, 0, 0
        held: list[str] = []
        for number, line in enumerate(self._source.text(), start=1):
            found = self.line_pattern.match(line)
            tag = found["tag"] if found else None
            if tag == self.start:
                if held:
                    yield self._entry(door, before, held, start)
                    before = ""
                held, start, size = [], number, 0
            elif not held:
                stray += bool(line.strip())
                before += line
                check_size(len(before), door.source, number)
                continue
            held.append(line)
            size += len(line) + LINE_COST
            check_size(size, door.source, start)
            if tag == self.stop and tag:
                yield self._entry(door, before, held, start)
                before, held = "", []
        if held:
            yield self._entry(door, before, held, start)
            before = ""
        self._tail = before
        if stray:
            door.remarks.append(f"{door.source}: lines outside any record: {stray:,}.")

    def history(self, entry: Entry) -> History:
        """Return the keywords of a record as the file holds them."""
        return self._history(entry.raw.lines)

    def write(self, pairs: Iterable[Tagged], out: BinaryIO, *, tagged: bool) -> None:
        """Write the lines; a tagged record gains keyword lines."""
        writer = self._source.writer(out)
        for entry, tags in pairs:
            lines = entry.raw.lines
            if entry.record is not None and tags is not None:
                lines = self._with_tags(lines, tags, entry.id)
            writer.write(entry.raw.before + "".join(line.text for line in lines))
        writer.write(self._tail)

    def adopted(self, entry: Entry, other: Any, last: Entry) -> _Raw:
        """Return the record behind a blank line, its lines ended like the others."""
        end = _line_end(last.raw.lines)
        closed = last.raw.lines[-1].text.endswith(("\n", "\r"))
        blank = not last.raw.lines[-1].text.strip()
        lines = [
            _Line(tag, *map(without_bytes, (value, _ended(text, end))))
            for tag, value, text in entry.raw.lines
        ]
        if self.stop and lines[-1].tag != self.stop:
            # What follows in this file would become a part of it.
            lines.append(self._line(last.raw.lines, self.stop, ""))
        return _Raw(end * ((not closed) + (not blank)), tuple(lines))

    def _lines(self, held: Sequence[str]) -> Iterator[_Line]:
        """Yield the tagged lines of a record, each with those that continue it."""
        tag, parts, texts = "", list[str](), list[str]()
        for text in held:
            found = self.line_pattern.match(text)
            if not found and tag and text.strip():
                parts.append(text.strip())
                texts.append(text)
                continue
            if texts:
                yield _Line(tag, "\n".join(parts), "".join(texts))
            tag = found["tag"] if found else ""
            parts = [text.strip("\r\n")[found.end() :].strip()] if found else []
            texts = [text]
        yield _Line(tag, "\n".join(parts), "".join(texts))

    def _entry(self, door: Door, before: str, held: Sequence[str], line: int) -> Entry:
        """Return the entry of a record."""
        raw = _Raw(before, tuple(self._lines(held)))
        fields: dict[str, object] = {}
        said: dict[str, list[str]] = {}
        for tag, value, _ in raw.lines:
            if tag and tag != self.stop:
                said.setdefault(tag, []).append(value)
        for tag, values in said.items():
            joined = [unwrapped(value) for value in values if value]
            fields[tag] = joined if tag in _LIST_TAGS else "\n".join(joined)
        for value in (*said.get("LID", ()), *said.get("AID", ())):
            if doi := _DOI.match(value):
                fields["doi"] = doi[1]
        if door.holds_labels(self.keyword) and self.keyword in said:
            words = [word for word in said[self.keyword] if word]
            fields[self.keyword] = persons_words(words, self._history(raw.lines))
        return door.entry(fields, raw=raw, line=line)

    def _history(self, lines: Sequence[_Line]) -> History:
        """Return the tags among the keywords of a record."""
        words = [line.value for line in lines if line.tag == self.keyword]
        at = self._memory_at(lines)
        return history_of_words(words, None if at is None else lines[at].value)

    def _memory_at(self, lines: Sequence[_Line]) -> int | None:
        """Return where the memory stands; the same tag may hold other things."""
        for at, line in enumerate(lines):
            if line.tag == self.memory and line.value.startswith("{"):
                if parsed_memory(line.value) is not None:
                    return at
        return None

    def _with_tags(
        self, lines: Sequence[_Line], tags: Sequence[Tag], where: str
    ) -> tuple[_Line, ...]:
        """Return the lines of a record with its keywords changed."""
        for tag in tags:
            check_word(tag.theme, "\r\n", where)
        old = self._history(lines)
        new = retagged(old, tags)
        words = [line.value for line in lines if line.tag == self.keyword]
        changed = changed_words(words, old, new)
        changed_to = list(lines)
        added = [self._line(lines, self.keyword, w) for w in changed if w not in words]
        gone = set(words) - set(changed)
        remembered, at = memory_text(new), self._memory_at(lines)
        if at is not None and remembered != lines[at].value:
            if remembered:
                changed_to[at] = self._line(lines, self.memory, remembered)
            else:
                del changed_to[at]
        elif at is None and remembered:
            added.append(self._line(lines, self.memory, remembered))
        kept = [
            line
            for line in changed_to
            if line.tag != self.keyword or line.value not in gone
        ]
        place = self._place(kept)
        if added and place and not kept[place - 1].text.endswith(("\n", "\r")):
            last = kept[place - 1]
            kept[place - 1] = last._replace(text=last.text + _line_end(lines))
        return (*kept[:place], *added, *kept[place:])

    def _place(self, lines: Sequence[_Line]) -> int:
        """Return where new lines go: behind the keywords, or at the end."""
        keywords = [at for at, line in enumerate(lines) if line.tag == self.keyword]
        if keywords:
            return keywords[-1] + 1
        place = len(lines)
        while place > 1 and lines[place - 1].tag in ("", self.stop):
            place -= 1
        return place

    def _line(self, lines: Sequence[_Line], tag: str, value: str) -> _Line:
        """Return a new line set out like the others."""
        return _Line(tag, value, f"{self._lead(tag)}{value}{_line_end(lines)}")

    def _lead(self, tag: str) -> str:
        """Return the start of a line with a tag."""
        return f"{tag}  - "


class Ris(TagLines):
    """Records of RIS: from ``TY`` to ``ER``; tags are ``KW``, the memory ``U5``."""

    line_pattern = re.compile(
        r"[ \t]*(?P<tag>[A-Z][A-Z0-9])(?:  ?|\t)-(?:[ \t]|(?=[\r\n])|$)"
    )
    start_pattern = re.compile(r"^[ \t]*TY(?:  ?|\t)-[ \t]*[A-Z]", re.MULTILINE)
    start = "TY"
    stop = "ER"
    keyword = "KW"
    memory = "U5"


class Nbib(TagLines):
    """Records of PubMed's nbib, each from its ``PMID``.

    Tags are ``OT`` (other term), the memory is a general note (``GN``).
    """

    line_pattern = re.compile(
        r"(?P<tag>[A-Z][A-Z0-9]{1,3}) {0,2}-(?:[ \t]|(?=[\r\n])|$)"
    )
    start_pattern = re.compile(r"^PMID-[ \t]*\d", re.MULTILINE)
    start = "PMID"
    stop = None
    keyword = "OT"
    memory = "GN"

    def _lead(self, tag: str) -> str:
        """Return the start of a line with a tag, in four columns."""
        return f"{tag:<4}- "


def _ended(text: str, end: str) -> str:
    """Return the text of lines with another line end."""
    return end.join(re.split(r"\r\n|\r|\n", text.rstrip("\r\n"))) + end


def _line_end(lines: Sequence[_Line]) -> str:
    """Return how the lines of a record end."""
    first = lines[0].text
    end = first[len(first.rstrip("\r\n")) :]
    return end or "\n"
