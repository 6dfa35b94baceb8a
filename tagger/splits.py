"""Which records may be trained on and which are tested: splits without leaks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagger.errors import RecordError
from tagger.records import Record
from tagger.wording import counted

__all__ = [
    "Split",
    "field_values",
    "group_split",
    "holdout_split",
    "multilabel_folds",
    "time_split",
]

IntArray = NDArray[np.int64]
Split = tuple[IntArray, IntArray]


def multilabel_folds(
    y: NDArray[np.int8],
    groups: NDArray[Any],
    n_folds: int = 5,
    seed: int = 0,
) -> IntArray:
    """Give each record a fold, every theme spread evenly, groups kept whole.

    Parameters
    ----------
    y : ndarray of shape (n_records, n_themes)
        1 label, 0 not, -1 unsure (counted as 0).
    groups : ndarray of shape (n_records,)
        Records with equal values get the same fold.
    n_folds : int, default=5
        At least 2 and at most the number of groups.
    seed : int, default=0
        Equal seeds give equal folds.

    Returns
    -------
    folds : ndarray of shape (n_records,)
        In [0, n_folds).

    Raises
    ------
    ValueError
        If the shapes differ or `n_folds` does not fit.

    References
    ----------
    Sechidis, Tsoumakas, Vlahavas, "On the stratification of multi-label data",
    ECML PKDD 2011.

    Examples
    --------
    >>> y = np.array([[1], [1], [0], [0]], dtype=np.int8)
    >>> folds = multilabel_folds(y, np.arange(4), n_folds=2)
    >>> sorted(folds[:2].tolist()), sorted(folds[2:].tolist())
    ([0, 1], [0, 1])
    """
    n_groups = len(np.unique(groups))
    if not 2 <= n_folds <= max(n_groups, 1):
        raise ValueError(
            f"n_folds is {n_folds!r}; expected a number from 2 to the {n_groups} "
            "distinct groups of records."
        )
    return _stratify(y, groups, np.full(n_folds, 1 / n_folds), seed)


def holdout_split(
    y: NDArray[np.int8], groups: NDArray[Any], share: float = 0.2, seed: int = 0
) -> Split:
    """Hold one stratified part out, groups kept whole.

    Parameters
    ----------
    y : ndarray of shape (n_records, n_themes)
        1 label, 0 not, -1 unsure (counted as 0).
    groups : ndarray of shape (n_records,)
        Records with equal values stay on one side.
    share : float, default=0.2
        Part of the records that is tested, in (0, 1).
    seed : int, default=0
        Equal seeds give equal splits.

    Returns
    -------
    train, test : ndarray
        Row numbers, ascending.

    Raises
    ------
    ValueError
        If `share` is not in (0, 1) or the shapes differ.

    Examples
    --------
    >>> y = np.array([[1], [1], [0], [0]], dtype=np.int8)
    >>> [len(side) for side in holdout_split(y, np.arange(4), share=0.5)]
    [2, 2]
    """
    if not 0 < share < 1:
        raise ValueError(f"share is {share!r}; expected a number between 0 and 1.")
    side = _stratify(y, groups, np.array([1 - share, share]), seed)
    return np.flatnonzero(side == 0), np.flatnonzero(side == 1)


def _stratify(
    y: NDArray[np.int8], groups: NDArray[Any], shares: NDArray[np.float64], seed: int
) -> IntArray:
    """Give each record a part, by iterative stratification over groups."""
    if len(y) != len(groups):
        raise ValueError(f"y has {len(y)} rows and groups has {len(groups)}.")
    _, group_of = np.unique(groups, return_inverse=True)
    size = np.bincount(group_of)
    counts = np.zeros((len(size), y.shape[1] + 1))
    np.add.at(counts[:, :-1], group_of, y == 1)
    # The last column counts records, so that the parts get equal sizes too.
    counts[:, -1] = size
    rng = np.random.default_rng(seed)
    # Large groups first, while every part still has room for them.
    order = rng.permutation(len(size))
    order = order[np.argsort(-size[order], kind="stable")]
    wanted = shares[:, None] * counts.sum(axis=0)
    part = np.full(len(size), -1)
    left = counts.sum(axis=0)
    while (part < 0).any():
        themes = np.flatnonzero(left[:-1] > 0)
        rarest = themes[np.argmin(left[themes])] if len(themes) else -1
        for group in order[(part[order] < 0) & (counts[order, rarest] > 0)]:
            need, room = wanted[:, rarest], wanted[:, -1]
            best = np.flatnonzero(need >= need.max() - 1e-9)
            best = best[room[best] >= room[best].max() - 1e-9]
            part[group] = best[rng.integers(len(best))]
            wanted[part[group]] -= counts[group]
            left -= counts[group]
    return part[group_of].astype(np.int64)


def time_split(records: Sequence[Record], year: int, groups: IntArray) -> Split:
    """Train on what appeared before `year`, test on the rest.

    Parameters
    ----------
    records : sequence of Record
        A record without a year is on neither side.
    year : int
        First year of the test part.
    groups : ndarray of shape (n_records,)
        From `tagger.fingerprints.group_ids`. A later version of a paper that is
        trained on is left out of the test.

    Returns
    -------
    train, test : ndarray
        Row numbers, ascending.

    Raises
    ------
    RecordError
        If a side is empty. The message gives the years found.
    """
    years = np.array([-1 if r.year is None else r.year for r in records])
    train = np.flatnonzero((years >= 0) & (years < year))
    late = np.flatnonzero(years >= year)
    test = late[~np.isin(groups[late], groups[train])]
    if not len(train) or not len(test):
        known = years[years >= 0]
        span = f"{known.min()} to {known.max()}" if len(known) else "none"
        lack = len(years) - len(known)
        without = (
            f"{counted(lack, 'record has', 'records have')} no year; give each one in "
            "the field 'year'. "
        )
        remedy = f"the years in the records are {span}. "
        remedy += without * bool(lack)
        remedy += "Choose a year inside that span." * bool(len(known))
        raise RecordError(
            f"Splitting {counted(len(records), 'record')} at the year {year} leaves "
            f"{len(train):,} to train on and {len(test):,} to test; {remedy.rstrip()}"
        )
    return train, test


def group_split(
    records: Sequence[Record], field: str, groups: IntArray
) -> dict[str, Split]:
    """Leave one value of a field out at a time.

    Parameters
    ----------
    records : sequence of Record
        A record without the field is trained on and never tested.
    field : str
        ``"source"``, ``"year"``, ``"venue"``, ``"subject"`` or the name of a
        field in `Record.extra`. A record with several sources counts for each.
    groups : ndarray of shape (n_records,)
        From `tagger.fingerprints.group_ids`. A paper of the tested part is not
        trained on in any version.

    Returns
    -------
    splits : dict of str to (train, test)
        Row numbers by value, in sorted order of the values.

    Raises
    ------
    RecordError
        If fewer than two values of the field are found.
    """
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for row, record in enumerate(records):
        for value in field_values(record, field):
            rows[value].append(row)
    if len(rows) < 2:
        raise RecordError(
            f"The field {field!r} has {counted(len(rows), 'distinct value')} in "
            f"{counted(len(records), 'record')} ({sorted(rows)}); leaving one out "
            "needs at least two. Name another field."
        )
    splits: dict[str, Split] = {}
    for value in sorted(rows):
        test = np.array(rows[value], dtype=np.int64)
        train = np.flatnonzero(~np.isin(groups, groups[test]))
        splits[value] = train, test
    return splits


def field_values(record: Record, field: str) -> tuple[str, ...]:
    """Return the values of one field of a record as text; empty if missing.

    The field ``"length"`` is the number of words of the abstract, in hundreds.
    ``"source"`` is what the record itself says under that name, else the files it
    came from. A list has each of its items as a value.

    Examples
    --------
    >>> field_values(Record(id="a", year=2025), "year")
    ('2025',)
    """
    if field == "length":
        hundreds = min(len(record.abstract.split()) // 100, 3)
        return (("0 to 99", "100 to 199", "200 to 299", "300 or more")[hundreds],)
    if field in ("year", "venue", "subject", "doi", "sources"):
        value: Any = getattr(record, field)
    elif field == "source":
        value = record.extra.get("source") or record.sources
    else:
        value = record.extra.get(field)
    every = value if isinstance(value, list | tuple) else [value]
    kept = (str(item) for item in every if item is not None and item != "")
    return tuple(dict.fromkeys(kept))
