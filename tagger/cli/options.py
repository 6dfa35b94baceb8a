"""Options that several commands share: same name, same meaning, defined once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import click

from tagger.errors import RecordError

__all__ = [
    "Mapped",
    "echo_json",
    "exclusive_option",
    "fit_jobs_option",
    "jobs_option",
    "listed_option",
    "model_option",
    "reading_options",
    "seed_option",
    "skipped_option",
    "strict_option",
    "unlabelled_option",
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
listed_option = click.option(
    "--listed",
    multiple=True,
    metavar="FILE",
    help="Records of a reading list: their 'themes' are hints, believed about as much "
    "as a keyword, and what they do not name is left open. May be repeated.",
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


def echo_json(value: Mapping[str, Any]) -> None:
    """Print one object on one line of standard output."""
    import json

    click.echo(json.dumps(value, ensure_ascii=False))
