"""PubMed and MEDLINE XML."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element

from tagger.formats.sources import Head
from tagger.formats.unwrapping import unwrapped
from tagger.formats.xml_records import XmlRecords
from tagger.formats.xml_text import root_of, text_of, texts_of

__all__ = ["PubmedXml"]


class PubmedXml(XmlRecords):
    """Articles of PubMed; a structured abstract keeps its labels."""

    roots = frozenset({"pubmedarticleset", "pubmedarticle", "medlinecitationset"})
    records = ("PubmedArticle", "PubmedBookArticle")

    def record_names(self, head: Head) -> tuple[str, ...]:
        """Return the names of the records: an old document has only citations."""
        old = (root_of(head) or "").lower() == "medlinecitationset"
        return ("MedlineCitation",) if old else self.records

    def fields(self, element: Element) -> dict[str, Any]:
        """Return the fields of an article."""
        book = element.find("BookDocument")
        citation = element.find("MedlineCitation")
        citation = citation if citation is not None else element
        article = book if book is not None else citation.find("Article")
        place = book if book is not None else citation
        title = text_of(article, "ArticleTitle") or text_of(article, "Book/BookTitle")
        people = article.findall("AuthorList/Author") if article is not None else []
        return {
            "pmid": text_of(place, "PMID").strip(),
            "title": unwrapped(title),
            "abstract": _abstract(article),
            "authors": [name for person in people if (name := _name(person))],
            "journal": text_of(article, "Journal/Title").strip()
            or text_of(citation, "MedlineJournalInfo/MedlineTA").strip(),
            "date": _date(article),
            "doi": _doi(element, article),
            "keywords": texts_of(place, "KeywordList/Keyword"),
            "mesh": texts_of(citation, "MeshHeadingList/MeshHeading/DescriptorName"),
        }


def _abstract(article: Element | None) -> str:
    """Return the paragraphs of an abstract, each behind its label."""
    parts = article.findall("Abstract/AbstractText") if article is not None else []
    paragraphs = []
    for part in parts:
        if text := unwrapped(text_of(part)):
            label = part.get("Label", "").strip()
            known = label and label.upper() != "UNLABELLED"
            paragraphs.append(f"{label}: {text}" if known else text)
    return "\n\n".join(paragraphs)


def _name(person: Element) -> str:
    """Return the name of an author or of a group."""
    given = text_of(person, "ForeName").strip() or text_of(person, "Initials").strip()
    family = text_of(person, "LastName").strip()
    return f"{given} {family}".strip() or text_of(person, "CollectiveName").strip()


def _date(article: Element | None) -> str:
    """Return what names the year of publication."""
    for path in (
        "Journal/JournalIssue/PubDate/Year",
        "Journal/JournalIssue/PubDate/MedlineDate",
        "ArticleDate/Year",
        "Book/PubDate/Year",
    ):
        if text := text_of(article, path).strip():
            return text
    return ""


def _doi(element: Element, article: Element | None) -> str | None:
    """Return the DOI from either of the places where it stands."""
    for path in ("PubmedData/ArticleIdList/ArticleId", ".//BookDocument//ArticleId"):
        for part in element.findall(path):
            if part.get("IdType") == "doi":
                return text_of(part).strip()
    for part in article.findall("ELocationID") if article is not None else []:
        if part.get("EIdType") == "doi":
            return text_of(part).strip()
    return None
