"""The fitted, frozen artefact: arrays that turn records into probabilities.

A logit is a sum over what stands in the record, so that it can be taken
apart again:

    logit = intercept + sum over n-grams of tfidf * weight
                      + sum over keyword phrases of saturate(count) * weight

Everything that was learned (the prior of the theme file, the semantic space,
the calibration) is folded into these weights. Prediction needs numpy alone.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagger import kernel
from tagger.classifier import sigmoid
from tagger.decide import Decision, cut, decisions
from tagger.errors import ModelError, ThemeError
from tagger.features import (
    Document,
    Events,
    Phrases,
    Rows,
    Vocabulary,
    find,
    ngram_events,
    read_document,
    read_events,
    saturate,
    tally,
)
from tagger.judge import (
    EMPTY_CODES,
    EMPTY_IDF,
    FUNCTION_CODES,
    count_words,
    reasons,
)
from tagger.records import Record, batches
from tagger.resources import resource
from tagger.scorer import Scorer
from tagger.store import read_folder, write_folder
from tagger.themes import Theme, did_you_mean, theme_to_dict, themes_from_dicts

__all__ = ["Evidence", "Explanation", "Phrases", "Tagger", "load", "save"]

BATCH = 256  # records that are scored at once
# A thread that comes back waits for the interpreter's lock, so it should stay
# away for longer than that; see `tagger.handover`.
BATCH_OF_THREAD = 512


@dataclass(frozen=True, slots=True)
class Evidence:
    """A stretch of a record and what it adds to a theme's logit.

    Parameters
    ----------
    field : str
        ``"title"`` or ``"abstract"``.
    start, end : int
        Span in the field as the record has it.
    text : str
        That stretch.
    contribution : float
        In logits; below 0 where it speaks against the theme.
    """

    field: str
    start: int
    end: int
    text: str
    contribution: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, the contribution to three digits."""
        return {
            "field": self.field,
            "start": self.start,
            "end": self.end,
            "text": self.text,
            "contribution": round(self.contribution, 3),
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """A logit taken apart.

    Parameters
    ----------
    theme : str
    probability : float
        In [0, 1]; the sigmoid of `logit`, or in an exclusive model
        `tagger.exclusive.compete` of the logits of all themes.
    logit, intercept : float
        ``intercept + sum of the words' contributions == logit``.
    words : tuple of Evidence
        Every token of the record that bears on the theme, in text order.
    phrases : tuple of Evidence
        What speaks for the theme, side-by-side words merged, strongest first.
    """

    theme: str
    probability: float
    logit: float
    intercept: float
    words: tuple[Evidence, ...]
    phrases: tuple[Evidence, ...]


@dataclass(frozen=True)
class Tagger:
    """A trained model: what `tagger.load` gives and `tagger.training.train` makes.

    Parameters
    ----------
    themes : tuple of Theme
        Columns of everything the model gives, in order.
    vocabulary : Vocabulary
        N-grams and their inverse document frequencies.
    weights : float ndarray of shape (n_ngrams, n_themes)
    phrases : Phrases
        Keyword phrases and their weights.
    intercept : float64 ndarray of shape (n_themes,)
    thresholds : float64 ndarray of shape (n_themes,)
        In [0, 1]; a theme is given where its probability is >= this.
    least_known_pairs : float
        In [0, 1]; a text with fewer known word pairs is out of domain.
    exclusive : bool
        A record gets the most probable theme, or none where two are as probable.
    facts : mapping
        How it was made: data, figures, versions; plain JSON.
    arrays : mapping of str to ndarray
        What else is kept with the model, such as fingerprints of the
        training records.
    """

    themes: tuple[Theme, ...]
    vocabulary: Vocabulary
    weights: NDArray[np.floating]
    phrases: Phrases
    intercept: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    least_known_pairs: float = 0.0
    exclusive: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def theme_ids(self) -> tuple[str, ...]:
        """Return the ids of the themes, in column order."""
        return tuple(theme.id for theme in self.themes)

    def predict_proba(self, records: Iterable[Record]) -> NDArray[np.float64]:
        """Give the probability of every theme for every record.

        Returns
        -------
        P : float64 ndarray of shape (n_records, n_themes)
            In [0, 1]; rows in input order, columns as `themes`.
        """
        parts = [self._judge_batch(batch)[0] for batch in batches(records, BATCH)]
        return np.concatenate(parts) if parts else np.zeros((0, len(self.themes)))

    def predict(self, records: Iterable[Record]) -> NDArray[np.bool_]:
        """Say which themes each record is about, shape (n_records, n_themes)."""
        parts = [
            self._cut(*self._judge_batch(batch)) for batch in batches(records, BATCH)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, len(self.themes)), bool)

    def tag(self, records: Iterable[Record], *, jobs: int = 1) -> list[Decision]:
        """Decide on every record; same order, same count."""
        return list(self.tag_stream(records, jobs=jobs))

    def tag_stream(
        self, records: Iterable[Record], *, jobs: int = 1, beside: bool = False
    ) -> Iterator[Decision]:
        """Decide on records as they come, in constant memory.

        Parameters
        ----------
        records : iterable of Record
        jobs : int, default=1
            Threads that score side by side; >= 1. Changes no decision.
        beside : bool, default=False
            Let even one thread score beside the caller, who reads on meanwhile.
        """
        ids = self.theme_ids
        for batch, (P, why) in self._judged(records, jobs, beside):
            yield from decisions(batch, P, self._cut(P, why), why, ids)

    def _judged(
        self, records: Iterable[Record], jobs: int, beside: bool
    ) -> Iterator[tuple[list[Record], tuple[NDArray[np.float64], NDArray[np.int8]]]]:
        """Judge batches in order; with threads, a few ahead of what is taken."""
        if jobs <= 1 and not beside:
            for batch in batches(records, BATCH):
                yield batch, self._judge_batch(batch)
            return
        from concurrent.futures import ThreadPoolExecutor

        from tagger.handover import handed_over_soon

        ahead: deque[Any] = deque()
        with handed_over_soon(), ThreadPoolExecutor(jobs) as pool:
            for batch in batches(records, BATCH_OF_THREAD):
                ahead.append((batch, pool.submit(self._judge_batch, batch)))
                if len(ahead) > 2 * jobs:
                    batch, judged = ahead.popleft()
                    yield batch, judged.result()
            while ahead:
                batch, judged = ahead.popleft()
                yield batch, judged.result()

    def explain(self, record: Record, theme: str) -> Explanation:
        """Take the logit of one theme apart into the words that made it.

        Raises
        ------
        ThemeError
            If the model has no such theme.
        """
        if theme not in self.theme_ids:
            raise ThemeError(
                f"The model has no theme {theme!r}{did_you_mean(theme, self.theme_ids)}"
                f"; it has {', '.join(self.theme_ids)}."
            )
        column = self.theme_ids.index(theme)
        document = read_document(record)
        events = ngram_events([document], self.phrases.prefixes)
        shares = self._shares(events, column)
        intercept = float(self.intercept[column])
        logits = self._logits(events, 1)
        logit = float(logits[0, column])
        probability = float(self._probabilities(logits)[0, column])
        words, phrases = _evidence(record, document, events, shares)
        return Explanation(theme, probability, logit, intercept, words, phrases)

    def _cut(
        self, P: NDArray[np.float64], reasons: NDArray[np.int8]
    ) -> NDArray[np.bool_]:
        return cut(P, self.thresholds, reasons, exclusive=self.exclusive)

    def _judge_batch(
        self, records: Sequence[Record]
    ) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        n = len(records)
        if kernel.compiled is None:
            events = read_events(records, self.phrases.prefixes)
            logits = self._logits(events, n)
            counts = count_words(events, self.vocabulary, n)
        else:
            logits, counts = self._scorer(records)
        why = reasons(counts, self.least_known_pairs)
        if self.exclusive:
            from tagger.exclusive import judged_anyway

            why = judged_anyway(why)
        return self._probabilities(logits), why

    def _probabilities(self, logits: NDArray[np.float64]) -> NDArray[np.float64]:
        """Judge each theme by itself, or against all others."""
        if self.exclusive:
            from tagger.exclusive import compete

            return compete(logits)
        return np.asarray(sigmoid(logits), np.float64)

    @cached_property
    def _scorer(self) -> Scorer:
        return Scorer(
            self.vocabulary,
            self.weights,
            self.phrases,
            self.intercept,
            FUNCTION_CODES,
            EMPTY_CODES,
            EMPTY_IDF,
        )

    def _rows(self, events: Events, n: int) -> tuple[Rows, Rows]:
        """Give the n-gram cells (TF-IDF) and the phrase cells (saturated)."""
        counts = tally(events, find(self.phrases.codes, events.codes), n)
        phrases = Rows(counts.indptr, counts.columns, saturate(counts.values))
        return self.vocabulary.transform(events, n), phrases

    def _logits(self, events: Events, n: int) -> NDArray[np.float64]:
        total = np.tile(self.intercept, (n, 1))
        rows = self._rows(events, n)
        for cells, weights in zip(
            rows, (self.weights, self.phrases.weights), strict=True
        ):
            products = cells.values[:, None] * weights[cells.columns]
            total += cells.row_sums(products)
        return total

    def _shares(self, events: Events, column: int) -> NDArray[np.float64]:
        """Give what each event of one document adds to a theme's logit."""
        shares = np.zeros(len(events.codes))
        known = (self.vocabulary.codes, self.phrases.codes)
        weights = (self.weights, self.phrases.weights)
        for codes, cells, weight in zip(
            known, self._rows(events, 1), weights, strict=True
        ):
            at = find(codes, events.codes)
            ours = at >= 0
            place = np.searchsorted(cells.columns, at[ours])
            # Occurrences of one n-gram share its cell by their weight.
            count = np.bincount(place, events.weights[ours], len(cells.columns))
            cell = cells.values * weight[cells.columns, column]
            shares[ours] += (cell / count)[place] * events.weights[ours]
        return shares


