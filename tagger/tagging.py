"""Tagging files: read, decided on, written back, and what came of it.

What `tagger tag` does, for Python:

>>> tagging = Tagging(model, name="mine", date="2026-01-31")  # doctest: +SKIP
>>> tagging.file("new.bib", "tagged.bib").decided             # doctest: +SKIP
Counter({'tagged': 7, 'none': 2})
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from tagger.arrivals import Job, arriving, target_of
from tagger.autotag import (
    Difference,
    KnownPapers,
    decide_entries,
    difference,
    tags_to_write,
)
from tagger.decide import Decision
from tagger.errors import RecordError, TaggerError
from tagger.formats import (
    Entry,
    Reading,
    append_entries,
    open_to_append,
    read_entries,
    write_entries,
)
from tagger.model import Tagger
from tagger.records import Tag

__all__ = ["Change", "Existing", "Outcome", "Tagging"]

Look = Callable[[Reading, str | Path], Iterable[Entry]]
Attempt = tuple[Job, "Outcome | TaggerError | OSError"]
"""A file, and what came of it."""


class Existing(Enum):
    """What becomes of a file that stands where output is to go."""

    REFUSE = "refuse"
    REPLACE = "replace"
    EXTEND = "extend"
    """It stays as it is, and gains the papers that it lacks."""


@dataclass(frozen=True, slots=True)
class Change:
    """What tagging would change in one record of a file."""

    reading: Reading
    entry: Entry
    difference: Difference


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a file.

    Parameters
    ----------
    reading : Reading
        Read to its end: how many records were read, used and skipped, and why.
    decided : Counter of str
        How many records had each outcome: ``"tagged"``, ``"none"``,
        ``"abstained (language)"`` and so on.
    known : int
        Records left out because the target held them already.
    """

    reading: Reading
    decided: Counter[str]
    known: int = 0


def _as_they_come(reading: Reading, source: str | Path) -> Iterable[Entry]:
    return reading


