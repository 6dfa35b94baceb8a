"""How good decisions are on groups of records: by year, source, venue, length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagger.evaluation import overall_figures
from tagger.intervals import Figure, weightings
from tagger.labels import Labels
from tagger.metrics import Flags, decision_figures, tags_given
from tagger.records import Record
from tagger.splits import field_values

__all__ = ["GroupFigures", "evaluate_groups", "group_values"]

Values = Sequence[tuple[str, ...]]

GROUP_FIGURES = ("micro_f1", "macro_f1", "samples_f1", "exact_match")
GROUP_FIELDS = ("year", "source", "venue", "subject", "length")
# Smaller groups say nothing; more rows are not read.
LEAST_IN_GROUP = 10
MOST_GROUPS = 20


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """How good the decisions are on some of the records.

    Parameters
    ----------
    value : str
        What the records have in common, such as ``"2025"``.
    n_records, n_labels : int
        Size of the group.
    figures : dict of str to Figure
        Micro, macro and samples F1 and exact match.
    """

    value: str
    n_records: int
    n_labels: int
    figures: dict[str, Figure]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "value": self.value,
            "records": self.n_records,
            "labels": self.n_labels,
            "figures": {name: fig.to_dict() for name, fig in self.figures.items()},
        }


def evaluate_groups(
    y: Labels,
    D: Flags,
    values: Sequence[Sequence[str]],
    *,
    abstained: Flags | None = None,
    units: NDArray[np.int64] | None = None,
    n_boot: int = 1000,
    seed: int = 0,
) -> tuple[GroupFigures, ...]:
    """Measure decisions on each group of records.

    Parameters
    ----------
    y : ndarray of shape (n_records, n_themes)
        1 label, 0 not, -1 unsure (left out).
    D : ndarray of bool, shape (n_records, n_themes)
        Tags given.
    values : sequence of sequence of str, length n_records
        Groups each record belongs to: none, one or several
        (`tagger.splits.field_values` gives them).
    abstained : ndarray of bool, shape (n_records,), optional
        Records that were not judged. They count as given no tag.
    units : ndarray of shape (n_records,), optional
        Rows with equal numbers are one record that was tested more than once.
    n_boot, seed : int
        Resamples of the records of a group, and their random seed.

    Returns
    -------
    groups : tuple of GroupFigures
        In sorted order of the values.

    Examples
    --------
    >>> y, D = np.array([[1], [0]], dtype=np.int8), np.array([[True], [False]])
    >>> groups = evaluate_groups(y, D, [("2024",), ("2025",)], n_boot=10)
    >>> [(group.value, group.n_labels) for group in groups]
    [('2024', 1), ('2025', 0)]
    """
    rows: dict[str, list[int]] = {}
    for row, names in enumerate(values):
        for name in names:
            rows.setdefault(name, []).append(row)
    given = tags_given(y, D, abstained)
    result = []
    for value in sorted(rows):
        part, tags = y[rows[value]], given[rows[value]]
        of = None if units is None else units[rows[value]]
        weights = weightings(len(part), n_boot, seed, of)
        _, draws = decision_figures(part, tags, weights)
        figures = overall_figures(part, tags, draws, GROUP_FIGURES, of)
        n_labels = int((part == 1).sum())
        result.append(GroupFigures(value, len(part), n_labels, figures))
    return tuple(result)


def group_values(records: Sequence[Record], part_tested: Values) -> dict[str, Values]:
    """Find the groups of records that are worth measuring apart.

    Parameters
    ----------
    records : sequence of Record
    part_tested : sequence of tuple of str
        The part of the test that each record is in.

    Returns
    -------
    values : dict of str to sequence of tuple of str
        By field, the groups that each record belongs to, those too small to say
        anything left out. A field of which fewer than two groups remain is left
        out too.
    """
    # The parts were asked for: they are shown even where they are small.
    shown = {"part tested": _largest(part_tested, 1)} | {
        field: _largest([_values(record, field) for record in records], LEAST_IN_GROUP)
        for field in GROUP_FIELDS
    }
    return {
        field: values
        for field, values in shown.items()
        if len({value for own in values for value in own}) > 1
    }


def _values(record: Record, field: str) -> tuple[str, ...]:
    values = field_values(record, field)
    if field == "subject":  # the first class of several is the main one
        values = tuple(value.split()[0] for value in values if value.split())
    return values or ("not given",)


def _largest(values: Values, least: int) -> Values:
    """Keep the largest groups; drop those of fewer records than `least`."""
    counts = Counter(value for own in values for value in own)
    large = [v for v, count in counts.most_common() if count >= least]
    kept = set(large[:MOST_GROUPS])
    return [tuple(value for value in own if value in kept) for own in values]
