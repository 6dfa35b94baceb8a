"""The files of records in folders."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tagger.errors import RecordError
from tagger.formats.opening import holds_records
from tagger.formats.sources import SourceLike
from tagger.wording import counted

__all__ = ["files_in", "files_of", "no_records", "walked", "why_left_out"]

_MOST_NAMES = 5


def files_in(folder: str | os.PathLike[str]) -> tuple[list[Path], list[Path]]:
    """Return the files of records in a folder, sorted, and what else is there.

    A file is one of records if its content or its name says so. Folders inside
    are searched too; hidden files, and folders behind links, are not. Links that
    lead nowhere, or to a folder, are among the rest: see `why_left_out`.

    Raises
    ------
    RecordError
        If the folder cannot be read.
    """
    records: list[Path] = []
    others: list[Path] = []
    links: list[Path] = []
    for path in sorted(walked(folder, links)):
        (records if holds_records(path) else others).append(path)
    return records, sorted(others + links)


def why_left_out(others: Iterable[str | os.PathLike[str]]) -> list[str]:
    """Say, reason by reason, which of the files in a folder are not read.

    Examples
    --------
    >>> why_left_out(["in/picture.png"])
    ['left out, being of no known format: 1 file, such as in/picture.png']
    """
    files: list[str] = []
    folders: list[str] = []
    dangling: list[str] = []
    for other in others:
        name = os.fspath(other)
        if not os.path.islink(name) or os.path.isfile(name):
            files.append(name)
        else:
            (folders if os.path.isdir(name) else dangling).append(name)
    said = []
    if files:
        n = counted(len(files), "file")
        said.append(f"left out, being of no known format: {n}, such as {files[0]}")
    if folders:
        n = counted(len(folders), "link to a folder", "links to folders")
        said.append(f"left out, for such are not followed: {n}, such as {folders[0]}")
    if dangling:
        n = counted(len(dangling), "link that leads", "links that lead") + " nowhere"
        names = ", ".join(dangling[:_MOST_NAMES])
        more = f" and {len(dangling) - _MOST_NAMES:,} more"
        said.append(f"left out: {n}: {names}{more * (len(dangling) > _MOST_NAMES)}")
    return said


def walked(
    folder: str | os.PathLike[str], links: list[Path] | None = None
) -> Iterator[Path]:
    """Yield the files in a folder and in those inside, the hidden excepted.

    Links that lead nowhere, or to a folder, are added to `links`.
    """
    links = [] if links is None else links

    def refuse(error: OSError) -> None:
        reason = (error.strerror or str(error)).lower()
        raise RecordError(f"{error.filename} cannot be read: {reason}.") from error

    for place, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        links += [link for name in folders if (link := Path(place, name)).is_symlink()]
        for name in names:
            path = Path(place, name)
            if name.startswith("."):
                continue
            if path.is_file():
                yield path
            elif path.is_symlink():
                links.append(path)


def files_of(sources: Sequence[SourceLike]) -> Iterator[SourceLike]:
    """Yield sources, with the files in it for a folder."""
    for source in sources:
        if not isinstance(source, str | os.PathLike) or not os.path.isdir(source):
            yield source
            continue
        records, others = files_in(source)
        if not records:
            raise RecordError(no_records(source, others))
        for sentence in why_left_out(others):
            warnings.warn(f"{source}: {sentence}.", stacklevel=3)
        yield from records


def no_records(
    folder: str | os.PathLike[str], others: Iterable[str | os.PathLike[str]]
) -> str:
    """Say that a folder holds no file of records, and what it holds instead."""
    held = "; ".join(why_left_out(others))
    return f"{folder} holds no file of records" + f" ({held})" * bool(held) + "."
