"""Where a theme's keywords occur in a record: hits with spans, by spaCy; scores.

A phrase is compared as the norms of its tokens, so case, hyphens, the plural
and British spelling do not matter, and no hit reaches over a comma, a full
stop or a parenthesis. The same phrases are n-gram codes too: where only scores
are asked for, of many records, they are found by these, in training as in a
frozen model, and tests hold both ways equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagger.features import (
    NGRAM,
    TITLE_WEIGHT,
    Codes,
    Document,
    Events,
    find,
    saturate,
    tally,
)
from tagger.text import CleanText, clean
from tagger.themes import Theme
from tagger.tokens import Tokens, join_codes, norm, phrase_codes, tokenize

__all__ = ["Hit", "KeywordMatcher", "PhraseTable", "keyword_scores", "phrase_table"]

_BREAK = "\n"  # stands between tokens that belong to different phrases


@dataclass(frozen=True, slots=True)
class Hit:
    """One occurrence of a phrase of a theme.

    Parameters
    ----------
    theme : int
        Column of the theme.
    phrase : str
        The keyword or "not" phrase as the theme file writes it.
    speaks_for : bool
        True for a keyword, False for a "not" phrase.
    field : str
        ``"title"`` or ``"abstract"``.
    start, end : int
        Span of the occurrence in the field as it came.
    """

    theme: int
    phrase: str
    speaks_for: bool
    field: str
    start: int
    end: int


def _phrases(theme: Theme) -> Iterator[tuple[bool, str]]:
    """Give the phrases of a theme, and whether they speak for it."""
    yield from ((True, phrase) for phrase in theme.keywords)
    yield from ((False, phrase) for phrase in theme.exclude)


def _norms(phrase: str) -> list[str]:
    phrase = clean(phrase).text
    tokens = tokenize(phrase)
    spans = zip(tokens.starts, tokens.ends, strict=True)
    return [norm(phrase[start:end]) for start, end in spans]


class KeywordMatcher:
    """Finds the keywords of themes in documents.

    Parameters
    ----------
    themes : sequence of Theme
        Column order of everything that comes out.
    """

    def __init__(self, themes: Sequence[Theme]) -> None:
        from spacy.matcher import PhraseMatcher
        from spacy.tokens import Doc
        from spacy.vocab import Vocab

        self.themes = tuple(themes)
        self._doc = Doc
        self._vocab = Vocab()
        self._matcher = PhraseMatcher(self._vocab, attr="ORTH")
        self._phrases: list[tuple[int, str, bool]] = []
        for column, theme in enumerate(self.themes):
            known: set[tuple[str, ...]] = set()  # two spellings are one phrase
            for speaks_for, phrase in _phrases(theme):
                words = _norms(phrase)
                if words and tuple(words) not in known:
                    known.add(tuple(words))
                    pattern = Doc(self._vocab, words=words)
                    self._matcher.add(str(len(self._phrases)), [pattern])
                    self._phrases.append((column, phrase, speaks_for))

    def _read(self, text: str, tokens: Tokens) -> Any:
        """Give a spaCy `Doc` of the norms, with a break where a phrase ends."""
        words: list[str] = []
        for start, end, parted in zip(
            tokens.starts, tokens.ends, tokens.breaks, strict=True
        ):
            if parted and words:
                words.append(_BREAK)
            words.append(norm(text[start:end]))
        return self._doc(self._vocab, words=words)

    def hits(self, document: Document) -> list[Hit]:
        """List every hit in a document, title first, in text order."""
        return [
            *self._field_hits("title", document.title, document.title_tokens),
            *self._field_hits("abstract", document.abstract, document.abstract_tokens),
        ]

    def _field_hits(self, field: str, text: CleanText, tokens: Tokens) -> Iterator[Hit]:
        if not len(tokens):
            return
        doc = self._read(text.text, tokens)
        place = [i for i, token in enumerate(doc) if token.orth_ != _BREAK]
        token_at = {word: i for i, word in enumerate(place)}
        found = [
            (start, end, int(self._vocab.strings[key]))
            for key, start, end in self._matcher(doc)
        ]
        for start, end, number in sorted(found):
            column, phrase, speaks_for = self._phrases[number]
            first, last = token_at[start], token_at[end - 1]
            span = text.span(tokens.starts[first], tokens.ends[last])
            yield Hit(column, phrase, speaks_for, field, *span)

    def scores(self, documents: Sequence[Document]) -> NDArray[np.float64]:
        """Score each document by the keywords of each theme.

        Returns
        -------
        scores : float64 ndarray of shape (n_documents, n_themes)
            Sum over a theme's phrases of `saturate` of how often the phrase
            occurs (a title counts `TITLE_WEIGHT` times), "not" phrases
            negative. Any real number.
        """
        return self.scores_by_field(documents)[0]

    def scores_by_field(
        self, documents: Sequence[Document]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Give the scores of the documents, their abstracts, their titles alone."""
        shape = (3, len(documents), len(self.themes))
        scores = np.zeros(shape)
        for row, document in enumerate(documents):
            hits = self.hits(document)
            scores[0, row] = self._score(hits)
            scores[1, row] = self._score(h for h in hits if h.field == "abstract")
            scores[2, row] = self._score(h for h in hits if h.field == "title")
        whole, abstracts, titles = scores
        return whole, abstracts, titles

    def _score(self, hits: Iterable[Hit]) -> NDArray[np.float64]:
        counts: dict[tuple[int, str, bool], float] = {}
        for hit in hits:
            key = (hit.theme, hit.phrase, hit.speaks_for)
            weight = TITLE_WEIGHT if hit.field == "title" else 1.0
            counts[key] = counts.get(key, 0.0) + weight
        score = np.zeros(len(self.themes))
        for (column, _, speaks_for), count in counts.items():
            value = float(saturate(np.array(count)))
            score[column] += value if speaks_for else -value
        return score


