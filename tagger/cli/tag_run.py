"""The tagging of files, one after the other, and what came of it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tagger.cli.options import Skipped, echo_json, left_out, with_progress
from tagger.errors import RecordError, TaggerError

if TYPE_CHECKING:
    from tagger.arrivals import Job
    from tagger.autotag import Difference, KnownPapers
    from tagger.decide import Decision
    from tagger.formats import Entry, Reading
    from tagger.model import Tagger
    from tagger.records import Record, Tag

__all__ = ["TagRun"]


@dataclass
class TagRun:
    """The tagging of some files with one model, and what came of it."""

    model: Tagger
    stamp: Mapping[str, str]
    how: Mapping[str, Any]
    jobs: int
    overwrite: bool
    update: bool
    dry_run: bool
    skips: Skipped
    counts: Counter[str] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)
    readings: list[Reading] = field(default_factory=list)
    skipped: int = 0
    failed: int = 0

    def watch(self, folder: Path, out: Path, *, once: bool) -> None:
        """Tag the files that come to a folder, and say so for each."""
        from tagger.arrivals import arriving

        click.echo(f"watching {folder}; end with Ctrl-C", err=True)
        for job in arriving(folder, out, once=once):
            if not self._tried(job, out):
                continue
            reading = self.readings.pop()
            self.skipped += reading.n_skipped
            click.echo(f"{job.source}: {reading.summary_line}", err=True)

    def many(self, files: tuple[str, ...], out: Path) -> None:
        """Tag files and folders into a folder; a bad file does not stop the rest."""
        from tagger.arrivals import jobs_in

        if out.exists() and not out.is_dir() and not self.dry_run:
            raise click.ClickException(
                f"{out} is a file; several files need a folder for their output."
            )
        jobs, others = jobs_in(files, out)
        left_out(others)
        for job in jobs:
            self._tried(job, out)

    def one(
        self, source: str | Path, place: Callable[[Reading], str | Path | None]
    ) -> None:
        """Tag one file and write it to its place."""
        from tagger.formats import append_entries, read_entries, write_entries

        with read_entries(source, **self.how) as reading:
            target = place(reading)
            known = self._known(target, reading)
            pairs = self._pairs(reading, source, known)
            if self.dry_run:
                for _ in pairs:
                    pass
            elif known is not None:
                append_entries(
                    pairs,
                    str(target),
                    reading=reading,
                    encoding=self.how["encoding"],
                    mapping=self.how["mapping"],
                )
            else:
                # Said beforehand, lest many that cannot be judged be held in memory.
                write_entries(pairs, str(target), reading=reading, tagged=True)
        self.readings.append(reading)

    def tell(self) -> None:
        """Say how the records were decided on, and what a dry run would change."""
        shown = ", ".join(f"{n:,} {what}" for what, n in self.counts.most_common())
        click.echo(shown or "no records", err=True)
        if self.dry_run:
            found = (
                f"{self.changes[k]:,} {k}" for k in ("added", "changed", "removed")
            )
            click.echo(
                f"tags: {', '.join(found)}; records that would change: "
                f"{self.changes['records']:,}; nothing was written",
                err=True,
            )

    def _tried(self, job: Job, out: Path) -> bool:
        """Tag one file among others; say so if that cannot be done."""
        from tagger.arrivals import target_of

        def place(reading: Reading) -> Path:
            target = target_of(job, reading, out)
            if not self.dry_run:
                target.parent.mkdir(parents=True, exist_ok=True)
            return target

        try:
            self.one(job.source, place)
        except (TaggerError, click.ClickException, OSError) as error:
            click.echo(f"{job.source}: not tagged: {error}", err=True)
            self.failed += 1
            return False
        return True

    def _known(self, target: str | Path | None, reading: Reading) -> KnownPapers | None:
        """Return the papers that the target holds, None if it is to be written."""
        from tagger.autotag import KnownPapers
        from tagger.formats import open_to_append

        if target is None or target == "-" or not Path(target).exists():
            return None
        if not self.update:
            if not self.overwrite and not self.dry_run:
                raise click.ClickException(
                    f"{target} exists already; choose another name, replace it with "
                    "--overwrite, or add the papers it lacks with --update."
                )
            return None
        if Path(target).is_file() and not Path(target).stat().st_size:
            return None
        known = KnownPapers()
        how = {name: self.how[name] for name in ("encoding", "mapping")}
        with open_to_append(target, reading, **how) as held:
            for entry in held:
                if entry.record is not None:
                    known.add(entry.record)
        return known

    def _pairs(
        self, reading: Reading, source: str | Path, known: KnownPapers | None
    ) -> Iterator[tuple[Entry, tuple[Tag, ...] | None]]:
        """Yield the entries to write and their tags."""
        from tagger.autotag import decide_entries, tags_to_write

        entries = with_progress(self.skips.each(reading, source))
        if known is not None:
            entries = known.new_ones(entries)
        decided = 0
        for entry, decision in decide_entries(self.model, entries, jobs=self.jobs):
            if reading.format == "text" and decision.reason == "no_text":
                # A download that failed must not become a paper.
                raise RecordError(
                    f"{reading.name} holds no text, so there is no paper to tag; "
                    "check where it comes from."
                )
            self.counts[_outcome(decision)] += 1
            decided += 1
            tags = tags_to_write(decision, **self.stamp)
            if self.dry_run and entry.record is not None:
                self._compare(reading, entry, entry.record, tags)
            yield entry, tags
        if known is not None:
            self.counts["in OUT already"] += reading.n_used - decided

    def _compare(
        self,
        reading: Reading,
        entry: Entry,
        record: Record,
        tags: tuple[Tag, ...] | None,
    ) -> None:
        """Print what tagging would change in a record."""
        from tagger.autotag import difference

        if tags is None:
            return
        found = difference(reading.tags(entry), reading.tags_after(entry, tags))
        for name in ("added", "changed", "removed"):
            self.changes[name] += len(getattr(found, name))
        self.changes["records"] += bool(found)
        if found and sys.stdout.isatty():
            name = " ".join(record.title.split())
            click.echo(click.style(f"{record.id}  {name}", bold=True))
            for line in _difference_lines(found):
                click.echo(line)
        elif found:
            echo_json(_difference_object(reading, entry, found))


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


def _outcome(decision: Decision) -> str:
    if decision.reason is None:
        return decision.status
    return f"{decision.status} ({decision.reason.replace('_', ' ')})"
