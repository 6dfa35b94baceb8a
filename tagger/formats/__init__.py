"""Reading and writing files of records, whatever their format.

A format is chosen by the content of the file first, by its name second. Each
format is a module with one class that follows `tagger.formats.entries.Format`;
adding one is adding its class to `FORMATS`.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import TracebackType

from tagger.errors import RecordError
from tagger.fields import name_table
from tagger.formats.author_page import AuthorPage
from tagger.formats.delimited import Csv, Tsv
from tagger.formats.entries import Door, Entry, Format, Tagged
from tagger.formats.json_document import JsonDocument
from tagger.formats.json_lines import JsonLines
from tagger.formats.output import TargetLike, open_target
from tagger.formats.parquet import Parquet
from tagger.formats.plain_text import PlainText
from tagger.formats.search_listing import SearchListing
from tagger.formats.sources import Source, SourceLike, open_source
from tagger.records import Record, Tag

__all__ = [
    "FORMATS",
    "Entry",
    "Reading",
    "read_entries",
    "read_records",
    "summary_line",
    "write_entries",
]

FORMATS: tuple[type[Format], ...] = (
    Parquet,
    AuthorPage,
    SearchListing,
    JsonLines,
    JsonDocument,
    Tsv,
    Csv,
    PlainText,
)
"""Every format, in the order in which a file is asked whether it is one."""


class Reading:
    """The entries of one file: iterate once, then ask what came of it.

    Attributes
    ----------
    name : str
        Name of the file.
    format : str
        Name of the format recognised.
    n_read, n_used, n_skipped : int
        Entries so far; ``n_read == n_used + n_skipped``.
    reasons : Counter of str
        Why entries were skipped, in a few words, and how many.
    """

    def __init__(self, source: Source, kind: type[Format], door: Door) -> None:
        self.name = source.name
        self.format = kind.name
        self.n_read = 0
        self.n_used = 0
        self.reasons: Counter[str] = Counter()
        self._source = source
        self._format = kind(source)
        self._door = door
        self._started = False

    def __iter__(self) -> Iterator[Entry]:
        """Yield the entries in file order."""
        if self._started:
            raise RuntimeError(
                f"The reading of {self.name} was started before; read the file again."
            )
        self._started = True
        return self._entries()

    def __enter__(self) -> Reading:
        """Return the reading; leaving the block closes the file."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file; done by itself when the last entry was read."""
        self._source.close()

    @property
    def n_skipped(self) -> int:
        """Return how many entries could not be used so far."""
        return self.n_read - self.n_used

    @property
    def notes(self) -> list[str]:
        """Return what the user should know, a sentence for each kind."""
        return self._door.notes()

    @property
    def summary_line(self) -> str:
        """Return "read N, used M, skipped K (why)" and the notes."""
        return summary_line([self])

    def write(self, pairs: Iterable[Tagged], target: TargetLike) -> None:
        """Write entries of this reading; see `write_entries`."""
        pairs, tagged = _until_tagged(pairs)
        with open_target(target) as out:
            self._format.write(pairs, out, tagged=tagged)

    def _entries(self) -> Iterator[Entry]:
        """Yield and count the entries, then close the file."""
        try:
            for entry in self._format.read(self._door):
                self.n_read += 1
                if entry.record is None:
                    self.reasons[entry.reason or "not usable"] += 1
                else:
                    self.n_used += 1
                yield entry
        finally:
            self.close()


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
        Packed files (gzip, bz2, xz) are unpacked on the way.
    format : str, optional
        Name of the format, to overrule what the content says.
    encoding : str, optional
        Encoding of the text; UTF-8, or what a byte order mark says.
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
    kind = kinds[format] if format else _recognised(opened)
    return Reading(opened, kind, Door(opened.name, names))


def read_records(
    sources: SourceLike | Sequence[SourceLike],
    *,
    format: str | None = None,
    encoding: str | None = None,
    mapping: Mapping[str, str | Sequence[str]] | None = None,
) -> list[Record]:
    """Return the usable records of one or more files, in file order.

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
    for source in listed:
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

    JSON records get the field ``tags``, tables the columns ``tags`` and
    ``tag_probabilities``; ``model_tags`` and so on where the file uses those
    names for something else. Everything else stays as it came, unusable
    entries too. Plain text and listings, which have no place for tags, are
    written as JSON Lines.

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


def summary_line(readings: Iterable[Reading]) -> str:
    """Return what became of files: "read N, used M, skipped K (why)".

    Notes follow as sentences.
    """
    listed = list(readings)
    read = sum(reading.n_read for reading in listed)
    used = sum(reading.n_used for reading in listed)
    reasons: Counter[str] = Counter()
    for reading in listed:
        reasons += reading.reasons
    why = ", ".join(f"{n:,} {reason}" for reason, n in reasons.most_common())
    line = f"read {read:,}, used {used:,}, skipped {read - used:,}"
    notes = [note for reading in listed for note in reading.notes]
    return " ".join([line + (f" ({why})" if why else "") + "." * bool(notes), *notes])


def _recognised(source: Source) -> type[Format]:
    """Return the format of a file: by content, then by name, else text."""
    if source.head.text.strip():
        for kind in FORMATS:
            if kind.recognise(source.head):
                return kind
    for kind in FORMATS:
        if source.suffix in kind.suffixes:
            return kind
    return PlainText


def _until_tagged(pairs: Iterable[Tagged]) -> tuple[Iterator[Tagged], bool]:
    """Return the pairs, the first read already, and whether any has tags."""
    held: list[Tagged] = []
    coming = iter(pairs)
    for entry, tags in coming:
        held.append((entry, tags))
        if tags is not None:
            return chain(held, coming), True
    return iter(held), False
