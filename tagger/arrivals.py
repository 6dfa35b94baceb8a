"""Which files are to be tagged, and where each one goes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tagger.errors import RecordError
from tagger.formats import Reading, files_in, holds_records, suffix_of, walked
from tagger.formats.folders import no_records
from tagger.formats.packing import PACKED_SUFFIXES

__all__ = ["Job", "arriving", "jobs_in", "places_of", "target_of"]

PAUSE = 1.0
"""Seconds between two looks at a folder; a file that grew in between waits."""


class Job(NamedTuple):
    """A file to tag, and its place under the folder for output."""

    source: Path
    place: Path


def jobs_in(sources: Sequence[str], out: Path) -> tuple[list[Job], list[Path]]:
    """Return a job for each file, those in folders included, and other files.

    What lies under `out` is left out, lest output be tagged again.

    Parameters
    ----------
    sources : sequence of str
        Files and folders.
    out : Path
        Folder for the output.

    Raises
    ------
    RecordError
        If a folder holds no file of records, or two files have one place.
    """
    jobs: dict[Path, Path] = {}
    others: list[Path] = []
    for source in map(Path, sources):
        found = [source]
        if source.is_dir():
            found, unknown = files_in(source)
            found = [path for path in found if not _is_output(path, source, out)]
            others += [p for p in unknown if not _is_output(p, source, out)]
            if not found:
                raise RecordError(no_records(source, others))
        for path in found:
            place = path.relative_to(source) if source.is_dir() else Path(path.name)
            if place in jobs:
                raise RecordError(
                    f"{jobs[place]} and {path} would both be written to {out / place}; "
                    "tag them in two runs."
                )
            jobs[place] = path
    return [Job(source, place) for place, source in jobs.items()], others


def target_of(job: Job, reading: Reading, out: Path) -> Path:
    """Return where the records of a job are written.

    Of a format without a place for tags, ``feed.atom.gz`` becomes
    ``feed.atom.jsonl``.
    """
    if reading.keeps_format:
        return out / job.place
    return out / _as_json_lines(job.place)


def arriving(
    folder: Path, out: Path, *, once: bool, pause: float | None = None
) -> Iterator[Job]:
    """Yield the files of records that come to a folder, when they are whole.

    A file is whole when its size and time did not change between two looks,
    and done when its output is not older. A file that could not be tagged is
    not tried again until it changes.

    Parameters
    ----------
    folder, out : Path
        Folders for input and output.
    once : bool
        Stop after two looks; otherwise never.
    pause : float, optional
        Seconds between two looks; `PAUSE` if not given.
    """
    seen: dict[Path, tuple[int, int]] = {}
    tried: dict[Path, tuple[int, int]] = {}
    looks = 0
    while True:
        for path in sorted(walked(folder)):
            if _is_output(path, folder, out) or not (state := _state(path)):
                continue
            settled, seen[path] = seen.get(path) == state, state
            if not settled or tried.get(path) == state:
                continue
            tried[path] = state
            job = Job(path, path.relative_to(folder))
            if not _is_done(job, state, out) and holds_records(path):
                yield job
        looks += 1
        if once and looks > 1:
            return
        time.sleep(PAUSE if pause is None else pause)


def _is_done(job: Job, state: tuple[int, int], out: Path) -> bool:
    """Tell whether the output of a file is there and not older."""
    found: Iterable[tuple[int, int] | None] = (
        _state(out / place) for place in places_of(job.place)
    )
    return any(output and output[1] >= state[1] for output in found)


def places_of(place: Path) -> tuple[Path, Path]:
    """Return where records may be written: as they came, or as JSON Lines."""
    return place, _as_json_lines(place)


def _as_json_lines(place: Path) -> Path:
    name = place.name
    if name.lower().endswith(PACKED_SUFFIXES):
        name = Path(name).stem
    ending = "" if suffix_of(name) == ".jsonl" else ".jsonl"
    return place.with_name(name + ending)


def _is_output(path: Path, folder: Path, out: Path) -> bool:
    """Tell whether a file in a folder lies under the folder for output."""
    inside, outer = Path(os.path.realpath(out)), Path(os.path.realpath(folder))
    return inside != outer and Path(os.path.realpath(path)).is_relative_to(inside)


def _state(path: Path) -> tuple[int, int] | None:
    """Return size and time of a file; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns
