"""What `tagger train` and `tagger evaluate` say of the records they get."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from tagger.wording import counted

if TYPE_CHECKING:
    from tagger.duplicates import Merged
    from tagger.findings import Findings
    from tagger.formats import Reading
    from tagger.plans import SplitPlan
    from tagger.records import Record
    from tagger.themes import Theme

__all__ = [
    "tell_learned_from",
    "tell_merged",
    "tell_never_given",
    "tell_one_class",
    "tell_seen",
    "tell_without_year",
]

_MOST_NAMES = 10


def tell_learned_from(option: str, reading: Reading, records: Sequence[Record]) -> None:
    """Say how many records are learned from that an option names beside the others."""
    held = counted(reading.n_read, "record")
    n = sum(bool(f"{r.title}{r.abstract}".strip()) for r in records)
    if not reading.n_read:
        said = "holds no record, so nothing is learned from it"
    elif not n:
        said = f"of {held} none has a text to learn from"
    else:
        said = f"{n:,} of {held} {'is' if n == 1 else 'are'} learned from"
    if option == "--listed" and n and not any(record.themes for record in records):
        said += "; none names a theme in 'themes', so that they give no hint"
    click.echo(f"{option} {reading.name}: {said}", err=True)


def tell_merged(merged: Merged, n_records: int) -> None:
    """Say which of so many records were papers that stand twice."""
    if same := n_records - len(merged.records):
        what = counted(
            same, "record is a paper that stands", "records are papers that stand"
        )
        click.echo(f"{what} twice; merged.", err=True)
    for conflict in merged.conflicts:
        click.echo(conflict, err=True)


def tell_never_given(records: Iterable[Record], themes: Sequence[Theme]) -> None:
    """Say which themes have neither a keyword nor a label to be known by."""
    labels = {theme for record in records for theme in record.themes or ()}
    mute = [t.id for t in themes if not t.keywords and t.id not in labels]
    if len(mute) == 1:
        click.echo(
            f"The theme {mute[0]!r} has no keywords and no label: it is never given.",
            err=True,
        )
    elif mute:
        more = f" and {len(mute) - _MOST_NAMES:,} more" * (len(mute) > _MOST_NAMES)
        names = ", ".join(map(repr, mute[:_MOST_NAMES]))
        click.echo(
            f"The themes {names}{more} have no keywords and no label: they are never "
            "given.",
            err=True,
        )


def tell_one_class(records: Iterable[Record], themes: Sequence[Theme]) -> None:
    """Say that --exclusive has nothing to choose from, where that is so."""
    if len(themes) == 1:
        click.echo(
            f"There is one theme, {themes[0].id!r}: with --exclusive every record that "
            "can be judged gets it.",
            err=True,
        )
        return
    labels = [record.themes for record in records if record.themes]
    found = {theme for given in labels for theme in given}
    if len(found) == 1:
        have = counted(len(labels), "labelled record has", "labelled records have")
        click.echo(
            f"{have} the theme {found.pop()!r} and none has another; the other themes "
            "are known by their keywords alone.",
            err=True,
        )


def tell_without_year(records: Iterable[Record], plan: SplitPlan | None) -> None:
    """Say how many labelled records a split by time leaves out for want of a year."""
    if plan is None or plan.kind != "time":
        return
    n = sum(record.themes is not None and record.year is None for record in records)
    if n:
        have = counted(n, "labelled record has", "labelled records have")
        click.echo(
            f"{have} no year, and so {'is' if n == 1 else 'are'} neither trained on "
            "nor tested; give each one in the field 'year'.",
            err=True,
        )


def tell_seen(review: Findings) -> None:
    """Say which records a model was trained on, and what they would change."""
    from tagger.rendering import format_seen

    if n := len(review.overlaps):
        them = "it is" if n == 1 else "they are"
        click.echo(
            f"{counted(n, 'labelled record was', 'labelled records were')} in a "
            f"model's training, or another version or near-copy was; {them} left out "
            "of the figures:",
            err=True,
        )
        for overlap in review.overlaps[:_MOST_NAMES]:
            click.echo(
                f"  {overlap.id} ({overlap.kind} of {overlap.trained_id})", err=True
            )
        if n > _MOST_NAMES:
            more = n - _MOST_NAMES
            click.echo(f"  and {more:,} more (--json names them all)", err=True)
    if review.flattered is not None:
        click.echo(f"\n{format_seen(review.flattered)}")
