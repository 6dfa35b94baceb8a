"""The company that a theme's keywords keep, learned from records without labels.

A keyword is a noisy label that the theme file gives to every record. A
classifier learns to tell the records that have a theme's keywords from those
that have none, *without seeing the keywords*: what is left to it is their
company, the words that stand beside them. So a record that speaks of a theme
in other words is found, and one that drops a keyword in passing is doubted.
It is linear in n-grams and semantic space, and folds into a model's weights.

The headings of a reading list are noisy labels too: they are believed as much as
some keywords, and so they bring in records that use none.

References
----------
A. Blum, T. Mitchell, "Combining labeled and unlabeled data with co-training",
COLT 1998 (two views of a record: here its keywords and all its other words).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagger.background import Background
from tagger.classifier import fit_logistic, sigmoid, to_scipy
from tagger.features import Codes, Vocabulary, find, read_events
from tagger.keywords import keyword_scores, phrase_table
from tagger.labels import label_matrix
from tagger.records import Record, batches
from tagger.text import clean
from tagger.themes import Theme
from tagger.tokens import join_codes, phrase_codes

__all__ = ["Company", "learn_company", "no_company"]

Floats = NDArray[np.floating[Any]]

_BATCH = 1024
# Records without any keyword that are kept, at most: they are all alike.
_MOST_OTHERS = 10_000
# How much a record counts whose keywords leave open what it is about.
_OPEN = 0.3
_PENALTY = 0.5
# A theme's company counts half at this many records with its keywords.
_HALF = 10.0
# How much the company counts beside the keywords; see experiments/unlabelled.
_SHARE = 0.9
# The heading of a list counts as keywords with this score; see experiments/lists.
_LISTED = 4.0


@dataclass(frozen=True, slots=True)
class Company:
    """What the words beside the keywords say, as logits to be added.

    Parameters
    ----------
    weights : float32 ndarray of shape (n_ngrams, n_themes)
        On TF-IDF rows.
    shift : float64 ndarray of shape (n_themes,)
        0 logits stand for a record whose keywords and their company leave it
        open whether it is about the theme.
    codes : uint64 ndarray of shape (n_ngrams,)
        Ascending; the background's.
    n_records : int
        How many records were read.
    """

    weights: NDArray[np.float32]
    shift: NDArray[np.float64]
    codes: Codes
    n_records: int

    def among(self, codes: Codes) -> Company:
        """Give the weights of other n-grams, 0 for those it does not know."""
        weights = np.zeros((len(codes), self.weights.shape[1]), np.float32)
        at = find(self.codes, codes)
        weights[at >= 0] = self.weights[at[at >= 0]]
        return Company(weights, self.shift, codes, self.n_records)

    def logits(self, rows: Any) -> NDArray[np.float32]:
        """Give what is to be added, shape (n_records, n_themes), of TF-IDF rows."""
        return np.asarray(rows @ self.weights + self.shift, np.float32)


def no_company(background: Background, n_themes: int) -> Company:
    """Give what no record teaches: nothing is to be added."""
    codes = np.asarray(background.codes)
    weights = np.zeros((len(codes), n_themes), np.float32)
    return Company(weights, np.zeros(n_themes), codes, 0)


def learn_company(
    records: Iterable[Record],
    themes: Sequence[Theme],
    background: Background,
    *,
    listed: Iterable[Record] = (),
    slope: float,
    middle: float,
    semantic: float,
    jobs: int = 1,
) -> Company:
    """Learn from records that need no label.

    Parameters
    ----------
    records : iterable of Record
        Read once. Those with a keyword are kept in memory as rows of n-grams.
    themes : sequence of Theme
        Their keywords are the noisy labels.
    background : Background
    listed : iterable of Record
        Records whose ``themes`` are noisy labels too, beside their keywords, such
        as the headings of a reading list. That a theme is not among them says
        nothing.
    slope, middle : float
        ``slope * (keyword score - middle)`` are the logits of the noisy label.
    semantic : float
        How much the semantic space counts beside the n-grams; > 0.
    jobs : int, default=1
        Themes that are fitted side by side; does not change what is learned.

    Raises
    ------
    RecordError
        If a listed record names a theme that is none.
    """
    from scipy.sparse import vstack

    table = phrase_table(themes)
    vocabulary = Vocabulary(np.asarray(background.codes), background.idf)
    shown = ~_parts_of_keywords(themes, vocabulary.codes)
    found: list[tuple[Any, Floats]] = []
    others: list[tuple[Any, NDArray[np.int64]]] = []
    n_records = n_others = 0
    every = 1  # one in so many of the records without a keyword is kept
    for hinted, some in ((False, records), (True, listed)):
        for batch in batches(some, _BATCH):
            events = read_events(batch, table.prefixes)
            scores = keyword_scores(events, table, len(batch))
            if hinted:
                scores = np.maximum(scores, _LISTED * _headings(batch, themes))
            rows = to_scipy(vocabulary.transform(events, len(batch)), len(vocabulary))
            rows = rows.multiply(shown).tocsr()
            hit = (scores > middle / 2).any(axis=1)
            found.append((rows[hit], scores[hit]))
            number = n_others + np.arange(int((~hit).sum()))
            kept = number % every == 0
            others.append((rows[~hit][kept], number[kept]))
            n_others += len(number)
            n_records += len(batch)
            while n_others / every > 2 * _MOST_OTHERS:
                every *= 2
                others = [(r[at % every == 0], at[at % every == 0]) for r, at in others]
    nothing = no_company(background, len(themes))
    n_found = sum(len(scores) for _, scores in found)
    if not n_found:
        return replace(nothing, n_records=n_records)
    matrix = vstack([*(r for r, _ in found), *(r for r, _ in others)], format="csr")
    scores = np.zeros((matrix.shape[0], len(themes)))
    scores[:n_found] = np.vstack([part for _, part in found])
    counts = np.full(len(scores), float(every))
    counts[:n_found] = 1.0
    space = background.space * np.float32(semantic**0.5)
    weights, shift = _fit(matrix, space, scores, counts, slope, middle, jobs)
    weights *= shown[:, None]
    return Company(weights, shift, vocabulary.codes, n_records)


def _headings(records: Sequence[Record], themes: Sequence[Theme]) -> NDArray[np.bool_]:
    """Mark the themes that lists gave to records."""
    marks = np.zeros((len(records), len(themes)), bool)
    some = [row for row, record in enumerate(records) if record.themes is not None]
    marks[some] = (
        label_matrix([records[row] for row in some], [t.id for t in themes]) == 1
    )
    return marks


def _fit(
    rows: Any,
    space: NDArray[np.float32],
    scores: Floats,
    counts: Floats,
    slope: float,
    middle: float,
    jobs: int,
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Learn the noisy labels; give weights and shift of what is to be added."""
    from threadpoolctl import threadpool_limits

    likely = sigmoid(slope * (scores - middle))
    hit = scores > 0
    open_ = hit & (scores < middle)
    semantic = rows @ space
    with threadpool_limits(1):
        model = fit_logistic(
            [rows, semantic],
            np.where(hit, likely, 0.0).astype(np.float32),
            (counts[:, None] * np.where(open_, _OPEN, 1.0)).astype(np.float32),
            [_PENALTY, _PENALTY],
            np.zeros(scores.shape, np.float32),
            jobs=jobs,
        )
    logits = rows @ model.weights[0] + semantic @ model.weights[1]
    # Company is neutral where the keywords are few and leave it open.
    doubt = hit * (1.0 - likely) ** 2
    centre = (doubt * logits).sum(axis=0) / np.maximum(doubt.sum(axis=0), 1e-9)
    n_hits = (scores >= middle).sum(axis=0)
    share = (_SHARE * n_hits / (n_hits + _HALF)).astype(np.float32)
    weights = (model.weights[0] + space @ model.weights[1]) * share
    return np.asarray(weights, np.float32), -share * centre


def _parts_of_keywords(themes: Sequence[Theme], codes: Codes) -> NDArray[np.bool_]:
    """Mark the n-grams that are a keyword, or a pair of words within one."""
    parts: set[int] = set()
    for theme in themes:
        for phrase in (*theme.keywords, *theme.exclude):
            words = phrase_codes(clean(phrase).text)
            pairs = [join_codes(*pair) for pair in pairwise(words)]
            parts.update(pairs or words)
    at = find(codes, np.array(sorted(parts), np.uint64))
    marks = np.zeros(len(codes), bool)
    marks[at[at >= 0]] = True
    return marks
