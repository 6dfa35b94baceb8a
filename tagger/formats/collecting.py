"""The records of files and folders in one list."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

from tagger.errors import RecordError
from tagger.formats.folders import files_of
from tagger.formats.opening import read_entries
from tagger.formats.sources import SourceLike
from tagger.records import Record
from tagger.wording import counted

__all__ = ["read_records"]


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
            entries = counted(reading.n_read, "entry", "entries")
            raise RecordError(
                f"{reading.name} has {entries}, and none can be used. The first: "
                f"{problem}"
            )
        if problem:
            warnings.warn(f"{reading.name}: {reading.summary_line}", stacklevel=2)
    return records
