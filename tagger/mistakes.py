"""What went wrong: confused themes, the worst errors, labels to read again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagger.comparison import Comparison
from tagger.labels import Labels
from tagger.metrics import Flags, Scores
from tagger.records import Record

__all__ = [
    "Explain",
    "changed_records",
    "confusions",
    "label_errors",
    "worst_errors",
]

Explain = Callable[[int, int], Sequence[Mapping[str, Any]]]


def confusions(y: Labels, D: Flags, themes: Sequence[str]) -> list[dict[str, Any]]:
    """Count which theme was given where another was missed.

    Parameters
    ----------
    y, D : ndarray of shape (n_records, n_themes)
        Labels (1, 0, -1 unsure) and tags given.
    themes : sequence of str, length n_themes
        Theme ids in column order.

    Returns
    -------
    pairs : list of dict
        ``missed`` and ``given`` (a theme id, or None where nothing was missed
        or nothing false was given) and ``count``; the most frequent first.

    Examples
    --------
    >>> y = np.array([[1, 0]], dtype=np.int8)
    >>> confusions(y, np.array([[False, True]]), ["a", "b"])
    [{'missed': 'a', 'given': 'b', 'count': 1}]
    """
    missed, false = (y == 1) & ~D, (y == 0) & D
    counts: Counter[tuple[int, int]] = Counter()
    for row in np.flatnonzero((missed | false).any(axis=1)):
        gone = np.flatnonzero(missed[row]).tolist() or [-1]
        got = np.flatnonzero(false[row]).tolist() or [-1]
        counts.update((a, b) for a in gone for b in got)
    ids = [*themes, None]
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [
        {"missed": ids[a], "given": ids[b], "count": count} for (a, b), count in ordered
    ]


def worst_errors(
    records: Sequence[Record],
    themes: Sequence[str],
    y: Labels,
    P: Scores,
    D: Flags,
    explain: Explain | None = None,
    n_errors: int = 30,
    *,
    abstained: Flags | None = None,
) -> list[dict[str, Any]]:
    """Show the records with the most confident wrong decisions.

    Parameters
    ----------
    records, themes, y, P, D, explain, n_errors, abstained
        As in `tagger.report.build_report`.

    Returns
    -------
    errors : list of dict
        One a record: its text, labels, tags, whether it was abstained from, and
        each wrong theme with its probability and evidence; the most confident
        mistake first.
    """
    if abstained is None:
        abstained = np.zeros(len(y), dtype=bool)
    D = D & ~abstained[:, None]
    wrong = (y >= 0) & (D != (y == 1))
    surprise = np.where(wrong, np.where(D, P, 1 - P), -1.0)
    worst = surprise.max(axis=1)
    order = np.argsort(-worst, kind="stable")
    errors = []
    for row in order[: min(n_errors, int((worst >= 0).sum()))].tolist():
        record = records[row]
        columns = np.flatnonzero(wrong[row])
        columns = columns[np.argsort(-surprise[row, columns], kind="stable")]
        errors.append(
            {
                "id": record.id,
                "title": record.title,
                "abstract": record.abstract,
                "year": record.year,
                "labels": [themes[j] for j in np.flatnonzero(y[row] == 1).tolist()],
                "tags": [themes[j] for j in np.flatnonzero(D[row]).tolist()],
                "abstained": bool(abstained[row]),
                "wrong": [
                    {
                        "theme": themes[j],
                        "kind": "false" if D[row, j] else "missed",
                        "probability": round(float(P[row, j]), 4),
                        "evidence": [dict(e) for e in explain(row, j)]
                        if explain
                        else [],
                    }
                    for j in columns.tolist()
                ],
            }
        )
    return errors


def changed_records(
    records: Sequence[Record],
    themes: Sequence[str],
    y: Labels,
    second: Flags,
    comparison: Comparison,
) -> list[dict[str, Any]]:
    """Show the records that two ways to decide tag differently.

    Parameters
    ----------
    records, themes, y
        As in `tagger.report.build_report`.
    second : ndarray of bool, shape (n_records, n_themes)
        Tags of the second, as they count.
    comparison : Comparison
        Of the same records; holds the tags of the first.

    Returns
    -------
    changed : list of dict
        ``id``, ``title``, ``labels``, ``first`` and ``second`` (theme ids), and
        ``wrong_first`` and ``wrong_second`` (wrong pairs); the largest change for
        the worse first.
    """

    def names(row: NDArray[np.bool_]) -> list[str]:
        return [themes[j] for j in np.flatnonzero(row).tolist()]

    return [
        {
            "id": records[row].id,
            "title": records[row].title,
            "labels": names(y[row] == 1),
            "first": names(comparison.first[row]),
            "second": names(second[row]),
            "wrong_first": before,
            "wrong_second": after,
        }
        for row, before, after in comparison.changed
    ]


def label_errors(
    records: Sequence[Record], themes: Sequence[str], y: Labels, P: Scores
) -> list[dict[str, Any]]:
    """Find labels that the probabilities contradict, by confident learning.

    A missing label is likely where the probability is at least the mean
    probability of the records that have the label; a wrong one where it is at
    most the mean of those that have it not. The probabilities must come from
    models that did not train on the record.

    Parameters
    ----------
    records, themes, y, P
        As in `tagger.report.build_report`.

    Returns
    -------
    found : list of dict
        ``id``, ``title``, ``theme``, ``suggestion`` ("add" or "remove") and
        ``probability``; the most certain first.

    References
    ----------
    Northcutt, Jiang, Chuang, "Confident learning: estimating uncertainty in
    dataset labels", JAIR 2021.
    """
    found = []
    for j, theme in enumerate(themes):
        has, lacks = y[:, j] == 1, y[:, j] == 0
        if not has.any() or not lacks.any():
            continue
        add = lacks & (P[:, j] >= P[has, j].mean())
        remove = has & (P[:, j] <= P[lacks, j].mean())
        for row in np.flatnonzero(add | remove).tolist():
            p = float(P[row, j])
            found.append(
                {
                    "id": records[row].id,
                    "title": records[row].title,
                    "theme": theme,
                    "suggestion": "add" if add[row] else "remove",
                    "probability": round(p, 4),
                }
            )
    return sorted(
        found,
        key=lambda f: (
            -(f["probability"] if f["suggestion"] == "add" else 1 - f["probability"])
        ),
    )
