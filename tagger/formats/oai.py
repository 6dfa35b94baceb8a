"""Answers of an OAI-PMH server: arXiv's own records, and Dublin Core."""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import Element

from tagger.errors import RecordError
from tagger.formats.entries import Door
from tagger.formats.sources import Head
from tagger.formats.unwrapping import unwrapped
from tagger.formats.xml_records import NotARecord, XmlRecords
from tagger.formats.xml_text import text_of, texts_of

__all__ = ["Oai"]

_ERROR = re.compile(
    r"<(?:[\w.-]+:)?error\s+code=[\"']([\w-]+)[\"'][^>]*?(?:/>|>([^<]{0,300}))"
)
_TOKEN = re.compile(r"<(?:[\w.-]+:)?resumptionToken[^>/]*>[^<]+<")
_COMMENT = re.compile(r"\s*Comments?:", re.IGNORECASE)
_DOI = re.compile(r"\s*(?:doi:|https?://(?:dx\.)?doi\.org/)\s*(10\.\d{4,9}/\S+)", re.I)


class Oai(XmlRecords):
    """Records of ``ListRecords`` and ``GetRecord``."""

    roots = frozenset({"oai-pmh", "listrecords", "getrecord"})
    records = ("record",)

    def check(self, head: Head, door: Door) -> None:
        """Refuse an error message of the server."""
        if error := _ERROR.search(head.text):
            said = " ".join((error[2] or "").split()) or "no reason"
            raise RecordError(
                f"{door.source}: the server answered with the error {error[1]!r} "
                f"({said}). Correct the request and fetch it again."
            )

    def read(self, door: Door) -> Any:
        """Yield an entry a record, and say whether the list goes on."""
        yield from super().read(door)
        if _TOKEN.search(self._tail):
            door.remarks.append(
                f"{door.source}: the list goes on; fetch the rest with its "
                "resumptionToken."
            )

    def fields(self, element: Element) -> dict[str, Any]:
        """Return the fields of a record, whichever metadata it holds."""
        header = element.find("header")
        if header is not None and header.get("status") == "deleted":
            raise NotARecord("deleted record")
        fields: dict[str, Any] = {
            "identifier": text_of(header, "identifier").strip(),
            "datestamp": text_of(header, "datestamp").strip(),
            "sets": texts_of(header, "setSpec"),
        }
        metadata = element.find("metadata")
        inner = next(iter(metadata), None) if metadata is not None else None
        if inner is None:
            raise NotARecord("record without metadata")
        fields |= _dublin_core(inner) if inner.tag == "dc" else _arxiv(inner)
        fields["id"] = fields.get("id") or fields["identifier"]
        return fields


def _arxiv(inner: Element) -> dict[str, Any]:
    """Return the fields of the formats ``arXiv`` and ``arXivRaw``."""
    fields: dict[str, Any] = {}
    for name in ("id", "comments", "doi", "journal-ref", "license", "submitter"):
        if text := text_of(inner, name).strip():
            fields[name] = text
    fields["title"] = unwrapped(text_of(inner, "title"))
    fields["abstract"] = unwrapped(text_of(inner, "abstract"), indents=True)
    categories = text_of(inner, "categories").split()
    fields |= {"terms": categories, "subject": next(iter(categories), None)}
    fields["created"] = text_of(inner, "created") or text_of(inner, "version/date")
    people = inner.findall("authors/author")
    parts = ("forenames", "keyname", "suffix")
    fields["authors"] = [
        " ".join(text for part in parts if (text := text_of(person, part).strip()))
        for person in people
    ] or unwrapped(text_of(inner, "authors"))
    return fields


def _dublin_core(inner: Element) -> dict[str, Any]:
    """Return the fields of ``oai_dc``; on arXiv one description is a comment."""
    texts = texts_of(inner, "description")
    comments = [text for text in texts if _COMMENT.match(text)]
    abstracts = [text for text in texts if not _COMMENT.match(text)]
    identifiers = texts_of(inner, "identifier")
    subjects = texts_of(inner, "subject")
    dois = [found[1] for name in identifiers if (found := _DOI.match(name))]
    return {
        "title": unwrapped(next(iter(texts_of(inner, "title")), "")),
        "abstract": "\n\n".join(unwrapped(text, indents=True) for text in abstracts),
        "authors": texts_of(inner, "creator"),
        "date": next(iter(texts_of(inner, "date")), None),
        "subject": next(iter(subjects), None),
        "terms": subjects,
        "identifiers": identifiers,
        "comments": comments,
        "url": next((name for name in identifiers if "arxiv.org/abs" in name), None),
        "doi": next(iter(dois), None),
    }
