"""How far a command is: a line on a terminal, nothing anywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from tagger.formats import Entry, Reading

__all__ = [
    "parts_line",
    "progress_line",
    "quiet_option",
    "shown_line",
    "with_progress",
]

_PAUSE = 0.2
"""Seconds between two looks of the line."""

quiet_option = click.option(
    "-q", "--quiet", is_flag=True, help="Say nothing but what went wrong."
)


def with_progress(
    entries: Iterable[Entry], reading: Reading, *, quiet: bool = False
) -> Iterator[Entry]:
    """Yield the entries of a reading and, on a terminal, show how far that is.

    The line says how many records came, how many in a second and, where the size
    of the file is known, how long the rest will take. It is gone at the end.
    """
    if quiet or not _is_terminal():
        yield from entries
        return
    started = shown = time.monotonic()
    with shown_line() as show:
        for number, entry in enumerate(entries, start=1):
            now = time.monotonic()
            if now - shown > _PAUSE:
                seconds = now - started
                show(progress_line(reading.name, number, seconds, reading.share))
                shown = now
            yield entry


@contextmanager
def shown_line(*, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Give what shows a line in place of the last; at the end it is gone."""

    def show(line: str) -> None:
        click.echo(f"\r{line}\x1b[K", nl=False, err=True)

    if quiet or not _is_terminal():
        yield lambda _: None
        return
    try:
        yield show
    finally:
        show("")


def progress_line(
    name: str, done: int, seconds: float, share: float | None = None
) -> str:
    """Say how much is done, how fast, and what is left.

    Parameters
    ----------
    name : str
        Of what is worked on.
    done : int
        Records so far.
    seconds : float
        Since the start; > 0.
    share : float, optional
        Part of the whole that is done, from 0 to 1.

    Examples
    --------
    >>> progress_line("new.jsonl", 50_000, 2.0, 0.25)
    'new.jsonl: 50,000 records, 25,000/s, 25 %, 6 s left'
    >>> progress_line("stdin", 50, 2.0)
    'stdin: 50 records, 25/s'
    """
    from tagger.wording import counted

    line = f"{name}: {counted(done, 'record')}, {done / seconds:,.0f}/s"
    # Some formats are read whole before the first record comes.
    if share and share < 1:
        left = seconds * (1 - share) / share
        line += f", {100 * share:.0f} %, {_clock(left)} left"
    return line


def parts_line(
    done: int, n_parts: int, fresh: int, records: int, seconds: float
) -> str:
    """Say how many parts of a data set are done, and how long the rest will take.

    Parameters
    ----------
    done, n_parts : int
        Parts that are done, and all.
    fresh : int
        Parts done by this run.
    records : int
        Records of those.
    seconds : float
        Since this run started.

    Examples
    --------
    >>> parts_line(3, 5, 2, 50_000, 4.0)
    '3 of 5 parts, 12,500 records/s, 4 s left'
    """
    from tagger.wording import counted

    left = seconds * (n_parts - done) / fresh
    rate = records / max(seconds, 1e-9)
    parts = counted(n_parts, "part")
    return f"{done:,} of {parts}, {rate:,.0f} records/s, {_clock(left)} left"


def _clock(seconds: float) -> str:
    """Return a time as a clock shows it, seconds alone below a minute."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{rest:02}"
    return f"{minutes}:{rest:02}" if minutes else f"{rest} s"


def _is_terminal() -> bool:
    return sys.stderr.isatty()
