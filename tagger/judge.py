"""Can this text be judged at all? If not, why not.

What is looked at is the text as the model sees it: how many of its words are
known, how common the words of running English are in it, and how many of its
word pairs occur in real abstracts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tagger.features import Events, Vocabulary, find
from tagger.records import Record
from tagger.tokens import code

__all__ = [
    "EMPTY_CODES",
    "EMPTY_IDF",
    "FUNCTION_CODES",
    "count_words",
    "judge",
    "known_pairs",
    "reasons",
    "shuffled",
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
_SHUFFLED = 1000  # records that tell what chance gives
_FUNCTION_WORDS = (
    "the of and to in a we is for that with on are this by as from an be it which can "
    "our these at or has have not also their"
).split()
FUNCTION_CODES = np.array(sorted(code(word) for word in _FUNCTION_WORDS), np.uint64)
# Letters, the Greek ones by their names as `tagger.tokens.norm` spells them.
_LETTERS = [*map(chr, range(ord("a"), ord("z") + 1)), *map(chr, range(0x3B1, 0x3CA))]
_DIGITS = 4


def _empty_codes() -> NDArray[np.uint64]:
    """Give the codes of letters, and of numbers of up to `_DIGITS` characters."""
    signs = np.frombuffer(b"0123456789.", np.uint8).astype(np.uint64)
    codes = [np.array([code(letter) for letter in _LETTERS], np.uint64)]
    heads = np.array([code("")], np.uint64)
    for _ in range(_DIGITS):  # a step of `tagger.tokens.code`, for all at once
        heads = ((heads[:, None] ^ signs) * np.uint64(0x100000001B3)).ravel()
        codes.append(heads)
    return np.sort(np.concatenate(codes))  # np.unique would import numpy.ma


# They occur in texts of every kind and none, so that they tell nothing however
# rare they are.
EMPTY_CODES = _empty_codes()


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
    telling[telling] = find(EMPTY_CODES, events.codes[telling]) < 0
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


def usual_share(shares: NDArray[np.float64], by_chance: NDArray[np.float64]) -> float:
    """Give the share of known pairs below which a text is of another kind.

    Nearly every training record must stay above. Papers of tomorrow use words
    that these do not, so the share need be no higher than what chance gives: of
    records with their words shuffled, nineteen in twenty stay below.

    Parameters
    ----------
    shares : float64 ndarray of shape (n_records,)
        Of training records, without what each alone has; in [0, 1].
    by_chance : float64 ndarray
        Of `shuffled` training records; in [0, 1].

    Returns
    -------
    share : float
        From `LEAST` to `MOST`; `LEAST` where there are too few records to tell.
    """
    if len(shares) < _FEW or not len(by_chance):
        return LEAST
    usual, chance = np.quantile(shares, 0.01), np.quantile(by_chance, 0.95)
    return float(np.clip(min(0.9 * usual, chance), LEAST, MOST))


def shuffled(records: Sequence[Record]) -> list[Record]:
    """Give up to `_SHUFFLED` of some records with their words out of order."""
    random = np.random.default_rng(0)
    texts = []
    for record in records[:: -(-len(records) // _SHUFFLED) or 1]:
        words = f"{record.title} {record.abstract}".split()
        texts.append(" ".join(words[i] for i in random.permutation(len(words))))
    return [Record(id=str(n), abstract=text) for n, text in enumerate(texts)]
