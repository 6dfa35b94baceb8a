"""How good decisions are: every figure against labels, with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tagger.intervals import (
    Figure,
    bootstrap_figure,
    mean_figure,
    unseen_variance,
    weightings,
)
from tagger.labels import Labels
from tagger.metrics import (
    DEFINITIONS,
    WITHOUT_INTERVAL,
    Flags,
    Scores,
    check_arrays,
    decision_figures,
    probability_figures,
    tags_given,
    trials,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "DEFINITIONS",
    "Evaluation",
    "Figure",
    "ThemeFigures",
    "evaluate",
    "overall_figures",
]


@dataclass(frozen=True, slots=True)
class ThemeFigures:
    """How good one theme is.

    Parameters
    ----------
    theme : str
        Theme id.
    support, given, right, unsure : int
        Records that have the label, that were given the tag, that have both,
        and that are left out because the label is not known.
    precision, recall, f1, average_precision : Figure
        See `DEFINITIONS`.
    """

    theme: str
    support: int
    given: int
    right: int
    unsure: int
    precision: Figure
    recall: Figure
    f1: Figure
    average_precision: Figure


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All figures of one set of decisions on one set of labelled records.

    Parameters
    ----------
    n_records, n_labels, n_unlabelled, n_unsure, n_abstained : int
        Records; labels; records that rightly have no label; record-theme pairs
        left out as unsure; records abstained from, which count as given no tag.
    themes : tuple of ThemeFigures
        In column order.
    overall : dict of str to Figure
        By the names of `DEFINITIONS`.
    baselines : dict of str to dict of str to float
        Figures of simpler ways to decide on the same records.
    n_boot, seed : int
        Resamples behind the intervals, and their random seed.
    """

    n_records: int
    n_labels: int
    n_unlabelled: int
    n_unsure: int
    n_abstained: int
    themes: tuple[ThemeFigures, ...]
    overall: dict[str, Figure]
    baselines: dict[str, dict[str, float]]
    n_boot: int
    seed: int

    def to_frame(self) -> pd.DataFrame:
        """Return the figures of the themes as a pandas table, one row a theme."""
        import pandas as pd

        names = ("precision", "recall", "f1", "average_precision")
        rows = {
            t.theme: {"labels": t.support, "given": t.given}
            | {name: getattr(t, name).value for name in names}
            for t in self.themes
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("theme")

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values; undefined figures are None."""
        names = ("precision", "recall", "f1", "average_precision")
        counts = ("support", "given", "right", "unsure")
        return {
            "records": self.n_records,
            "labels": self.n_labels,
            "records_without_label": self.n_unlabelled,
            "unsure_pairs": self.n_unsure,
            "abstained": self.n_abstained,
            "overall": {name: fig.to_dict() for name, fig in self.overall.items()},
            "themes": [
                {"theme": t.theme}
                | {name: getattr(t, name) for name in counts}
                | {name: getattr(t, name).to_dict() for name in names}
                for t in self.themes
            ],
            "baselines": {
                name: {
                    key: None if np.isnan(value) else value
                    for key, value in figures.items()
                }
                for name, figures in self.baselines.items()
            },
            "interval": {"level": 0.95, "resamples": self.n_boot, "seed": self.seed},
            "definitions": DEFINITIONS,
        }


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
        the calibration error, which has none (see `DEFINITIONS`).

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
    overall["coverage"] = weights @ judged / len(y)
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
        elif name == "precision_at_3":
            found[name] = mean_figure(draws[name])
        else:
            kind = name.removeprefix("macro_")
            unseen = 0.0
            if name != kind and per_theme is not None:
                unseen = unseen_variance(per_theme[kind], own * _trials(kind, y, given))
            n = own * trials(name, y, given)
            found[name] = bootstrap_figure(draws[name], n, unseen)
    return found


def _trials(kind: str, y: Labels, given: Flags) -> Scores:
    """Count the trials behind a figure of each theme: tags, labels or both."""
    label = y == 1
    every = {"precision": given, "f1": given | label}.get(kind, label)
    return np.asarray(every.sum(axis=0), np.float64)


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
        n = float(own * _trials(name, y, given)[j])
        value, unseen = float(draws[name][0, j]), 0.0
        if name == "average_precision" and n:
            # Of few labels, a lucky ranking hides how it could have been: chosen
            # by simulation (`experiments/intervals`).
            unseen = value * (1 - value) / (12 * n)
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
