"""Learning when every record has exactly one theme.

A theme then competes with all others, and what parts them is worth more than
how rare it is. Three things follow, and all fold into one weight per n-gram and
theme: an n-gram weighs more the fewer themes share it; words with a common
beginning share what is learned of them; and a squared hinge loss around how
frequent each theme was. How much the frequencies shall count in an answer, and
how sharp probabilities are, is read off records held out.

References
----------
K. Chen, Z. Zhang, J. Long, H. Zhang, "Turning from TF-IDF to TF-IGM for term
weighting in text classification", Expert Systems with Applications 66 (2016).
R. Rifkin, A. Klautau, "In defense of one-vs-all classification", JMLR 5 (2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagger.features import Codes, find, read_document
from tagger.records import Record
from tagger.tokens import norm

__all__ = [
    "LEAST_RECORDS",
    "ExclusiveModel",
    "Sharpness",
    "compete",
    "fit_exclusive",
    "judged_anyway",
    "sharpen",
    "word_beginnings",
]

Floats = NDArray[np.floating[Any]]
Labels = NDArray[np.int8]

LEAST_RECORDS = 1
"""An n-gram the background lacks is learned if this many records have it."""

# All chosen by cross-validation on the training parts of two benchmarks; see
# experiments/exclusive.
_PENALTY = 0.1
_MARGIN_STEPS = 2
_FOCUS = 4.0  # an n-gram of one theme alone weighs up to 1 + this
_DOUBT = 5.0  # records after which half of that is believed
_ALIKE = 10.0  # records after which half of the frequencies is believed
_BALANCE = 0.5  # power by which records of rare themes count more
_BACKGROUND_RECORDS = 3000.0  # what the background's frequencies count for
_BEGINNINGS = (4, 5, 6)  # letters
_BEGINNING_SHARE = 0.3
# The semantic space helps until this many records have spoken.
_SEMANTIC_RECORDS = 100.0
_SHARES = (0.5, 0.25, 0.75, 0.0, 1.0)  # the first of equals is taken
# Logarithm of the scale, shift, logarithm of the keywords, before any evidence.
_USUAL = np.array([2.1, 1.0, 0.2])
_STRENGTH = 4.0  # precision of that
_NO_KNOWN_WORDS = 1  # position in `tagger.decide.REASONS`


@dataclass(frozen=True, slots=True)
class ExclusiveModel:
    """What was learned; scores are for `sharpen`, not yet logits.

    Parameters
    ----------
    scale : float32 ndarray of shape (n_ngrams,)
        Factor of each n-gram's inverse document frequency; >= 0.
    weights : float32 ndarray of shape (n_ngrams, n_themes)
        For rows of the vocabulary with those frequencies.
    base : float64 ndarray of shape (n_themes,)
        How frequent a theme was: twice its share less 1, in [-1, 1].
    """

    scale: NDArray[np.float32]
    weights: NDArray[np.float32]
    base: NDArray[np.float64]

    def scores(self, rows: Any) -> NDArray[np.float64]:
        """Score TF-IDF rows of the vocabulary as it was before `scale`.

        Returns
        -------
        scores : float64 ndarray of shape (n_records, n_themes)
            About 0 at the theme's mean, without `base`.
        """
        return np.asarray(_rescaled(rows, self.scale) @ self.weights, np.float64)


@dataclass(frozen=True, slots=True)
class Sharpness:
    """``logit = scale * (score + share * base) + shift + keywords * keyword score``.

    Parameters
    ----------
    scale, keywords : float
        > 0.
    shift : float
        The higher, the less sharp the probabilities.
    share : float
        How much a theme's frequency counts, in [0, 1].
    """

    scale: float
    shift: float
    keywords: float
    share: float

    def logits(self, scores: Floats, base: Floats, keyword_scores: Floats) -> Floats:
        """Give logits for `compete`, same shape as scores."""
        learned = self.scale * (scores + self.share * base) + self.shift
        return np.asarray(learned + self.keywords * keyword_scores)


def compete(logits: Floats) -> NDArray[np.float64]:
    """Turn logits into probabilities that sum to 1 in every row.

    They are as the squares of ``log(1 + exp(logit))``. A softmax of scores of
    a squared loss is too sure at the top and too unsure below: these grow
    like it where logits are low, and slower where they are high.

    Examples
    --------
    >>> compete(np.array([[1000.0, 1000.0], [-1000.0, -1001.0]])).round(3)
    array([[0.5  , 0.5  ],
           [0.881, 0.119]])
    """
    if not logits.shape[1]:
        return np.zeros(logits.shape)
    power = 2.0 * _log_softplus(logits)
    e = np.exp(power - power.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True), np.float64)


def _log_softplus(z: Floats) -> Floats:
    """Give ``log(log(1 + exp(z)))``, which is z where z is low."""
    return np.asarray(
        np.where(z < -30.0, z, np.log(np.logaddexp(0.0, np.maximum(z, -30.0))))
    )


def word_beginnings(records: Sequence[Record], codes: Codes) -> Any:
    """Say which words of a vocabulary begin alike, as the records spell them.

    Parameters
    ----------
    records : sequence of Record
    codes : uint64 ndarray of shape (n_ngrams,)
        Ascending codes of the vocabulary.

    Returns
    -------
    scipy CSR matrix of shape (n_ngrams, n_beginnings)
        1 where a word has the beginning; a pair of words has none.
    """
    from scipy.sparse import csr_matrix

    words: dict[int, str] = {}
    for record in records:
        document = read_document(record)
        for text, tokens in (
            (document.title.text, document.title_tokens),
            (document.abstract.text, document.abstract_tokens),
        ):
            spans = zip(tokens.codes, tokens.starts, tokens.ends, strict=True)
            for code, start, end in spans:
                if code not in words:
                    words[code] = norm(text[start:end])
    at = find(codes, np.array(list(words), np.uint64)).tolist()
    number: dict[str, int] = {}
    rows: list[int] = []
    columns: list[int] = []
    for row, word in zip(at, words.values(), strict=True):
        # The end of a short word is a letter too: "bone." is not "bones".
        whole = word + "."
        if row < 0 or len(word) < min(_BEGINNINGS):
            continue
        # In the order of their length: that of a set is another in every process.
        for beginning in dict.fromkeys(whole[:n] for n in _BEGINNINGS):
            rows.append(row)
            columns.append(number.setdefault(beginning, len(number)))
    ones = np.ones(len(rows), np.float32)
    return csr_matrix((ones, (rows, columns)), shape=(len(codes), len(number)))


def fit_exclusive(
    rows: Any,
    y: Labels,
    importance: Floats,
    idf: Floats,
    space: NDArray[np.float32],
    beginnings: Any,
) -> ExclusiveModel:
    """Fit one weight per n-gram and theme, on n-grams that part themes.

    Parameters
    ----------
    rows : scipy CSR matrix of shape (n_records, n_ngrams)
        TF-IDF rows of length 1.
    y : int8 ndarray of shape (n_records, n_themes)
        1 label, 0 not.
    importance : ndarray of shape (n_records, n_themes)
        How much each pair counts; 0 leaves it out.
    idf : ndarray of shape (n_ngrams,)
        The background's, with which `rows` were made.
    space : float32 ndarray of shape (n_ngrams, n_dimensions)
        The background's semantic space; 0 for n-grams it does not know.
    beginnings : scipy CSR matrix of shape (n_ngrams, n_beginnings)
        From `word_beginnings`.
    """
    n, k = y.shape
    if n == 0:
        nothing = np.zeros((rows.shape[1], k), np.float32)
        ones = np.ones(rows.shape[1], np.float32)
        return ExclusiveModel(ones, nothing, np.zeros(k))
    labels = (y == 1).astype(np.float64)
    scale = _scale(rows, labels, idf, space)
    rows = _rescaled(rows, scale)
    blocks, maps = _blocks(rows, labels, space, beginnings)
    weight = importance * _balance(labels)[:, None]
    target = 2.0 * labels - 1.0
    base = (weight * target).sum(0) / np.maximum(weight.sum(0), 1e-12)
    learned = _large_margin(blocks, target, weight, base)
    weights = learned[0]
    for through, part in zip(maps, learned[1:], strict=True):
        weights = weights + through @ part
    # Few records do not yet say how frequent themes are.
    base = (n * base + _ALIKE * (2.0 / k - 1.0)) / (n + _ALIKE)
    return ExclusiveModel(scale, np.asarray(weights, np.float32), base)


def _scale(
    rows: Any, labels: Floats, idf: Floats, space: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Give the factor of each n-gram's idf: own frequencies, and focus on themes."""
    has = rows.copy()
    has.data[:] = 1.0
    df = np.asarray(has.sum(axis=0)).ravel()
    n = rows.shape[0]
    background = _BACKGROUND_RECORDS * np.exp(1.0 - idf)
    own = np.log((_BACKGROUND_RECORDS + n + 1.0) / (background + df + 0.5))
    # How often in each theme, for its size; the square root lets a large theme,
    # of which more is known, count for more.
    share = (has.T @ labels) / np.sqrt(np.maximum(labels.sum(0), 1.0))
    share = -np.sort(-share, axis=1)
    ranked = share @ np.arange(1.0, share.shape[1] + 1.0)
    focus = share[:, 0] / np.maximum(ranked, 1e-12)
    factor = 1.0 + _FOCUS * focus * df / (df + _DOUBT)
    scale = np.maximum(own, 0.05) / idf * factor
    # What neither these records nor the background know, a new text has not.
    scale[(df == 0) & ~space.any(axis=1)] = 0.0
    return np.asarray(scale, np.float32)