@dataclass(frozen=True, slots=True)
class PhraseTable:
    """The phrases of themes as n-gram codes.

    Parameters
    ----------
    codes : uint64 ndarray of shape (n_phrases,)
        Ascending.
    prefixes : uint64 ndarray
        Ascending codes of the beginnings of phrases longer than `NGRAM`.
    signs : float64 ndarray of shape (n_phrases, n_themes)
        1 for a keyword of the theme, -1 for a "not" phrase, else 0.
    """

    codes: Codes
    prefixes: Codes
    signs: NDArray[np.float64]


def phrase_table(themes: Sequence[Theme]) -> PhraseTable:
    """Give the keywords and "not" phrases of themes as n-gram codes."""
    signs: dict[int, NDArray[np.float64]] = {}
    prefixes: set[int] = set()
    for column, theme in enumerate(themes):
        known: set[int] = set()  # two spellings are one phrase
        for speaks_for, phrase in _phrases(theme):
            codes = phrase_codes(clean(phrase).text)
            if not codes:
                continue
            code = codes[0]
            for n, token in enumerate(codes[1:], start=2):
                if n > NGRAM:
                    prefixes.add(code)
                code = join_codes(code, token)
            if code not in known:
                known.add(code)
                row = signs.setdefault(code, np.zeros(len(themes)))
                row[column] = 1.0 if speaks_for else -1.0
    order = sorted(signs)
    return PhraseTable(
        np.array(order, np.uint64),
        np.array(sorted(prefixes), np.uint64),
        np.array([signs[code] for code in order]).reshape(len(order), len(themes)),
    )


def keyword_scores(
    events: Events, table: PhraseTable, n_documents: int
) -> NDArray[np.float64]:
    """Score documents as `KeywordMatcher.scores` does, by n-gram codes.

    Parameters
    ----------
    events : Events
        Read with the prefixes of the table.
    table : PhraseTable
    n_documents : int

    Returns
    -------
    scores : float64 ndarray of shape (n_documents, n_themes)
    """
    counts = tally(events, find(table.codes, events.codes), n_documents)
    values = saturate(counts.values)[:, None] * table.signs[counts.columns]
    return counts.row_sums(values)
