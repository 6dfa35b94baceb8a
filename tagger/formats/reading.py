"""The reading of one file: its entries, and what came of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from types import TracebackType

from tagger.formats.entries import Door, Entry, Format, Tagged
from tagger.formats.history import retagged
from tagger.formats.output import TargetLike, open_target
from tagger.formats.sources import Source
from tagger.records import Tag

__all__ = ["Reading", "summary_line"]


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
        self, source: Source, kind: type[Format], recognised_by: str, door: Door
    ) -> None:
        self.name = source.name
        self.format = kind.name
        self.recognised_by = recognised_by
        self.keeps_format = kind.holds_tags
        self.encoding = source.encoding
        self.n_read = 0
        self.n_used = 0
        self.reasons: Counter[str] = Counter()
        self._source = source
        self._format = kind(source)
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
        return self._format.history(entry).tags if entry.record else ()

    def tags_after(self, entry: Entry, tags: Sequence[Tag]) -> tuple[Tag, ...]:
        """Return the tags that an entry has once `tags` are written to it."""
        return retagged(self._format.history(entry), tags).tags if entry.record else ()

    def write(
        self, pairs: Iterable[Tagged], target: TargetLike, *, tagged: bool | None = None
    ) -> None:
        """Write entries of this reading; see `write_entries`."""
        if tagged is None:
            pairs, tagged = _until_tagged(pairs)
        else:
            # The columns of a table are known once its first row is read.
            pairs = iter(pairs)
            pairs = chain([pair for pair in [next(pairs, None)] if pair], pairs)
        with open_target(target) as out:
            self._format.write(pairs, out, tagged=tagged)

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
        finally:
            self.close()


def summary_line(readings: Iterable[Reading]) -> str:
    """Return what became of files: "read N, used M, skipped K (why)".

    Notes follow as sentences.
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
    return " ".join([line + (f" ({why})" if why else "") + "." * bool(notes), *notes])


def _until_tagged(pairs: Iterable[Tagged]) -> tuple[Iterator[Tagged], bool]:
    """Return the pairs, the first read already, and whether any has tags."""
    held: list[Tagged] = []
    coming = iter(pairs)
    for entry, tags in coming:
        held.append((entry, tags))
        if tags is not None:
            return chain(held, coming), True
    return iter(held), False
