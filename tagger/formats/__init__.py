"""Reading and writing files of records, whatever their format."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence

from tagger.errors import RecordError
from tagger.formats.appending import append_entries, open_to_append
from tagger.formats.entries import Entry
from tagger.formats.folders import files_in, files_of, walked
from tagger.formats.opening import FORMATS, holds_records, read_entries
from tagger.formats.output import TargetLike, open_target
from tagger.formats.reading import Reading, summary_line
from tagger.formats.sources import SourceLike, suffix_of
from tagger.records import Record, Tag

__all__ = [
    "FORMATS",
    "Entry",
    "Reading",
    "append_entries",
    "files_in",
    "files_of",
    "holds_records",
    "open_target",
    "open_to_append",
    "read_entries",
    "read_records",
    "suffix_of",
    "summary_line",
    "walked",
    "write_entries",
]


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
    for source in files_of(listed):
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
    tagged: bool | None = None,
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
        `reading`.
    target : path, "-" or open binary file
        A path keeps its old content until all is written.
    reading : Reading
        Where the entries come from.
    tagged : bool, optional
        Whether any entry has tags, which decides on the columns of a table. If it
        is not given, the entries before the first with tags are held in memory.

    Raises
    ------
    RecordError
        If the target cannot be written.
    """
    reading.write(pairs, target, tagged=tagged)
