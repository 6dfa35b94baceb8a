"""What the XML formats have in common; each says what its elements mean."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar
from xml.etree.ElementTree import Element

from tagger.formats.entries import Door, Entry, RawText
from tagger.formats.sources import Head, Source
from tagger.formats.xml_text import Piece, check_entities, parsed, pieces, root_of

__all__ = ["NotARecord", "XmlRecords"]


class NotARecord(Exception):
    """An element that is no paper record; says why in a few words."""


class XmlRecords:
    """Records that are elements of an XML document.

    Feeds, harvests and dumps have no place for tags: they are written as JSON
    Lines, and what stands between their records is not kept.
    """

    keeps_text: ClassVar[bool] = False
    roots: ClassVar[frozenset[str]]
    """Names of the outermost element, in lower case."""
    records: ClassVar[tuple[str, ...]]
    """Names of the elements that are records."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._tail = ""

    @classmethod
    def recognise(cls, head: Head) -> bool:
        """Tell by the outermost element."""
        root = root_of(head)
        return root is not None and root.lower() in cls.roots

    def read(self, door: Door) -> Iterator[Entry]:
        """Yield an entry for each element that is a record."""
        check_entities(self._source.head, door.source)
        self.check(self._source.head, door)
        names = self.record_names(self._source.head)
        for piece in pieces(self._source.text(), names, door.source):
            if piece.text:
                yield self._entry(door, piece)
            else:
                self._tail = piece.before
        root = root_of(self._source.head)
        closed = rf"</(?:[\w.-]+:)?{re.escape(root or '')}\s*>"
        if root not in names and not re.search(closed, self._tail):
            door.remarks.append(
                f"{door.source} has no end of <{root}>; the file may be cut off."
            )

    def record_names(self, head: Head) -> tuple[str, ...]:
        """Return the names of the elements that are records in this document."""
        return self.records

    def check(self, head: Head, door: Door) -> None:
        """Look at the start of the document; refuse or remark what it says."""

    def fields(self, element: Element) -> dict[str, Any]:
        """Return the fields of a record.

        Raises
        ------
        NotARecord
            If the element says that it is none.
        """
        raise NotImplementedError

    def _entry(self, door: Door, piece: Piece) -> Entry:
        """Return the entry of one element."""
        raw = RawText(piece.before if self.keeps_text else "", piece.text, "")
        try:
            element, changed = parsed(piece.text)
            fields = self.fields(element)
        except NotARecord as reason:
            problem = f"the record is a {reason}; there is nothing to tag."
            return door.bad(str(reason), problem, raw, piece.line)
        except ValueError as error:
            problem = f"this is not XML: {error}."
            return door.bad("not XML", problem, raw, piece.line)
        if changed:
            door.count("with control characters or broken Unicode, replaced")
        return door.entry(fields, raw=raw, line=piece.line)
