"""The listing of a paper search: area and topic, authors, abstract, no title."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tagger.formats.entries import Door, Entry
from tagger.formats.sources import Head, Source
from tagger.formats.text_stream import LINE_COST, check_size

__all__ = ["SearchListing"]

_HEADING = "论文检索"
_TOPIC = re.compile(r"([^·]{2,60}) · ([^·.]{2,90})")
_NAME = re.compile(r"(?:[\w.'\u2019-]+\s+){0,6}[\w.'\u2019-]+")
_LONGEST_LIST = 2_000


class SearchListing:
    """Records of a search page: topic line where it has one, authors, abstract."""

    def __init__(self, source: Source) -> None:
        self._source = source

    @staticmethod
    def recognise(head: Head) -> bool:
        """Tell by the heading, or by a topic line over a line of authors."""
        lines = [line.strip() for line in head.text.splitlines() if line.strip()]
        if len(lines) < 3:
            return False
        if lines[0] == _HEADING:
            return _is_topic(lines[1]) or _is_authors(lines[1])
        return _is_topic(lines[0]) and _is_authors(lines[1])

    def read(self, door: Door) -> Iterator[Entry]:
        """Yield an entry for each line of authors."""
        topic: str | None = None
        start, size, block = 0, 0, list[str]()
        for number, text in enumerate(self._source.text(), start=1):
            line = text.strip()
            if not line or (number == 1 and line == _HEADING):
                continue
            if _is_topic(line) or _is_authors(line):
                if len(block) > 1 or (block and _is_topic(line)):
                    yield _entry(door, start, topic, block)
                    topic, block = None, []
                if _is_topic(line):
                    topic, start = line, number
                    continue
                start = number if topic is None else start
            size = 0 if not block else size + len(line) + LINE_COST
            check_size(size, door.source, start)
            block.append(line)
            start = start or number
        if block:
            yield _entry(door, start, topic, block)


def _entry(door: Door, line: int, topic: str | None, block: list[str]) -> Entry:
    """Return the entry of one block: authors, then paragraphs."""
    raw = "\n\n".join([*([topic] if topic else []), *block])
    authors = block[0] if _is_authors(block[0]) else None
    paragraphs = block[1:] if authors else block
    if not paragraphs:
        return door.bad(
            "no abstract",
            f"the authors {block[0][:60]!r} are followed by no abstract.",
            raw,
            line,
        )
    fields = {"title": None, "abstract": "\n\n".join(paragraphs), "authors": authors}
    if topic and (parts := _TOPIC.fullmatch(topic)):
        fields |= {"area": parts[1], "topic": parts[2]}
    return door.entry(fields, raw=raw, line=line)


def _is_topic(line: str) -> bool:
    """Tell whether a line reads "Area · Topic"."""
    return _TOPIC.fullmatch(line) is not None


def _is_authors(line: str) -> bool:
    """Tell whether a line is a list of names and nothing else."""
    if len(line) > _LONGEST_LIST or line.endswith("."):
        return False
    names = [name.strip() for name in line.split(",")]
    longest = max(len(name.split()) for name in names)
    return longest > 1 and all(_NAME.fullmatch(name) for name in names)
