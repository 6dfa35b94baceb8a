"""Labelled records as read once, so that many models may learn from parts of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagger.counts import Counts, count_ngrams, join_counts
from tagger.errors import ThemeError
from tagger.features import (
    TITLE_WEIGHT,
    Codes,
    Events,
    find,
    read_document,
    read_events,
)
from tagger.fingerprints import (
    Fingerprints,
    fingerprints,
    groups_of,
    join_fingerprints,
)
from tagger.keywords import (
    KeywordMatcher,
    PhraseTable,
    keyword_scores,
    phrase_table,
)
from tagger.labels import Labels, label_matrix
from tagger.records import Record
from tagger.themes import Theme

__all__ = ["Material", "prepare", "read"]

_Texts = tuple[Counts, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]

# Records that are read together: their n-grams fit the memory many times over.
_BLOCK = 1024
# Up to so many records, spaCy's matcher says where keywords stand; more are
# scored by n-gram codes, which give the same and take a fiftieth of the time.
_BY_MATCHER = 20_000
# Records that are worth a process of their own to take the fingerprints of.
_SHARE = 4096


@dataclass(frozen=True, slots=True)
class Material:
    """Labelled records, read.

    Parameters
    ----------
    records : list of Record
        The labelled ones, in input order.
    themes : tuple of Theme
        At least one.
    y : int8 ndarray of shape (n_records, n_themes)
        1 label, 0 not, -1 unsure.
    counts : Counts
        Of their n-grams.
    scores : float64 ndarray of shape (n_records, n_themes)
        Of the themes' keywords; see `tagger.keywords.KeywordMatcher.scores`.
    abstract_scores, title_scores : float64 ndarray of the same shape
        The same of the abstracts alone, and of the titles alone.
    groups : int64 ndarray of shape (n_records,)
        Number of the paper of each record; see `tagger.fingerprints.group_ids`.
    """

    records: list[Record]
    themes: tuple[Theme, ...]
    y: Labels
    counts: Counts
    scores: NDArray[np.float64]
    abstract_scores: NDArray[np.float64]
    title_scores: NDArray[np.float64]
    groups: NDArray[np.int64]

    @property
    def theme_ids(self) -> tuple[str, ...]:
        """Return the ids of the themes, in column order."""
        return tuple(theme.id for theme in self.themes)

    def part(self, rows: NDArray[np.integer[Any]]) -> Material:
        """Give the records at some rows, in that order."""
        return Material(
            [self.records[i] for i in rows.tolist()],
            self.themes,
            self.y[rows],
            self.counts.part(rows),
            self.scores[rows],
            self.abstract_scores[rows],
            self.title_scores[rows],
            self.groups[rows],
        )


def prepare(
    records: Sequence[Record], themes: Sequence[Theme], *, jobs: int = 1
) -> Material:
    """Read the labelled ones of some records; see `read`."""
    return read(records, themes, jobs=jobs)[0]


def read(
    records: Sequence[Record], themes: Sequence[Theme], *, jobs: int = 1
) -> tuple[Material, Fingerprints]:
    """Read the labelled ones of some records, and take their fingerprints.

    Parameters
    ----------
    records : sequence of Record
        Those without labels (``themes`` is None) are passed over.
    themes : sequence of Theme
        At least one.
    jobs : int, default=1
        Parts that are read side by side; does not change what is read.

    Raises
    ------
    ThemeError
        If there is no theme.
    RecordError
        If a record has a label that is no theme.
    """
    if not themes:
        raise ThemeError("There is no theme to learn; a theme file needs at least 1.")
    learned = [record for record in records if record.themes is not None]
    y = label_matrix(learned, [theme.id for theme in themes])
    waiting = _fingerprints(learned, jobs)
    counts, *scores = _read_texts(learned, phrase_table(themes), jobs)
    if 0 < len(learned) <= _BY_MATCHER:
        documents = [read_document(record) for record in learned]
        scores = list(KeywordMatcher(themes).scores_by_field(documents))
    whole, abstracts, titles = scores
    prints = join_fingerprints(list(waiting))
    groups = groups_of(prints)
    return (
        Material(learned, tuple(themes), y, counts, whole, abstracts, titles, groups),
        prints,
    )


def _read_texts(records: Sequence[Record], phrases: PhraseTable, jobs: int) -> _Texts:
    """Do what `_read_block` does, block by block."""
    from joblib import Parallel, delayed

    # An empty block stands for no record at all.
    starts = range(0, max(len(records), 1), _BLOCK)
    blocks = Parallel(n_jobs=jobs, prefer="threads")(
        delayed(_read_block)(records[start : start + _BLOCK], phrases)
        for start in starts
    )
    counts, *scores = zip(*blocks, strict=True)
    whole, abstract, title = (np.concatenate(parts) for parts in scores)
    return join_counts(counts), whole, abstract, title


def _read_block(records: Sequence[Record], phrases: PhraseTable) -> _Texts:
    """Give counts, and keyword scores of the whole, the abstracts, the titles."""
    n = len(records)
    events = read_events(records, phrases.prefixes)
    hits = _some(events, _found(phrases.codes, events.codes))
    in_title = hits.weights == TITLE_WEIGHT
    return (
        count_ngrams(events, n),
        keyword_scores(hits, phrases, n),
        keyword_scores(_some(hits, ~in_title), phrases, n),
        keyword_scores(_some(hits, in_title), phrases, n),
    )


def _found(codes: Codes, wanted: Codes) -> NDArray[np.int64]:
    """Give which of the wanted are among some few codes."""
    # Most are not, and for these the last 16 bits tell.
    low = np.uint64(0xFFFF)
    ends = np.zeros(1 << 16, np.bool_)
    ends[codes & low] = True
    maybe = np.flatnonzero(ends[wanted & low])
    return maybe[find(codes, wanted[maybe]) >= 0]


def _some(events: Events, at: NDArray[np.bool_] | NDArray[np.int64]) -> Events:
    return Events(
        events.rows[at],
        events.codes[at],
        events.weights[at],
        events.first[at],
        events.last[at],
    )


def _fingerprints(records: Sequence[Record], jobs: int) -> Iterator[Fingerprints]:
    """Have fingerprints taken, share by share, while other work goes on."""
    from joblib import Parallel, delayed

    starts = range(0, max(len(records), 1), _SHARE)
    # Python code holds the interpreter's lock: threads would wait for each other.
    parallel = Parallel(n_jobs=min(jobs, len(starts)), return_as="generator")
    found: Iterator[Fingerprints] = parallel(
        delayed(fingerprints)(records[start : start + _SHARE]) for start in starts
    )
    return found
