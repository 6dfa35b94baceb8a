"""The listing of one author's papers: year, title, abstract, subject class."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tagger.formats.entries import Door, Entry
from tagger.formats.sources import Head, Source
from tagger.formats.text_stream import LINE_COST, check_size

__all__ = ["AuthorPage"]

_YEAR = re.compile(r"arXiv\s?(\d{4})")
_SUBJECT = re.compile(r"([a-z][a-z-]*(?:\.[A-Za-z-]+)?)\s*↗")
_AUTHOR = re.compile(r"Publications and source records attributed to (.+?)\.?")
_CLAIM = re.compile(r"((At least )?([\d,]+) records?).*")


class AuthorPage:
    """Records of an author page; it names the author once, for all of them."""

    def __init__(self, source: Source) -> None:
        self._source = source

    @staticmethod
    def recognise(head: Head) -> bool:
        """Tell by a year line with a subject line behind it."""
        lines = [line.strip() for line in head.text.splitlines()]
        years = [n for n, line in enumerate(lines) if _YEAR.fullmatch(line)]
        return bool(years) and any(_SUBJECT.fullmatch(x) for x in lines[years[0] :])

    def read(self, door: Door) -> Iterator[Entry]:
        """Yield an entry a block that starts with a year."""
        author: str | None = None
        claim: re.Match[str] | None = None
        start, size, block = 0, 0, list[str]()
        found, outside = 0, 0
        for number, line in _lines(self._source):
            if _YEAR.fullmatch(line):
                if block:
                    found += 1
                    yield _entry(door, start, block, author)
                start, size, block = number, 0, [line]
            elif block:
                block.append(line)
                size += len(line) + LINE_COST
                check_size(size, door.source, start)
                if _SUBJECT.fullmatch(line):
                    found += 1
                    yield _entry(door, start, block, author)
                    block = []
            elif found:
                outside += 1
            elif named := _AUTHOR.fullmatch(line):
                author = named[1]
            else:
                claim = claim or _CLAIM.fullmatch(line)
        if block:
            found += 1
            yield _entry(door, start, block, author)
        if claim and not _kept(claim, found):
            door.remarks.append(f"{door.source} says {claim[1]!r}; it holds {found:,}.")
        if outside:
            door.remarks.append(
                f"{door.source}: lines outside any record: {outside:,}."
            )


def _kept(claim: re.Match[str], found: int) -> bool:
    """Tell whether the page holds as many records as it says."""
    number = int(claim[3].replace(",", "") or 0)
    return found >= number if claim[2] else found == number


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line that is not blank."""
    for number, line in enumerate(source.text(), start=1):
        if text := line.strip():
            yield number, text


def _entry(door: Door, line: int, block: list[str], author: str | None) -> Entry:
    """Return the entry of one block: year, title, paragraphs, subject."""
    year = _YEAR.fullmatch(block[0])
    subject = _SUBJECT.fullmatch(block[-1])
    texts = block[1:-1] if subject else block[1:]
    raw = "\n\n".join(block)
    if not texts:
        return door.bad(
            "no title and no abstract",
            f"the block that starts with {block[0]!r} has no title and no abstract.",
            raw,
            line,
        )
    fields = {
        "title": texts[0],
        "abstract": "\n\n".join(texts[1:]),
        "year": year[1] if year else None,
        "venue": "arXiv",
        "subject": subject[1] if subject else None,
    }
    if author:
        fields["page_author"] = author
    return door.entry(fields, raw=raw, line=line)
