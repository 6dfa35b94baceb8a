"""Records to a sparse matrix of weighted n-grams.

One row a record, in input order; one column an n-gram of a `Vocabulary`. An
n-gram is named by its 64-bit code (see `tagger.tokens`), so a vocabulary is a
sorted array that is read straight from a file. A cell is the sublinear TF-IDF
weight ``(1 + log c) * idf`` of the count c, in which an occurrence in the
title counts `TITLE_WEIGHT` times; a row then has Euclidean length 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tagger.records import Record
from tagger.text import CleanText, clean, is_placeholder
from tagger.tokens import Tokens, tokenize

__all__ = ["NGRAM", "TITLE_WEIGHT", "Document", "Rows", "Vocabulary", "read_document"]

TITLE_WEIGHT = 3.0
NGRAM = 2

Codes = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Document:
    """The two cleaned fields of a record, and their tokens."""

    title: CleanText
    abstract: CleanText
    title_tokens: Tokens
    abstract_tokens: Tokens


def read_document(record: Record) -> Document:
    """Clean and tokenize a record; a note such as "withdrawn" is no abstract."""
    title, abstract = clean(record.title), clean(record.abstract)
    if is_placeholder(abstract.text):
        abstract = CleanText("")
    if is_placeholder(title.text):
        title = CleanText("")
    return Document(title, abstract, tokenize(title.text), tokenize(abstract.text))


@dataclass(frozen=True, slots=True)
class Events:
    """All n-grams of a batch of documents, one entry an occurrence.

    Parameters
    ----------
    rows : int64 ndarray of shape (n_events,)
        Which document.
    codes : uint64 ndarray of shape (n_events,)
        Which n-gram.
    weights : float64 ndarray of shape (n_events,)
        `TITLE_WEIGHT` in a title, else 1.
    first, last : int64 ndarray of shape (n_events,)
        First and last token of the occurrence, counted through the title and
        on through the abstract.
    """

    rows: NDArray[np.int64]
    codes: Codes
    weights: NDArray[np.float64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]


def ngram_events(documents: Sequence[Document], longest: int = NGRAM) -> Events:
    """List every n-gram of one to `longest` tokens of every document."""
    codes: list[int] = []
    breaks: list[bool] = []
    sizes: list[tuple[int, int]] = []
    for document in documents:
        for tokens in (document.title_tokens, document.abstract_tokens):
            codes += tokens.codes
            breaks += tokens.breaks
        sizes.append((len(document.title_tokens), len(document.abstract_tokens)))
    size = np.array(sizes, np.int64).reshape(-1, 2)
    length = size.sum(1)
    row = np.repeat(np.arange(len(documents)), length)
    token = np.arange(len(codes)) - np.repeat(np.cumsum(length) - length, length)
    weight = np.where(token < np.repeat(size[:, 0], length), TITLE_WEIGHT, 1.0)
    unigram = np.array(codes, np.uint64)
    broken = np.array(breaks, bool)

    parts = [(np.arange(len(codes)), unigram)]
    at, head = parts[0]
    for n in range(2, longest + 1):
        # The n-gram that starts at `at` goes on if no break stands before its
        # last token; a break stands at every field's first token too.
        inside = at + n - 1 < len(codes)
        at, head = at[inside], head[inside]
        going = ~broken[at + n - 1]
        at, head = at[going], head[going]
        head = join_code_arrays(head, unigram[at + n - 1])
        parts.append((at, head))
    starts = np.concatenate([at for at, _ in parts])
    order = np.concatenate([np.full(len(p[0]), n) for n, p in enumerate(parts)])
    return Events(
        row[starts],
        np.concatenate([head for _, head in parts]),
        weight[starts],
        token[starts],
        token[starts] + order,
    )


def join_code_arrays(left: Codes, right: Codes) -> Codes:
    """Do what `tagger.tokens.join_codes` does, for arrays of equal shape."""
    value = left * np.uint64(0x9E3779B97F4A7C15) + right
    value = (value ^ value >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ value >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return value ^ value >> np.uint64(31)


@dataclass(frozen=True, slots=True)
class Rows:
    """A sparse matrix by rows, as plain arrays (the usual CSR layout).

    Parameters
    ----------
    indptr : int64 ndarray of shape (n_records + 1,)
        Row i holds the cells indptr[i] to indptr[i + 1].
    columns : int64 ndarray of shape (n_cells,)
        Ascending within a row.
    values : float64 ndarray of shape (n_cells,)
    """

    indptr: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def row_sums(self, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum, per row, an array with one (row of) entries a cell.

        A row without cells sums to 0. Cells are added one after the other in
        their order, so the sum of a row does not depend on its batch.
        """
        sums = np.zeros((len(self), *cells.shape[1:]))
        filled = np.flatnonzero(np.diff(self.indptr))
        if len(filled):
            sums[filled] = np.add.reduceat(cells, self.indptr[filled], axis=0)
        return sums


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The n-grams that are columns.

    Parameters
    ----------
    codes : uint64 ndarray of shape (n_features,)
        Ascending; column j is the n-gram codes[j].
    idf : float ndarray of shape (n_features,)
        Inverse document frequency; > 0.
    """

    codes: Codes
    idf: NDArray[np.floating]

    def __len__(self) -> int:
        return len(self.codes)

    def find(self, codes: Codes) -> NDArray[np.int64]:
        """Give the column of each code, -1 where it is none of ours."""
        if not len(self.codes):
            return np.full(len(codes), -1)
        at = np.searchsorted(self.codes, codes)
        at[at == len(self.codes)] = 0
        return np.where(self.codes[at] == codes, at, -1)

    def counts(self, documents: Sequence[Document]) -> Rows:
        """Count the known n-grams of each document, titles weighted."""
        events = ngram_events(documents)
        columns = self.find(events.codes)
        known = columns >= 0
        cells = events.rows[known] * len(self.codes) + columns[known]
        found, inverse = np.unique(cells, return_inverse=True)
        counts = np.bincount(inverse, events.weights[known], len(found))
        rows, columns = np.divmod(found, max(len(self.codes), 1))
        indptr = np.searchsorted(rows, np.arange(len(documents) + 1))
        return Rows(indptr, columns, counts)

    def transform(self, documents: Sequence[Document]) -> Rows:
        """Give the TF-IDF rows of documents, each of Euclidean length 1 (or 0)."""
        return self.weigh(self.counts(documents))

    def weigh(self, counts: Rows) -> Rows:
        """Turn counts into TF-IDF rows of Euclidean length 1 (or 0)."""
        values = (1.0 + np.log(counts.values)) * self.idf[counts.columns]
        length = np.sqrt(counts.row_sums(values**2))
        values = values / np.repeat(length, np.diff(counts.indptr))
        return Rows(counts.indptr, counts.columns, values)


def read_documents(records: Iterable[Record]) -> list[Document]:
    """Clean and tokenize records, in order."""
    return [read_document(record) for record in records]
