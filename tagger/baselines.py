"""Simpler ways to decide, to stand beside a model: keyword rules, plain TF-IDF."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tagger.labels import Labels
from tagger.material import Material
from tagger.metrics import Flags, Scores, decision_figures, tags_given

if TYPE_CHECKING:
    from tagger.records import Record

__all__ = [
    "LEARNED",
    "RULES",
    "count_words",
    "keyword_rules",
    "simple_decisions",
    "simple_folds",
    "tfidf_logistic",
]

RULES = "keyword rules"
LEARNED = "TF-IDF + logistic regression"

IntArray = NDArray[np.int64]

# The score of keyword rules where a theme is given: a keyword in the title, or
# more than one occurrence in the abstract. Best of 0.01, 1, 1.5 and 2 on real
# labels, so that the model is compared with good rules.
RULE = 1.5
_CUTS = np.round(np.arange(0.05, 0.96, 0.05), 2)


def simple_decisions(
    material: Material, parts: Sequence[tuple[IntArray, IntArray]]
) -> dict[str, Flags]:
    """Decide in simpler ways, learned on the same training records.

    Parameters
    ----------
    material : Material
    parts : sequence of (train, test)
        Row numbers.

    Returns
    -------
    given : dict of str to ndarray of bool, shape (n_tested, n_themes)
        By the name of the way: keyword rules, and TF-IDF with logistic
        regression. Rows are the tested ones, part after part.
    """
    counts, y = count_words(material.records), material.y
    learned = [tfidf_logistic(counts, y, train, test) for train, test in parts]
    tested = np.concatenate([test for _, test in parts])
    return {RULES: keyword_rules(material.scores[tested]), LEARNED: np.vstack(learned)}


def simple_folds(material: Material, fold: IntArray) -> dict[str, Flags]:
    """Decide in simpler ways on every record, learned on the other folds.

    Parameters
    ----------
    material : Material
    fold : ndarray of shape (n_records,)

    Returns
    -------
    given : dict of str to ndarray of bool, shape (n_records, n_themes)
        As `simple_decisions`, in the order of the records.
    """
    parts = [
        (np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in np.unique(fold)
    ]
    back = np.argsort(np.concatenate([test for _, test in parts]))
    found = simple_decisions(material, parts)
    return {name: given[back] for name, given in found.items()}


def keyword_rules(scores: Scores) -> Flags:
    """Give a theme where its keywords score enough; no label is used.

    Parameters
    ----------
    scores : ndarray of shape (n_records, n_themes)
        From `tagger.keywords.KeywordMatcher.scores`.

    Examples
    --------
    >>> keyword_rules(np.array([[0.9, 1.5]]))
    array([[False,  True]])
    """
    given: Flags = scores >= RULE
    return given


def count_words(records: Sequence[Record]) -> Any:
    """Count the words and word pairs of records, for `tfidf_logistic`.

    Returns
    -------
    counts : CSR matrix of shape (n_records, n_ngrams)
    """
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import CountVectorizer

    texts = [f"{record.title}\n{record.abstract}" for record in records]
    vectorizer = CountVectorizer(ngram_range=(1, 2), dtype=np.float64)
    try:
        return vectorizer.fit_transform(texts)
    except ValueError:  # no record has a word
        return csr_matrix((len(texts), 0))


def tfidf_logistic(counts: Any, y: Labels, train: IntArray, test: IntArray) -> Flags:
    """Train scikit-learn's TF-IDF and logistic regression; decide on test records.

    Word 1-2-grams of at least two training records, sublinear TF-IDF, one balanced
    logistic regression a theme, and one cut for all themes, chosen on every fifth
    training record before the last fit.

    Parameters
    ----------
    counts : CSR matrix of shape (n_records, n_ngrams)
        From `count_words`.
    y : ndarray of shape (n_records, n_themes)
        1 label, 0 not, -1 unsure (not learned from).
    train, test : ndarray
        Row numbers.

    Returns
    -------
    given : ndarray of bool, shape (n_test, n_themes)
    """
    from sklearn.feature_extraction.text import TfidfTransformer

    # An n-gram of a single record teaches nothing, unless records are a handful.
    least = 2 if len(train) >= 50 else 1
    seen = np.bincount(counts[train].indices, minlength=counts.shape[1]) >= least
    if not seen.any():
        return np.zeros((len(test), y.shape[1]), dtype=np.bool_)
    weigh = TfidfTransformer(sublinear_tf=True).fit(counts[train][:, seen])
    X, Z = (weigh.transform(counts[rows][:, seen]) for rows in (train, test))
    known = y[train]
    tried = np.arange(len(train)) % 5 == 0
    P = _probabilities(X[~tried], known[~tried], X[tried])
    once = np.ones((1, int(tried.sum())))
    reached = []
    for cut in _CUTS:
        chosen = tags_given(known[tried], cut <= P)
        _, overall = decision_figures(known[tried], chosen, once)
        reached.append(float(overall["micro_f1"][0]))
    best = int(np.nan_to_num(reached).argmax())
    return np.asarray(_probabilities(X, known, Z) >= _CUTS[best])


def _probabilities(X: Any, y: Labels, Z: Any) -> Scores:
    """Fit on rows of X, give the probabilities of rows of Z."""
    from sklearn.linear_model import LogisticRegression

    P = np.zeros((Z.shape[0], y.shape[1]))
    for j in range(y.shape[1]):
        rows = np.flatnonzero(y[:, j] >= 0)
        label = y[rows, j] == 1
        if not len(rows) or label.all() or not label.any() or not Z.shape[0]:
            P[:, j] = float(label.any())
            continue
        learner = LogisticRegression(
            C=10.0,
            class_weight="balanced",
            solver="liblinear",
            dual=True,
            tol=0.01,
            max_iter=1000,
            random_state=0,
        )
        P[:, j] = learner.fit(X[rows], label).predict_proba(Z)[:, 1]
    return P