def _evidence(
    record: Record,
    document: Document,
    events: Events,
    shares: NDArray[np.float64],
) -> tuple[tuple[Evidence, ...], tuple[Evidence, ...]]:
    """Turn shares of n-grams into words, and words into phrases."""
    length = events.last - events.first + 1
    n_tokens = len(document.title_tokens) + len(document.abstract_tokens)
    value = np.zeros(n_tokens)
    for step in range(int(length.max(initial=0))):
        inside = length > step
        np.add.at(value, events.first[inside] + step, (shares / length)[inside])
    words: list[Evidence] = []
    runs: list[list[Evidence]] = []
    at = 0
    for name, clean, tokens in (
        ("title", document.title, document.title_tokens),
        ("abstract", document.abstract, document.abstract_tokens),
    ):
        source = getattr(record, name)
        going = False
        for start, end, parted in zip(
            tokens.starts, tokens.ends, tokens.breaks, strict=True
        ):
            first, last = clean.span(start, end)
            word = Evidence(name, first, last, source[first:last], float(value[at]))
            at += 1
            if word.contribution:
                words.append(word)
            if word.contribution > 0 and going and not parted:
                runs[-1].append(word)
            elif word.contribution > 0:
                runs.append([word])
            going = word.contribution > 0
    return tuple(words), _phrases(record, runs)


