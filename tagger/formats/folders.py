"""The files of records in folders."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from tagger.errors import RecordError
from tagger.formats.opening import holds_records
from tagger.formats.sources import SourceLike

__all__ = ["files_in", "files_of", "walked"]


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
    for path in sorted(walked(folder)):
        (records if holds_records(path) else others).append(path)
    return records, others


def walked(folder: str | os.PathLike[str]) -> Iterator[Path]:
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


def files_of(sources: Sequence[SourceLike]) -> Iterator[SourceLike]:
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
