"""The reading of one file: its entries, and what came of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from types import TracebackType
from typing import TYPE_CHECKING

from tagger.formats.entries import Door, Entry, Format, KeepsTags, Tagged
from tagger.formats.registry import FOREIGN, Kind, kind_of
from tagger.formats.sources import Source, suffix_of
from tagger.records import Tag

if TYPE_CHECKING:
    from tagger.formats.history import History
    from tagger.formats.output import TargetLike

__all__ = ["Reading", "summary_line", "write_entries"]


class Reading:
    """The entries of one file: iterate once, then ask what came of it.

    Attributes
    ----------
    name : str
        Name of the file.
    format : str
        Name of the format recognised.
    recognised_by : str
        By what: ``"content"``, ``"name"``, ``"option"`` (the user said it) or
        ``"default"`` (text is what nothing else is).
    keeps_format : bool
        False if the format has no place for tags: `write` then gives JSON
        Lines.
    encoding : str
        Encoding of the text.
    n_read, n_used, n_skipped : int
        Entries so far; ``n_read == n_used + n_skipped``.
    reasons : Counter of str
        Why entries were skipped, in a few words, and how many.
    """

    def __init__(
        self, source: Source, kind: Kind, recognised_by: str, door: Door
    ) -> None:
        self.name = source.name
        self.format = kind.name
        self.recognised_by = recognised_by
        self.encoding = source.encoding
        self.n_read = 0
        self.n_used = 0
        self.reasons: Counter[str] = Counter()
        self._source = source
        self._format: Format = kind.load()(source)
        self._keeper = self._format if isinstance(self._format, KeepsTags) else None
        self.keeps_format = self._keeper is not None
        self._door = door
        self._started = False

    def __iter__(self) -> Iterator[Entry]:
        """Yield the entries in file order."""
        if self._started:
            raise RuntimeError(
                f"The reading of {self.name} was started before; read the file again."
            )
        self._started = True
        return self._entries()

    def __enter__(self) -> Reading:
        """Return the reading; leaving the block closes the file."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file; done by itself when the last entry was read."""
        self._source.close()

    @property
    def n_skipped(self) -> int:
        """Return how many entries could not be used so far."""
        return self.n_read - self.n_used

    @property
    def share(self) -> float | None:
        """Return how much of the file was read, from 0 to 1; None if unknown."""
        rows = getattr(self._format, "n_rows", None)
        return self.n_read / rows if rows else self._source.share

    @property
    def n_not_json(self) -> int:
        """Return how many records of JSON hold a NaN, which JSON does not have."""
        is_json = self.format in ("json", "jsonl")
        return self._door.noted("with a NaN, read as missing") if is_json else 0

    @property
    def kinds(self) -> Counter[str]:
        """Return how many records are of a known shape: ``"OpenAlex work"``."""
        return self._door.kinds

    @property
    def notes(self) -> list[str]:
        """Return what the user should know, a sentence for each kind."""
        return [*self._source.notes(), *self._door.notes()]

    @property
    def summary_line(self) -> str:
        """Return "read N, used M, skipped K (why)" and the notes."""
        return summary_line([self])

    @property
    def layout(self) -> Format:
        """Return what knows how the file is set out."""
        return self._format

    def tags(self, entry: Entry) -> tuple[Tag, ...]:
        """Return the tags that an entry has in the file, a person's first."""
        return self._history(entry).tags if entry.record else ()

    def tags_after(self, entry: Entry, tags: Sequence[Tag]) -> tuple[Tag, ...]:
        """Return the tags that an entry has once `tags` are written to it."""
        from tagger.formats.history import retagged

        return retagged(self._history(entry), tags).tags if entry.record else ()

    def write(
        self, pairs: Iterable[Tagged], target: TargetLike, *, tagged: bool | None = None
    ) -> None:
        """Write entries of this reading; see `write_entries`."""
        from tagger.formats.history import telling_of_kept_out
        from tagger.formats.json_lines import write_as_json_lines
        from tagger.formats.output import open_target

        if tagged is None:
            pairs, tagged = _until_tagged(pairs)
        else:
            # The columns of a table are known once its first row is read.
            pairs = iter(pairs)
            pairs = chain([pair for pair in [next(pairs, None)] if pair], pairs)
        with open_target(target) as out, telling_of_kept_out(self._note_kept_out):
            if self._keeper:
                self._keeper.write(pairs, out, tagged=tagged)
            else:
                write_as_json_lines(pairs, out)
        self._look_at_name(target)

    def _note_kept_out(self) -> None:
        """Note that a record is written without a tag that the model gave."""
        self._door.count("with a tag kept out, since somebody removed it")

    def _look_at_name(self, target: TargetLike) -> None:
        """Note that the name of a file written says another format than it has."""
        if not isinstance(target, str | os.PathLike) or target == "-":
            return
        written = self.format if self.keeps_format else "jsonl"
        suffix = suffix_of(os.fspath(target))
        kind = kind_of(suffix)
        says = kind.name if kind else FOREIGN.get(suffix, written)
        if says != written:
            self._door.remarks.append(
                f"{os.path.basename(target)} was written as {written}, though its name "
                f"says {says}."
            )

    def _history(self, entry: Entry) -> History:
        """Return the tags of an entry; none where there is no place for them."""
        from tagger.formats.history import History

        return self._keeper.history(entry) if self._keeper else History()

    def _entries(self) -> Iterator[Entry]:
        """Yield and count the entries, then close the file."""
        try:
            for entry in self._format.read(self._door):
                self.n_read += 1
                if entry.record is None:
                    self.reasons[entry.reason or "not usable"] += 1
                else:
                    self.n_used += 1
                yield entry
            self._at_end()
        finally:
            self.close()

    def _at_end(self) -> None:
        """Note what a file without records holds instead."""
        if self.n_read:
            return
        if not self._source.head.data.strip():
            remark = f"{self.name} is empty."
        elif self.recognised_by == "option":
            remark = (
                f"{self.name} holds no record that could be read as {self.format}; "
                "leave --format away to have its format recognised."
            )
        else:
            remark = f"{self.name} holds no record."
        self._door.remarks.append(remark)


