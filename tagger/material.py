"""Labelled records as read once, so that many models may learn from parts of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagger.errors import ThemeError
from tagger.features import Document, only, read_document
from tagger.fingerprints import group_ids
from tagger.keywords import KeywordMatcher
from tagger.labels import Labels, label_matrix
from tagger.records import Record
from tagger.themes import Theme

__all__ = ["Material", "prepare"]


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
    documents : list of Document
        Their tokens.
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
    documents: list[Document]
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
        at = rows.tolist()
        return Material(
            [self.records[i] for i in at],
            self.themes,
            self.y[rows],
            [self.documents[i] for i in at],
            self.scores[rows],
            self.abstract_scores[rows],
            self.title_scores[rows],
            self.groups[rows],
        )


def prepare(records: Sequence[Record], themes: Sequence[Theme]) -> Material:
    """Read the labelled ones of some records.

    Parameters
    ----------
    records : sequence of Record
        Those without labels (``themes`` is None) are passed over.
    themes : sequence of Theme
        At least one.

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
    documents = [read_document(record) for record in learned]
    scores = [np.zeros((0, len(themes)))] * 3
    if documents:
        matcher = KeywordMatcher(themes)
        abstracts = [only(document, title=False) for document in documents]
        titles = [only(document, title=True) for document in documents]
        scores = [matcher.scores(part) for part in (documents, abstracts, titles)]
    groups = group_ids(learned)
    whole, abstract, title = scores
    return Material(
        learned, tuple(themes), y, documents, whole, abstract, title, groups
    )
