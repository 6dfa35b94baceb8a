"""From probabilities to decisions: the only place where a cut is made.

Three outcomes that are never merged: ``tagged``; ``none`` (the text was
judged, and no theme applies); ``abstained``, with the reason why the text
could not be judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagger import kernel
from tagger.records import Record, Tag

__all__ = ["REASONS", "Decision", "cut", "decisions"]

REASONS = ("no_text", "no_known_words", "language", "out_of_domain")
"""Why a text may not be judged, by number; -1 stands for a text that may."""


class _Row:
    """Probabilities as the compiled part leaves them, since few are asked for."""

    __slots__ = ("_row",)
    _row: bytes

    def __getattr__(self, name: str) -> Any:
        if name != "probabilities":  # every other field is set
            kind = type(self).__name__
            raise AttributeError(f"{kind!r} object has no attribute {name!r}")
        made = tuple(memoryview(self._row).cast("d"))
        object.__setattr__(self, name, made)
        return made


@dataclass(frozen=True, slots=True)
class Decision(_Row):
    """What the model says of one record.

    Parameters
    ----------
    id, title : str
        Of the record; the title as it came, ``""`` where there is none.
    status : str
        ``"tagged"``, ``"none"`` or ``"abstained"``.
    reason : str or None
        One of `REASONS` if the model abstained, else None.
    tags : tuple of Tag
        Most probable first; empty unless the status is ``"tagged"``.
    probabilities : tuple of float
        Of every theme, in the model's order, in [0, 1].
    """

    id: str
    title: str
    status: str
    reason: str | None
    tags: tuple[Tag, ...]
    probabilities: tuple[float, ...]


def cut(
    P: NDArray[np.float64],
    thresholds: NDArray[np.float64],
    reasons: NDArray[np.int8],
    *,
    exclusive: bool = False,
) -> NDArray[np.bool_]:
    """Say which themes are given.

    Parameters
    ----------
    P : ndarray of shape (n_records, n_themes)
        Probabilities in [0, 1].
    thresholds : ndarray of shape (n_themes,)
        A theme is given where its probability is >= its threshold.
    reasons : int8 ndarray of shape (n_records,)
        Position in `REASONS`, or -1; a record with a reason gets no theme.
    exclusive : bool, default=False
        Give the most probable theme, whatever the thresholds; none where
        another is as probable, as where nothing speaks for any theme.

    Returns
    -------
    given : bool ndarray of shape (n_records, n_themes)

    Examples
    --------
    >>> cut(np.array([[0.5, 0.4]]), np.array([0.5, 0.5]), np.array([-1], np.int8))
    array([[ True, False]])
    """
    if exclusive:
        given = P == P.max(axis=1, keepdims=True, initial=0.0)
        given &= given.sum(axis=1, keepdims=True) == 1
    else:
        given = P >= thresholds
    return np.asarray(given & (reasons < 0)[:, None])


def decisions(
    records: Sequence[Record],
    P: NDArray[np.float64],
    given: NDArray[np.bool_],
    reasons: NDArray[np.int8],
    themes: Sequence[str],
) -> list[Decision]:
    """Put probabilities and given themes into words, one decision a record."""
    if kernel.compiled is None:
        return _decisions(records, P, given, reasons, themes)
    made: list[Decision] = kernel.compiled.decisions(
        list(records), np.ascontiguousarray(P), np.ascontiguousarray(given),
        np.ascontiguousarray(reasons), tuple(themes), REASONS, Decision, Tag,
    )  # fmt: skip
    return made


def _decisions(
    records: Sequence[Record],
    P: NDArray[np.float64],
    given: NDArray[np.bool_],
    reasons: NDArray[np.int8],
    themes: Sequence[str],
) -> list[Decision]:
    at, columns = np.nonzero(given)
    order = np.lexsort((-P[at, columns], at))  # stable: equals stay in theme order
    chosen = columns[order].tolist()
    ends = np.searchsorted(at, np.arange(1, len(P) + 1)).tolist()
    result = []
    start = 0
    for record, row, reason, end in zip(
        records, P.tolist(), reasons.tolist(), ends, strict=True
    ):
        tags = tuple([Tag(themes[k], row[k]) for k in chosen[start:end]])
        start = end
        status = "abstained" if reason >= 0 else "tagged" if tags else "none"
        name = REASONS[reason] if reason >= 0 else None
        result.append(Decision(record.id, record.title, status, name, tags, tuple(row)))
    return result
