"""Options that several commands share: same name, same meaning, defined once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import click

from tagger.errors import RecordError

if TYPE_CHECKING:
    import os

    from tagger.formats import Entry, Reading
    from tagger.records import Record

__all__ = [
    "Mapped",
    "Skipped",
    "each_reading",
    "echo_json",
    "exclusive_option",
    "finish",
    "fit_jobs_option",
    "jobs_option",
    "left_out",
    "model_option",
    "noting_skipped",
    "open_readings",
    "read_all",
    "reading_options",
    "refuse_if_failed",
    "refuse_if_not_json",
    "refuse_if_skipped",
    "refuse_input_twice",
    "seed_option",
    "skipped_option",
    "strict_option",
]

F = TypeVar("F", bound=Callable[..., Any])
Mapped = Mapping[str, Sequence[str]]
"""Field of a record to the names it has in the file; what --map gives."""

model_option = click.option(
    "-m",
    "--model",
    "model_dir",
    metavar="DIR",
    help="Folder of a trained model.  [default: the shipped model]",
)
jobs_option = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Threads that score side by side; same output.",
)
fit_jobs_option = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Fits side by side; same model.",
)
seed_option = click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Of folds and intervals.",
)
unlabelled_option = click.option(
    "--unlabelled",
    multiple=True,
    metavar="FILE",
    help="Records to learn from without their labels, such as a feed: words that "
    "keep company with the keywords come to speak for the themes. May be repeated.",
)
exclusive_option = click.option(
    "--exclusive",
    is_flag=True,
    help="Every record has exactly one theme; one that speaks as much for two gets "
    "none.",
)
skipped_option = click.option(
    "--skipped",
    metavar="FILE",
    help="Name every skipped record there, with file and line (JSON Lines).",
)
strict_option = click.option(
    "--strict",
    is_flag=True,
    help="Fail (exit code 1) if any record was skipped, or held a NaN in JSON.",
)


def reading_options(command: F) -> F:
    """Add the options that say how files are read."""
    for option in (
        click.option(
            "--map",
            "mapping",
            multiple=True,
            metavar="FIELD=NAME",
            callback=_names,
            help="Read FIELD (title, abstract, ...) from the field NAME.",
        ),
        click.option("--encoding", metavar="NAME", help="As of a file in latin-1."),
        click.option(
            "--format",
            "format_",
            metavar="NAME",
            help="Do not guess the format of the files.",
        ),
    ):
        command = option(command)
    return command


def _names(
    context: click.Context, option: click.Parameter, values: Iterable[str]
) -> Mapped:
    from tagger.fields import name_table

    pairs: dict[str, list[str]] = {}
    for value in values:
        field, equals, name = value.partition("=")
        if not equals or not field or not name:
            raise click.BadParameter(f"{value!r} is not like 'abstract=summary'.")
        pairs.setdefault(field, []).append(name)
    try:
        name_table(pairs)
    except RecordError as error:
        raise click.BadParameter(str(error)) from error
    return pairs


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


def read_all(
    sources: Iterable[str | os.PathLike[str]],
    *,
    mapping: Mapped,
    encoding: str | None,
    format_: str | None,
    skipped: str | None = None,
    unlabelled: Sequence[str] = (),
) -> tuple[list[Record], list[Reading]]:
    """Return the usable records of files and folders, and the readings.

    Those of `unlabelled` come last, and without their labels; how many each of its
    files gives is said.
    """
    from dataclasses import replace

    sources = list(sources)
    refuse_input_twice([*sources, *unlabelled])
    records: list[Record] = []
    readings: list[Reading] = []
    with noting_skipped(skipped) as skips:
        for files, with_labels in ((sources, True), (unlabelled, False)):
            for reading in open_readings(
                files, mapping=mapping, encoding=encoding, format_=format_
            ):
                readings.append(reading)
                with_text = 0
                for entry in skips.each(reading):
                    record = entry.record
                    if record is not None and not with_labels:
                        record = replace(record, themes=None, unsure=())
                        with_text += bool(f"{record.title}{record.abstract}".strip())
                    if record is not None:
                        records.append(record)
                if not with_labels:
                    from tagger.cli.notices import tell_learned_from

                    tell_learned_from(reading, with_text)
    return records, readings


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


def echo_json(value: Mapping[str, Any]) -> None:
    """Print one object on one line of standard output."""
    import json

    click.echo(json.dumps(value, ensure_ascii=False))
