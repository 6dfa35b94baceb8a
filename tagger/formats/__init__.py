"""Reading and writing files of records, whatever their format.

A format is chosen by the content of the file first, by its name second. Each
format is a module with one class that follows `tagger.formats.entries.Format`;
adding one is adding its class to `FORMATS`.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tagger.errors import RecordError
from tagger.fields import name_table
from tagger.formats.author_page import AuthorPage
from tagger.formats.bibtex import Bibtex
from tagger.formats.dblp import Dblp
from tagger.formats.delimited import Csv, Tsv
from tagger.formats.endnote_xml import EndnoteXml
from tagger.formats.entries import Door, Entry, Format
from tagger.formats.feeds import Atom, Rss
from tagger.formats.json_document import JsonDocument
from tagger.formats.json_lines import JsonLines
from tagger.formats.oai import Oai
from tagger.formats.output import TargetLike
from tagger.formats.parquet import Parquet
from tagger.formats.plain_text import PlainText
from tagger.formats.pubmed_xml import PubmedXml
from tagger.formats.reading import Reading, summary_line
from tagger.formats.search_listing import SearchListing
from tagger.formats.sources import Source, SourceLike, open_source
from tagger.formats.tag_lines import Nbib, Ris
from tagger.formats.xml_text import root_of
from tagger.records import Record, Tag

__all__ = [
    "FORMATS",
    "Entry",
    "Reading",
    "files_in",
    "read_entries",
    "read_records",
    "summary_line",
    "write_entries",
]

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


def files_in(folder: str | os.PathLike[str]) -> tuple[list[Path], list[Path]]:
    """Return the files of records in a folder, sorted, and the other files.

    A file is one of records if its content or its name says so. Folders inside
    are searched too; hidden files, and folders behind links, are not.

    Raises
    ------
    RecordError
        If the folder cannot be read.
    """
    records: list[Path] = []
    others: list[Path] = []
    for path in sorted(_walk(Path(folder))):
        try:
            with open_source(path) as source:
                known = source.head.text.strip() and _by_content(source)
                found = bool(known) or _by_name(source) is not None
        except RecordError:
            found = False
        (records if found else others).append(path)
    return records, others


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


def read_records(
    sources: SourceLike | Sequence[SourceLike],
    *,
    format: str | None = None,
    encoding: str | None = None,
    mapping: Mapping[str, str | Sequence[str]] | None = None,
) -> list[Record]:
    """Return the usable records of files, or of folders of them, in file order.

    Warns once a file with the summary line if entries had to be skipped.

    Raises
    ------
    RecordError
        As `read_entries`; and if a file has entries but none can be used.
    """
    listed: Sequence[SourceLike]
    if isinstance(sources, str) or not isinstance(sources, Sequence):
        listed = [sources]
    else:
        listed = sources
    records: list[Record] = []
    for source in _files(listed):
        problem = None
        with read_entries(
            source, format=format, encoding=encoding, mapping=mapping
        ) as reading:
            for entry in reading:
                if entry.record is not None:
                    records.append(entry.record)
                problem = problem or entry.problem
        if problem and not reading.n_used:
            raise RecordError(
                f"None of the {reading.n_read:,} entries of {reading.name} can be "
                f"used. The first: {problem}"
            )
        if problem:
            warnings.warn(f"{reading.name}: {reading.summary_line}", stacklevel=2)
    return records


def write_entries(
    pairs: Iterable[tuple[Entry, Sequence[Tag] | None]],
    target: TargetLike,
    *,
    reading: Reading,
) -> None:
    """Write entries back in the format they were read in, with their tags.

    What each format holds is said in `tagger.formats.history`: JSON records
    get the fields ``tags`` and ``tagger``, tables the columns ``tags``,
    ``tag_probabilities`` and ``tagger`` (``model_tags`` and so on where the file
    uses those names for something else); BibTeX, RIS, nbib and CSL-JSON get
    keywords and one field for the memory. A person's tags stay, the model's are
    replaced, and what a person removed is not given again. Everything else
    stays as it came, unusable entries too. Formats that have no place for tags
    (`Reading.keeps_format` is false) are written as JSON Lines.

    Parameters
    ----------
    pairs : iterable of (Entry, sequence of Tag or None)
        In file order. None leaves an entry as it came. May be a generator over
        `reading`; nothing is held but the entries before the first with tags.
    target : path, "-" or open binary file
        A path keeps its old content until all is written.
    reading : Reading
        Where the entries come from.

    Raises
    ------
    RecordError
        If the target cannot be written.
    """
    reading.write(pairs, target)


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


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and in those inside, the hidden excepted."""

    def refuse(error: OSError) -> None:
        reason = (error.strerror or str(error)).lower()
        raise RecordError(f"{error.filename} cannot be read: {reason}.") from error

    for place, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(place, name)
            if not name.startswith(".") and path.is_file():
                yield path


def _files(sources: Sequence[SourceLike]) -> Iterator[SourceLike]:
    """Yield sources, with the files in it for a folder."""
    for source in sources:
        if not isinstance(source, str | os.PathLike) or not os.path.isdir(source):
            yield source
            continue
        records, others = files_in(source)
        if not records:
            raise RecordError(f"{source} holds no file of records.")
        if others:
            warnings.warn(
                f"{source}: left out, being of no known format: {len(others):,} "
                f"{'file' if len(others) == 1 else 'files'}, such as "
                f"{others[0].name!r}.",
                stacklevel=3,
            )
        yield from records
