"""Records of DBLP's XML; they have no abstracts."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element

from tagger.formats.sources import Head
from tagger.formats.unwrapping import unwrapped
from tagger.formats.xml_records import XmlRecords
from tagger.formats.xml_text import root_of, text_of, texts_of

__all__ = ["Dblp"]


class Dblp(XmlRecords):
    """Publications of DBLP; pages about people are left out."""

    roots = frozenset({"dblp"})
    records = (
        "article",
        "inproceedings",
        "proceedings",
        "book",
        "incollection",
        "phdthesis",
        "mastersthesis",
        "data",
    )

    @classmethod
    def recognise(cls, head: Head) -> bool:
        """Tell by the outermost element; one record alone has a date of change."""
        root = (root_of(head) or "").lower()
        alone = root in cls.records and "mdate=" in head.text[:1000]
        return root in cls.roots or alone

    def fields(self, element: Element) -> dict[str, Any]:
        """Return the fields of a publication."""
        links = texts_of(element, "ee")
        return {
            "id": element.get("key"),
            "entry_type": element.tag,
            "title": unwrapped(text_of(element, "title")),
            "authors": texts_of(element, "author") or texts_of(element, "editor"),
            "year": text_of(element, "year").strip(),
            "venue": text_of(element, "journal").strip()
            or text_of(element, "booktitle").strip(),
            "doi": next((link for link in links if "doi.org/10." in link), None),
            "links": links,
        }
