"""`tagger train`: learn themes from a theme file and labelled records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tagger.cli.clusters import fit_cluster_option, fits_on
from tagger.cli.inputs import finish, read_all
from tagger.cli.notices import tell_merged, tell_never_given, tell_one_class
from tagger.cli.options import (
    Mapped,
    exclusive_option,
    fit_jobs_option,
    listed_option,
    reading_options,
    seed_option,
    skipped_option,
    strict_option,
    unlabelled_option,
)
from tagger.cli.streams import or_cut_off, or_said_aside
from tagger.cli.typed import check_exclusive
from tagger.wording import counted

if TYPE_CHECKING:
    from tagger.model import Tagger

__all__ = ["train"]


@click.command()
@click.argument("files", nargs=-1, metavar="[RECORDS]...")
@click.option(
    "--themes",
    "theme_path",
    metavar="FILE",
    help="Theme file (TOML).  [default: the 26 themes in seeds/]",
)
@click.option(
    "-o",
    "--out",
    default="my-model",
    show_default=True,
    metavar="DIR",
    help="Where the model goes.",
)
@click.option("--overwrite", is_flag=True, help="Replace a model that stands in DIR.")
@unlabelled_option
@listed_option
@exclusive_option
@click.option(
    "--min-precision",
    type=click.FloatRange(0, 1),
    help="Choose thresholds for this precision instead of the best F1.",
)
@click.option(
    "--min-recall",
    type=click.FloatRange(0, 1),
    help="Choose thresholds for this recall instead of the best F1.",
)
@seed_option
@fit_jobs_option
@fit_cluster_option
@reading_options
@skipped_option
@strict_option
def train(
    files: tuple[str, ...],
    theme_path: str | None,
    out: str,
    overwrite: bool,
    unlabelled: tuple[str, ...],
    listed: tuple[str, ...],
    exclusive: bool,
    min_precision: float | None,
    min_recall: float | None,
    seed: int,
    jobs: int,
    cluster: str | None,
    mapping: Mapped,
    encoding: str | None,
    format_: str | None,
    skipped: str | None,
    strict: bool,
) -> None:
    """Train a model, save it, and print how it does on held-out records.

    RECORDS carry labels in the field 'themes': a list of theme ids, empty
    where none applies. Without arguments the starter set in seeds/ is learned.
    With a theme file alone (--themes, no records) the keywords are the model.
    Records without labels help too, thousands of them most: see --unlabelled.
    So does a reading list, whose headings are less than labels: see --listed.

    \b
    Examples:
      tagger train
      tagger train labelled.jsonl --themes themes.toml -o my-model
      tagger train --themes themes.toml --unlabelled feed.xml -o my-model
      tagger train labelled.jsonl --themes themes.toml --cluster local --jobs 4
    """
    from pathlib import Path

    from tagger.calibration import Target
    from tagger.card import model_card
    from tagger.duplicates import merge_same
    from tagger.model import save
    from tagger.rendering import format_gain, format_table
    from tagger.resources import resource
    from tagger.theme_file import read_themes
    from tagger.training import train_held_out

    check_exclusive(bool(unlabelled or listed), exclusive)
    if min_precision is not None and min_recall is not None:
        raise click.UsageError("Use just one of --min-precision and --min-recall.")
    if Path(out).exists() and not overwrite:
        raise click.ClickException(
            f"{out} exists already; choose another place with -o, or replace it with "
            "--overwrite."
        )
    sources: tuple[str | Path, ...] = files
    if not files and theme_path is None:
        sources = (resource("seeds/records.jsonl"),)
    themes = read_themes(theme_path or resource("seeds/themes.toml"))
    with fits_on(cluster, jobs):
        records, hints, readings = read_all(
            sources,
            mapping=mapping,
            encoding=encoding,
            format_=format_,
            skipped=skipped,
            unlabelled=unlabelled,
            listed=listed,
        )
        merged = merge_same(records)
        tell_merged(merged, len(records))
        tell_never_given([*merged.records, *hints], themes)
        if exclusive:
            tell_one_class(merged.records, themes)
        model, held_out = train_held_out(
            merged.records,
            themes,
            listed=hints,
            target=Target(min_precision, min_recall),
            exclusive=exclusive,
            seed=seed,
            jobs=jobs,
        )
    if passed := len(hints) - model.facts["trained_on"]["n_listed"]:
        what = counted(passed, "record of a list is", "records of lists are")
        click.echo(
            f"{what} labelled too, and passed over, or listed twice, and merged.",
            err=True,
        )
    save(model, out, texts={"README.md": model_card(model)}, overwrite=overwrite)
    with or_cut_off(), or_said_aside(f"The model is in {out} all the same."):
        if held_out is None:
            labelled = any(record.themes is not None for record in merged.records)
            click.echo(_without_figures(model, labelled))
        else:
            folds = len(held_out.parts)
            click.echo(f"Held-out figures ({folds}-fold cross-validation)\n")
            evaluation = held_out.evaluate(seed=seed)
            click.echo(f"{format_table(evaluation)}\n\n{format_gain(evaluation)}")
        click.echo(
            f"\nThe model is in {out}; use it with: tagger predict -m {out} FILE"
        )
    if readings:
        finish(readings, strict=strict)


def _without_figures(model: Tagger, labelled: bool) -> str:
    """Say why there are no figures, and what the model is made of."""
    if labelled:
        return "Too few labelled papers to hold any out: there are no figures."
    facts = model.facts["trained_on"]
    *first, last = ["what the theme file says"] + [
        counted(n, f"record {what} shows", f"records {what} show")
        for what, n in (
            ("without labels", facts["n_unlabelled"]),
            ("of lists", facts["n_listed"]),
        )
        if n
    ]
    parts = [*first, f"and {last}"] if first else [last]
    return f"No labelled records: the model is {', '.join(parts)}."
