"""What a command was told to read, and what it says of that."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import click

from tagger.cli.options import Mapped
from tagger.errors import RecordError

if TYPE_CHECKING:
    from tagger.formats import Entry, Reading
    from tagger.records import Record

__all__ = [
    "Gathered",
    "Skipped",
    "each_reading",
    "finish",
    "left_out",
    "noting_skipped",
    "open_readings",
    "read_all",
    "refuse_if_failed",
    "refuse_if_not_json",
    "refuse_if_skipped",
    "refuse_input_twice",
]


def open_readings(
    sources: Iterable[str | os.PathLike[str]],
    *,
    mapping: Mapped,
    encoding: str | None,
    format_: str | None,
) -> Iterator[Reading]:
    """Open files one after the other, those in folders included."""
    from tagger.formats import read_entries

    for file in _files(sources):
        yield read_entries(file, format=format_, encoding=encoding, mapping=mapping)


def each_reading(
    sources: Sequence[str],
    work: Callable[[Reading], None],
    *,
    mapping: Mapped,
    encoding: str | None,
    format_: str | None,
) -> tuple[list[Reading], int]:
    """Work on the reading of each file; return the readings, and how many failed.

    Of several files, one that is refused is named and does not stop the others. What
    was read of it before counts as read.
    """
    from os.path import isdir

    from tagger.formats import read_entries

    several = len(sources) > 1 or (sources[0] != "-" and isdir(sources[0]))
    readings: list[Reading] = []
    failed = 0
    for file in _files(sources):
        try:
            with read_entries(
                file, format=format_, encoding=encoding, mapping=mapping
            ) as reading:
                readings.append(reading)
                work(reading)
        except RecordError as error:
            if not several:
                raise
            click.echo(f"{file}: not read to its end: {error}", err=True)
            failed += 1
    return readings, failed


def refuse_if_failed(failed: int, done: str) -> None:
    """Fail if some of the files were refused; `done` is what the others are."""
    if failed:
        raise click.ClickException(f"{failed:,} of the files could not be {done}.")


def _files(
    sources: Iterable[str | os.PathLike[str]],
) -> Iterator[str | os.PathLike[str]]:
    """Yield files, and those in folders."""
    from pathlib import Path

    sources = list(sources)
    refuse_input_twice(sources)
    for source in sources:
        files: list[str | os.PathLike[str]] = [source]
        if source != "-" and Path(source).is_dir():
            from tagger.formats import files_in
            from tagger.formats.folders import no_records

            records, others = files_in(source)
            if not records:
                raise RecordError(no_records(source, others))
            left_out(others)
            files = [*records]
        yield from files


def refuse_input_twice(sources: Sequence[str | os.PathLike[str]]) -> None:
    """Refuse to read standard input more than once."""
    if sources.count("-") > 1:
        raise click.UsageError(
            "'-' is standard input, which can be read only once; give it once."
        )


def left_out(others: Iterable[str | os.PathLike[str]]) -> None:
    """Say which files of folders are no files of records."""
    from tagger.formats.folders import why_left_out

    for sentence in why_left_out(others):
        click.echo(sentence, err=True)


class Gathered(NamedTuple):
    """Records of all files, those of reading lists apart, and how they were read."""

    records: list[Record]
    listed: list[Record]
    readings: list[Reading]


def read_all(
    sources: Iterable[str | os.PathLike[str]],
    *,
    mapping: Mapped,
    encoding: str | None,
    format_: str | None,
    skipped: str | None = None,
    unlabelled: Sequence[str] = (),
    listed: Sequence[str] = (),
) -> Gathered:
    """Return the usable records of files and folders, and the readings.

    Those of `unlabelled` stand last, and without their labels; how many each of its
    files, and of those of `listed`, gives is said.
    """
    from dataclasses import replace

    from tagger.cli.notices import tell_learned_from

    sources = list(sources)
    refuse_input_twice([*sources, *unlabelled, *listed])
    found = Gathered([], [], [])
    with noting_skipped(skipped) as skips:
        for option, files in (
            (None, sources),
            ("--unlabelled", unlabelled),
            ("--listed", listed),
        ):
            for reading in open_readings(
                files, mapping=mapping, encoding=encoding, format_=format_
            ):
                found.readings.append(reading)
                entries = skips.each(reading)
                records = [e.record for e in entries if e.record is not None]
                if option == "--unlabelled":
                    records = [replace(r, themes=None, unsure=()) for r in records]
                if option is not None:
                    tell_learned_from(option, reading, records)
                into = found.listed if option == "--listed" else found.records
                into += records
    return found


class Skipped:
    """Notes the entries that cannot be used in a file, if there is one."""

    def __init__(self, out: BinaryIO | None) -> None:
        self._out = out

    def each(
        self, reading: Reading, name: str | os.PathLike[str] | None = None
    ) -> Iterator[Entry]:
        """Yield the entries of a reading and note those that cannot be used."""
        import json

        for entry in reading:
            if self._out and entry.record is None:
                fields = {
                    "file": str(name or reading.name),
                    "line": entry.line,
                    "reason": entry.reason,
                    "problem": entry.problem,
                }
                line = json.dumps(fields, ensure_ascii=False) + "\n"
                self._out.write(line.encode("utf-8", "replace"))
            yield entry


@contextmanager
def noting_skipped(path: str | None) -> Iterator[Skipped]:
    """Give what notes each entry that cannot be used in the file `path`."""
    if path is None:
        yield Skipped(None)
        return
    from tagger.formats import open_target

    with open_target(path) as out:
        yield Skipped(out)


def finish(readings: Iterable[Reading], *, strict: bool, quiet: bool = False) -> None:
    """Say what became of the records; --strict makes a lost one or NaN an error."""
    from tagger.formats import summary_line

    readings = list(readings)
    if not quiet:
        click.echo(summary_line(readings), err=True)
    skipped = sum(reading.n_skipped for reading in readings)
    refuse_if_skipped(skipped, strict=strict)
    refuse_if_not_json(sum(r.n_not_json for r in readings), strict=strict)


def refuse_if_not_json(not_json: int, *, strict: bool) -> None:
    """Fail if records held a NaN in JSON and --strict is given."""
    if strict and not_json:
        from tagger.wording import counted

        hold = counted(not_json, "record holds", "records hold")
        raise RecordError(f"{hold} a NaN, which is no JSON, and --strict is given.")


def refuse_if_skipped(skipped: int, *, strict: bool) -> None:
    """Fail if records were skipped and --strict is given."""
    if strict and skipped:
        from tagger.wording import counted

        were = counted(skipped, "record was", "records were")
        raise RecordError(f"{were} skipped, and --strict is given.")
