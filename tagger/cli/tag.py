"""`tagger tag`: add tags to files of records, keeping all else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from tagger.cli.options import (
    Mapped,
    finish,
    jobs_option,
    model_option,
    reading_options,
    strict_option,
)

if TYPE_CHECKING:
    from tagger.decide import Decision
    from tagger.formats import Entry
    from tagger.records import Tag

__all__ = ["tag"]


@click.command()
@click.argument("file", metavar="FILE|-")
@click.option(
    "-o", "--out", required=True, metavar="OUT|-", help="Where the records go."
)
@model_option
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")
@jobs_option
@reading_options
@strict_option
def tag(
    file: str,
    out: str,
    model_dir: str | None,
    overwrite: bool,
    jobs: int,
    mapping: Mapped,
    encoding: str | None,
    format_: str | None,
    strict: bool,
) -> None:
    """Write the records of FILE to OUT, in their own format, with tags added.

    Everything else stays as it is, and labels given by people are not touched.

    \b
    Examples:
      tagger tag new.jsonl -o tagged.jsonl
      gunzip -c new.csv.gz | tagger tag - -o - > tagged.csv
    """
    from pathlib import Path

    from tagger.autotag import decide_entries
    from tagger.formats import read_entries, write_entries
    from tagger.model import load

    if out != "-" and not overwrite and Path(out).exists():
        raise click.ClickException(
            f"{out} exists already; choose another name, or replace it with "
            "--overwrite."
        )
    model = load(model_dir)
    reading = read_entries(file, format=format_, encoding=encoding, mapping=mapping)
    counts: Counter[str] = Counter()

    def pairs() -> Iterator[tuple[Entry, tuple[Tag, ...] | None]]:
        for entry, decision in decide_entries(model, reading, jobs=jobs):
            counts[_outcome(decision)] += 1
            yield entry, None if entry.record is None else decision.tags

    write_entries(pairs(), out, reading=reading)
    shown = ", ".join(f"{n:,} {outcome}" for outcome, n in counts.most_common())
    click.echo(shown or "no records", err=True)
    finish([reading], strict=strict)


def _outcome(decision: Decision) -> str:
    if decision.reason is None:
        return decision.status
    return f"{decision.status} ({decision.reason.replace('_', ' ')})"