def _rescaled(rows: Any, scale: NDArray[np.float32]) -> Any:
    """Weigh the columns anew, and bring rows back to length 1."""
    rows = rows.copy()
    rows.data = rows.data * scale[rows.indices]
    length = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    length[length == 0] = 1.0
    rows.data = rows.data / np.repeat(length, np.diff(rows.indptr))
    rows.data = rows.data.astype(np.float32)
    return rows


def _blocks(
    rows: Any, labels: Floats, space: NDArray[np.float32], beginnings: Any
) -> tuple[list[Any], list[Any]]:
    """Give the blocks of features, and the maps from n-grams to all but the first."""
    from scipy.sparse import diags

    n = rows.shape[0]
    semantic = _SEMANTIC_RECORDS / (_SEMANTIC_RECORDS + n)
    near = space * np.float32(semantic**0.5)
    blocks, maps = [rows, rows @ near], [near]
    alike = (rows @ beginnings).tocsr()
    if alike.nnz:
        df = np.bincount(alike.indices, minlength=alike.shape[1])
        # A beginning that one record has tells no more than the word.
        telling = np.where(df > 1, np.log((n + 1.0) / (df + 0.5)), 0.0)
        telling = np.maximum(telling, 0.0)
        alike = (alike @ diags(telling)).tocsr()
        size = np.sqrt(alike.multiply(alike).sum() / n)
        factor = telling * (_BEGINNING_SHARE**0.5 / max(size, 1e-12))
        through = (beginnings @ diags(factor)).tocsr().astype(np.float32)
        blocks.append((rows @ through).tocsr())
        maps.append(through)
    return blocks, maps


