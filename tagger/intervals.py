"""How sure a figure is: bootstrap over records, and the intervals it gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Figure",
    "bootstrap_figure",
    "difference_figure",
    "mean_figure",
    "unseen_variance",
    "weightings",
]

_Z = 1.959964  # 97.5 % of a normal distribution lie below it.


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number with its 95 % interval.

    Parameters
    ----------
    value : float
        NaN where the figure is undefined.
    low, high : float
        Bootstrap interval over records; NaN where none is given.
    """

    value: float
    low: float = np.nan
    high: float = np.nan

    def to_dict(self) -> dict[str, float | None]:
        """Return value, low and high, with None for what is undefined."""
        numbers = {"value": self.value, "low": self.low, "high": self.high}
        return {name: None if np.isnan(n) else float(n) for name, n in numbers.items()}


def weightings(
    n_records: int,
    n_boot: int,
    seed: int,
    units: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Weigh each record once, then as often as each resample draws it.

    Parameters
    ----------
    n_records, n_boot : int
        Records, and resamples of them.
    seed : int
        Equal seeds give equal weightings.
    units : ndarray of shape (n_records,), optional
        Rows with equal numbers are one record tested more than once, and are
        drawn together.

    Returns
    -------
    weights : ndarray of shape (1 + n_boot, n_records)
        Row 0 is all ones: figures under it are the measured ones.

    Examples
    --------
    >>> weightings(3, 5, seed=0).sum(axis=1)
    array([3., 3., 3., 3., 3., 3.])
    """
    if units is not None:
        distinct, unit = np.unique(units, return_inverse=True)
        return weightings(len(distinct), n_boot, seed)[:, unit]
    rng = np.random.default_rng(seed)
    drawn = rng.integers(n_records, size=(n_boot, n_records))
    drawn += np.arange(n_boot)[:, None] * n_records
    counts = np.bincount(drawn.ravel(), minlength=n_boot * n_records)
    once = np.ones((1, n_records))
    return np.vstack([once, counts.reshape(n_boot, n_records)])


def bootstrap_figure(
    draws: NDArray[np.float64], trials: float, unseen: float = 0.0
) -> Figure:
    """Give a figure in [0, 1] its interval.

    The bootstrap says how far a figure scatters, and so how many independent
    trials it is worth; Wilson's interval for that many trials follows. Taken
    from the draws directly, the interval of a perfect figure would be a point,
    and that of a rare theme would hold the truth in 6 cases of 10.

    Parameters
    ----------
    draws : ndarray of shape (1 + n_boot,)
        The figure under each of `weightings`; NaN where undefined.
    trials : float
        What it is worth where it does not scatter: its tags, labels or records.
    unseen : float, default=0
        Variance that no resample can show; added to that of the draws.

    Returns
    -------
    Figure
        Without an interval where the figure is undefined.

    References
    ----------
    Korn, Graubard, "Confidence intervals for proportions with small expected
    number of positive counts estimated from survey data", Survey Methodology
    1998.
    """
    value, sample = float(draws[0]), draws[1:][~np.isnan(draws[1:])]
    if np.isnan(value):
        return Figure(value)
    variance = unseen + (float(sample.var(ddof=1)) if len(sample) > 1 else 0.0)
    scatters = 0 < value < 1 and variance > 1e-15
    n = value * (1 - value) / variance if scatters else trials
    middle = (value + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    spread = float(np.sqrt(value * (1 - value) / n + (_Z / (2 * n)) ** 2))
    half = _Z * spread / (1 + _Z**2 / n)
    low, high = max(middle - half, 0.0), min(middle + half, 1.0)
    return Figure(value, min(low, value), max(high, value))


def unseen_variance(draws: NDArray[np.float64], trials: NDArray[np.float64]) -> float:
    """Variance of a mean over themes that resamples cannot show.

    A rare theme that happens to be all right is all right in every resample, and
    adds nothing to the scatter of the mean, though it could have been otherwise.
    A third of what its own interval says beyond its draws is taken; by simulation,
    a half is too much, and nothing too little (`experiments/intervals`).

    Parameters
    ----------
    draws : ndarray of shape (1 + n_boot, n_themes)
        The figure of each theme under each of `weightings`.
    trials : ndarray of shape (n_themes,)
        As in `bootstrap_figure`.
    """
    themes = np.flatnonzero(~np.isnan(draws[0]))
    extra = 0.0
    for j in themes.tolist():
        sample = draws[1:, j][~np.isnan(draws[1:, j])]
        figure = bootstrap_figure(draws[:, j], float(trials[j]))
        own = ((figure.high - figure.low) / 2 / _Z) ** 2
        shown = float(sample.var(ddof=1)) if len(sample) > 1 else 0.0
        extra += max(own - shown, 0.0)
    return extra / 3 / max(len(themes), 1) ** 2


def mean_figure(draws: NDArray[np.float64], trials: float, step: float) -> Figure:
    """Give a mean in [0, 1] that is no share of trials its interval.

    Parameters
    ----------
    draws : ndarray of shape (1 + n_boot,)
        The mean under each of `weightings`; NaN where undefined.
    trials : float
        Records behind the mean.
    step : float
        What two records differ in at least, if they differ. Two records as far
        off, one to each side, are thought to have been missed: a handful of equal
        ones is no proof that all are equal.

    References
    ----------
    Johnson, "Modified t tests and confidence intervals for asymmetrical
    populations", JASA 1978.
    """
    value, sample = float(draws[0]), draws[1:][~np.isnan(draws[1:])]
    if np.isnan(value) or not len(sample):
        return Figure(value)
    variance, missed = float(sample.var()), 2 * step**2 / (trials * (trials + 2))
    third = float(((sample - sample.mean()) ** 3).mean())
    lean = third / variance * (1 + 2 * _Z**2) / 6 if variance else 0.0
    half = _Z * float(np.sqrt(variance + missed))
    low, high = max(value + lean - half, 0.0), min(value + lean + half, 1.0)
    return Figure(value, min(low, value), max(high, value))


def difference_figure(draws: NDArray[np.float64]) -> Figure:
    """Give a difference of two figures its percentile interval.

    Parameters
    ----------
    draws : ndarray of shape (1 + n_boot,)
        The difference under each of `weightings`; NaN where undefined.

    Returns
    -------
    Figure
        In [-1, 1]; without an interval where the difference is undefined.

    Examples
    --------
    >>> difference_figure(np.array([0.5, 0.25, 0.5, 0.75])).value
    0.5
    """
    sample = draws[1:][~np.isnan(draws[1:])]
    if np.isnan(draws[0]) or not len(sample):
        return Figure(float(draws[0]))
    low, high = np.quantile(sample, [0.025, 0.975])
    return Figure(float(draws[0]), float(low), float(high))