@dataclass(frozen=True)
class Tagging:
    """Tags files with one model, each written whole or not at all.

    Parameters
    ----------
    model : Tagger
    name : str, optional
        Id of the model that its tags get; see `tagger.autotag.model_id`.
    date : str, optional
        Day that new tags get, as ``"2026-01-31"``.
    existing : Existing, default=Existing.REFUSE
        What becomes of a file that stands where output is to go.
    jobs : int, default=1
        Threads that score side by side; >= 1. Changes no byte.
    look : callable, optional
        Gets each reading and the name of its file, and gives its entries: the
        place to count or note them as they pass.
    format, encoding, mapping
        As for `tagger.formats.read_entries`.
    """

    model: Tagger
    name: str | None = None
    date: str | None = None
    existing: Existing = Existing.REFUSE
    jobs: int = 1
    look: Look = _as_they_come
    format: str | None = None
    encoding: str | None = None
    mapping: Mapping[str, str | Sequence[str]] | None = None

    def file(self, source: str | Path, target: str | Path) -> Outcome:
        """Tag one file.

        Parameters
        ----------
        source, target : path or "-"
            The target may be the source itself.

        Raises
        ------
        RecordError
            If the source cannot be read or the target not be written.
        """
        return self._file(source, lambda _: target)

    def files(self, jobs: Iterable[Job], out: Path) -> Iterator[Attempt]:
        """Tag files into a folder, one after the other as they are asked for.

        One that cannot be tagged does not stop the others.

        Parameters
        ----------
        jobs : iterable of Job
            As `tagger.arrivals.jobs_in` gives them.
        out : Path
            Folder for the output; made if need be.

        Yields
        ------
        attempt : (Job, Outcome or exception)
        """
        for job in jobs:
            try:
                yield job, self.job(job, out)
            except (TaggerError, OSError) as error:
                yield job, error

    def job(self, job: Job, out: Path) -> Outcome:
        """Tag one file into its place in a folder."""

        def place(reading: Reading) -> Path:
            target = target_of(job, reading, out)
            target.parent.mkdir(parents=True, exist_ok=True)
            return target

        return self._file(job.source, place)

    def arriving(self, folder: Path, out: Path, *, once: bool) -> Iterator[Attempt]:
        """Tag the files that come to a folder; see `tagger.arrivals.arriving`."""
        return self.files(arriving(folder, out, once=once), out)

    def compare(
        self,
        source: str | Path,
        target: str | Path | Callable[[Reading], Path] | None,
        found: Callable[[Change], object],
    ) -> Outcome:
        """Say what tagging a file would change, and write nothing.

        Parameters
        ----------
        source : path or "-"
        target : path, or callable that gives it, or None
            What it holds counts only if it is to be extended.
        found : callable
            Gets each change, in file order.
        """
        with self._open(source) as reading:
            place = target(reading) if callable(target) else target
            known = self._known(place, reading)
            outcome = Outcome(reading, Counter())
            for entry, tags in self._pairs(reading, source, known, outcome.decided):
                if tags is None or entry.record is None:
                    continue
                before, after = reading.tags(entry), reading.tags_after(entry, tags)
                if changed := difference(before, after):
                    found(Change(reading, entry, changed))
        return self._counted(outcome, known)

    def _open(self, source: str | Path) -> Reading:
        return read_entries(
            source, format=self.format, encoding=self.encoding, mapping=self.mapping
        )

    def _file(
        self, source: str | Path, place: Callable[[Reading], str | Path]
    ) -> Outcome:
        """Tag one file and write it to its place."""
        with self._open(source) as reading:
            target = place(reading)
            if self.existing is Existing.REFUSE and _stands(target):
                raise RecordError(
                    f"{target} exists already; choose another name, replace it with "
                    "--overwrite, or add the papers it lacks with --update."
                )
            known = self._known(target, reading)
            outcome = Outcome(reading, Counter())
            pairs = self._pairs(reading, source, known, outcome.decided)
            if known is not None:
                append_entries(
                    pairs,
                    target,
                    reading=reading,
                    encoding=self.encoding,
                    mapping=self.mapping,
                )
            else:
                # Said beforehand, lest many that cannot be judged be held in memory.
                write_entries(pairs, target, reading=reading, tagged=True)
        return self._counted(outcome, known)

    def _known(self, target: str | Path | None, reading: Reading) -> KnownPapers | None:
        """Return the papers that the target holds, None if it is to be written."""
        if self.existing is not Existing.EXTEND or not _stands(target):
            return None
        if Path(str(target)).is_file() and not Path(str(target)).stat().st_size:
            return None
        known = KnownPapers()
        with open_to_append(
            str(target), reading, encoding=self.encoding, mapping=self.mapping
        ) as held:
            for entry in held:
                if entry.record is not None:
                    known.add(entry.record)
        return known

    def _pairs(
        self,
        reading: Reading,
        source: str | Path,
        known: KnownPapers | None,
        decided: Counter[str],
    ) -> Iterator[tuple[Entry, tuple[Tag, ...] | None]]:
        """Yield the entries to write and their tags, counted."""
        entries = self.look(reading, source)
        if known is not None:
            entries = known.new_ones(entries)
        for entry, decision in decide_entries(self.model, entries, jobs=self.jobs):
            if reading.format == "text" and decision.reason == "no_text":
                # A download that failed must not become a paper.
                raise RecordError(
                    f"{reading.name} holds no text, so there is no paper to tag; "
                    "check where it comes from."
                )
            decided[_outcome(decision)] += 1
            yield entry, tags_to_write(decision, model=self.name, date=self.date)

    @staticmethod
    def _counted(outcome: Outcome, known: KnownPapers | None) -> Outcome:
        """Return the outcome with the records that the target held."""
        if known is None:
            return outcome
        left = outcome.reading.n_used - outcome.decided.total()
        return Outcome(outcome.reading, outcome.decided, left)


def _stands(target: str | Path | None) -> bool:
    """Tell whether something stands where output is to go."""
    return target is not None and target != "-" and Path(target).exists()


def _outcome(decision: Decision) -> str:
    """Return the outcome of a decision, in words to count by."""
    if decision.reason is None:
        return decision.status
    return f"{decision.status} ({decision.reason.replace('_', ' ')})"
