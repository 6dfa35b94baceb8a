"""Every format by its name, and how a file shows that it may have it.

A format is a module with a class that follows `tagger.formats.entries.Format`;
adding one is adding a line here. The module is loaded when a file looks like it
or a user names it: most of them are never needed in one run.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from tagger.formats.sources import Head

if TYPE_CHECKING:
    from tagger.formats.entries import Format

__all__ = ["FOREIGN", "FORMATS", "PLAIN_TEXT", "Kind", "kind_of"]


class Kind(NamedTuple):
    """A format that may not be loaded yet.

    Parameters
    ----------
    name : str
        As users know it.
    place : str
        Module in this folder and class in it, with a colon between.
    sign : str
        Pattern that the start of every such file matches; others may, too.
    suffixes : tuple of str
        Endings of names that say so where the content does not.
    """

    name: str
    place: str
    sign: str
    suffixes: tuple[str, ...] = ()

    def load(self) -> type[Format]:
        """Return the class of the format."""
        module, _, name = self.place.partition(":")
        found: type[Format] = getattr(import_module(f"tagger.formats.{module}"), name)
        return found

    def recognise(self, head: Head) -> bool:
        """Tell from its start whether a file has this format."""
        looks_so = re.search(self.sign, head.text, re.IGNORECASE | re.MULTILINE)
        return looks_so is not None and self.load().recognise(head)


def _element(names: str) -> str:
    """Return the sign of an XML document with one of some names in it."""
    return rf"\A\s*<[\s\S]*?(?:{names})"


PLAIN_TEXT = Kind("text", "plain_text:PlainText", r"(?!)", (".txt", ".text", ".md"))
"""What a file is that nothing else recognises."""

FORMATS: tuple[Kind, ...] = (
    Kind("parquet", "parquet:Parquet", r"\APAR1", (".parquet", ".pq")),
    Kind("atom", "feeds:Atom", _element("feed|entry"), (".atom",)),
    Kind("rss", "feeds:Rss", _element("rss|rdf"), (".rss",)),
    Kind("oai-pmh", "oai:Oai", _element("oai-pmh|listrecords|getrecord")),
    Kind(
        "pubmed-xml",
        "pubmed_xml:PubmedXml",
        _element("pubmedarticleset|pubmedarticle|medlinecitationset"),
    ),
    Kind("endnote-xml", "endnote_xml:EndnoteXml", _element("ref-type")),
    Kind("dblp", "dblp:Dblp", _element("dblp|mdate=")),
    Kind(
        "jsonl",
        "json_lines:JsonLines",
        r"\A\s*\{",
        (".jsonl", ".ndjson", ".jsonlines"),
    ),
    Kind("json", "json_document:JsonDocument", r"\A\s*[\[{]", (".json",)),
    Kind("ris", "tag_lines:Ris", r"^[ \t]*TY", (".ris",)),
    Kind("nbib", "tag_lines:Nbib", r"^PMID-", (".nbib", ".medline")),
    Kind("bibtex", "bibtex:Bibtex", r"^[ \t]*@", (".bib", ".bibtex", ".biblatex")),
    Kind("author-page", "author_page:AuthorPage", "↗"),
    Kind("search-listing", "search_listing:SearchListing", r"论文检索|·"),
    Kind("tsv", "delimited:Tsv", r"\t", (".tsv", ".tab")),
    Kind("csv", "delimited:Csv", r"\A\s*(?:\"|sep=|.*[,;\t|])", (".csv",)),
    PLAIN_TEXT,
)
"""Every format, in the order in which a file is asked whether it is one."""

FOREIGN = {
    ".doc": "Word",
    ".docx": "Word",
    ".ods": "OpenDocument",
    ".odt": "OpenDocument",
    ".pdf": "PDF",
    ".xls": "Excel",
    ".xlsx": "Excel",
}
"""Endings of names that say a format in which nothing is written here."""


def kind_of(suffix: str) -> Kind | None:
    """Return the format that the ending of a file name says."""
    return next((kind for kind in FORMATS if suffix in kind.suffixes), None)
