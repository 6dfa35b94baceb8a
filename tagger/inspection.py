"""What a file holds, and what the model will see of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tagger.features import read_document
from tagger.formats.reading import Reading
from tagger.records import Record, identity_keys
from tagger.text import CleanText
from tagger.tokens import words

__all__ = ["inspect_entries"]

_PROBLEMS_SHOWN = 20
_FIELDS = ("title", "abstract", "themes", "year", "authors", "subject", "venue", "doi")


def inspect_entries(reading: Reading, sample: int) -> dict[str, Any]:
    """Read a file to its end and say what is in it.

    Parameters
    ----------
    reading : Reading
        Not started yet.
    sample : int
        How many records to show as they came and as they are cleaned.

    Returns
    -------
    dict
        Counts and samples; plain JSON.
    """
    fields: Counter[str] = Counter()
    themes: Counter[str] = Counter()
    seen: set[str] = set()
    lengths: list[int] = []
    problems: list[str] = []
    shown: list[dict[str, Any]] = []
    duplicates = unlabelled = without_theme = 0
    for entry in reading:
        record = entry.record
        if record is None:
            problems.append(entry.problem or f"{entry.id} cannot be used.")
            continue
        fields.update(name for name in _FIELDS if getattr(record, name))
        unlabelled += record.themes is None
        without_theme += record.themes == ()
        themes.update(record.themes or ())
        keys = set(identity_keys(record))
        duplicates += bool(keys & seen)
        seen |= keys
        document = read_document(record)
        lengths.append(len(document.title_tokens) + len(document.abstract_tokens))
        if len(shown) < sample:
            shown.append(_sample(record, document.title, document.abstract))
    return {
        "file": reading.name,
        "format": reading.format,
        "records": reading.n_used,
        "skipped": reading.n_skipped,
        "with": dict(fields),
        "labelled": reading.n_used - unlabelled,
        "labelled_with_no_theme": without_theme,
        "labels": dict(themes.most_common()),
        "same_paper_again": duplicates,
        "tokens_median": sorted(lengths)[len(lengths) // 2] if lengths else 0,
        "without_text": sum(length == 0 for length in lengths),
        "problems": problems[:_PROBLEMS_SHOWN],
        "sample": shown,
    }


def _sample(record: Record, title: CleanText, abstract: CleanText) -> dict[str, Any]:
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
