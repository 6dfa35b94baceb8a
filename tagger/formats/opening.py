"""Opening a file of records: which format it has, and who says so.

A format is chosen by the content of the file first, by its name second. Each
format is a module with one class that follows `tagger.formats.entries.Format`;
adding one is adding its class to `FORMATS`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tagger.errors import RecordError
from tagger.fields import name_table
from tagger.formats.author_page import AuthorPage
from tagger.formats.bibtex import Bibtex
from tagger.formats.dblp import Dblp
from tagger.formats.delimited import Csv, Tsv
from tagger.formats.endnote_xml import EndnoteXml
from tagger.formats.entries import Door, Format
from tagger.formats.feeds import Atom, Rss
from tagger.formats.json_document import JsonDocument
from tagger.formats.json_lines import JsonLines
from tagger.formats.oai import Oai
from tagger.formats.parquet import Parquet
from tagger.formats.plain_text import PlainText
from tagger.formats.pubmed_xml import PubmedXml
from tagger.formats.reading import Reading
from tagger.formats.search_listing import SearchListing
from tagger.formats.sources import Source, SourceLike, open_source
from tagger.formats.tag_lines import Nbib, Ris
from tagger.formats.xml_text import root_of

__all__ = ["FORMATS", "holds_records", "read_entries"]

FORMATS: tuple[type[Format], ...] = (
    Parquet,
    Atom,
    Rss,
    Oai,
    PubmedXml,
    EndnoteXml,
    Dblp,
    AuthorPage,
    SearchListing,
    JsonLines,
    JsonDocument,
    Ris,
    Nbib,
    Bibtex,
    Tsv,
    Csv,
    PlainText,
)
"""Every format, in the order in which a file is asked whether it is one."""

_MARKUP = re.compile(r"\s*<(?:\?xml|!doctype|html)\b", re.IGNORECASE)


def read_entries(
    source: SourceLike,
    *,
    format: str | None = None,
    encoding: str | None = None,
    mapping: Mapping[str, str | Sequence[str]] | None = None,
) -> Reading:
    """Open a file of records and find out its format.

    Parameters
    ----------
    source : path, "-" or open file
        Packed files (gzip, bz2, xz, zstd) are unpacked on the way.
    format : str, optional
        Name of the format, to overrule what the content says.
    encoding : str, optional
        Encoding of the text; UTF-8, or what the file shows or says.
    mapping : mapping of str to str or sequence of str, optional
        Field of a record to its name in the file: ``{"abstract": "summary"}``.

    Returns
    -------
    reading : Reading
        Streams the entries, usable or not, in file order.

    Raises
    ------
    RecordError
        If the file cannot be opened or is no text, or if `format`, `encoding`
        or `mapping` name something unknown.
    """
    names = name_table(mapping)
    kinds = {kind.name: kind for kind in FORMATS}
    if format is not None and format not in kinds:
        raise RecordError(
            f"The format {format!r} is not known; expected one of {sorted(kinds)}."
        )
    opened = open_source(source, encoding=encoding)
    try:
        found = (kinds[format], "option") if format else _recognised(opened)
    except RecordError:
        opened.close()
        raise
    return Reading(opened, *found, Door(opened.name, names))


def holds_records(path: SourceLike) -> bool:
    """Tell whether the content of a file, or else its name, says it has records."""
    try:
        with open_source(path) as source:
            shown = source.head.text.strip() and _by_content(source)
            return bool(shown) or _by_name(source) is not None
    except RecordError:
        return False


def _recognised(source: Source) -> tuple[type[Format], str]:
    """Return the format of a file, and by what it is known."""
    if source.head.text.strip() and (kind := _by_content(source)):
        return kind, "content"
    if kind := _by_name(source):
        return kind, "name"
    if _MARKUP.match(source.head.text):
        raise RecordError(
            f"{source.name} is XML or HTML with the outermost element "
            f"<{root_of(source.head)}>, of no known format; expected a feed, an "
            "OAI-PMH answer, or the XML of PubMed, EndNote or DBLP."
        )
    return PlainText, "default"


def _by_content(source: Source) -> type[Format] | None:
    """Return the format that the start of a file shows."""
    return next((kind for kind in FORMATS if kind.recognise(source.head)), None)


def _by_name(source: Source) -> type[Format] | None:
    """Return the format that the name of a file says."""
    return next((kind for kind in FORMATS if source.suffix in kind.suffixes), None)
