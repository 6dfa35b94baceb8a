"""Finding the records of one paper, and making one record of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tagger.records import Record, identity_keys

__all__ = ["Merged", "merge_same"]

_TITLE_THAT_NAMES = len("title:") + 20
# Facts that differ between the documents of one paper without a contradiction.
_JOINED = ("page_author", "area", "topic")


@dataclass(frozen=True, slots=True)
class Merged:
    """Records without repeats, and how they came about.

    Parameters
    ----------
    records : list of Record
        One a paper, in the order of their first appearance.
    groups : list of tuple of int
        For each of `records`, the positions of its parts in the input.
    conflicts : list of str
        A sentence for each paper whose labels did not agree.
    """

    records: list[Record]
    groups: list[tuple[int, ...]]
    conflicts: list[str]


def merge_same(records: Iterable[Record]) -> Merged:
    """Make one record of the records of one paper, with all their sources.

    The first record of a paper gives its id and its fields; later ones fill
    what is empty. Labels and undecided themes are united; where two records
    are labelled differently, `conflicts` says so. Records with different arXiv
    ids are never merged. A record without authors is the paper of the same
    title when there is only one such.
    """
    listed = list(records)
    groups = _groups([identity_keys(record) for record in listed])
    merged, conflicts = [], []
    for group in groups:
        record = listed[group[0]]
        for position in group[1:]:
            conflicts += _conflict(record, listed[position])
            record = _united(record, listed[position])
        merged.append(record)
    return Merged(merged, groups, conflicts)


def _groups(keys: Sequence[tuple[str, ...]]) -> list[tuple[int, ...]]:
    """Return the positions that share keys, in order of first appearance."""
    parent = list(range(len(keys)))
    arxiv = [{key for key in own if key.startswith("arxiv:")} for own in keys]

    def root(position: int) -> int:
        """Return the first position of the group, shortening the way to it."""
        while parent[position] != position:
            parent[position] = parent[parent[position]]
            position = parent[position]
        return position

    def join(one: int, other: int) -> None:
        """Make one group of two, unless their arXiv ids say otherwise."""
        first, second = sorted((root(one), root(other)))
        if arxiv[first] and arxiv[second] and arxiv[first].isdisjoint(arxiv[second]):
            return
        parent[second] = first
        arxiv[first] |= arxiv[second]

    owner: dict[str, int] = {}
    for position, own in enumerate(keys):
        for key in own:
            join(position, owner.setdefault(key, position))
    for unnamed, named in _same_title(keys):
        if len({root(position) for position in named}) == 1:
            join(unnamed, named[0])
    groups: dict[int, list[int]] = defaultdict(list)
    for position in range(len(keys)):
        groups[root(position)].append(position)
    return [tuple(group) for group in groups.values()]


def _same_title(keys: Sequence[tuple[str, ...]]) -> Iterable[tuple[int, list[int]]]:
    """Yield a record without authors and those of its title that have some."""
    with_authors: dict[str, list[int]] = defaultdict(list)
    without: dict[str, int] = {}
    for position, own in enumerate(keys):
        for key in own:
            title, _, author = key.partition("|")
            # Short titles ("Editorial") are shared by many papers.
            if not title.startswith("title:") or len(title) < _TITLE_THAT_NAMES:
                continue
            if author:
                with_authors[title].append(position)
            else:
                without.setdefault(title, position)
    for title, position in without.items():
        if title in with_authors:
            yield position, with_authors[title]


def _united(first: Record, second: Record) -> Record:
    """Return the first record with what only the second knows."""
    fuller = second.authors if first.authors_cut or not first.authors else ()
    extra = {**second.extra, **first.extra}
    for name in _JOINED:
        values = [r.extra[name] for r in (first, second) if r.extra.get(name)]
        parts = [part for value in values for part in str(value).split("; ")]
        if parts:
            extra[name] = "; ".join(dict.fromkeys(parts))
    themes = first.themes
    if second.themes is not None:
        themes = tuple(dict.fromkeys((*(first.themes or ()), *second.themes)))
    unsure = dict.fromkeys((*first.unsure, *second.unsure))
    return replace(
        first,
        title=first.title or second.title,
        abstract=first.abstract or second.abstract,
        themes=themes,
        unsure=tuple(theme for theme in unsure if theme not in (themes or ())),
        year=first.year if first.year is not None else second.year,
        authors=fuller or first.authors,
        authors_cut=second.authors_cut if fuller else first.authors_cut,
        subject=first.subject or second.subject,
        venue=first.venue or second.venue,
        doi=first.doi or second.doi,
        sources=tuple(dict.fromkeys((*first.sources, *second.sources))),
        extra=extra,
    )


def _conflict(first: Record, second: Record) -> list[str]:
    """Return a sentence if two records of one paper are labelled differently."""
    if first.themes is None or second.themes is None:
        return []
    one, other = set(first.themes), set(second.themes)
    undecided = (one & set(second.unsure)) | (other & set(first.unsure))
    if one == other and not undecided:
        return []
    sentence = (
        f"{_place(first)} and {_place(second)} are the same paper, labelled "
        f"{sorted(one)} and {sorted(other)}; all these labels are kept."
    )
    return [sentence]


def _place(record: Record) -> str:
    """Return where a record stands, for a message."""
    source = record.sources[0] if record.sources else ""
    where = f"{source}:{record.line}" if record.line is not None else source
    return where if where == record.id or not where else f"{record.id!r} ({where})"
