"""What `tagger tag --cluster` says about the parts of a data set."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from tagger.cli.inputs import left_out, refuse_if_not_json, refuse_if_skipped
from tagger.cli.progress import parts_line, shown_line
from tagger.errors import RecordError
from tagger.wording import counted

if TYPE_CHECKING:
    from tagger.cluster import PartDone
    from tagger.dataset import Account

__all__ = ["tag_on_cluster"]


def tag_on_cluster(
    source: str,
    out: str,
    *,
    skipped: str | None,
    strict: bool,
    quiet: bool,
    **how: Any,
) -> None:
    """Tag the parts of a data set, and say what came of them.

    Parameters
    ----------
    source, out, **how
        As for `tagger.cluster.tag_dataset`.
    skipped : str or None
        File that names every skipped record, those of earlier runs too.
    strict, quiet : bool
        Fail if a record was skipped; say nothing but what went wrong.
    """
    from tagger.cluster import tag_dataset
    from tagger.formats import open_target
    from tagger.formats.notes import joined_notes

    _refuse_name_of_file(out)
    with open_target(skipped) if skipped else nullcontext() as names:
        parts = tag_dataset(source, out, left_out=None if quiet else left_out, **how)
        done = _followed(parts, quiet=quiet)
        accounts = [part.account for part in done if part.account is not None]
        accounts.sort(key=lambda account: account.place)
        if names is not None:
            _name_skipped(accounts, names)
    read = sum(account.read for account in accounts)
    lost = read - sum(account.used for account in accounts)
    failed = len(done) - len(accounts)
    if not quiet:
        before = sum(part.before for part in done)
        click.echo(
            f"{counted(len(done), 'part')}: {len(accounts) - before:,} tagged, "
            f"{before:,} done before, {failed:,} not tagged",
            err=True,
        )
        click.echo(_listed(account.decided for account in accounts), err=True)
        why = _listed(account.reasons for account in accounts)
        line = f"read {read:,}, used {read - lost:,}, skipped {lost:,}"
        line += f" ({why})" * bool(lost)
        notes = joined_notes((account.place, account.notes) for account in accounts)
        click.echo(" ".join([line + "." * bool(notes), *notes]), err=True)
    if failed:
        raise RecordError(f"{failed:,} of the parts could not be tagged.")
    refuse_if_skipped(lost, strict=strict)
    refuse_if_not_json(sum(account.not_json for account in accounts), strict=strict)


def _refuse_name_of_file(out: str) -> None:
    """Refuse to make a folder with a name that is that of a file."""
    from tagger.formats import suffix_of
    from tagger.formats.registry import kind_of

    name = os.path.basename(out.rstrip("/"))
    if kind_of(suffix_of(name)) and not os.path.exists(out):
        raise RecordError(
            f"{out} is the name of a file, and --cluster writes a folder, for a single "
            "file too; give a name without such an ending, or make a folder of this "
            "name first."
        )


def _followed(parts: Iterable[PartDone], *, quiet: bool) -> list[PartDone]:
    """Return all parts; on the way name the bad ones, and show how far it is."""
    done: list[PartDone] = []
    records = fresh = 0
    started = time.monotonic()
    with shown_line(quiet=quiet) as show:
        for part in parts:
            done.append(part)
            if part.account is None:
                show("")
                click.echo(f"{part.source}: not tagged: {part.error}", err=True)
            if part.before:
                # Time is that of this run, and so are the parts to reckon with.
                started = time.monotonic()
                continue
            fresh += 1
            records += part.account.read if part.account else 0
            seconds = time.monotonic() - started
            show(parts_line(len(done), part.n_parts, fresh, records, seconds))
    return done


def _name_skipped(accounts: Iterable[Account], out: BinaryIO) -> None:
    """Write the skipped records of all parts, as JSON Lines."""
    for account in accounts:
        for record in account.skipped:
            line = json.dumps(record, ensure_ascii=False) + "\n"
            out.write(line.encode("utf-8", "replace"))


def _listed(counts: Iterable[dict[str, int]]) -> str:
    """Return counts of several parts as one list, the largest first."""
    total: Counter[str] = Counter()
    for part in counts:
        total.update(part)
    return ", ".join(f"{n:,} {what}" for what, n in total.most_common()) or "no records"
