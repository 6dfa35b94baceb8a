"""How often every n-gram stands in each of many records, held compactly.

Training asks several things of the same texts: which n-grams are frequent, what
a record's row is with its title, its abstract or both, which words it knows. All
of it follows from these counts; the texts are read once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagger.features import NGRAM, TITLE_WEIGHT, Codes, Events, Rows, Vocabulary

__all__ = ["Counts", "count_ngrams", "join_counts"]


@dataclass(frozen=True, slots=True)
class Counts:
    """N-grams of 1 to `tagger.features.NGRAM` tokens, counted by record and field.

    Parameters
    ----------
    codes : uint64 ndarray of shape (n_ngrams,)
        Ascending.
    is_word : bool ndarray of shape (n_ngrams,)
        True for an n-gram of one token.
    indptr : int64 ndarray of shape (n_records + 1,)
        Record i holds the cells indptr[i] to indptr[i + 1].
    columns : int32 ndarray of shape (n_cells,)
        Which n-gram; ascending within a record.
    title, abstract : unsigned ndarray of shape (n_cells,)
        How often it stands in each field; as narrow as the counts allow.
    """

    codes: Codes
    is_word: NDArray[np.bool_]
    indptr: NDArray[np.int64]
    columns: NDArray[np.int32]
    title: NDArray[np.unsignedinteger[Any]]
    abstract: NDArray[np.unsignedinteger[Any]]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def part(self, rows: NDArray[np.integer[Any]]) -> Counts:
        """Give the records at some rows, in that order."""
        sizes = np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        cells = np.repeat(self.indptr[:-1][rows] - indptr[:-1], sizes)
        cells += np.arange(indptr[-1])
        return Counts(
            self.codes,
            self.is_word,
            indptr,
            self.columns[cells],
            self.title[cells],
            self.abstract[cells],
        )

    def document_frequency(self) -> NDArray[np.int64]:
        """Give in how many records each n-gram stands, shape (n_ngrams,)."""
        return np.bincount(self.columns, minlength=len(self.codes))

    def transform(
        self,
        vocabulary: Vocabulary,
        place: NDArray[np.int64],
        *,
        title: bool = True,
        abstract: bool = True,
    ) -> Rows:
        """Give the rows `Vocabulary.transform` gives for the fields asked for.

        Parameters
        ----------
        vocabulary : Vocabulary
        place : int64 ndarray of shape (n_ngrams,)
            ``find(vocabulary.codes, counts.codes)``.
        title, abstract : bool
            Whether the field is read.
        """
        column = place[self.columns]
        count = title * TITLE_WEIGHT * self.title + float(abstract) * self.abstract
        kept = (column >= 0) & (count > 0)
        indptr = np.concatenate([[0], np.cumsum(kept)])[self.indptr]
        return vocabulary.weigh(Rows(indptr, column[kept], count[kept]))

    def sums(self, marks: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Count, per record, the occurrences of n-grams that bear each mark.

        Parameters
        ----------
        marks : bool ndarray of shape (n_ngrams, n_marks)

        Returns
        -------
        sums : int32 ndarray of shape (n_records, n_marks)
        """
        from scipy.sparse import csr_matrix

        counts = self.title.astype(np.int32) + self.abstract
        shape = (len(self), len(self.codes))
        table = csr_matrix((counts, self.columns, self.indptr), shape=shape)
        return np.asarray(table @ marks.astype(np.int32), np.int32)


def count_ngrams(events: Events, n_records: int) -> Counts:
    """Count the n-grams of a batch of records; longer ones are passed over."""
    short = events.last - events.first < NGRAM
    codes, rank = _ranked(events.codes[short])
    is_word = np.zeros(len(codes), np.bool_)
    is_word[rank[(events.last == events.first)[short]]] = True
    in_title = events.weights[short] > 1.0
    # Record, n-gram and field in one number: to sort these is to count them.
    key = 2 * (events.rows[short] * len(codes) + rank) + in_title
    key.sort()
    cell = key >> 1
    starts = np.flatnonzero(np.append(True, cell[1:] != cell[:-1])[: len(cell)])
    size = np.diff(np.append(starts, len(cell)))
    title = np.diff(np.append(0, np.cumsum(key & 1))[np.append(starts, len(cell))])
    rows, columns = np.divmod(cell[starts], max(len(codes), 1))
    return Counts(
        codes,
        is_word,
        np.searchsorted(rows, np.arange(n_records + 1)),
        columns.astype(np.int32),
        _narrow(title),
        _narrow(size - title),
    )


def _ranked(codes: Codes) -> tuple[Codes, NDArray[np.int64]]:
    """Give the distinct codes, ascending, and which of them each is."""
    # To sort numbers takes half the time of sorting places: so each place is
    # written over the last bits of its code.
    last = np.uint64((1 << len(codes).bit_length()) - 1)
    place = np.arange(len(codes), dtype=np.uint64)
    key = codes & ~last | place
    key.sort()
    order = (key & last).astype(np.int64)
    found = codes[order]
    if (found[1:] < found[:-1]).any():  # codes that differ in their last bits alone
        return np.unique(codes, return_inverse=True)
    new = np.append(True, found[1:] != found[:-1])[: len(found)]
    rank = np.empty(len(codes), np.int64)
    rank[order] = np.cumsum(new) - 1
    return found[new], rank


def _narrow(counts: NDArray[np.int64]) -> NDArray[np.unsignedinteger[Any]]:
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


def join_counts(parts: Sequence[Counts]) -> Counts:
    """Put the records of all parts one behind the other."""
    codes = np.concatenate([part.codes for part in parts])
    # The parts' codes ascend: a stable sort is a merge, and says where each goes.
    order = np.argsort(codes, kind="stable")
    codes = codes[order]
    first = np.append(True, codes[1:] != codes[:-1])[: len(codes)]
    rank = np.empty(len(codes), np.int32)
    rank[order] = np.cumsum(first, dtype=np.int32) - 1
    del order
    codes = codes[first]
    is_word = np.zeros(len(codes), np.bool_)
    is_word[rank[np.concatenate([part.is_word for part in parts])]] = True
    ranks = np.split(rank, np.cumsum([len(part.codes) for part in parts])[:-1])
    ends = np.cumsum([len(part.columns) for part in parts])
    indptr = [
        part.indptr[1:] + end - len(part.columns)
        for part, end in zip(parts, ends, strict=True)
    ]
    return Counts(
        codes,
        is_word,
        np.concatenate([[0], *indptr]),
        np.concatenate(
            [own[part.columns] for own, part in zip(ranks, parts, strict=True)]
        ),
        np.concatenate([part.title for part in parts]),
        np.concatenate([part.abstract for part in parts]),
    )
