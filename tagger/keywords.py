"""Where a theme's keywords occur in a record: hits with spans, by spaCy.

A phrase is compared as the norms of its tokens, so case, hyphens, the plural
and British spelling do not matter, and no hit reaches over a comma, a full
stop or a parenthesis. The same phrases are n-gram codes too: a frozen model
finds them without spaCy (`tagger.features`), and a test holds both equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagger.features import TITLE_WEIGHT, Document, saturate
from tagger.text import CleanText, clean
from tagger.themes import Theme
from tagger.tokens import Tokens, norm, tokenize

__all__ = ["Hit", "KeywordMatcher"]

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
        scores = np.zeros((len(documents), len(self.themes)))
        for row, document in enumerate(documents):
            counts: dict[tuple[int, str, bool], float] = {}
            for hit in self.hits(document):
                key = (hit.theme, hit.phrase, hit.speaks_for)
                weight = TITLE_WEIGHT if hit.field == "title" else 1.0
                counts[key] = counts.get(key, 0.0) + weight
            for (column, _, speaks_for), count in counts.items():
                value = float(saturate(np.array(count)))
                scores[row, column] += value if speaks_for else -value
        return scores
