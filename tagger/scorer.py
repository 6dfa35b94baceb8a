"""A model as the compiled part reads it: arrays, and tables to find codes by."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagger import kernel
from tagger.features import (
    NGRAM,
    TITLE_WEIGHT,
    Codes,
    Phrases,
    Vocabulary,
    find,
    leave_to_python,
    read_events,
    saturate,
)
from tagger.records import Record

__all__ = ["Scorer"]

FEW = 64
"""Records that are scored without the tables, which take as long as these."""

_N_COUNTS = 6  # columns of `tagger.judge.count_words`


class Scorer:
    """Gives what `Tagger` asks of a batch of records; needs the compiled part.

    Parameters
    ----------
    vocabulary : Vocabulary
    weights : float ndarray of shape (n_ngrams, n_themes)
    phrases : Phrases
    intercept : float64 ndarray of shape (n_themes,)
    function_codes : uint64 ndarray
        Codes of the words of running English.
    empty_codes : uint64 ndarray
        Codes of words that tell nothing, however rare.
    empty_idf : float
        A word of a lower inverse document frequency tells nothing.
    few : int, optional
        Records, of all calls together, before the tables are built; `FEW` if it is
        not given. It changes no score.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        weights: NDArray[np.floating],
        phrases: Phrases,
        intercept: NDArray[np.float64],
        function_codes: Codes,
        empty_codes: Codes,
        empty_idf: float,
        few: int | None = None,
    ) -> None:
        self._left = FEW if few is None else few
        self._made_of = (
            vocabulary, weights, phrases, intercept, function_codes, empty_codes,
            empty_idf,
        )  # fmt: skip
        self._n_themes = len(intercept)

    def __reduce__(self) -> tuple[type[Scorer], tuple[Any, ...]]:
        return Scorer, self._made_of

    @cached_property
    def _model(self) -> Any:
        """Build the tables of all n-grams, in which a code is found at once."""
        (
            vocabulary, weights, phrases, intercept, function_codes, empty_codes,
            empty_idf,
        ) = self._made_of  # fmt: skip
        counts = _counts()
        assert kernel.compiled is not None
        return kernel.compiled.model(
            (
                _array(vocabulary.codes, np.uint64),
                _array(vocabulary.idf, np.float64),
                # Half precision stays what it is; the copy is laid out for the cache.
                _array(weights, np.float16 if weights.dtype == "f2" else np.float64),
                _array(phrases.codes, np.uint64),
                _array(phrases.prefixes, np.uint64),
                _array(phrases.weights, np.float64),
                _array(intercept, np.float64),
                _array(function_codes, np.uint64),
                _array(empty_codes, np.uint64),
                _array(1.0 + np.log(counts), np.float64),
                _array(saturate(counts), np.float64),
            ),
            NGRAM,
            TITLE_WEIGHT,
            empty_idf,
        )

    def __call__(
        self, records: Sequence[Record]
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Score records.

        Returns
        -------
        logits : float64 ndarray of shape (n_records, n_themes)
        counts : int32 ndarray of shape (n_records, 6)
            As `tagger.judge.count_words` gives them.
        """
        if self._left:
            self._left = max(0, self._left - len(records))
            if self._left:
                return self._for(records)(records)
        texts = [text for r in records for text in (r.title, r.abstract)]
        assert kernel.compiled is not None
        logits, counts = kernel.compiled.score(self._model, texts, leave_to_python)
        return (
            np.frombuffer(logits, np.float64).reshape(len(records), self._n_themes),
            np.frombuffer(counts, np.int32).reshape(len(records), _N_COUNTS),
        )

    def _for(self, records: Sequence[Record]) -> Scorer:
        """Give a scorer that knows no other n-grams than those of some records.

        An n-gram keeps its place among the others, and so the sums their order.
        """
        (
            vocabulary, weights, phrases, intercept, function_codes, empty_codes,
            empty_idf,
        ) = self._made_of  # fmt: skip
        codes = read_events(records, phrases.prefixes).codes
        columns = np.sort(find(vocabulary.codes, codes))
        columns = columns[np.diff(columns, prepend=-1) > 0]  # each once, -1 not
        part = Vocabulary(vocabulary.codes[columns], vocabulary.idf[columns])
        return Scorer(
            part, weights[columns], phrases, intercept, function_codes, empty_codes,
            empty_idf, few=0,
        )  # fmt: skip


def _counts() -> NDArray[np.float64]:
    """Give the usual counts, (8, 64): so often in a title, so often in an abstract.

    Logarithms of these are taken from a table, so that they are numpy's.
    """
    steps = np.ones((8, 64))
    steps[:, 0] = TITLE_WEIGHT
    steps[0, 0] = 0.0
    titles = np.add.accumulate(steps[:, 0])
    steps[:, 0] = titles
    counts = np.add.accumulate(steps, axis=1)
    counts[0, 0] = 1.0  # never looked up; has a logarithm
    return counts


def _array(values: NDArray[Any], kind: Any) -> NDArray[Any]:
    return np.ascontiguousarray(values, kind)
