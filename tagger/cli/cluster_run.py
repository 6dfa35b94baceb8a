"""What `tagger tag --cluster` says about the parts of a data set."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from tagger.cli.progress import parts_line, shown_line
from tagger.errors import RecordError

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

    done = _followed(tag_dataset(source, out, **how), quiet=quiet)
    accounts = [part.account for part in done if part.account is not None]
    accounts.sort(key=lambda account: account.place)
    if skipped is not None:
        _name_skipped(accounts, skipped)
    read = sum(account.read for account in accounts)
    lost = read - sum(account.used for account in accounts)
    failed = len(done) - len(accounts)
    if not quiet:
        before = sum(part.before for part in done)
        click.echo(
            f"{len(done):,} parts: {len(accounts) - before:,} tagged, {before:,} done "
            f"before, {failed:,} not tagged",
            err=True,
        )
        click.echo(_listed(account.decided for account in accounts), err=True)
        why = _listed(account.reasons for account in accounts)
        line = f"read {read:,}, used {read - lost:,}, skipped {lost:,}"
        click.echo(line + f" ({why})" * bool(lost), err=True)
    if failed:
        raise RecordError(f"{failed:,} of the parts could not be tagged.")
    if strict and lost:
        raise RecordError(f"{lost:,} records were skipped, and --strict is given.")


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


def _name_skipped(accounts: Iterable[Account], path: str) -> None:
    """Write the skipped records of all parts to a file, as JSON Lines."""
    from tagger.formats import open_target

    with open_target(path) as out:
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
