"""What a file holds, and what the model will see of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tagger.decide import REASONS
from tagger.features import Vocabulary, read_document, read_events
from tagger.fingerprints import fingerprints
from tagger.formats import Entry
from tagger.formats.reading import Reading
from tagger.formats.seen_names import SeenNames
from tagger.judge import count_words, reasons
from tagger.minhash import Sketches, near_pairs
from tagger.records import Record, identity_keys
from tagger.tokens import words

__all__ = ["inspect_entries"]

_BATCH = 256
_MOST_SKETCHED = 20_000
_PROBLEMS_SHOWN = 20
_OTHER_FIELDS_SHOWN = 30
_PAIRS_SHOWN = 5
_FIELDS = ("title", "abstract", "themes", "year", "authors", "subject", "venue", "doi")
_FOREIGN = REASONS.index("out_of_domain")
_NOTHING_KNOWN = Vocabulary(np.zeros(0, np.uint64), np.zeros(0, np.float32))


def inspect_entries(
    reading: Reading, sample: int, *, entries: Iterable[Entry] | None = None
) -> dict[str, Any]:
    """Read a file to its end and say what is in it.

    Parameters
    ----------
    reading : Reading
        Not started yet.
    sample : int
        How many records to show as they came and as they are cleaned.
    entries : iterable of Entry, optional
        The same reading, if something else is to see its entries, too.

    Returns
    -------
    dict
        Counts and samples; plain JSON. The language is judged by the share of
        English function words alone, in records of 25 words and more;
        near-copies are looked for among the first 20,000 records.
    """
    seen = _Seen(sample)
    for entry in reading if entries is None else entries:
        seen.add(entry)
    return {
        "file": reading.name,
        "format": reading.format,
        "recognised_by": reading.recognised_by,
        "encoding": reading.encoding,
        "kinds": dict(reading.kinds.most_common()),
        "gets_tags_as": reading.format if reading.keeps_format else "jsonl",
        "records": reading.n_used,
        "skipped": reading.n_skipped,
        **seen.counts(),
        "notes": reading.notes,
        "problems_by_kind": seen.kinds,
        "problems": seen.problems,
        "sample": seen.sample,
    }


class _Seen:
    """What was seen of the entries of a file so far."""

    def __init__(self, sample: int) -> None:
        self.kinds: dict[str, dict[str, Any]] = {}
        self.problems: list[str] = []
        self.sample: list[dict[str, Any]] = []
        self._wanted = sample
        self._fields: Counter[str] = Counter()
        self._others: Counter[str] = Counter()
        self._themes: Counter[str] = Counter()
        self._counted = self._labelled = self._without_theme = self._again = 0
        self._years: list[int] = []
        self._keys = SeenNames()
        self._same: set[int] = set()
        self._waiting: list[Record] = []
        self._words: list[Any] = []
        self._ids: list[str] = []
        self._sketches: list[Sketches] = []

    def add(self, entry: Entry) -> None:
        """Count one entry."""
        record = entry.record
        if record is None:
            self._problem(entry)
            return
        self._fields.update(name for name in _FIELDS if getattr(record, name))
        self._others.update([k for k, v in record.extra.items() if v not in (None, "")])
        self._labelled += record.themes is not None
        self._without_theme += record.themes == ()
        self._themes.update(record.themes or ())
        if record.year is not None:
            span = [*self._years, record.year]
            self._years = [min(span), max(span)]
        new = [self._keys.add(key) for key in identity_keys(record)]
        if not all(new):
            self._again += 1
            self._same.add(self._counted)
        self._counted += 1
        if len(self.sample) < self._wanted:
            self.sample.append(_sample(record))
        self._waiting.append(record)
        if len(self._waiting) == _BATCH:
            self._measure()

    def counts(self) -> dict[str, Any]:
        """Return what was counted."""
        if self._waiting:
            self._measure()
        counts = np.concatenate([np.zeros((0, 6), np.int32), *self._words])
        tokens, function = counts[:, 0], counts[:, 3]
        # Every word is taken for known and telling, which leaves function words
        # to judge by.
        counts[:, 1] = counts[:, 2] = tokens
        foreign = reasons(counts, 0.0) == _FOREIGN
        long = tokens >= 25
        share = function[long] / tokens[long]
        return {
            "with": dict(self._fields),
            "other_fields": dict(self._others.most_common(_OTHER_FIELDS_SHOWN)),
            "years": self._years,
            "labelled": self._labelled,
            "labelled_with_no_theme": self._without_theme,
            "labels": dict(self._themes.most_common()),
            "tokens": _spread(tokens),
            "without_text": int((tokens == 0).sum()),
            "language": {
                "judged": int(long.sum()),
                "english_function_words": round(float(share.mean()), 3)
                if len(share)
                else None,
                "perhaps_not_english": int(foreign.sum()),
            },
            "same_paper_again": self._again,
            "near_copies": self._near_copies(),
        }

    def _problem(self, entry: Entry) -> None:
        kind = self.kinds.setdefault(
            entry.reason or "not usable", {"records": 0, "lines": []}
        )
        kind["records"] += 1
        if len(kind["lines"]) < _PROBLEMS_SHOWN:
            kind["lines"].append(entry.line)
        if len(self.problems) < _PROBLEMS_SHOWN:
            self.problems.append(entry.problem or f"{entry.id} cannot be used.")

    def _measure(self) -> None:
        """Count the words of the records that wait, and sketch them."""
        waiting, self._waiting = self._waiting, []
        events = read_events(waiting)
        self._words.append(count_words(events, _NOTHING_KNOWN, len(waiting)))
        sketched = waiting[: _MOST_SKETCHED - len(self._ids)]
        if sketched:
            self._ids += [record.id for record in sketched]
            self._sketches.append(fingerprints(sketched).sketches)

    def _near_copies(self) -> dict[str, Any]:
        """Find records that copy an earlier one and are not known as one paper."""
        if not self._sketches:
            return {"looked_at": 0, "records": 0, "such_as": []}
        parts = zip(*self._sketches, strict=True)
        sketches = Sketches(*(np.concatenate(part) for part in parts))
        first: dict[int, int] = {}
        for row, other, _ in near_pairs(sketches, sketches):
            if other not in self._same:
                first[other] = min(row, first.get(other, row))
        such = [[self._ids[first[row]], self._ids[row]] for row in sorted(first)]
        return {
            "looked_at": len(self._ids),
            "records": len(first),
            "such_as": such[:_PAIRS_SHOWN],
        }


def _spread(numbers: Sequence[int] | Any) -> dict[str, int]:
    """Return smallest, middle, nearly largest and largest of some numbers."""
    if not len(numbers):
        return {}
    at = {"least": 0, "median": 50, "p95": 95, "most": 100}
    found = np.percentile(numbers, list(at.values()), method="higher")
    return dict(zip(at, map(int, found), strict=True))


def _sample(record: Record) -> dict[str, Any]:
    """Show a record as it came and as it is cleaned."""
    document = read_document(record)
    title, abstract = document.title, document.abstract
    text = abstract.text or title.text
    tokens = [text[start:end] for start, end in words(text)]
    return {
        "id": record.id,
        "title_as_it_came": record.title,
        "title": title.text,
        "abstract_as_it_came": record.abstract,
        "abstract": abstract.text,
        "tokens": " | ".join(tokens[:60]),
    }
