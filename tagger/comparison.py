"""How the decisions of two differ on the same records, by a paired bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagger.intervals import Figure, difference_figure, weightings
from tagger.labels import Labels
from tagger.metrics import Flags, Scores, check_arrays, decision_figures, tags_given

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the second of two sets of decisions differs from the first.

    Parameters
    ----------
    names : tuple of str
        What the first and the second are called.
    differences : dict of str to Figure
        Second minus first, by the names of `DEFINITIONS`; in [-1, 1].
    themes : dict of str to Figure
        Difference of F1 by theme.
    better : dict of str to float
        Share of the resamples in which the second is better, ties counted half.
    changed : tuple of (int, int, int)
        Row, wrong pairs of the first and of the second, for every record whose
        tags differ; the largest change for the worse first.
    first : ndarray of bool, shape (n_records, n_themes)
        Tags of the first, as they count.
    """

    names: tuple[str, str]
    differences: dict[str, Figure]
    themes: dict[str, Figure]
    better: dict[str, float]
    changed: tuple[tuple[int, int, int], ...]
    first: Flags

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values; the records that changed as numbers."""
        return {
            "names": list(self.names),
            "differences": {n: f.to_dict() for n, f in self.differences.items()},
            "themes": {n: f.to_dict() for n, f in self.themes.items()},
            "better": self.better,
            "changed": [list(change) for change in self.changed],
        }


def compare(
    y: Labels,
    first: Flags,
    second: Flags,
    themes: Sequence[str],
    *,
    names: tuple[str, str] = ("first", "second"),
    abstained: tuple[Flags | None, Flags | None] = (None, None),
    units: NDArray[np.int64] | None = None,
    n_boot: int = 1000,
    seed: int = 0,
) -> Comparison:
    """Compare two sets of decisions on the same records by a paired bootstrap.

    Parameters
    ----------
    y : ndarray of shape (n_records, n_themes)
        1 label, 0 not, -1 unsure (left out).
    first, second : ndarray of bool, shape (n_records, n_themes)
        Tags given.
    themes : sequence of str, length n_themes
        Theme ids in column order.
    names : (str, str), default=("first", "second")
        What the two are called.
    abstained : pair of ndarray of bool (n_records,) or None, optional
        Records the first and the second did not judge, and gave no tag.
    units : ndarray of shape (n_records,), optional
        Rows with equal numbers are one record that was tested more than once.
    n_boot, seed : int
        Resamples of the records, the same for both, and their random seed.

    Returns
    -------
    Comparison
        Differences with 95 % percentile intervals.

    Raises
    ------
    RecordError
        If there is no record.
    ValueError
        If the shapes differ.

    Examples
    --------
    >>> y = np.array([[1], [0]], dtype=np.int8)
    >>> found = compare(y, np.zeros((2, 1), bool), y == 1, ["a"], n_boot=10)
    >>> found.differences["exact_match"].value, found.changed
    (0.5, ((0, 1, 0),))
    """
    check_arrays(y, len(themes), first=first, second=second)
    first = tags_given(y, first, abstained[0])
    second = tags_given(y, second, abstained[1])
    weights = weightings(len(y), n_boot, seed, units)
    theme_a, overall_a = decision_figures(y, first, weights)
    theme_b, overall_b = decision_figures(y, second, weights)
    differences, better = {}, {}
    for name in overall_a:
        draws = overall_b[name] - overall_a[name]
        differences[name] = difference_figure(draws)
        better[name] = _share_better(-draws if name == "hamming_loss" else draws)
    by_theme = np.nan_to_num(theme_b["f1"]) - np.nan_to_num(theme_a["f1"])
    return Comparison(
        names=names,
        differences=differences,
        themes={t: difference_figure(by_theme[:, j]) for j, t in enumerate(themes)},
        better=better,
        changed=_changed(y, first, second),
        first=first,
    )


def _share_better(draws: Scores) -> float:
    """Share of the resamples in which a difference is above 0, ties counted half."""
    sample = draws[1:][~np.isnan(draws[1:])]
    if not len(sample):
        return 0.5
    return float((sample > 0).mean() + (sample == 0).mean() / 2)


def _changed(
    y: Labels, first: Flags, second: Flags
) -> tuple[tuple[int, int, int], ...]:
    """Row and wrong pairs of both, for every record whose tags differ."""
    wrong = [((tags != (y == 1)) & (y >= 0)).sum(axis=1) for tags in (first, second)]
    rows = np.flatnonzero((first != second).any(axis=1)).tolist()
    changed = [(row, int(wrong[0][row]), int(wrong[1][row])) for row in rows]
    return tuple(sorted(changed, key=lambda c: (c[1] - c[2], c[0])))
