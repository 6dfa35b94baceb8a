"""What people said: the labels of records as an array."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tagger.errors import RecordError
from tagger.records import Record
from tagger.wording import counted

__all__ = [
    "Labels",
    "check_one_theme",
    "label_matrix",
    "labelled",
    "without_labels",
]

Labels = NDArray[np.int8]


def labelled(records: Iterable[Record]) -> list[Record]:
    """Return the records that a person labelled, with a theme or with none.

    Examples
    --------
    >>> records = [Record(id="a", themes=()), Record(id="b")]
    >>> [record.id for record in labelled(records)]
    ['a']
    """
    return [record for record in records if record.themes is not None]


def without_labels(records: Iterable[Record]) -> Iterator[Record]:
    """Yield the records that no person labelled."""
    return (record for record in records if record.themes is None)


def label_matrix(records: Sequence[Record], theme_ids: Sequence[str]) -> Labels:
    """Write the labels of records as an array.

    Parameters
    ----------
    records : sequence of Record
        All labelled (`Record.themes` is not None).
    theme_ids : sequence of str
        In column order.

    Returns
    -------
    y : ndarray of int8, shape (n_records, n_themes)
        1 label, 0 not, -1 unsure.

    Raises
    ------
    RecordError
        If a record is not labelled, or names a theme that is not known: an
        unknown label is never passed over, because the figures would then be
        of other labels than the file's.

    Examples
    --------
    >>> record = Record(id="a", themes=("optimizers",), unsure=("llm-serving",))
    >>> label_matrix([record], ["optimizers", "llm-serving", "llm-agents"])
    array([[ 1, -1,  0]], dtype=int8)
    """
    column = {theme: j for j, theme in enumerate(theme_ids)}
    y = np.zeros((len(records), len(column)), dtype=np.int8)
    for row, record in enumerate(records):
        if record.themes is None:
            raise RecordError(
                f"{_where(record)} has no labels; expected 'themes', with an empty "
                "list for a paper that no theme applies to. Leave unlabelled "
                "records out."
            )
        for theme in record.themes + record.unsure:
            if theme not in column:
                raise RecordError(_unknown(record, theme, theme_ids))
        y[row, [column[theme] for theme in record.themes]] = 1
        y[row, [column[theme] for theme in record.unsure]] = -1
    return y


def check_one_theme(records: Sequence[Record]) -> None:
    """Refuse labels that contradict "every record has exactly one theme".

    Parameters
    ----------
    records : sequence of Record
        Those without labels, and those of no theme that have an unsure one, are
        passed over.

    Raises
    ------
    RecordError
        If a record has several themes or none; the first few are named.
    """
    wrong = [
        f"{_where(record)} has {', '.join(record.themes) or 'none'}"
        for record in records
        if record.themes is not None
        and len(record.themes) != 1
        and (record.themes or not record.unsure)
    ]
    if wrong:
        more = f"; and {len(wrong) - 3:,} more" if len(wrong) > 3 else ""
        raise RecordError(
            f"{len(wrong):,} of {counted(len(records), 'record')} "
            f"{'does' if len(wrong) == 1 else 'do'} not have exactly one theme, as "
            f"'exclusive' promises: {'; '.join(wrong[:3])}{more}. Give each of them "
            "one theme, leave them out, or do not ask for 'exclusive'."
        )


def _where(record: Record) -> str:
    line = "" if record.line is None else f" (line {record.line})"
    return f"Record {record.id!r}{line}"


def _unknown(record: Record, label: str, theme_ids: Sequence[str]) -> str:
    """Sentence for a label that is not a theme, with the likely remedy."""
    parts = [part for part in re.split(r"[;,|\s]+", label) if part]
    if len(parts) > 1 and all(part in theme_ids for part in parts):
        hint = f"It looks like {len(parts)} labels in one; write them as a list."
    elif close := difflib.get_close_matches(label.strip(), theme_ids, 1):
        hint = f"Did you mean {close[0]!r}?"
    else:
        hint = (
            f"The themes are {', '.join(theme_ids)}. Add this one to the theme file "
            "(--themes FILE), name a model that knows it (-m DIR), or take the label "
            "out."
        )
    return (
        f"{_where(record)} has the label {label!r}, which is none of the "
        f"{counted(len(theme_ids), 'theme')}. {hint}"
    )
