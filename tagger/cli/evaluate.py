"""`tagger evaluate`: how far to trust a model, on records it has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from tagger.cli.clusters import fit_cluster_option, fits_on
from tagger.cli.inputs import finish, read_all
from tagger.cli.notices import tell_one_class, tell_seen, tell_without_year
from tagger.cli.options import (
    Mapped,
    exclusive_option,
    fit_jobs_option,
    model_option,
    reading_options,
    seed_option,
    skipped_option,
    strict_option,
    unlabelled_option,
)
from tagger.cli.streams import or_cut_off
from tagger.cli.typed import (
    Limits,
    check_usage,
    read_limits,
    read_other,
    read_plan,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tagger.findings import Findings
    from tagger.plans import SplitPlan
    from tagger.records import Record

__all__ = ["evaluate"]


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="RECORDS...")
@model_option
@click.option(
    "--themes",
    "theme_path",
    metavar="FILE",
    help="Do not score a saved model: train and test on RECORDS, with the themes of "
    "FILE ('shipped' for those in seeds/).",
)
@click.option(
    "--split",
    "plan",
    metavar="SPLIT",
    callback=read_plan,
    help="With --themes: cv:5, holdout:0.2, group:source (or year, venue, subject, "
    "any field: one value left out at a time) or time:2025.  [default: cv:5, or a "
    "fold a paper where they are fewer]",
)
@click.option(
    "--repeat",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Draw the folds or the held-out part this often.",
)
@unlabelled_option
@exclusive_option
@click.option(
    "--compare",
    metavar="OTHER",
    help="Compare with another model (a folder) on the same records, or, with "
    "--themes, with other settings, such as penalty=0.01,semantic=1.",
)
@click.option(
    "--keep-seen",
    is_flag=True,
    help="Also show the figures with the records the model was trained on.",
)
@click.option(
    "--report",
    "report_dir",
    metavar="DIR",
    help="Write report.html, report.md and report.json there.",
)
@click.option(
    "--json", "json_path", metavar="FILE", help="Write all figures as JSON, too."
)
@click.option(
    "--fail-under",
    "limits",
    multiple=True,
    metavar="FIGURE=LEAST",
    callback=read_limits,
    help="Exit with 1 if a figure is smaller, such as micro_f1=0.85.",
)
@seed_option
@fit_jobs_option
@fit_cluster_option
@reading_options
@skipped_option
@strict_option
def evaluate(
    files: tuple[str, ...],
    model_dir: str | None,
    theme_path: str | None,
    plan: SplitPlan | None,
    repeat: int,
    unlabelled: tuple[str, ...],
    exclusive: bool,
    compare: str | None,
    keep_seen: bool,
    report_dir: str | None,
    json_path: str | None,
    limits: Limits,
    seed: int,
    jobs: int,
    cluster: str | None,
    mapping: Mapped,
    encoding: str | None,
    format_: str | None,
    skipped: str | None,
    strict: bool,
) -> None:
    """Print precision, recall and F1 of every theme, on labelled records.

    RECORDS carry labels in 'themes' (a list of theme ids, [] for none), and
    pairs to leave out in 'unsure'. Records that the model was trained on, and
    other versions and near-copies of them, are left out, counted and named.

    \b
    Examples:
      tagger evaluate labelled.jsonl -m my-model --report report
      tagger evaluate labelled.jsonl --themes themes.toml --split group:source
      tagger evaluate labelled.jsonl --fail-under micro_f1=0.85
    """
    import time
    from pathlib import Path

    from tagger.rendering import format_comparison, format_table
    from tagger.report import provenance
    from tagger.resources import resource

    check_usage(
        theme_path,
        model_dir,
        plan,
        repeat,
        bool(unlabelled),
        exclusive,
        keep_seen,
        compare,
        cluster,
    )
    other = None if theme_path is None else read_other(compare)
    started = time.monotonic()
    with fits_on(cluster, jobs):
        records, _, readings = read_all(
            files,
            mapping=mapping,
            encoding=encoding,
            format_=format_,
            skipped=skipped,
            unlabelled=unlabelled,
        )
        if theme_path is None:
            used = model_dir or resource("models/themes")
            review = _of_model(records, model_dir, compare, keep_seen, seed)
        else:
            shipped = theme_path == "shipped"
            used = resource("seeds/themes.toml") if shipped else theme_path
            review = _of_split(
                records,
                used,
                plan,
                other=other,
                names=(compare or "", "as given"),
                repeat=repeat,
                exclusive=exclusive,
                with_curve=report_dir is not None,
                seed=seed,
                jobs=jobs,
            )
    if report_dir is not None or json_path is not None:
        # Before anything is printed: nobody may be there to read that.
        made = provenance(
            [record for record in records if record.themes is not None],
            command=_command(),
            seed=seed,
            seconds=time.monotonic() - started,
            files=[*files, used, *([compare] if compare else [])],
        )
        _write(review.report(title="Held-out report", made=made), report_dir, json_path)
    with or_cut_off():
        click.echo(f"{review.split}\n")
        click.echo(format_table(review.evaluation))
        tell_seen(review)
        if review.comparison is not None:
            click.echo(f"\n{format_comparison(review.comparison)}")
        if report_dir is not None:
            click.echo(f"\nThe report is {Path(report_dir) / 'report.html'}")
    finish(readings, strict=strict)
    _enforce(review, limits)


def _of_model(
    records: list[Record],
    model_dir: str | None,
    compare: str | None,
    keep_seen: bool,
    seed: int,
) -> Findings:
    from tagger.model import load
    from tagger.review import review_model

    return review_model(
        load(model_dir),
        records,
        other=None if compare is None else load(compare),
        names=(compare or "", model_dir or "the shipped model"),
        keep_seen=keep_seen,
        seed=seed,
    )


def _of_split(
    records: list[Record],
    theme_path: str | Path,
    plan: SplitPlan | None,
    *,
    exclusive: bool,
    **options: Any,
) -> Findings:
    import sys

    from tagger.review import review_split
    from tagger.theme_file import read_themes

    def progress(name: str) -> None:
        if sys.stderr.isatty():
            click.echo(f"training without {name}", err=True)

    themes = read_themes(theme_path)
    if exclusive:
        tell_one_class(records, themes)
    tell_without_year(records, plan)
    return review_split(
        records,
        themes,
        plan,
        exclusive=exclusive,
        progress=progress,
        **options,
    )


def _write(
    report: Mapping[str, Any], report_dir: str | None, json_path: str | None
) -> None:
    """Write a report where it was asked for."""
    import json
    from pathlib import Path

    from tagger.report import write_report

    try:
        if report_dir is not None:
            write_report(report, report_dir)
        if json_path is not None:
            text = json.dumps(report, indent=1, ensure_ascii=False, allow_nan=False)
            Path(json_path).write_text(text + "\n", "utf-8")
    except OSError as error:
        where = error.filename or report_dir or json_path
        raise click.FileError(str(where), error.strerror or "") from error


def _command() -> str:
    import shlex
    import sys

    return shlex.join(["tagger", *sys.argv[1:]])


def _enforce(review: Findings, limits: Limits) -> None:
    """Fail with a sentence where a figure is under its limit."""
    short = []
    for name, least in limits.items():
        value = review.evaluation.overall[name].value
        if not value >= least:
            shown = f"{value:.4f}" if value == value else "undefined"
            short.append(f"{name} is {shown}, under {least:g}")
    if short:
        raise click.ClickException(f"{'; '.join(short)}: --fail-under asks for more.")
