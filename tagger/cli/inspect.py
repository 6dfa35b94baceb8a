"""`tagger inspect`: what the model will see of a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from tagger.cli.options import (
    Mapped,
    echo_json,
    finish,
    noting_skipped,
    open_readings,
    reading_options,
    skipped_option,
    strict_option,
    with_progress,
)

if TYPE_CHECKING:
    from tagger.formats import Reading

__all__ = ["inspect"]

_IN_LINES = ("notes", "problems_by_kind", "problems", "sample")


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="[FILE|DIR|-]...")
@click.option(
    "--sample", default=1, show_default=True, help="Records whose text is shown."
)
@reading_options
@skipped_option
@strict_option
def inspect(
    files: tuple[str, ...],
    sample: int,
    mapping: Mapped,
    encoding: str | None,
    format_: str | None,
    skipped: str | None,
    strict: bool,
) -> None:
    """Show what is recognised in a file: format, fields, duplicates, problems.

    A table on a terminal, one JSON object a file in a pipe.

    \b
    Examples:
      tagger inspect new.jsonl
      tagger inspect papers.csv --map abstract=summary --sample 3
    """
    from tagger.inspection import inspect_entries

    readings: list[Reading] = []
    opened = open_readings(files, mapping=mapping, encoding=encoding, format_=format_)
    with noting_skipped(skipped) as skips:
        for reading in opened:
            noted = with_progress(skips.each(reading))
            found = inspect_entries(reading, sample, entries=noted)
            if not sys.stdout.isatty():
                echo_json(found)
            else:
                for line in [*([""] if readings else []), *_table(found)]:
                    click.echo(line)
            readings.append(reading)
    finish(readings, strict=strict)


def _table(found: Mapping[str, Any]) -> Iterator[str]:
    """Give what was found as it is shown on a terminal."""
    for name, value in found.items():
        if name not in _IN_LINES:
            yield f"{name.replace('_', ' '):<24} {_shown(value)}"
    for note in found["notes"]:
        yield f"note: {note}"
    for kind, where in found["problems_by_kind"].items():
        lines = ", ".join(map(str, where["lines"]))
        more = ", ..." if where["records"] > len(where["lines"]) else ""
        yield f"problems ({where['records']:,}): {kind}; at {lines}{more}"
    for problem in found["problems"]:
        yield f"problem: {problem}"
    for record in found["sample"]:
        yield ""
        for name, value in record.items():
            yield f"{name}: {value}"


def _shown(value: object) -> str:
    """Give a value as it is shown in the table."""
    if isinstance(value, dict):
        parts = (f"{key.replace('_', ' ')} {_shown(v)}" for key, v in value.items())
        return ", ".join(parts) or "-"
    if isinstance(value, list):
        parts = (" = ".join(v) if isinstance(v, list) else str(v) for v in value)
        return ", ".join(parts) or "-"
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else str(value)
