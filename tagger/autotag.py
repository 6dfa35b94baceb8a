"""Deciding on the entries of a file as they come, losing none."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from tagger.decide import Decision
from tagger.formats import Entry
from tagger.model import Tagger
from tagger.records import Record

__all__ = ["UNUSABLE", "decide_entries"]

UNUSABLE = "unusable"
"""Reason of the decision on an entry that is no record."""


def decide_entries(
    model: Tagger, entries: Iterable[Entry], *, jobs: int = 1
) -> Iterator[tuple[Entry, Decision]]:
    """Decide on every entry, in order, in constant memory.

    An entry that is no usable record is abstained from, with the reason
    `UNUSABLE`; its `problem` says why.

    Parameters
    ----------
    model : Tagger
    entries : iterable of Entry
    jobs : int, default=1
        Threads that score side by side; >= 1. Changes no decision.
    """
    waiting: deque[Entry] = deque()

    def records() -> Iterator[Record]:
        for entry in entries:
            waiting.append(entry)
            # An empty record keeps the place of one that cannot be used.
            yield entry.record or Record(id=entry.id)

    for decision in model.tag_stream(records(), jobs=jobs):
        entry = waiting.popleft()
        if entry.record is None:
            yield entry, Decision(entry.id, "", "abstained", UNUSABLE, (), ())
        else:
            yield entry, decision