def _balance(labels: Floats) -> NDArray[np.float64]:
    """Let records of rare themes count more; 1 on average."""
    rare = (1.0 / np.maximum(labels.sum(0), 1.0)) ** _BALANCE
    per_record = labels @ rare / np.maximum(labels.sum(1), 1.0)
    per_record[labels.sum(1) == 0] = per_record.mean() or 1.0
    return np.asarray(per_record / per_record.mean(), np.float64)


def _large_margin(
    blocks: Sequence[Any], target: Floats, weight: Floats, base: Floats
) -> list[NDArray[np.float32]]:
    """Fit the squared loss, and then only where an answer is not right enough.

    These are the first steps of Newton's method for the squared hinge loss.
    """
    found = _ridge(blocks, target - base, weight)
    for _ in range(_MARGIN_STEPS):
        scores = base + sum(b @ part for b, part in zip(blocks, found, strict=True))
        short = target * scores < 1.0
        found = _ridge(blocks, target - base, weight * short, found)
    return found


def _ridge(
    blocks: Sequence[Any],
    target: Floats,
    weight: Floats,
    start: Sequence[NDArray[np.float32]] | None = None,
    tolerance: float = 1e-2,
    most: int = 60,
) -> list[NDArray[np.float32]]:
    """Minimise ``sum(weight * (x·w - target)²) + penalty * |w|²`` for every theme.

    By conjugate gradients, for all themes in lock-step.
    """
    transposed = [
        block.T.tocsr() if hasattr(block, "tocsr") else np.ascontiguousarray(block.T)
        for block in blocks
    ]
    cuts = np.cumsum([block.shape[1] for block in blocks])[:-1]
    weight = weight.astype(np.float32)

    def forward(v: Floats) -> Floats:
        parts = np.split(v, cuts)
        return np.asarray(sum(b @ p for b, p in zip(blocks, parts, strict=True)))

    def backward(z: Floats) -> Floats:
        return np.vstack([t @ z for t in transposed])

    rest = backward(weight * target.astype(np.float32)).astype(np.float32)
    enough = tolerance**2 * (rest * rest).sum(0)
    found = np.zeros_like(rest)
    if start is not None:
        found = np.vstack(start)
        rest -= backward(weight * forward(found)) + _PENALTY * found
    direction = rest.copy()
    square = (rest * rest).sum(0)
    for _ in range(most):
        if (square <= enough).all():
            break
        image = backward(weight * forward(direction)) + _PENALTY * direction
        along = (direction * image).sum(0)
        step = np.where(square > enough, square / np.maximum(along, 1e-30), 0.0)
        step = step.astype(np.float32)
        found += step * direction
        rest -= step * image
        new = (rest * rest).sum(0)
        ratio = np.where(square > enough, new / np.maximum(square, 1e-30), 0.0)
        direction = rest + ratio.astype(np.float32) * direction
        square = np.where(square > enough, new, square)
    return list(np.split(found, cuts))


