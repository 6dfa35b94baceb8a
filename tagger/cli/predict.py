"""`tagger predict`: say which themes papers are about."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from tagger.cli.inputs import each_reading, finish, noting_skipped, refuse_if_failed
from tagger.cli.options import (
    Mapped,
    echo_json,
    jobs_option,
    model_option,
    reading_options,
    skipped_option,
    strict_option,
)
from tagger.cli.progress import quiet_option, with_progress

if TYPE_CHECKING:
    from tagger.decide import Decision
    from tagger.formats import Entry, Reading
    from tagger.model import Tagger
    from tagger.records import Record

__all__ = ["predict"]


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE|DIR|-]...")
@model_option
@click.option(
    "--evidence", is_flag=True, help="Say how much each word spoke for each theme."
)
@click.option(
    "--all", "everything", is_flag=True, help="Give the probability of every theme."
)
@click.option(
    "--output",
    type=click.Choice(["auto", "table", "jsonl"]),
    default="auto",
    show_default=True,
    help="auto: a table on a terminal, JSON Lines in a pipe.",
)
@jobs_option
@reading_options
@skipped_option
@strict_option
@quiet_option
def predict(
    files: tuple[str, ...],
    model_dir: str | None,
    evidence: bool,
    everything: bool,
    output: str,
    jobs: int,
    mapping: Mapped,
    encoding: str | None,
    format_: str | None,
    skipped: str | None,
    strict: bool,
    quiet: bool,
) -> None:
    """Say which themes papers are about.

    FILE is one abstract (text; a title may stand above it, then a blank line) or
    a file of many records in any known format, DIR a folder of such files; - or
    nothing is standard input.

    \b
    Examples:
      tagger predict abstract.txt
      cat new.jsonl | tagger predict --evidence > tags.jsonl
    """
    from tagger.autotag import decide_entries
    from tagger.model import load

    model = load(model_dir)
    table = output == "table" or (output == "auto" and sys.stdout.isatty())
    with noting_skipped(skipped) as skips:

        def work(reading: Reading) -> None:
            # Lines on the same terminal say themselves how far it is.
            silent = quiet or sys.stdout.isatty()
            entries = with_progress(skips.each(reading), reading, quiet=silent)
            for entry, decision in decide_entries(model, entries, jobs=jobs):
                if table:
                    for line in _lines(model, entry, decision, evidence, everything):
                        click.echo(line)
                else:
                    echo_json(_object(model, entry, decision, evidence, everything))

        readings, failed = each_reading(
            files or ("-",), work, mapping=mapping, encoding=encoding, format_=format_
        )
    finish(readings, strict=strict, quiet=quiet)
    refuse_if_failed(failed, "read")


def _object(
    model: Tagger, entry: Entry, decision: Decision, evidence: bool, everything: bool
) -> dict[str, Any]:
    """Give a decision as it is printed in a pipe."""
    tags = []
    for tag in decision.tags:
        shown: dict[str, Any] = {
            "theme": tag.theme,
            "probability": round(tag.probability, 4),
        }
        if evidence and entry.record is not None:
            shown["evidence"] = _evidence(model, entry.record, tag.theme)
        tags.append(shown)
    result: dict[str, Any] = {
        "id": decision.id,
        "title": decision.title or None,
        "status": decision.status,
        "reason": decision.reason,
        "tags": tags,
    }
    if entry.problem is not None:
        result["problem"] = entry.problem
    if everything:
        result["probabilities"] = {
            theme: round(p, 4)
            for theme, p in zip(model.theme_ids, decision.probabilities, strict=False)
        }
    return result


def _evidence(model: Tagger, record: Record, theme: str) -> list[dict[str, Any]]:
    return [phrase.to_dict() for phrase in model.explain(record, theme).phrases]


def _lines(
    model: Tagger, entry: Entry, decision: Decision, evidence: bool, everything: bool
) -> Iterator[str]:
    """Give a decision as it is shown on a terminal."""
    name = " ".join(decision.title.split()) or decision.id
    yield click.style(name, bold=True)
    if decision.status == "abstained":
        why = entry.problem or (decision.reason or "").replace("_", " ")
        yield f"  cannot say: {why}"
    elif not decision.tags:
        best = max(range(len(model.themes)), key=decision.probabilities.__getitem__)
        near = f"{model.theme_ids[best]} {decision.probabilities[best]:.2f}"
        themes = f"{len(model.themes)} theme{'s' * (len(model.themes) != 1)}"
        yield f"  none of the {themes} (nearest: {near})"
    for tag in decision.tags:
        said = () if entry.record is None else _evidence(model, entry.record, tag.theme)
        seen = dict.fromkeys(" ".join(phrase["text"].split()) for phrase in said)
        words = ", ".join(list(seen)[:5])
        yield f"  {tag.theme:<28} {tag.probability:.2f}  {words}"
        for phrase in said if evidence else ():
            text = " ".join(phrase["text"].split())
            yield f"    {phrase['contribution']:+.2f}  {phrase['field']}: {text}"
    if everything:
        given = {tag.theme for tag in decision.tags}
        of_all = zip(model.theme_ids, decision.probabilities, strict=False)
        for theme, p in sorted(of_all, key=lambda pair: -pair[1]):
            if theme not in given:
                yield f"  {theme:<28} {p:.2f}  not given"
