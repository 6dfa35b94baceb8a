"""Feeds: Atom, as the arXiv API gives it, and RSS."""

from __future__ import annotations

import html
import re
from typing import Any
from xml.etree.ElementTree import Element

from tagger.errors import RecordError
from tagger.formats.entries import Door
from tagger.formats.sources import Head
from tagger.formats.unwrapping import unwrapped
from tagger.formats.xml_records import XmlRecords
from tagger.formats.xml_text import parsed, text_of, texts_of

__all__ = ["Atom", "Rss"]

_ENTRY = re.compile(r"<(?:[\w.-]+:)?entry[\s>]")
_ERROR = re.compile(
    r"<(?:[\w.-]+:)?entry[\s>](?:(?!</(?:[\w.-]+:)?entry).)*?/api/errors.*?"
    r"</(?:[\w.-]+:)?entry\s*>",
    re.DOTALL,
)
# arXiv's feeds put these words in front of an abstract, and behind a title.
_ANNOUNCED = re.compile(
    r"\s*arXiv:(\S+)\s+Announce Type:\s*(\S+)\s*(?:Abstract:\s*)?", re.IGNORECASE
)
_NAMED = re.compile(r"\.?\s*\(arXiv:(\S+)\s+\[([\w.-]+)\][^)]*\)\s*\Z")
_HTML_PARAGRAPH = re.compile(r"\s*</?p>\s*", re.IGNORECASE)


class Atom(XmlRecords):
    """Entries of an Atom feed."""

    roots = frozenset({"feed", "entry"})
    records = ("entry",)

    def check(self, head: Head, door: Door) -> None:
        """Refuse the answer to a query that went wrong, and an empty one."""
        if error := _ERROR.search(head.text):
            element, _ = parsed(error[0])
            said = " ".join(text_of(element, "summary").split()) or "no reason"
            raise RecordError(
                f"{door.source}: the feed is an error message: {said!r}. Correct the "
                "query and fetch it again."
            )
        if head.whole and not _ENTRY.search(head.text):
            raise RecordError(
                f"{door.source}: the feed holds no entry. Look whether the query "
                "matches any paper."
            )

    def fields(self, element: Element) -> dict[str, Any]:
        """Return the fields of an entry."""
        terms = [part.get("term", "") for part in element.findall("category")]
        primary = element.find("primary_category")
        fields: dict[str, Any] = {
            "id": text_of(element, "id").strip(),
            "title": unwrapped(text_of(element, "title")),
            **_said(
                published=text_of(element, "published") or text_of(element, "updated"),
                updated=text_of(element, "updated"),
            ),
            "authors": texts_of(element, "author/name") or texts_of(element, "author"),
            "subject": (primary.get("term") if primary is not None else None)
            or next(iter(terms), None),
            "terms": terms,
        }
        for name in ("doi", "journal_ref", "comment", "creator"):
            if text := text_of(element, name).strip():
                fields[name] = text
        if not fields["authors"]:
            fields["authors"] = fields.pop("creator", None)
        summary = text_of(element, "summary") or text_of(element, "content")
        return fields | _announced(fields["title"], summary)


class Rss(XmlRecords):
    """Items of an RSS feed (2.0 or 1.0)."""

    roots = frozenset({"rss", "rdf"})
    records = ("item",)

    def fields(self, element: Element) -> dict[str, Any]:
        """Return the fields of an item."""
        terms = texts_of(element, "category") + texts_of(element, "subject")
        fields: dict[str, Any] = {
            "id": text_of(element, "guid").strip() or text_of(element, "link").strip(),
            **_said(url=text_of(element, "link").strip()),
            "title": unwrapped(text_of(element, "title")),
            **_said(published=text_of(element, "pubDate") or text_of(element, "date")),
            "authors": [
                name
                for text in texts_of(element, "creator") or texts_of(element, "author")
                for name in re.split(r",\s*|\n+", text)
            ],
            "subject": next(iter(terms), None),
            "terms": terms,
        }
        if not fields["id"] and (about := element.get("about")):
            fields["id"] = about
        if doi := text_of(element, "doi").strip():
            fields["doi"] = doi
        return fields | _announced(fields["title"], text_of(element, "description"))


def _said(**texts: str) -> dict[str, str]:
    """Return the texts that are not empty."""
    return {name: text for name, text in texts.items() if text}


def _announced(title: str, summary: str) -> dict[str, Any]:
    """Return title and abstract without what arXiv's feeds add to them."""
    fields: dict[str, Any] = {"title": title}
    if named := _NAMED.search(title):
        fields |= {"title": title[: named.start()], "arxiv": named[1]}
        fields["subject"] = named[2]
    if announced := _ANNOUNCED.match(summary):
        fields |= {"arxiv": announced[1], "announce_type": announced[2]}
        summary = summary[announced.end() :]
    if "<p>" in summary.lower():
        summary = html.unescape(_HTML_PARAGRAPH.sub("\n\n", summary))
    return fields | {"abstract": unwrapped(summary, indents=True)}