def sharpen(
    scores: Floats,
    base: Floats,
    keyword_scores: Floats,
    y: Labels,
) -> Sharpness:
    """Choose how scores become probabilities, on records held out.

    Parameters
    ----------
    scores : ndarray of shape (n_records, n_themes)
        Of records the model did not learn from.
    base : ndarray of shape (n_records, n_themes)
        Of the model that scored the record.
    keyword_scores : ndarray of shape (n_records, n_themes)
    y : int8 ndarray of shape (n_records, n_themes)
        Records that have not exactly one label are left out.

    References
    ----------
    C. Guo, G. Pleiss, Y. Sun, K. Weinberger, "On calibration of modern neural
    networks", ICML 2017.
    """
    one = (y == 1).sum(axis=1) == 1
    scores, base = scores[one], base[one]
    keyword_scores, label = keyword_scores[one], (y[one] == 1).argmax(axis=1)
    found = _sharpness(_USUAL, _SHARES[0])
    if not len(label):
        return found
    for _ in range(2):
        found = _share(found, scores, base, keyword_scores, label)
        found = _temper(found, scores, base, keyword_scores, label)
    return found


def _sharpness(theta: Floats, share: float) -> Sharpness:
    scale, shift, keywords = theta.tolist()
    return Sharpness(float(np.exp(scale)), shift, float(np.exp(keywords)), share)


def _share(
    found: Sharpness, scores: Floats, base: Floats, keywords: Floats, label: Any
) -> Sharpness:
    """Take the share of the frequencies that gets most records right."""

    def right(share: float) -> int:
        logits = replace(found, share=share).logits(scores, base, keywords)
        return int((logits.argmax(axis=1) == label).sum())

    return replace(found, share=max(_SHARES, key=right))


def _temper(
    found: Sharpness, scores: Floats, base: Floats, keywords: Floats, label: Any
) -> Sharpness:
    """Fit scale, shift and keywords by their likelihood, leaning on the usual."""
    from scipy.optimize import minimize

    at = np.arange(len(label))
    scores = scores + found.share * base

    def loss(theta: Floats) -> tuple[float, Floats]:
        scale, words = np.exp(theta[0]), np.exp(theta[2])
        logits = scale * scores + theta[1] + words * keywords
        P = compete(logits)
        value = -np.log(np.maximum(P[at, label], 1e-300)).sum()
        error = P
        error[at, label] -= 1.0
        # The slope of log softplus.
        error *= 2.0 * np.exp(-np.logaddexp(0.0, -logits) - _log_softplus(logits))
        slope = [
            scale * (scores * error).sum(),
            error.sum(),
            words * (keywords * error).sum(),
        ]
        off = theta - _USUAL
        lean = 0.5 * _STRENGTH * (off @ off)
        return float(value + lean), np.array(slope) + _STRENGTH * off

    bounds = [(-4.0, 5.0), (-20.0, 20.0), (-4.0, 5.0)]
    best = minimize(loss, _USUAL, jac=True, method="L-BFGS-B", bounds=bounds)
    return _sharpness(best.x, found.share)


def judged_anyway(reasons: NDArray[np.int8]) -> NDArray[np.int8]:
    """Keep of the reasons to abstain those of a text without a word that tells.

    Where every record has a theme, one of another field or tongue has one too.
    """
    return np.where(reasons > _NO_KNOWN_WORDS, -1, reasons).astype(np.int8)
