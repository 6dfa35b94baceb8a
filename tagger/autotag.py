"""Deciding on the entries of a file as they come, losing none."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from tagger.decide import Decision
from tagger.formats import Entry
from tagger.formats.seen_names import SeenNames
from tagger.model import Tagger
from tagger.records import Record, Tag, identity_keys
from tagger.resources import resource

__all__ = [
    "UNUSABLE",
    "Difference",
    "KnownPapers",
    "decide_entries",
    "difference",
    "model_id",
    "tags_to_write",
]

UNUSABLE = "unusable"
"""Reason of the decision on an entry that is no record."""

_FEW = 256


def decide_entries(
    model: Tagger, entries: Iterable[Entry], *, jobs: int = 1
) -> Iterator[tuple[Entry, Decision]]:
    """Decide on every entry, in order, in constant memory.

    Many are scored in threads of their own, while others are read and written. An
    entry that is no usable record is abstained from, with the reason
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

    coming = records()
    first = list(islice(coming, _FEW))
    # A thread is worth its start where reading and writing go on for long.
    beside = len(first) == _FEW
    for decision in model.tag_stream(chain(first, coming), jobs=jobs, beside=beside):
        entry = waiting.popleft()
        if entry.record is None:
            yield entry, Decision(entry.id, "", "abstained", UNUSABLE, (), ())
        else:
            yield entry, decision


def model_id(folder: str | os.PathLike[str] | None = None) -> str:
    """Return the name of a saved model for its tags: folder and short checksum.

    The checksum is that of the manifest, which holds those of all files: two
    models have one id only if they are the same.

    Parameters
    ----------
    folder : path, optional
        As for `tagger.load`.
    """
    from hashlib import sha256  # takes 3 ms, and `tagger predict` needs none

    path = Path(resource("models/themes") if folder is None else folder).resolve()
    manifest = (path / "manifest.json").read_bytes()
    return f"{path.name}-{sha256(manifest).hexdigest()[:8]}"


def tags_to_write(
    decision: Decision, *, model: str | None = None, date: str | None = None
) -> tuple[Tag, ...] | None:
    """Return the tags to write for a decision; None leaves the record as it is.

    A record that could not be judged stays as it came: no tags would say that
    no theme applies.

    Parameters
    ----------
    decision : Decision
    model : str, optional
        Id of the model, see `model_id`.
    date : str, optional
        Day of the tagging, as ``"2026-01-31"``.
    """
    if decision.status == "abstained":
        return None
    return tuple(
        [
            Tag(tag.theme, tag.probability, tag.source, model, date)
            for tag in decision.tags
        ]
    )


@dataclass(frozen=True, slots=True)
class Difference:
    """What tagging changes in a record.

    Parameters
    ----------
    added, removed : tuple of Tag
    changed : tuple of (Tag, Tag)
        The same theme before and after, with another probability or model.
    """

    added: tuple[Tag, ...]
    changed: tuple[tuple[Tag, Tag], ...]
    removed: tuple[Tag, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


def difference(before: Sequence[Tag], after: Sequence[Tag]) -> Difference:
    """Compare the tags of a record before and after.

    Examples
    --------
    >>> found = difference([Tag("moe", 0.9)], [Tag("moe", 0.8), Tag("fp8", 0.7)])
    >>> [tag.theme for tag in found.added], len(found.changed), found.removed
    (['fp8'], 1, ())
    """
    old = {tag.theme: tag for tag in before}
    new = {tag.theme: tag for tag in after}
    both = [(old[theme], tag) for theme, tag in new.items() if theme in old]
    return Difference(
        added=tuple(tag for theme, tag in new.items() if theme not in old),
        changed=tuple((a, b) for a, b in both if _facts(a) != _facts(b)),
        removed=tuple(tag for theme, tag in old.items() if theme not in new),
    )


class KnownPapers:
    """The papers of a file, to know them again in another.

    A paper is known by its identity keys: arXiv id without version, DOI, title
    with first author, text of the abstract. Records with different arXiv ids
    are never the same paper. A record without any key is known by its words.

    Examples
    --------
    >>> known = KnownPapers()
    >>> known.add(Record(id="2401.00001v1", title="On Tags"))
    >>> Record(id="2401.00001v2", title="About Tags") in known
    True
    >>> Record(id="2401.00009", title="On Tags") in known
    False
    """

    def __init__(self) -> None:
        self._keys = SeenNames()
        self._keys_without_arxiv = SeenNames()

    def add(self, record: Record) -> None:
        """Remember a paper."""
        keys = _keys(record)
        for key in keys:
            self._keys.add(key)
            if not _has_arxiv(keys):
                self._keys_without_arxiv.add(key)

    def __contains__(self, record: Record) -> bool:
        keys = _keys(record)
        if not _has_arxiv(keys):
            return any(key in self._keys for key in keys)
        return any(
            key
            in (self._keys if key.startswith("arxiv:") else self._keys_without_arxiv)
            for key in keys
        )

    def new_ones(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Yield the entries of papers not known so far, and remember them.

        Entries that are no record are left out: whether they are new cannot be
        told.
        """
        for entry in entries:
            if entry.record is not None and entry.record not in self:
                self.add(entry.record)
                yield entry


def _keys(record: Record) -> tuple[str, ...]:
    """Return the identity keys of a record, or its words if it has none."""
    return identity_keys(record) or (f"words:{record.title}\0{record.abstract}",)


def _has_arxiv(keys: Sequence[str]) -> bool:
    """Tell whether keys name an arXiv paper; those come first."""
    return keys[0].startswith("arxiv:")


def _facts(tag: Tag) -> tuple[float, str, str | None]:
    """Return what makes a tag differ from an earlier one, its date excepted."""
    return round(tag.probability, 4), tag.source, tag.model
