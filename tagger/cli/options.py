"""Options that several commands share: same name, same meaning, defined once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tagger.errors import RecordError

if TYPE_CHECKING:
    from tagger.formats import Reading

__all__ = [
    "Mapped",
    "echo_json",
    "finish",
    "jobs_option",
    "model_option",
    "reading_options",
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
strict_option = click.option(
    "--strict", is_flag=True, help="Fail (exit code 1) if any record was skipped."
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


def finish(readings: Iterable[Reading], *, strict: bool) -> None:
    """Say what became of the records; under --strict a skipped one is an error."""
    from tagger.formats import summary_line

    readings = list(readings)
    click.echo(summary_line(readings), err=True)
    skipped = sum(reading.n_skipped for reading in readings)
    if strict and skipped:
        raise RecordError(f"{skipped:,} records were skipped, and --strict is given.")


def echo_json(value: Mapping[str, Any]) -> None:
    """Print one object on one line of standard output."""
    import json

    click.echo(json.dumps(value, ensure_ascii=False))
