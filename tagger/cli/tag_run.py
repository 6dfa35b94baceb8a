"""What `tagger tag` says about the files that it tags."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tagger.cli.inputs import left_out
from tagger.cli.options import echo_json
from tagger.errors import RecordError, TaggerError

if TYPE_CHECKING:
    from tagger.autotag import Difference
    from tagger.formats import Entry, Reading
    from tagger.records import Tag
    from tagger.tagging import Attempt, Change, Outcome, Tagging

__all__ = ["TagRun"]

_SELDOM = 100_000  # objects; what a few batches are made of


@contextmanager
def _seldom_collecting() -> Iterator[None]:
    """Look seldom for objects that are held by each other alone.

    Records come and go in batches, and hold nothing in a circle: to look through
    them time and again took a tenth of the time of tagging a file.
    """
    before = gc.get_threshold()
    gc.set_threshold(_SELDOM, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@dataclass
class TagRun:
    """The tagging of some files, told as it goes on."""

    tagging: Tagging
    dry_run: bool
    quiet: bool
    counts: Counter[str] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)
    readings: list[Reading] = field(default_factory=list)
    skipped: int = 0
    failed: int = 0

    @_seldom_collecting()
    def watch(self, folder: Path, out: Path, *, once: bool) -> None:
        """Tag the files that come to a folder, and say so for each."""
        self._say(f"watching {folder}; end with Ctrl-C")
        for name, outcome in self._good(self.tagging.arriving(folder, out, once=once)):
            self.skipped += outcome.reading.n_skipped
            self._say(f"{name}: {outcome.reading.summary_line}")

    @_seldom_collecting()
    def many(self, files: tuple[str, ...], out: Path) -> None:
        """Tag files and folders into a folder; a bad file does not stop the rest."""
        from tagger.arrivals import jobs_in
        from tagger.formats import suffix_of
        from tagger.formats.registry import kind_of

        if out.exists() and not out.is_dir() and not self.dry_run:
            raise RecordError(
                f"{out} is a file; several files need a folder for their output."
            )
        if not out.exists() and not self.dry_run and kind_of(suffix_of(out.name)):
            raise RecordError(
                f"{out} is the name of a file, and several files need a folder for "
                "their output; give a name without such an ending, or make a folder "
                "of this name first."
            )
        jobs, others = jobs_in(files, out)
        if not self.quiet:
            left_out(others)
        attempts = self._compared(jobs, out) if self.dry_run else None
        for _, outcome in self._good(attempts or self.tagging.files(jobs, out)):
            self.readings.append(outcome.reading)

    @_seldom_collecting()
    def one(self, source: str, target: str | None) -> None:
        """Tag one file and write it to its place."""
        if self.dry_run:
            outcome = self.tagging.compare(source, target, self._show)
        else:
            outcome = self.tagging.file(source, str(target))
        self._count(outcome)
        self.readings.append(outcome.reading)

    def tell(self) -> None:
        """Say how the records were decided on, and what a dry run would change."""
        shown = ", ".join(f"{n:,} {what}" for what, n in self.counts.most_common())
        self._say(shown or "no records")
        if self.dry_run:
            found = (
                f"{self.changes[k]:,} {k}" for k in ("added", "changed", "removed")
            )
            self._say(
                f"tags: {', '.join(found)}; records that would change: "
                f"{self.changes['records']:,}; nothing was written"
            )

    def _say(self, line: str) -> None:
        if not self.quiet:
            click.echo(line, err=True)

    def _compared(self, jobs: Iterable[Any], out: Path) -> Iterator[Attempt]:
        """Compare files one after the other, the bad ones too."""
        from tagger.arrivals import target_of

        for job in jobs:
            place = partial(target_of, job, out=out)
            try:
                yield job, self.tagging.compare(job.source, place, self._show)
            except (TaggerError, OSError) as error:
                yield job, error

    def _good(self, attempts: Iterable[Attempt]) -> Iterator[tuple[Path, Outcome]]:
        """Yield and count what could be tagged, and say what could not."""
        for job, outcome in attempts:
            if isinstance(outcome, Exception):
                click.echo(f"{job.source}: not tagged: {outcome}", err=True)
                self.failed += 1
            else:
                self._count(outcome)
                yield job.source, outcome

    def _count(self, outcome: Outcome) -> None:
        self.counts += outcome.decided
        if outcome.known:
            self.counts["in OUT already"] += outcome.known

    def _show(self, change: Change) -> None:
        """Print what tagging would change in a record."""
        found, record = change.difference, change.entry.record
        for name in ("added", "changed", "removed"):
            self.changes[name] += len(getattr(found, name))
        self.changes["records"] += 1
        if sys.stdout.isatty() and record is not None:
            name = " ".join(record.title.split())
            click.echo(click.style(f"{record.id}  {name}", bold=True))
            for line in _difference_lines(found):
                click.echo(line)
        else:
            echo_json(_difference_object(change.reading, change.entry, found))


def _difference_lines(found: Difference) -> Iterator[str]:
    """Give a difference as it is shown on a terminal."""
    for tag in found.added:
        yield f"  + {tag.theme:<28} {tag.probability:.2f}"
    for old, new in found.changed:
        yield f"  ~ {new.theme:<28} {old.probability:.2f} -> {new.probability:.2f}"
    for tag in found.removed:
        yield f"  - {tag.theme:<28} {tag.probability:.2f}"


def _difference_object(
    reading: Reading, entry: Entry, found: Difference
) -> dict[str, Any]:
    """Give a difference as it is printed in a pipe."""

    def facts(tag: Tag) -> dict[str, Any]:
        return {"theme": tag.theme, "probability": round(tag.probability, 4)}

    return {
        "file": reading.name,
        "line": entry.line,
        "id": entry.id,
        "added": [facts(tag) for tag in found.added],
        "changed": [
            {**facts(new), "before": round(old.probability, 4)}
            for old, new in found.changed
        ],
        "removed": [facts(tag) for tag in found.removed],
    }
