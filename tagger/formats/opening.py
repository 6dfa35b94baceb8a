"""Opening a file of records: which format it has, and who says so.

A format is chosen by the content of the file first, by its name second.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from tagger.errors import RecordError
from tagger.fields import name_table, plain_name
from tagger.formats.entries import Door
from tagger.formats.reading import Reading
from tagger.formats.registry import FORMATS, PLAIN_TEXT, Kind, kind_of
from tagger.formats.sources import Source, SourceLike, open_source, suffix_of

__all__ = ["holds_records", "read_entries"]

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
    asked = {
        plain_name(name): f"{field}={name}"
        for field, given in (mapping or {}).items()
        for name in ([given] if isinstance(given, str) else given)
    }
    return Reading(opened, *found, Door(opened.name, names, asked))


def holds_records(path: SourceLike) -> bool:
    """Tell whether the content of a file, or else its name, says it has records.

    One that cannot be opened goes by its name: reading it says what is wrong.
    """
    try:
        with open_source(path) as source:
            shown = source.head.text.strip() and _by_content(source)
            return bool(shown) or kind_of(source.suffix) is not None
    except RecordError:
        if not isinstance(path, str | os.PathLike):
            return False
        return kind_of(suffix_of(os.fspath(path))) is not None


def _recognised(source: Source) -> tuple[Kind, str]:
    """Return the format of a file, and by what it is known."""
    if source.head.text.strip() and (kind := _by_content(source)):
        return kind, "content"
    if kind := kind_of(source.suffix):
        return kind, "name"
    if _MARKUP.match(source.head.text):
        from tagger.formats.xml_text import root_of

        raise RecordError(
            f"{source.name} is XML or HTML with the outermost element "
            f"<{root_of(source.head)}>, of no known format; expected a feed, an "
            "OAI-PMH answer, or the XML of PubMed, EndNote or DBLP."
        )
    return PLAIN_TEXT, "default"


def _by_content(source: Source) -> Kind | None:
    """Return the format that the start of a file shows."""
    return next((kind for kind in FORMATS if kind.recognise(source.head)), None)
