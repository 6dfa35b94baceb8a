"""Plain text: one abstract a file, with or without a title."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tagger.errors import RecordError
from tagger.formats.entries import Door, Entry
from tagger.formats.sources import Head, Source
from tagger.formats.text_stream import MAX_ENTRY

__all__ = ["PlainText", "split_title"]

_LONGEST_TITLE = 300
_BLANK_LINE = re.compile(r"(?:\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)")
_LABEL = re.compile(r"title\s*:\s*", re.IGNORECASE)


class PlainText:
    """One record: the whole text, its first paragraph perhaps a title."""

    def __init__(self, source: Source) -> None:
        self._source = source

    @staticmethod
    def recognise(head: Head) -> bool:
        """Say no: text is what nothing else recognises."""
        return False

    def read(self, door: Door) -> Iterator[Entry]:
        """Yield the one entry."""
        text = self._source.text().read(MAX_ENTRY + 1)
        if len(text) > MAX_ENTRY:
            raise RecordError(
                f"{door.source}: the text has over {MAX_ENTRY:,} characters; expected "
                "one abstract. Records in a table or in JSON Lines can be any number."
            )
        title, abstract = split_title(text)
        fields = {"title": title, "abstract": abstract}
        if self._source.path or door.source != "stdin":
            fields["id"] = door.source
        yield door.entry(fields, raw=text, line=1)


def split_title(text: str) -> tuple[str, str]:
    r"""Return the title and the abstract of a text; "" if it has no title.

    The first paragraph is the title if it is short, does not end like a
    sentence, and another paragraph follows. A first line is one too if the
    next line is far longer, or if it says "Title:".

    Examples
    --------
    >>> split_title("On Tags\n\nWe tag papers.")
    ('On Tags', 'We tag papers.')
    >>> split_title("We tag papers. They are\ngood.")
    ('', 'We tag papers. They are\ngood.')
    """
    body = text.strip()
    lines = body.splitlines()
    if len(lines) < 2:
        return "", body
    labelled = _LABEL.match(body)
    parts = _BLANK_LINE.split(body, maxsplit=1)
    first = parts[0]
    if labelled or len(first.splitlines()) > 3 or len(parts) == 1:
        following = lines[1].strip()
        if not labelled and len(following) < max(120, 1.5 * len(lines[0])):
            return "", body
        first = lines[0]
    title = " ".join(first.split())
    ends_open = not title.endswith((".", ":", ";", ",")) or title.endswith("...")
    if labelled or (len(title) <= _LONGEST_TITLE and ends_open):
        return title[labelled.end() :] if labelled else title, body[
            len(first) :
        ].strip()
    return "", body