def _phrases(record: Record, runs: Sequence[list[Evidence]]) -> tuple[Evidence, ...]:
    """Merge runs of words that speak for a theme; the weak ends fall off."""
    total = sum(word.contribution for run in runs for word in run)
    found = []
    for run in runs:
        least = 0.25 * max(word.contribution for word in run)
        strong = [i for i, word in enumerate(run) if word.contribution >= least]
        kept = run[strong[0] : strong[-1] + 1]
        value = sum(word.contribution for word in kept)
        if value >= 0.02 * total:
            name, start, end = kept[0].field, kept[0].start, kept[-1].end
            text = getattr(record, name)[start:end]
            found.append(Evidence(name, start, end, text, value))
    return tuple(sorted(found, key=lambda phrase: -phrase.contribution))


def save(
    model: Tagger,
    folder: str | os.PathLike[str],
    *,
    texts: Mapping[str, str] | None = None,
    overwrite: bool = False,
) -> None:
    """Write a model as a folder of plain arrays and a manifest.

    Parameters
    ----------
    model : Tagger
    folder : path
        Appears whole or not at all.
    texts : mapping of file name to str, optional
        Files for people, such as a README; `tagger.card.model_card` writes one.
    overwrite : bool, default=False
        Replace a model that stands there.

    Raises
    ------
    ModelError
        If something stands there already, or the disk refuses.
    """
    arrays = {
        "codes": model.vocabulary.codes,
        "idf": model.vocabulary.idf,
        "weights": model.weights,
        "phrase-codes": model.phrases.codes,
        "phrase-prefixes": model.phrases.prefixes,
        "phrase-weights": model.phrases.weights,
        "intercept": model.intercept,
        "thresholds": model.thresholds,
        **{f"kept-{name}": array for name, array in model.arrays.items()},
    }
    facts = {
        **model.facts,
        "exclusive": model.exclusive,
        "least_known_pairs": model.least_known_pairs,
        "themes": [theme_to_dict(theme) for theme in model.themes],
    }
    write_folder(folder, "model", arrays, facts, texts=texts, overwrite=overwrite)


