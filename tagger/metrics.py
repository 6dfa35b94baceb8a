"""The figures of decisions and probabilities, each with its definition.

Every figure is computed under many weightings of the records at once: one that
weighs each record once gives the figure itself, resamples give its interval
(`tagger.intervals`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tagger.errors import RecordError
from tagger.labels import Labels

__all__ = [
    "Flags",
    "Scores",
    "check_arrays",
    "decision_figures",
    "probability_figures",
    "tags_given",
    "theme_trials",
    "trials",
]

Scores = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Of probabilities, equally many in each, for the calibration error.
_BINS = 15


def check_arrays(y: Labels, n_themes: int, **others: Scores | Flags) -> None:
    """Refuse arrays of no record, or of other shapes than the labels'.

    Raises
    ------
    RecordError
        If there is no record.
    ValueError
        If a shape is not (n_records, `n_themes`).
    """
    if not len(y):
        raise RecordError(
            "There is no labelled record to evaluate on; expected at least one "
            "record with 'themes' (an empty list where no theme applies)."
        )
    expected = (len(y), n_themes)
    shapes = {"y": y.shape} | {name: array.shape for name, array in others.items()}
    if set(shapes.values()) != {expected}:
        raise ValueError(
            f"The arrays have shapes {shapes}; expected {expected} for all of them, "
            "one row a record and one column a theme."
        )


def tags_given(y: Labels, D: Flags, abstained: Flags | None = None) -> Flags:
    """Leave out of decisions what does not count: unsure pairs, abstained records.

    Parameters
    ----------
    y : ndarray of shape (n_records, n_themes)
        1 label, 0 not, -1 unsure.
    D : ndarray of bool, shape (n_records, n_themes)
        Tags decided on.
    abstained : ndarray of bool, shape (n_records,), optional
        Records that were not judged.

    Returns
    -------
    given : ndarray of bool, shape (n_records, n_themes)
        Tags that count; a record abstained from has none.

    Raises
    ------
    ValueError
        If `abstained` has another shape.

    Examples
    --------
    >>> y, D = np.array([[1, -1], [1, 0]], dtype=np.int8), np.ones((2, 2), bool)
    >>> tags_given(y, D, np.array([False, True]))
    array([[ True, False],
           [False, False]])
    """
    given: Flags = D & (y >= 0)
    if abstained is None:
        return given
    if abstained.shape != (len(y),):
        raise ValueError(
            f"abstained has shape {abstained.shape}; expected ({len(y)},)."
        )
    return given & ~abstained[:, None]


def decision_figures(
    y: Labels, given: Flags, weights: Scores
) -> tuple[dict[str, Scores], dict[str, Scores]]:
    """Compute the figures of tags under each weighting of the records.

    Parameters
    ----------
    y : ndarray of shape (n_records, n_themes)
        1 label, 0 not, -1 unsure.
    given : ndarray of bool, shape (n_records, n_themes)
        From `tags_given`.
    weights : ndarray of shape (n_weightings, n_records)
        How often each record counts.

    Returns
    -------
    per_theme : dict of str to ndarray of shape (n_weightings, n_themes)
        ``precision``, ``recall`` and ``f1``; NaN where undefined.
    overall : dict of str to ndarray of shape (n_weightings,)
        By the names of `tagger.definitions.DEFINITIONS`.
    """
    right, false, missed = given & (y == 1), given & (y == 0), ~given & (y == 1)
    tp, fp, fn = (weights @ hits.astype(np.float64) for hits in (right, false, missed))
    f1 = _share(2 * tp, 2 * tp + fp + fn)
    precision, recall = _share(tp, tp + fp), _share(tp, tp + fn)
    total_tp, total_fp, total_fn = tp.sum(axis=1), fp.sum(axis=1), fn.sum(axis=1)
    # A false tag of a theme without labels must cost something here too.
    weight = np.where(tp + fn > 0, tp + fn, fp)
    wrong = (false | missed).sum(axis=1)
    hits = 2 * right.sum(axis=1)
    samples = np.where(hits + wrong > 0, hits / np.maximum(hits + wrong, 1), 1.0)
    n = weights.sum(axis=1)
    overall = {
        "micro_precision": _share(total_tp, total_tp + total_fp),
        "micro_recall": _share(total_tp, total_tp + total_fn),
        "micro_f1": _share(2 * total_tp, 2 * total_tp + total_fp + total_fn),
        "macro_precision": _mean(precision),
        "macro_recall": _mean(recall),
        "macro_f1": _mean(f1),
        "weighted_f1": _share(
            (weight * np.where(weight > 0, f1, 0.0)).sum(axis=1), weight.sum(axis=1)
        ),
        "samples_f1": weights @ samples / n,
        "exact_match": weights @ (wrong == 0) / n,
        "hamming_loss": _share(weights @ wrong, weights @ (y >= 0).sum(axis=1)),
    }
    return {"precision": precision, "recall": recall, "f1": f1}, overall


def probability_figures(
    y: Labels, P: Scores, weights: Scores
) -> tuple[dict[str, Scores], dict[str, Scores]]:
    """Compute the figures of probabilities under each weighting of the records.

    Parameters
    ----------
    y : ndarray of shape (n_records, n_themes)
        1 label, 0 not, -1 unsure.
    P : ndarray of shape (n_records, n_themes)
        Probabilities in [0, 1].
    weights : ndarray of shape (n_weightings, n_records)
        How often each record counts.

    Returns
    -------
    per_theme : dict of str to ndarray of shape (n_weightings, n_themes)
        ``average_precision``; NaN for a theme without a label.
    overall : dict of str to ndarray of shape (n_weightings,)
        By the names of `tagger.definitions.DEFINITIONS`.
    """
    areas = _average_precision(y, P, weights)
    overall = {"macro_average_precision": _mean(areas)}
    overall |= _ranking_figures(y, P, weights)
    overall |= _calibration_figures(y, P, weights)
    return {"average_precision": areas}, overall


def _average_precision(y: Labels, P: Scores, weights: Scores) -> Scores:
    """Average precision of each theme; (n_weightings, n_themes)."""
    result = np.full((len(weights), y.shape[1]), np.nan)
    by_record = np.ascontiguousarray(weights.T)
    for j in range(y.shape[1]):
        rows = np.flatnonzero(y[:, j] >= 0)
        rows = rows[np.argsort(-P[rows, j], kind="stable")]
        label = y[rows, j] == 1
        if not label.any():
            continue
        # Equal probabilities are one step of the curve. Only steps that hold
        # a label add to the area, so records are summed up to the next such.
        ends = np.flatnonzero(np.append(np.diff(P[rows, j]) != 0, True))
        step = np.searchsorted(ends, np.flatnonzero(label))
        step, first = np.unique(step, return_index=True)
        ends = ends[step]
        starts = np.concatenate([[0], ends[:-1] + 1])
        seen = np.add.reduceat(by_record[rows[: ends[-1] + 1]], starts)
        seen = seen.cumsum(axis=0)
        found = np.add.reduceat(by_record[rows[label]], first)
        precision = _share(found.cumsum(axis=0), seen)
        area = np.where(found > 0, found * precision, 0.0).sum(axis=0)
        result[:, j] = _share(area, found.sum(axis=0))
    return result


def _ranking_figures(y: Labels, P: Scores, weights: Scores) -> dict[str, Scores]:
    """Figures of the order of themes within a record that has a label."""
    has_label = (y == 1).any(axis=1)
    weights = weights[:, has_label]
    y, P = y[has_label], np.where(y[has_label] >= 0, P[has_label], -1.0)
    n = weights.sum(axis=1)
    order = np.argsort(-P, axis=1, kind="stable")
    sorted_hits = np.take_along_axis(y == 1, order, axis=1)
    ranking = np.zeros(len(y))
    for row in range(len(y)):
        own = np.sort(P[row, y[row] == 1])
        everything = np.sort(P[row])
        rank = len(everything) - np.searchsorted(everything, own, side="left")
        rank_in_own = len(own) - np.searchsorted(own, own, side="left")
        ranking[row] = np.mean(rank_in_own / rank)
    return {
        "precision_at_1": _share(weights @ sorted_hits[:, :1].mean(axis=1), n),
        "precision_at_3": _share(weights @ (sorted_hits[:, :3].sum(axis=1) / 3), n),
        "ranking_average_precision": _share(weights @ ranking, n),
    }


def _calibration_figures(y: Labels, P: Scores, weights: Scores) -> dict[str, Scores]:
    """Figures of the probabilities as statements about shares."""
    known = y >= 0
    pairs = weights @ known.sum(axis=1)
    squared = np.where(known, (P - y) ** 2, 0.0).sum(axis=1)
    bins = _equal_bins(P, P[known])
    gap = P - y
    # A bin adds |labels - sum of probabilities| over it to the error.
    gaps = [
        weights @ np.where(known & (bins == b), gap, 0.0).sum(axis=1)
        for b in range(_BINS)
    ]
    return {
        "brier": _share(weights @ squared, pairs),
        "calibration_error": _share(np.abs(gaps).sum(axis=0), pairs),
    }


def _equal_bins(P: Scores, among: Scores) -> NDArray[np.uint8]:
    """Give the bin of each of `P`, so that each holds as many of `among`."""
    if not len(among):
        return np.zeros(P.shape, np.uint8)
    # Above the k-th smallest are those with k and more of the others below them.
    k = -(-len(among) * np.arange(1, _BINS) // _BINS)
    edges = np.partition(among, k - 1)[k - 1]
    return np.searchsorted(edges, P).astype(np.uint8)


def trials(name: str, y: Labels, given: Flags) -> int:
    """Count the trials behind an overall figure: tags, labels or records."""
    label = y == 1
    average, _, kind = name.partition("_")
    if average in ("micro", "macro", "weighted"):
        every = {"precision": given, "f1": given | label}.get(kind, label)
    elif name.startswith(("precision_at", "ranking")):
        every = label.any(axis=1)
    else:
        return len(y)
    return int(every.sum())


def theme_trials(name: str, y: Labels, given: Flags) -> Scores:
    """Count the trials behind a figure of each theme: its tags, labels or both."""
    label = y == 1
    every = {"precision": given, "f1": given | label}.get(name, label)
    return np.asarray(every.sum(axis=0), np.float64)


def _share(part: Scores, whole: Scores) -> Scores:
    """Divide, with NaN where the whole is 0."""
    result = np.full(np.broadcast_shapes(part.shape, whole.shape), np.nan)
    np.divide(part, whole, out=result, where=whole > 0)
    return result


def _mean(values: Scores) -> Scores:
    """Mean over the last axis of what is defined; NaN where nothing is."""
    defined = ~np.isnan(values)
    return _share(np.where(defined, values, 0.0).sum(axis=-1), defined.sum(axis=-1))
