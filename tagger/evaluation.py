"""How good decisions are: every figure against labels, with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tagger.definitions import DEFINITIONS, WITHOUT_INTERVAL
from tagger.figures import Evaluation, ThemeFigures
from tagger.intervals import (
    Figure,
    bootstrap_figure,
    mean_figure,
    unseen_variance,
    weightings,
)
from tagger.labels import Labels
from tagger.metrics import (
    Flags,
    Scores,
    check_arrays,
    decision_figures,
    probability_figures,
    tags_given,
    theme_trials,
    trials,
)

__all__ = [
    "Evaluation",
    "Figure",
    "ThemeFigures",
    "evaluate",
    "overall_figures",
]


# Labels of a theme below which a figure is given no interval: of one record, none
# holds the truth in 19 of 20 cases but the whole of [0, 1].
_LEAST_LABELS = {"recall": 2, "f1": 1, "average_precision": 2}


def evaluate(
    y: Labels,
    P: Scores,
    D: Flags,
    themes: Sequence[str],
    *,
    abstained: Flags | None = None,
    baselines: Mapping[str, Flags] | None = None,
    units: NDArray[np.int64] | None = None,
    n_boot: int = 1000,
    seed: int = 0,
) -> Evaluation:
    """Measure decisions against labels.

    Parameters
    ----------
    y : ndarray of shape (n_records, n_themes)
        1 label, 0 not, -1 unsure; unsure pairs are left out of every count.
    P : ndarray of shape (n_records, n_themes)
        Probabilities in [0, 1].
    D : ndarray of bool, shape (n_records, n_themes)
        Tags given.
    themes : sequence of str, length n_themes
        Theme ids in column order.
    abstained : ndarray of bool, shape (n_records,), optional
        Records that were not judged. They count as given no tag, whatever
        their rows of `D` hold.
    baselines : dict of str to ndarray of bool (n_records, n_themes), optional
        Other decisions to stand beside "nothing" and "most frequent theme".
    units : ndarray of shape (n_records,), optional
        Rows with equal numbers are one record that was tested more than once:
        such rows are resampled together.
    n_boot : int, default=1000
        Resamples of the records behind the intervals; at least 1.
    seed : int, default=0
        Equal seeds give equal intervals.

    Returns
    -------
    Evaluation
        Every figure with its 95 % interval from a bootstrap over records, except
        the calibration error, which has none (see `DEFINITIONS`), recall and
        average precision of a theme with one label, and F1 of one without any.

    Raises
    ------
    RecordError
        If there is no record.
    ValueError
        If the shapes differ, or a probability is outside [0, 1].

    Examples
    --------
    >>> y = np.array([[1, 0], [0, 1], [0, 0]], dtype=np.int8)
    >>> result = evaluate(y, y.astype(float), y == 1, ["a", "b"])
    >>> result.overall["samples_f1"].value
    1.0
    """
    check_arrays(y, len(themes), P=P, D=D)
    if not ((P >= 0) & (P <= 1)).all():
        raise ValueError("P holds numbers outside [0, 1]; expected probabilities.")
    given = tags_given(y, D, abstained)
    judged = np.ones(len(y), dtype=bool) if abstained is None else ~abstained
    weights = weightings(len(y), n_boot, seed, units)
    per_theme, overall = decision_figures(y, given, weights)
    more_per_theme, more_overall = probability_figures(y, P, weights)
    per_theme |= more_per_theme
    overall |= more_overall
    overall["coverage"] = weights @ judged / weights.sum(axis=1)
    return Evaluation(
        n_records=len(y),
        n_labels=int((y == 1).sum()),
        n_unlabelled=int((~(y == 1).any(axis=1)).sum()),
        n_unsure=int((y < 0).sum()),
        n_abstained=int((~judged).sum()),
        themes=_theme_figures(y, given, themes, per_theme, units),
        overall=overall_figures(y, given, overall, DEFINITIONS, units, per_theme),
        baselines=_baselines(y, baselines or {}),
        n_boot=n_boot,
        seed=seed,
    )


def overall_figures(
    y: Labels,
    given: Flags,
    draws: Mapping[str, Scores],
    names: Iterable[str],
    units: NDArray[np.int64] | None = None,
    per_theme: Mapping[str, Scores] | None = None,
) -> dict[str, Figure]:
    """Give overall figures their intervals.

    Parameters
    ----------
    y, given : ndarray of shape (n_records, n_themes)
        What the figures are of.
    draws : dict of str to ndarray of shape (1 + n_boot,)
        Figures under `tagger.intervals.weightings`.
    names : iterable of str
        Which figures, in the order wanted; those not drawn are passed over.
    units : ndarray of shape (n_records,), optional
        Rows with equal numbers are one record that was tested more than once.
    per_theme : dict of str to ndarray of shape (1 + n_boot, n_themes), optional
        Figures of the themes, behind the macro ones.
    """
    own = _independent(units)
    found = {}
    for name in names:
        if name not in draws:
            continue
        if name in WITHOUT_INTERVAL:
            found[name] = Figure(float(draws[name][0]))
            continue
        n = own * trials(name, y, given)
        if name == "precision_at_3":
            found[name] = mean_figure(draws[name], n, step=1 / 3)
            continue
        kind = name.removeprefix("macro_")
        unseen = 0.0
        if name != kind and per_theme is not None:
            each = own * theme_trials(kind, y, given)
            unseen = unseen_variance(per_theme[kind], each)
        found[name] = bootstrap_figure(draws[name], n, unseen)
    return found


def _independent(units: NDArray[np.int64] | None) -> float:
    """Share of the rows that are tests of their own, in (0, 1]."""
    return 1.0 if units is None else len(np.unique(units)) / len(units)


def _theme_figures(
    y: Labels,
    given: Flags,
    themes: Sequence[str],
    draws: Mapping[str, Scores],
    units: NDArray[np.int64] | None,
) -> tuple[ThemeFigures, ...]:
    """Gather the figures of each theme."""
    label, own = y == 1, _independent(units)
    support, tags = label.sum(axis=0), given.sum(axis=0)
    right, unsure = (given & label).sum(axis=0), (y < 0).sum(axis=0)

    def figure(name: str, j: int) -> Figure:
        n = float(own * theme_trials(name, y, given)[j])
        value, unseen = float(draws[name][0, j]), 0.0
        if support[j] < _LEAST_LABELS.get(name, 0):
            return Figure(value)
        if name == "average_precision" and n:
            # Of few labels, a lucky ranking hides how it could have been: chosen
            # by simulation (`experiments/intervals`).
            unseen = value * (1 - value) / (16 * max(n, 20))
        return bootstrap_figure(draws[name][:, j], n, unseen)

    return tuple(
        ThemeFigures(
            theme,
            support=int(support[j]),
            given=int(tags[j]),
            right=int(right[j]),
            unsure=int(unsure[j]),
            precision=figure("precision", j),
            recall=figure("recall", j),
            f1=figure("f1", j),
            average_precision=figure("average_precision", j),
        )
        for j, theme in enumerate(themes)
    )


def _baselines(y: Labels, others: Mapping[str, Flags]) -> dict[str, dict[str, float]]:
    """Figures of simpler decisions on the same records."""
    nothing = np.zeros(y.shape, dtype=np.bool_)
    frequent = nothing.copy()
    frequent[:, np.argmax((y == 1).sum(axis=0))] = True
    every = {"nothing": nothing, "most frequent theme": frequent, **others}
    once = np.ones((1, len(y)))
    result = {}
    for name, given in every.items():
        _, overall = decision_figures(y, tags_given(y, given), once)
        result[name] = {key: float(draw[0]) for key, draw in overall.items()}
    return result