def load(folder: str | os.PathLike[str] | None = None) -> Tagger:
    """Read a model; without a folder, the one that comes with the package.

    Raises
    ------
    ModelError
        If the folder is no model of ours, or cut, altered or newer.
    """
    path = resource("models/themes") if folder is None else folder
    arrays, facts = read_folder(path, "model")
    missing = [name for name in _KINDS if name not in arrays]
    if missing or not isinstance(facts.get("themes"), list):
        raise ModelError(
            f"{path} is not whole: it lacks {', '.join(missing or ['themes'])}."
        )
    try:
        themes = themes_from_dicts(facts["themes"], source=str(path))
    except ThemeError as error:
        raise ModelError(f"{path} is altered: {error}") from error
    a = arrays
    k = len(themes)
    shapes: dict[str, tuple[int, ...]] = {
        "codes": (a["codes"].size,),
        "idf": (a["codes"].size,),
        "weights": (a["codes"].size, k),
        "phrase-codes": (a["phrase-codes"].size,),
        "phrase-prefixes": (a["phrase-prefixes"].size,),
        "phrase-weights": (a["phrase-codes"].size, k),
        "intercept": (k,),
        "thresholds": (k,),
    }
    for name, shape in shapes.items():
        found = a[name]
        if found.shape != shape or found.dtype.kind != _KINDS[name]:
            raise ModelError(
                f"{path} is altered: {name} is {found.dtype} of shape {found.shape}, "
                f"not {_KINDS[name]!r} of shape {shape}."
            )
    least_known_pairs = facts.get("least_known_pairs", 0.0)
    senseless = [
        name
        for name, good in {
            "codes": bool((a["codes"][1:] > a["codes"][:-1]).all()),
            "idf": bool((a["idf"] > 0).all() and np.isfinite(a["idf"]).all()),
            "weights": _are_finite(a["weights"]),
            "phrase-weights": _are_finite(a["phrase-weights"]),
            "intercept": bool(np.isfinite(a["intercept"]).all()),
            "thresholds": bool(((a["thresholds"] >= 0) & (a["thresholds"] <= 2)).all()),
            "least_known_pairs": isinstance(least_known_pairs, (int, float)),
        }.items()
        if not good
    ]
    if senseless:
        raise ModelError(
            f"{path} is altered: {', '.join(senseless)} cannot be of a model."
        )
    kept = {
        name.removeprefix("kept-"): array
        for name, array in arrays.items()
        if name.startswith("kept-")
    }
    return Tagger(
        themes,
        Vocabulary(a["codes"], a["idf"]),
        a["weights"],
        Phrases(a["phrase-codes"], a["phrase-prefixes"], a["phrase-weights"]),
        np.array(a["intercept"]),
        np.array(a["thresholds"]),
        float(least_known_pairs),
        bool(facts.get("exclusive", False)),
        {key: value for key, value in facts.items() if key not in _NOT_FACTS},
        kept,
    )


def _are_finite(weights: NDArray[np.floating]) -> bool:
    if weights.dtype != "<f2":
        return bool(np.isfinite(weights).all())
    # By their bits: 30 times as fast, and a model is loaded in a moment.
    largest = weights.view("<i2").max(initial=0), weights.view("<u2").max(initial=0)
    return bool(largest[0] < 0x7C00 and largest[1] < 0xFC00)


_NOT_FACTS = frozenset(
    "format format_version files themes exclusive least_known_pairs".split()
)
# Saved arrays and the kind of their numbers, as numpy letters it.
_KINDS = {
    "codes": "u",
    "idf": "f",
    "weights": "f",
    "intercept": "f",
    "thresholds": "f",
    "phrase-codes": "u",
    "phrase-prefixes": "u",
    "phrase-weights": "f",
}
