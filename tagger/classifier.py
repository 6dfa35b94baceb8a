"""Learning: one regularised logistic regression a theme, around a prior.

For record x and theme t the logit is ``x·w_t + b_t``. Training minimises the
weighted logistic loss plus ``penalty / 2 * |w_t - prior_t|**2``: with no label
the answer is the prior (what the theme file says), and every label moves it.
Each theme is solved by itself: on its own records where they are many, and the
same whatever else is learned beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagger.features import Rows

__all__ = ["LinearModel", "fit_logistic", "sigmoid", "to_scipy"]

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


def to_scipy(rows: Rows, n_columns: int) -> Any:
    """Give rows as a scipy CSR matrix of float32."""
    from scipy.sparse import csr_matrix

    return csr_matrix(
        (rows.values.astype(np.float32), rows.columns, rows.indptr),
        shape=(len(rows), n_columns),
    )


def fit_logistic(
    blocks: Sequence[Any],
    targets: Floats,
    importance: Floats,
    penalties: Sequence[float],
    offset: Floats,
    *,
    telling: NDArray[np.bool_] | None = None,
    most_others: int | None = None,
    intercept_penalty: float = 1e-3,
    tolerance: float = 5e-3,
    start: LinearModel | None = None,
    jobs: int = 1,
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
    telling : bool ndarray of shape (n_records, n_themes), optional
        Pairs that are looked at, however many there are; all by default.
    most_others : int, optional
        Of the other pairs of a theme about so many are looked at, at even
        distances, and count for all.
    intercept_penalty : float
        L2 penalty of what is added to the prior's intercept; > 0, so that a
        theme without positives stays finite.
    tolerance : float
        Ends a theme's work when its gradient is this fraction of the prior's.
    start : LinearModel, optional
        Where to begin, the prior by default: a model near the one that is looked
        for saves work.
    jobs : int, default=1
        Themes that are fitted side by side; does not change the model.

    Returns
    -------
    LinearModel
        Weights and intercepts to be added to the prior's.
    """
    from joblib import Parallel, delayed

    sizes = [block.shape[1] for block in blocks]
    penalty = np.repeat([*penalties, intercept_penalty], [*sizes, 1])
    penalty = penalty.astype(np.float32)
    first = np.zeros((len(penalty), targets.shape[1]), np.float32)
    if start is not None:
        first[:] = np.vstack([*start.weights, start.intercept])

    def fit(theme: int) -> Floats:
        rows = np.flatnonzero(importance[:, theme])
        weight = importance[rows, theme]
        if telling is not None and most_others is not None:
            kept, share = _thinned(telling[rows, theme], most_others)
            rows, weight = rows[kept], weight[kept] * share
        return _fit_theme(
            [block[rows] for block in blocks],
            targets[rows, theme],
            weight.astype(np.float32),
            penalty,
            offset[rows, theme].astype(np.float32),
            np.ascontiguousarray(first[:, theme]),
            tolerance,
        )

    themes = range(targets.shape[1])
    parallel = Parallel(n_jobs=jobs, prefer="threads")
    found = parallel(delayed(fit)(theme) for theme in themes)
    weights = np.stack(list(found), axis=1)
    blockwise = np.split(weights[:-1], np.cumsum(sizes)[:-1])
    return LinearModel(list(blockwise), weights[-1].astype(np.float64))


def _thinned(
    telling: NDArray[np.bool_], most_others: int
) -> tuple[NDArray[np.int64], Floats]:
    """Give which rows are looked at, and for how many each counts."""
    others = np.flatnonzero(~telling)
    step = -(-len(others) // most_others)
    if step <= 1:
        return np.arange(len(telling)), np.ones(len(telling), np.float32)
    some = others[::step]
    share = np.where(telling, 1.0, len(others) / len(some)).astype(np.float32)
    kept = np.sort(np.concatenate([np.flatnonzero(telling), some]))
    return kept, share[kept]


def _fit_theme(
    blocks: Sequence[Any],
    target: Floats,
    importance: Floats,
    penalty: Floats,
    offset: Floats,
    first: Floats,
    tolerance: float,
    max_newton: int = 30,
) -> Floats:
    """Give one theme's weights of all blocks and its intercept, in one array.

    Truncated Newton: each step solves the Newton system by conjugate
    gradients, and is halved until the loss falls.

    References
    ----------
    C.-J. Lin, R. C. Weng, S. S. Keerthi, "Trust region Newton method for
    large-scale logistic regression", JMLR 9 (2008).
    """
    squares = [_squared(block) for block in blocks]
    cuts = np.cumsum([block.shape[1] for block in blocks])[:-1]

    def forward(v: Floats) -> Floats:
        return np.asarray(v[-1] + _product(blocks, np.split(v[:-1], cuts)))

    def backward(matrices: Sequence[Any], g: Floats) -> Floats:
        parts = [matrix.T @ g for matrix in matrices]
        return np.concatenate([*parts, [g.sum()]]).astype(np.float32)

    def loss_of(v: Floats, z: Floats) -> float:
        fit = importance * (np.logaddexp(0.0, z) - target * z)
        spread = penalty * v * v
        return float(fit.sum(dtype=np.float64) + spread.sum(dtype=np.float64) / 2)

    def gradient_at(v: Floats, p: Floats) -> Floats:
        return backward(blocks, importance * (p - target)) + penalty * v

    v, z = first, offset
    enough: float | None = None
    if v.any():
        prior = gradient_at(np.zeros_like(v), sigmoid(offset))
        enough = tolerance * float(np.linalg.norm(prior)) + 1e-12
        z = offset + forward(v)
    loss = loss_of(v, z)
    for _ in range(max_newton):
        p = sigmoid(z)
        gradient = gradient_at(v, p)
        size = float(np.linalg.norm(gradient))
        enough = tolerance * size + 1e-12 if enough is None else enough
        if size <= enough:
            break
        curvature = importance * p * (1.0 - p)
        step = _conjugate_gradients(
            lambda d, c=curvature: (  # type: ignore[misc]
                backward(blocks, c * forward(d)) + penalty * d
            ),
            backward(squares, curvature) + penalty,
            gradient,
        )
        dz, scale = forward(step), np.float32(1.0)
        while (moved := loss_of(v + scale * step, z + scale * dz)) > loss:
            scale /= np.float32(2.0)
            if scale < 1e-3:  # no step helps: rounding is all that is left
                return v
        v, z, loss = v + scale * step, z + scale * dz, moved
    return v


def _conjugate_gradients(
    hessian: Callable[[Floats], Floats],
    diagonal: Floats,
    gradient: Floats,
    max_steps: int = 40,
) -> Floats:
    """Solve ``hessian(s) = -gradient``; the diagonal of the Hessian helps."""
    step = np.zeros_like(gradient)
    rest = -gradient
    direction = scaled = rest / diagonal
    square = rest @ scaled
    # An early Newton step need not be exact (Lin et al., equation 8).
    enough = 0.01 * square
    for _ in range(max_steps):
        if square <= enough:
            break
        image = hessian(direction)
        length = square / (direction @ image)
        step += length * direction
        rest -= length * image
        scaled = rest / diagonal
        old, square = square, rest @ scaled
        direction = scaled + (square / old) * direction
    return step


def _product(blocks: Sequence[Any], weights: Sequence[Floats]) -> Floats:
    total: Floats = blocks[0] @ weights[0]
    for block, part in zip(blocks[1:], weights[1:], strict=True):
        total = total + block @ part
    return total


def _squared(block: Any) -> Any:
    return block.power(2) if hasattr(block, "power") else block * block
