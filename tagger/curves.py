"""The numbers behind the pictures: precision-recall, reliability, coverage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tagger.labels import Labels
from tagger.metrics import Flags, Scores, decision_figures, tags_given

__all__ = ["coverage_curve", "precision_recall_curves", "reliability_curve"]


def precision_recall_curves(
    y: Labels, P: Scores, D: Flags, themes: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Find precision and recall of each theme at every threshold that matters.

    Parameters
    ----------
    y, P, D : ndarray of shape (n_records, n_themes)
        Labels (1, 0, -1 unsure), probabilities in [0, 1], tags given.
    themes : sequence of str, length n_themes
        Theme ids in column order.

    Returns
    -------
    curves : dict of str to dict
        By theme id: ``recall``, ``precision`` and ``threshold``, a point for
        each threshold at which a label is found; ``chosen``, the recall and
        precision of the tags given (None where undefined); and ``choices``,
        what other thresholds would give: the best F1, the most recall at a
        precision of 0.95, the most precision at a recall of 0.95.
    """
    curves = {}
    for j, theme in enumerate(themes):
        rows = np.flatnonzero(y[:, j] >= 0)
        rows = rows[np.argsort(-P[rows, j], kind="stable")]
        label, p = y[rows, j] == 1, P[rows, j]
        ends = np.flatnonzero(np.append(np.diff(p) != 0, True))
        found = label.cumsum()[ends]
        # Between labels precision only falls; those points add no corner.
        ends = ends[np.diff(found, prepend=0) > 0]
        found = label.cumsum()[ends]
        given = D[rows, j]
        right, n = int((given & label).sum()), int(label.sum())
        curves[theme] = {
            "recall": (found / max(n, 1)).round(4).tolist(),
            "precision": (found / (ends + 1)).round(4).tolist(),
            "threshold": p[ends].round(4).tolist(),
            "chosen": {
                "recall": round(right / n, 4) if n else None,
                "precision": round(right / int(given.sum()), 4)
                if given.any()
                else None,
            },
            "choices": _choices(found / max(n, 1), found / (ends + 1), p[ends]),
        }
    return curves


def _choices(recall: Scores, precision: Scores, threshold: Scores) -> dict[str, Any]:
    """Give the thresholds one may want, by what they are wanted for."""
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    wanted = {
        "best F1": f1,
        "precision of 0.95": np.where(precision >= 0.95, recall, -1.0),
        "recall of 0.95": np.where(recall >= 0.95, precision, -1.0),
    }
    choices = {}
    for name, worth in wanted.items():
        if len(worth) and worth.max() >= 0:
            at = int(worth.argmax())
            choices[name] = {
                "threshold": round(float(threshold[at]), 4),
                "precision": round(float(precision[at]), 4),
                "recall": round(float(recall[at]), 4),
            }
    return choices


def reliability_curve(y: Labels, P: Scores) -> list[dict[str, float]]:
    """Compare probabilities and labels in ten bins of equal width.

    Parameters
    ----------
    y, P : ndarray of shape (n_records, n_themes)
        Labels (1, 0, -1 unsure) and probabilities in [0, 1].

    Returns
    -------
    bins : list of dict
        ``low`` and ``high`` edge, ``pairs``, ``mean_probability`` and ``share``
        of labels, for each bin that holds a record-theme pair.

    Examples
    --------
    >>> y = np.array([[1], [0]], dtype=np.int8)
    >>> [bin["share"] for bin in reliability_curve(y, np.array([[0.93], [0.97]]))]
    [0.5]
    """
    known = y >= 0
    p, label = P[known], y[known] == 1
    bins = np.minimum((p * 10).astype(int), 9)
    return [
        {
            "low": b / 10,
            "high": (b + 1) / 10,
            "pairs": int((bins == b).sum()),
            "mean_probability": round(float(p[bins == b].mean()), 4),
            "share": round(float(label[bins == b].mean()), 4),
        }
        for b in range(10)
        if (bins == b).any()
    ]


def coverage_curve(
    y: Labels,
    P: Scores,
    D: Flags,
    *,
    abstained: Flags | None = None,
    n_points: int = 20,
) -> list[dict[str, float]]:
    """Measure what is gained by judging only the records that are certain.

    Records are ordered by the number of wrong pairs to be expected from their
    probabilities; those abstained from come last.

    Parameters
    ----------
    y, P, D : ndarray of shape (n_records, n_themes)
        Labels (1, 0, -1 unsure), probabilities in [0, 1], tags decided on.
    abstained : ndarray of bool, shape (n_records,), optional
        Records that were not judged. They count as given no tag.
    n_points : int, default=20
        Coverages to measure at, evenly spaced up to 1.

    Returns
    -------
    points : list of dict
        ``coverage``, and over that share of the records ``micro_f1`` and
        ``exact_match``.
    """
    given = tags_given(y, D, abstained)
    expected = np.where(y >= 0, np.where(given, 1 - P, P), 0.0).sum(axis=1)
    if abstained is not None:
        expected[abstained] = np.inf
    order = np.argsort(expected, kind="stable")
    sizes = np.ceil(np.linspace(0, len(y), n_points + 1)[1:]).astype(int)
    weights = np.zeros((len(sizes), len(y)))
    for i, size in enumerate(sizes):
        weights[i, order[:size]] = 1.0
    _, overall = decision_figures(y, given, weights)
    return [
        {
            "coverage": float(size / len(y)),
            "micro_f1": float(np.nan_to_num(overall["micro_f1"][i], nan=1.0)),
            "exact_match": float(overall["exact_match"][i]),
        }
        for i, size in enumerate(sizes)
    ]
