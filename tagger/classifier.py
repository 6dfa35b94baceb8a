"""Learning: one regularised logistic regression a theme, around a prior.

For record x and theme t the logit is ``x·w_t + b_t``. Training minimises the
weighted logistic loss plus ``penalty / 2 * |w_t - prior_t|**2``: with no label
the answer is the prior (what the theme file says), and every label moves it.
All themes are solved together, so that the matrix is read once for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LinearModel", "fit_logistic", "sigmoid"]

Floats = NDArray[np.floating[Any]]


def sigmoid(logits: Floats) -> Floats:
    """Turn logits into probabilities, without overflow.

    Examples
    --------
    >>> sigmoid(np.array([-1000.0, 0.0, 1000.0]))
    array([0. , 0.5, 1. ])
    """
    e = np.exp(-np.abs(logits))
    return np.where(logits >= 0, 1.0, e) / (1.0 + e)


@dataclass(frozen=True, slots=True)
class LinearModel:
    """Weights of all themes.

    Parameters
    ----------
    weights : list of float ndarray of shape (n_features_of_block, n_themes)
        One array a block of features.
    intercept : float64 ndarray of shape (n_themes,)
    """

    weights: list[Floats]
    intercept: NDArray[np.float64]

    def logits(self, blocks: Sequence[Any]) -> Floats:
        """Give the logits, shape (n_records, n_themes), of rows of blocks."""
        return self.intercept + _product(blocks, self.weights)


def fit_logistic(
    blocks: Sequence[Any],
    targets: Floats,
    importance: Floats,
    penalties: Sequence[float],
    offset: Floats,
    *,
    intercept_penalty: float = 1e-3,
    tolerance: float = 2e-3,
    max_newton: int = 30,
    max_inner: int = 40,
) -> LinearModel:
    """Fit every theme's logistic regression on blocks of features.

    Parameters
    ----------
    blocks : sequence of sparse or dense matrix of shape (n_records, n_b)
        Features; sparse ones in CSR form.
    targets : ndarray of shape (n_records, n_themes)
        Wanted probability in [0, 1]; 0 and 1 are plain labels.
    importance : ndarray of shape (n_records, n_themes)
        How much each pair counts; 0 leaves it out, 1 is a plain label.
    penalties : sequence of float
        L2 penalty of each block's weights; > 0.
    offset : ndarray of shape (n_records, n_themes)
        Logits of the prior, to which the learned ones are added.
    intercept_penalty : float
        L2 penalty of what is added to the prior's intercept; > 0, so that a
        theme without positives stays finite.
    tolerance : float
        Ends a theme's work when its gradient is this fraction of the first.

    Returns
    -------
    LinearModel
        Weights and intercepts to be added to the prior's.

    Notes
    -----
    Truncated Newton: each step solves the Newton system by conjugate
    gradients, for all themes in lock-step, and is halved for a theme until
    its loss falls.

    References
    ----------
    C.-J. Lin, R. C. Weng, S. S. Keerthi, "Trust region Newton method for
    large-scale logistic regression", JMLR 9 (2008).
    """
    sizes = [block.shape[1] for block in blocks]
    k = targets.shape[1]
    penalty = np.repeat([*penalties, intercept_penalty], [*sizes, 1])
    penalty = penalty[:, None].astype(np.float32)
    transposed = [_transpose(block) for block in blocks]
    cuts = np.cumsum(sizes)

    def forward(v: Floats) -> Floats:
        return np.asarray(v[-1] + _product(blocks, np.split(v[:-1], cuts[:-1])))

    def backward(g: Floats) -> Floats:
        return np.vstack([*(t @ g for t in transposed), g.sum(0, keepdims=True)])

    def losses(v: Floats, z: Floats) -> Floats:
        fit = importance * (np.logaddexp(0.0, z) - targets * z)
        return np.asarray(
            fit.sum(0, dtype=np.float64)
            + 0.5 * (penalty * v * v).sum(0, dtype=np.float64)
        )

    v: Floats = np.zeros((sum(sizes) + 1, k), np.float32)
    z: Floats = offset.astype(np.float32)
    loss = losses(v, z)
    first: Floats | None = None
    for _ in range(max_newton):
        p = sigmoid(z)
        gradient = backward(importance * (p - targets)).astype(np.float32)
        gradient += penalty * v
        size = np.linalg.norm(gradient, axis=0)
        first = size + 1e-12 if first is None else first
        active = size > tolerance * first
        if not active.any():
            break
        curvature = (importance * p * (1.0 - p)).astype(np.float32)
        step = _conjugate_gradients(
            forward, backward, curvature, penalty, gradient, max_inner
        )
        step[:, ~active] = 0.0
        dz = forward(step)
        scale = np.where(active, 1.0, 0.0).astype(np.float32)
        for _ in range(12):
            moved = losses(v + scale * step, z + scale * dz)
            worse = active & (moved > loss)
            if not worse.any():
                break
            scale[worse] /= 2.0
        scale[worse] = 0.0
        v, z = v + scale * step, z + scale * dz
        loss = np.where(scale > 0, moved, loss)
    weights = np.split(v[:-1], cuts[:-1])
    return LinearModel(list(weights), v[-1].astype(np.float64))


def _conjugate_gradients(
    forward: Any,
    backward: Any,
    curvature: Floats,
    penalty: Floats,
    gradient: Floats,
    max_inner: int,
) -> Floats:
    """Solve ``H s = -gradient`` for every theme; H is never formed."""
    step = np.zeros_like(gradient)
    rest = -gradient
    direction = rest.copy()
    square = (rest * rest).sum(0)
    # An early Newton step need not be exact (Lin et al., equation 8).
    enough = 0.01 * square
    for _ in range(max_inner):
        if (square <= enough).all():
            break
        image = backward(curvature * forward(direction)).astype(np.float32)
        image += penalty * direction
        along = (direction * image).sum(0)
        going = (square > enough) & (along > 0)
        alpha = np.where(going, square / np.where(along > 0, along, 1.0), 0.0)
        alpha = alpha.astype(np.float32)
        step += alpha * direction
        rest -= alpha * image
        new = (rest * rest).sum(0)
        beta = np.where(going, new / np.where(square > 0, square, 1.0), 0.0)
        direction = rest + beta.astype(np.float32) * direction
        square = np.where(going, new, square)
    return step


def _product(blocks: Sequence[Any], weights: Sequence[Floats]) -> Floats:
    total: Floats = blocks[0] @ weights[0]
    for block, part in zip(blocks[1:], weights[1:], strict=True):
        total = total + block @ part
    return total


def _transpose(block: Any) -> Any:
    return block.T.tocsr() if hasattr(block, "tocsr") else np.ascontiguousarray(block.T)
