"""Records to a sparse matrix of weighted n-grams.

One row a record, in input order; one column an n-gram of a `Vocabulary`. An
n-gram is named by its 64-bit code (see `tagger.tokens`), so a vocabulary is a
sorted array that is read straight from a file. A cell is the sublinear TF-IDF
weight ``(1 + log c) * idf`` of the count c, in which an occurrence in the
title counts `TITLE_WEIGHT` times; a row then has Euclidean length 1.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tagger import kernel
from tagger.records import Record
from tagger.text import CleanText, clean, is_placeholder
from tagger.tokens import Tokens, tokenize

__all__ = [
    "NGRAM",
    "TITLE_WEIGHT",
    "Document",
    "Events",
    "Phrases",
    "Rows",
    "Vocabulary",
    "find",
    "leave_to_python",
    "ngram_events",
    "only",
    "read_document",
    "read_events",
    "saturate",
    "tally",
]

TITLE_WEIGHT = 5.0
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
    title, abstract = _read(record.title), _read(record.abstract)
    return Document(title, abstract, tokenize(title.text), tokenize(abstract.text))


def _read(text: str) -> CleanText:
    cleaned = clean(text)
    return CleanText("") if is_placeholder(cleaned.text) else cleaned


def leave_to_python(text: str) -> tuple[bytes, bytes]:
    """Read a text for the compiled part, which leaves the rare ones to Python.

    Returns
    -------
    codes, breaks : bytes
        As of `Tokens`, 8 bytes and 1 byte a token.
    """
    tokens = tokenize(_read(text).text)
    return array("Q", tokens.codes).tobytes(), bytes(tokens.breaks)


def only(document: Document, *, title: bool) -> Document:
    """Give the document as it would be read with one of its fields alone."""
    none, no_tokens = CleanText(""), tokenize("")
    if title:
        return Document(document.title, none, document.title_tokens, no_tokens)
    return Document(none, document.abstract, no_tokens, document.abstract_tokens)


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


def read_events(records: Sequence[Record], prefixes: Codes | None = None) -> Events:
    """List the n-grams of every record; see `ngram_events`."""
    if kernel.compiled is None:
        return ngram_events([read_document(record) for record in records], prefixes)
    texts = [text for r in records for text in (r.title, r.abstract)]
    rows, codes, weights, first, last = kernel.compiled.events(
        texts, leave_to_python, prefixes, TITLE_WEIGHT, NGRAM
    )
    return Events(
        np.frombuffer(rows, np.int64),
        np.frombuffer(codes, np.uint64),
        np.frombuffer(weights, np.float64),
        np.frombuffer(first, np.int64),
        np.frombuffer(last, np.int64),
    )


def ngram_events(
    documents: Sequence[Document], prefixes: Codes | None = None
) -> Events:
    """List the n-grams of every document.

    Parameters
    ----------
    documents : sequence of Document
    prefixes : uint64 ndarray, optional
        Ascending codes of n-grams that begin a longer phrase worth finding.
        All n-grams of 1 to `NGRAM` tokens are listed, and longer ones as long
        as they continue one of these.
    """
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
    n = 1
    while len(at):
        n += 1
        if n > NGRAM:
            if prefixes is None:
                break
            known = find(prefixes, head) >= 0
            at, head = at[known], head[known]
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


def find(codes: Codes, wanted: Codes) -> NDArray[np.int64]:
    """Give where each wanted code stands in ascending codes, -1 where nowhere."""
    if not len(codes):
        return np.full(len(wanted), -1)
    at = np.searchsorted(codes, wanted)
    at[at == len(codes)] = 0
    return np.where(codes[at] == wanted, at, -1)


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
        row = np.repeat(np.arange(len(self)), np.diff(self.indptr))
        columns = cells.reshape(len(cells), math.prod(cells.shape[1:])).T
        # bincount adds one by one; numpy's other sums go by pairs.
        sums = [np.bincount(row, column, len(self)) for column in columns]
        return np.array(sums, float).T.reshape(len(self), *cells.shape[1:])


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

    def transform(self, events: Events, n_documents: int) -> Rows:
        """Give the TF-IDF rows of documents, each of Euclidean length 1 (or 0)."""
        return self.weigh(tally(events, find(self.codes, events.codes), n_documents))

    def weigh(self, counts: Rows) -> Rows:
        """Turn counts into TF-IDF rows of Euclidean length 1 (or 0)."""
        values = (1.0 + np.log(counts.values)) * self.idf[counts.columns]
        length = np.sqrt(counts.row_sums(values**2))
        values = values / np.repeat(length, np.diff(counts.indptr))
        return Rows(counts.indptr, counts.columns, values)


@dataclass(frozen=True, slots=True)
class Phrases:
    """The keyword phrases of a model.

    Parameters
    ----------
    codes : uint64 ndarray of shape (n_phrases,)
        Ascending n-gram codes.
    prefixes : uint64 ndarray
        Ascending codes of the beginnings of phrases longer than `NGRAM`.
    weights : float ndarray of shape (n_phrases, n_themes)
    """

    codes: Codes
    prefixes: Codes
    weights: NDArray[np.floating]


def tally(events: Events, columns: NDArray[np.int64], n_documents: int) -> Rows:
    """Sum the weights of events by document and column; column -1 is left out."""
    known = columns >= 0
    width = int(columns.max(initial=0)) + 1
    cells = events.rows[known] * width + columns[known]
    found, inverse = np.unique(cells, return_inverse=True)
    counts = np.bincount(inverse, events.weights[known], len(found))
    rows, columns = np.divmod(found, width)
    starts = np.searchsorted(rows, np.arange(n_documents + 1))
    return Rows(starts, columns, np.asarray(counts, np.float64))


def saturate(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weigh how often a keyword occurs: 1 for once, then slowly more.

    Examples
    --------
    >>> saturate(np.array([1.0, 3.0, 7.0]))
    array([1., 2., 3.])
    """
    return np.log2(1.0 + counts)
