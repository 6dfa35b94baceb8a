"""Can this text be judged at all? If not, why not.

What is looked at is the text as the model sees it: how many of its words are
known, how common the words of running English are in it, and how many of its
word pairs occur in real abstracts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tagger.features import Events, Vocabulary, find
from tagger.tokens import code

__all__ = [
    "EMPTY_IDF",
    "FUNCTION_CODES",
    "count_words",
    "judge",
    "known_pairs",
    "reasons",
    "usual_share",
]

_NO_TEXT, _NO_KNOWN_WORDS, _LANGUAGE, _OUT_OF_DOMAIN = range(4)

# A word that stands in more than about one abstract of seven says nothing.
EMPTY_IDF = 2.9
# Tokens from which shares are meaningful; a title may do without articles.
_ENOUGH = 25
_SOME = 6
_LEAST_FUNCTION_WORDS = 0.08
LEAST, MOST = 0.2, 0.4
_FEW = 100  # records that tell nothing of their kind yet
_FUNCTION_WORDS = (
    "the of and to in a we is for that with on are this by as from an be it which can "
    "our these at or has have not also their"
).split()
FUNCTION_CODES = np.array(sorted(code(word) for word in _FUNCTION_WORDS), np.uint64)


def judge(
    events: Events,
    vocabulary: Vocabulary,
    n_documents: int,
    least_known_pairs: float,
) -> NDArray[np.int8]:
    """Give, for each document, why it cannot be judged.

    Parameters
    ----------
    events : Events
        Of a batch of documents.
    vocabulary : Vocabulary
        What the model knows.
    n_documents : int
    least_known_pairs : float
        Share of word pairs, in [0, 1], that a text of the model's domain has
        in the vocabulary at least; see `usual_share`.

    Returns
    -------
    reasons : int8 ndarray of shape (n_documents,)
        Position in `tagger.decide.REASONS`, or -1 where it can be judged.
    """
    return reasons(count_words(events, vocabulary, n_documents), least_known_pairs)


def count_words(
    events: Events, vocabulary: Vocabulary, n_documents: int
) -> NDArray[np.int32]:
    """Count what `reasons` looks at.

    Returns
    -------
    counts : int32 ndarray of shape (n_documents, 6)
        Tokens, those known, those that tell something, function words; pairs
        of neighbours, those known.
    """
    single = events.last == events.first
    pair = events.last == events.first + 1
    column = find(vocabulary.codes, events.codes)
    known = column >= 0
    telling = known.copy()
    telling[known] = vocabulary.idf[column[known]] > EMPTY_IDF
    function = find(FUNCTION_CODES, events.codes) >= 0
    masks = (
        single,
        single & known,
        single & telling,
        single & function,
        pair,
        pair & known,
    )
    counts = [np.bincount(events.rows[m], minlength=n_documents) for m in masks]
    return np.stack(counts, axis=1).astype(np.int32)


def reasons(counts: NDArray[np.int32], least_known_pairs: float) -> NDArray[np.int8]:
    """Give, for each document, why it cannot be judged, or -1; see `judge`."""
    tokens, known, telling, function, pairs, known_pairs = counts.T
    long = tokens >= _ENOUGH
    known_share = known / np.maximum(tokens, 1)
    pair_share = known_pairs / np.maximum(pairs, 1)
    foreign = function / np.maximum(tokens, 1) < _LEAST_FUNCTION_WORDS
    found = np.full(len(counts), -1, np.int8)
    found[long & (foreign | (pair_share < least_known_pairs))] = _OUT_OF_DOMAIN
    found[long & foreign & (known_share < 0.6)] = _LANGUAGE
    # Chinese has few tokens, a clause each: half of them unknown says enough.
    found[(tokens >= _SOME) & foreign & (known_share < 0.5)] = _LANGUAGE
    found[telling == 0] = _NO_KNOWN_WORDS
    found[tokens == 0] = _NO_TEXT
    return found


def known_pairs(
    events: Events, vocabulary: Vocabulary, n_documents: int
) -> NDArray[np.float64]:
    """Give the share of each document's word pairs that are known, in [0, 1].

    Words out of order, and texts of another kind, have few that are.
    """
    pair = events.last == events.first + 1
    known = pair & (find(vocabulary.codes, events.codes) >= 0)
    total = np.bincount(events.rows[pair], minlength=n_documents)
    found = np.bincount(events.rows[known], minlength=n_documents)
    return np.asarray(found / np.maximum(total, 1))


def usual_share(shares: NDArray[np.float64]) -> float:
    """Give the share of known pairs below which a text is of another kind.

    Nearly every training record must stay above; never above `MOST`, which
    was measured on abstracts and on the same abstracts with shuffled words.
    """
    if len(shares) < _FEW:
        return LEAST
    return float(np.clip(0.9 * np.quantile(shares, 0.01), LEAST, MOST))
