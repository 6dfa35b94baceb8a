"""`tagger inspect`: what the model will see of a file."""

from __future__ import annotations

import sys

import click

from tagger.cli.options import (
    Mapped,
    echo_json,
    finish,
    reading_options,
    strict_option,
)

__all__ = ["inspect"]


@click.command()
@click.argument("file", metavar="FILE|-")
@click.option(
    "--sample", default=1, show_default=True, help="Records whose text is shown."
)
@reading_options
@strict_option
def inspect(
    file: str,
    sample: int,
    mapping: Mapped,
    encoding: str | None,
    format_: str | None,
    strict: bool,
) -> None:
    """Show what is recognised in a file: format, fields, duplicates, problems.

    A table on a terminal, one JSON object in a pipe.

    \b
    Examples:
      tagger inspect new.jsonl
      tagger inspect papers.csv --map abstract=summary --sample 3
    """
    from tagger.formats import read_entries
    from tagger.inspection import inspect_entries

    reading = read_entries(file, format=format_, encoding=encoding, mapping=mapping)
    found = inspect_entries(reading, sample)
    if sys.stdout.isatty():
        for name, value in found.items():
            if name not in ("sample", "problems"):
                click.echo(f"{name.replace('_', ' '):<24} {_shown(value)}")
        for problem in found["problems"]:
            click.echo(f"problem: {problem}")
        for record in found["sample"]:
            click.echo()
            for name, value in record.items():
                click.echo(f"{name}: {value}")
    else:
        echo_json(found)
    finish([reading], strict=strict)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {number}" for key, number in value.items()) or "-"
    return f"{value:,}" if isinstance(value, int) else str(value)
