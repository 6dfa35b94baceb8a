"""`tagger tag`: add tags to files of records, keeping all else."""

from __future__ import annotations

import sys
from datetime import date as Day
from pathlib import Path
from typing import Any

import click

from tagger.cli.cluster_run import tag_on_cluster
from tagger.cli.clusters import read_address
from tagger.cli.inputs import (
    finish,
    noting_skipped,
    refuse_if_failed,
    refuse_if_skipped,
    refuse_input_twice,
)
from tagger.cli.options import (
    Mapped,
    jobs_option,
    model_option,
    reading_options,
    skipped_option,
    strict_option,
)
from tagger.cli.progress import quiet_option, with_progress
from tagger.cli.tag_run import TagRun

__all__ = ["tag"]


def _day(
    context: click.Context, option: click.Parameter, value: str | None
) -> str | None:
    """Read --date."""
    try:
        return None if value is None else Day.fromisoformat(value).isoformat()
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is no day such as 2026-01-31.") from error


@click.command()
@click.argument("files", nargs=-1, metavar="[IN|-]...")
@click.option(
    "-o",
    "--out",
    metavar="OUT|-",
    help="Where the records go; a folder if there are several files.",
)
@model_option
@click.option("--overwrite", is_flag=True, help="Replace what OUT holds.")
@click.option(
    "--update",
    is_flag=True,
    help="Leave what OUT holds as it is, and add the papers that it lacks.",
)
@click.option(
    "--dry-run", is_flag=True, help="Print what would change, and write nothing."
)
@click.option(
    "--watch",
    metavar="DIR",
    help="Tag each file that comes to DIR; one whose output is not older is done.",
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    callback=read_address,
    help="Share the files of a folder out among the workers of a Dask scheduler, or "
    "of --jobs processes started here: 'local'. OUT is a folder, for one file too.",
)
@click.option("--once", is_flag=True, help="With --watch: stop after what is there.")
@click.option(
    "--date",
    "day",
    callback=_day,
    metavar="DAY",
    help="Day that new tags get, as 2026-01-31.  [default: today]",
)
@jobs_option
@reading_options
@skipped_option
@strict_option
@quiet_option
def tag(
    files: tuple[str, ...],
    out: str | None,
    model_dir: str | None,
    overwrite: bool,
    update: bool,
    dry_run: bool,
    watch: str | None,
    once: bool,
    cluster: str | None,
    day: str | None,
    jobs: int,
    mapping: Mapped,
    encoding: str | None,
    format_: str | None,
    skipped: str | None,
    strict: bool,
    quiet: bool,
) -> None:
    """Write the records of IN to OUT, in their own format, with tags added.

    Everything else stays as it is. Labels given by people are not touched, and
    a tag that a person removed is not given again. A record that cannot be
    judged stays as it came. With --cluster, IN is a folder or a file, OUT a
    folder, both paths or URLs that every worker reaches, and what is done
    already stays when it is run again.

    \b
    Examples:
      tagger tag new.bib -o tagged.bib
      tagger tag feed.atom -o papers.jsonl --update
      tagger tag library/ -o tagged/
      tagger tag parts/ -o tagged/ --cluster local --jobs 4
      gunzip -c new.csv.gz | tagger tag - -o - > tagged.csv
    """
    from tagger.autotag import model_id
    from tagger.model import load
    from tagger.tagging import Existing, Tagging

    _check_usage(files, out, overwrite, update, dry_run, watch, once)
    if cluster is not None and "-" in (*files, out):
        raise click.UsageError(
            f"--cluster needs folders or URLs; '-' is a stream{_if_folder()}."
        )
    reading: dict[str, Any] = {
        "format": format_,
        "encoding": encoding,
        "mapping": mapping,
    }
    if cluster is not None:
        if update or dry_run or watch is not None or len(files) > 1:
            raise click.UsageError("--cluster takes one folder and writes it whole.")
        tag_on_cluster(
            files[0],
            str(out),
            cluster=cluster,
            workers=jobs,
            model=model_dir,
            date=day,
            overwrite=overwrite,
            skipped=skipped,
            strict=strict,
            quiet=quiet,
            **reading,
        )
        return
    replace = overwrite or watch is not None
    existing = Existing.REPLACE if replace else Existing.REFUSE
    # Lines on the same terminal say themselves how far it is.
    silent = quiet or ((dry_run or out == "-") and sys.stdout.isatty())
    with noting_skipped(skipped) as skips:
        run = TagRun(
            Tagging(
                load(model_dir),
                name=model_id(model_dir),
                date=day or Day.today().isoformat(),
                existing=Existing.EXTEND if update else existing,
                jobs=jobs,
                look=lambda reading, name: with_progress(
                    skips.each(reading, name), reading, quiet=silent
                ),
                **reading,
            ),
            dry_run=dry_run,
            quiet=quiet,
        )
        if watch is not None:
            run.watch(Path(watch), Path(str(out)), once=once)
        elif len(files) > 1 or (files[0] != "-" and Path(files[0]).is_dir()):
            run.many(files, Path(out or ""))
        else:
            run.one(files[0], out)
    run.tell()
    if watch is None:
        finish(run.readings, strict=strict, quiet=quiet)
    refuse_if_failed(run.failed, "tagged")
    if watch is not None:
        refuse_if_skipped(run.skipped, strict=strict)


def _check_usage(
    files: tuple[str, ...],
    out: str | None,
    overwrite: bool,
    update: bool,
    dry_run: bool,
    watch: str | None,
    once: bool,
) -> None:
    """Refuse options that do not go together."""
    if out is None and (update or not dry_run):
        raise click.UsageError("Missing option '-o' / '--out'.")
    if bool(files) == (watch is not None):
        raise click.UsageError("Give files or folders, or a folder with --watch.")
    if update and overwrite:
        raise click.UsageError("Use just one of --update and --overwrite.")
    if update and out == "-":
        raise click.UsageError("--update needs a file that it can add to, not '-'.")
    _check_ending(files, out)
    if once and watch is None:
        raise click.UsageError("--once goes with --watch.")
    if watch is not None and dry_run:
        raise click.UsageError("Use just one of --watch and --dry-run.")
    if watch is not None and not Path(watch).is_dir():
        raise click.UsageError(f"{watch} is no folder; --watch needs one.")
    if watch is not None and out and Path(watch).resolve() == Path(out).resolve():
        raise click.UsageError("--watch needs another folder for its output.")
    refuse_input_twice(files)
    if len(files) > 1 and "-" in (*files, out):
        raise click.UsageError(
            f"'-' stands for one file; here are several{_if_folder()}."
        )
    if out == "-" and any(file != "-" and Path(file).is_dir() for file in files):
        raise click.UsageError(
            f"'-' stands for one file; {files[0]} is a folder, which needs a folder "
            "for its output."
        )


def _check_ending(files: tuple[str, ...], out: str | None) -> None:
    """Refuse the name of a spreadsheet or document, unless the input has such a one."""
    from tagger.formats import suffix_of
    from tagger.formats.registry import FOREIGN

    ending = suffix_of(out or "")
    if ending in FOREIGN and ending not in map(suffix_of, files):
        raise click.UsageError(
            f"{out} would be no {FOREIGN[ending]} file: OUT gets the format of IN; "
            "give it the ending of that, such as .csv."
        )


def _if_folder() -> str:
    """Say how to name a folder that is called like standard input, if there is one."""
    return " (the folder of that name is ./-)" if Path("-").is_dir() else ""
