"""From logits to probabilities that mean what they say, and to thresholds.

Both are learned on out-of-fold logits. A theme with few positives leans on
what all themes together say, so that it does not follow its noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagger.classifier import sigmoid

__all__ = ["Calibration", "Target", "calibrate", "tune_thresholds"]

Floats = NDArray[np.floating[Any]]
Labels = NDArray[np.int8]

# Precision of the prior on log slope and shift: a theme's own fit leans on the
# common one, and the common one on the logits as they are. The second is
# divided by the number of records: few of them say little of any theme.
_STRENGTH = 4.0
_CAUTION = 3000.0
# The common threshold weighs as much as 0.5 at this many positives, and a
# theme's own as much as the common one at this many of its own.
_HALF_COMMON = 40.0
_HALF_OWN = 80.0
# Logits that part the labels perfectly, or not at all, ask for no finite slope.
_MOST_LOG_SLOPE = 5.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """``calibrated logit = slope * logit + shift``, per theme.

    Parameters
    ----------
    slope, shift : float64 ndarray of shape (n_themes,)
        The slope is > 0.
    """

    slope: NDArray[np.float64]
    shift: NDArray[np.float64]

    def apply(self, logits: Floats) -> NDArray[np.float64]:
        """Give calibrated probabilities, same shape."""
        return np.asarray(sigmoid(self.slope * logits + self.shift), np.float64)


@dataclass(frozen=True, slots=True)
class Target:
    """What thresholds are chosen for: the best F1, or a least precision or recall."""

    min_precision: float | None = None
    min_recall: float | None = None

    def __post_init__(self) -> None:
        """Refuse two targets at once."""
        if self.min_precision is not None and self.min_recall is not None:
            raise ValueError(
                "Target has both min_precision and min_recall; give just one."
            )


def calibrate(logits: Floats, y: Labels) -> Calibration:
    """Fit slope and shift of every theme (Platt scaling, shrunk).

    Parameters
    ----------
    logits : ndarray of shape (n_records, n_themes)
        Of records the model did not learn from.
    y : int8 ndarray of shape (n_records, n_themes)
        1, 0, or -1 for a pair to leave out.

    References
    ----------
    J. Platt, "Probabilistic outputs for support vector machines", 1999.
    """
    k = logits.shape[1]
    if not (y == 1).any():
        return Calibration(np.ones(k), np.zeros(k))
    strength = _STRENGTH + _CAUTION / len(y)
    known = y >= 0
    common = _platt(logits[known], y[known], (0.0, 0.0), strength)
    fits = []
    for column in range(k):
        mask = known[:, column]
        labels = y[mask, column]
        fits.append(_platt(logits[mask, column], labels, common, strength))
    values = np.array(fits).reshape(k, 2)
    return Calibration(np.exp(values[:, 0]), values[:, 1])


def _platt(
    z: Floats, y: NDArray[np.integer], prior: tuple[float, float], strength: float
) -> tuple[float, float]:
    """Fit (log slope, shift) with a Gaussian prior, by damped Newton steps."""
    centre = np.array(prior)
    theta = centre.copy()

    def moved(by: Floats) -> Floats:
        log_slope = np.clip(theta[0] + by[0], -_MOST_LOG_SLOPE, _MOST_LOG_SLOPE)
        return np.array([log_slope, theta[1] + by[1]])

    def loss(t: Floats) -> float:
        logit = np.exp(t[0]) * z + t[1]
        return float(
            (np.logaddexp(0.0, logit) - y * logit).sum()
            + 0.5 * strength * ((t - centre) ** 2).sum()
        )

    here = loss(theta)
    for _ in range(50):
        scaled = np.exp(theta[0]) * z
        p = sigmoid(scaled + theta[1])
        parts = np.stack([scaled, np.ones_like(scaled)])
        gradient = parts @ (p - y) + strength * (theta - centre)
        hessian = (parts * (p * (1 - p))) @ parts.T + (strength + 1e-9) * np.eye(2)
        step = -np.linalg.solve(hessian, gradient)
        scale = 1.0
        while scale > 1e-6 and loss(moved(scale * step)) > here:
            scale /= 2
        if scale <= 1e-6:
            break
        theta = moved(scale * step)
        before, here = here, loss(theta)
        if before - here < 1e-10 * (1 + abs(before)):
            break
    return float(theta[0]), float(theta[1])


def tune_thresholds(
    P: Floats, y: Labels, target: Target | None = None
) -> NDArray[np.float64]:
    """Choose every theme's threshold on out-of-fold probabilities.

    Parameters
    ----------
    P : ndarray of shape (n_records, n_themes)
        Calibrated probabilities in [0, 1].
    y : int8 ndarray of shape (n_records, n_themes)
        1, 0, or -1 for a pair to leave out.
    target : Target, optional
        The best F1 by default; else the lowest threshold that reaches the
        precision (where none does: one above all of `P`), or the highest that
        reaches the recall.

    Returns
    -------
    thresholds : float64 ndarray of shape (n_themes,)
        In (0, 1), shrunk (in logits) towards the threshold that serves all
        themes together, the more the fewer positives a theme has. 0.5 where
        no theme has a positive.

    References
    ----------
    Z. Lipton, C. Elkan, B. Naryanaswamy, "Optimal thresholding of classifiers
    to maximize F1 measure", ECML PKDD 2014.
    """
    target = target or Target()
    k = P.shape[1]
    known = y >= 0
    if not (y == 1).any():
        return np.full(k, 0.5)
    total = int((y == 1).sum())
    common = _logit(_best(P[known], y[known], target))
    if target == Target():
        common *= total / (total + _HALF_COMMON)
    thresholds = np.empty(k)
    for column in range(k):
        labels = y[known[:, column], column]
        positives = int((labels == 1).sum())
        own = (
            _logit(_best(P[known[:, column], column], labels, target))
            if positives
            else common
        )
        share = positives / (positives + _HALF_OWN)
        thresholds[column] = sigmoid(np.array(share * own + (1 - share) * common))
    return thresholds


def _best(p: Floats, y: NDArray[np.integer], target: Target) -> float:
    """Give the threshold that serves the target best, between two probabilities."""
    order = np.argsort(-p, kind="stable")
    p, hit = p[order], y[order] == 1
    true = np.cumsum(hit)
    given = np.arange(1, len(p) + 1)
    # Only where the next probability is lower can a threshold stand.
    last = np.append(p[1:] < p[:-1], True)
    precision, recall = true / given, true / max(true[-1], 1)
    if target.min_precision is not None:
        good = last & (precision >= target.min_precision)
        if not good.any():
            return float((p[0] + 1.0) / 2)
        at = int(np.flatnonzero(good)[-1])
    elif target.min_recall is not None:
        at = int(np.flatnonzero(last & (recall >= target.min_recall))[0])
    else:
        f1 = np.where(last, 2 * true / (given + true[-1]), -1.0)
        at = int(f1.argmax())
    below = p[at + 1] if at + 1 < len(p) else 0.0
    return float((p[at] + below) / 2)


def _logit(p: float) -> float:
    p = min(max(p, 1e-6), 1 - 1e-6)
    return float(np.log(p / (1 - p)))
