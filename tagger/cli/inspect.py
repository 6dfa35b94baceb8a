"""`tagger inspect`: what the model will see of a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from tagger.cli.inputs import each_reading, finish, noting_skipped, refuse_if_failed
from tagger.cli.options import (
    Mapped,
    echo_json,
    reading_options,
    skipped_option,
    strict_option,
)
from tagger.cli.progress import with_progress

if TYPE_CHECKING:
    from tagger.formats import Reading

__all__ = ["inspect"]

_NAMES = 23
_LEAST_WIDTH = 40
_IN_LINES = ("notes", "problems_by_kind", "problems", "sample")


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE|DIR|-]...")
@click.option(
    "--sample",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Records whose text is shown.",
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

    A table on a terminal, one JSON object a file in a pipe; - or a pipe into it
    is standard input.

    \b
    Examples:
      tagger inspect new.jsonl
      tagger inspect papers.csv --map abstract=summary --sample 3
    """
    from tagger.inspection import inspect_entries

    if not files:
        if sys.stdin.isatty():
            raise click.UsageError("Give a FILE, or pipe one into the command.")
        files = ("-",)
    shown = 0
    with noting_skipped(skipped) as skips:

        def work(reading: Reading) -> None:
            nonlocal shown
            noted = with_progress(skips.each(reading), reading)
            found = inspect_entries(reading, sample, entries=noted)
            if not sys.stdout.isatty():
                echo_json(found)
            else:
                width = max(_LEAST_WIDTH, get_terminal_size().columns)
                for line in [*([""] if shown else []), *_table(found, width)]:
                    click.echo(line)
            shown += 1

        readings, failed = each_reading(
            files, work, mapping=mapping, encoding=encoding, format_=format_
        )
    finish(readings, strict=strict)
    refuse_if_failed(failed, "read")


def _table(found: Mapping[str, Any], width: int) -> Iterator[str]:
    """Give what was found as it is shown on a terminal of some columns."""
    for name, value in found.items():
        if name not in _IN_LINES:
            yield from _row(name, _shown(value), width)
    for note in found["notes"]:
        yield from _row("note", note, width)
    for kind, where in found["problems_by_kind"].items():
        lines = ", ".join(map(str, where["lines"]))
        more = ", ..." if where["records"] > len(where["lines"]) else ""
        text = f"{where['records']:,} {kind}; at {lines}{more}"
        yield from _row("problems", text, width)
    for problem in found["problems"]:
        yield from _row("problem", problem, width)
    for record in found["sample"]:
        yield ""
        for name, value in record.items():
            yield from _row(name, value, width)


def _row(name: str, text: str, width: int) -> Iterator[str]:
    """Give a name and what belongs to it, beside it on as many lines as need be."""
    lines = wrap(" ".join(text.split()), width - _NAMES - 1, break_on_hyphens=False)
    for number, line in enumerate(lines or ["-"]):
        yield f"{'' if number else name.replace('_', ' '):<{_NAMES}} {line}"


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