def summary_line(readings: Iterable[Reading]) -> str:
    """Return what became of files: "read N, used M, skipped K (why)".

    Notes follow as sentences; those on several files are added up.
    """
    listed = list(readings)
    read = sum(reading.n_read for reading in listed)
    used = sum(reading.n_used for reading in listed)
    reasons: Counter[str] = Counter()
    for reading in listed:
        reasons += reading.reasons
    why = ", ".join(f"{n:,} {reason}" for reason, n in reasons.most_common())
    line = f"read {read:,}, used {used:,}, skipped {read - used:,}"
    notes = [note for reading in listed for note in reading.notes]
    if len(listed) > 1 and notes:
        from tagger.formats.notes import joined_notes

        notes = joined_notes((reading.name, reading.notes) for reading in listed)
    return " ".join([line + (f" ({why})" if why else "") + "." * bool(notes), *notes])


def write_entries(
    pairs: Iterable[tuple[Entry, Sequence[Tag] | None]],
    target: TargetLike,
    *,
    reading: Reading,
    tagged: bool | None = None,
) -> None:
    """Write entries back in the format they were read in, with their tags.

    What each format holds is said in `tagger.formats.history`: JSON records
    get the fields ``tags`` and ``tagger``, tables the columns ``tags``,
    ``tag_probabilities`` and ``tagger`` (``model_tags`` and so on where the file
    uses those names for something else); BibTeX, RIS, nbib and CSL-JSON get
    keywords and one field for the memory. A person's tags stay, the model's are
    replaced, and what a person removed is not given again. Everything else
    stays as it came, unusable entries too. Formats that have no place for tags
    (`Reading.keeps_format` is false) are written as JSON Lines.

    Parameters
    ----------
    pairs : iterable of (Entry, sequence of Tag or None)
        In file order. None leaves an entry as it came. May be a generator over
        `reading`.
    target : path, "-" or open binary file
        A path keeps its old content until all is written.
    reading : Reading
        Where the entries come from.
    tagged : bool, optional
        Whether any entry has tags, which decides on the columns of a table. If it
        is not given, the entries before the first with tags are held in memory.

    Raises
    ------
    RecordError
        If the target cannot be written.
    """
    reading.write(pairs, target, tagged=tagged)


def _until_tagged(pairs: Iterable[Tagged]) -> tuple[Iterator[Tagged], bool]:
    """Return the pairs, the first read already, and whether any has tags."""
    held: list[Tagged] = []
    coming = iter(pairs)
    for entry, tags in coming:
        held.append((entry, tags))
        if tags is not None:
            return chain(held, coming), True
    return iter(held), False
