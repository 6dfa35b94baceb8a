"""How records are to be parted, as it is typed, and the parts it gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tagger.errors import RecordError
from tagger.material import Material
from tagger.splits import group_split, holdout_split, multilabel_folds, time_split
from tagger.wording import counted

__all__ = [
    "Part",
    "SplitPlan",
    "describe_parts",
    "make_parts",
    "read_split",
    "usual_plan",
]

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SplitPlan:
    """How records are to be parted.

    Parameters
    ----------
    kind : str
        ``"cv"``, ``"holdout"``, ``"group"`` or ``"time"``.
    value : int, float or str
        Number of folds, share tested, field left out value by value, first
        year tested.
    """

    kind: str
    value: int | float | str


@dataclass(frozen=True, slots=True)
class Part:
    """Some records to learn from, and others to test on.

    Parameters
    ----------
    name : str
        Of what is tested, such as ``"fold 1"`` or ``"2025"``.
    train, test : ndarray
        Row numbers; no paper stands in both, in any version.
    """

    name: str
    train: IntArray
    test: IntArray


def read_split(text: str) -> SplitPlan:
    """Read a split as it is typed.

    Parameters
    ----------
    text : str
        ``cv:FOLDS``, ``holdout:SHARE``, ``group:FIELD`` or ``time:YEAR``.

    Raises
    ------
    ValueError
        If it is none of these.

    Examples
    --------
    >>> read_split("time:2025")
    SplitPlan(kind='time', value=2025)
    """
    kind, _, value = text.partition(":")
    try:
        if kind == "cv" and int(value) >= 2:
            return SplitPlan(kind, int(value))
        if kind == "holdout" and 0 < float(value) < 1:
            return SplitPlan(kind, float(value))
        if kind == "time":
            return SplitPlan(kind, int(value))
    except ValueError:
        kind = ""
    if kind == "group" and value:
        return SplitPlan(kind, value)
    raise ValueError(
        f"{text!r} is no split; expected 'cv:5' (folds), 'holdout:0.2' (share tested), "
        "'group:source' (or another field, one value left out at a time) or "
        "'time:2025' (first year tested)."
    )


def usual_plan(material: Material) -> SplitPlan:
    """Give the split where none is asked for: five folds, or one a paper if fewer."""
    return SplitPlan("cv", max(2, min(5, len(set(material.groups.tolist())))))


def make_parts(
    plan: SplitPlan, material: Material, *, seed: int = 0, repeat: int = 1
) -> list[Part]:
    """Part records by a plan, no paper on both sides in any version.

    Parameters
    ----------
    plan : SplitPlan
    material : Material
    seed : int, default=0
        Of folds and held-out parts; `time` and `group` have nothing random.
    repeat : int, default=1
        How often folds or a held-out part are drawn, each time anew.

    Raises
    ------
    RecordError
        If the records cannot be parted so.
    ValueError
        If a split that has nothing random is to be repeated.
    """
    if repeat > 1 and plan.kind in ("group", "time"):
        raise ValueError(
            f"A split by {plan.kind} is the same every time; repeat 'cv' or 'holdout'."
        )
    groups = material.groups
    if plan.kind == "time":
        train, test = time_split(material.records, int(plan.value), groups)
        return [Part(f"{plan.value} and later", train, test)]
    if plan.kind == "group":
        found = group_split(material.records, str(plan.value), groups)
        return [Part(value, *rows) for value, rows in found.items()]
    n_papers, wanted = len(set(groups.tolist())), int(plan.value)
    if n_papers < max(wanted, 2):
        fewer = f", or ask for 'cv:{n_papers}'" if n_papers >= 2 else ""
        raise RecordError(
            f"{counted(len(material.records), 'labelled record')} of "
            f"{counted(n_papers, 'paper')} cannot be split by "
            f"'{plan.kind}:{plan.value}'; label more papers in the field "
            f"'themes'{fewer}."
        )
    parts = []
    for turn in range(repeat):
        before = f"repeat {turn + 1}, " if repeat > 1 else ""
        if plan.kind == "holdout":
            share = float(plan.value)
            rows = holdout_split(material.y, groups, share, seed + turn)
            parts.append(Part(f"{before}held-out part", *rows))
            continue
        fold = multilabel_folds(material.y, groups, wanted, seed + turn)
        for f in range(wanted):
            rows = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
            parts.append(Part(f"{before}fold {f + 1}", *rows))
    return parts


def describe_parts(
    plan: SplitPlan, parts: Sequence[Part], n_records: int, repeat: int, seed: int
) -> str:
    """Say in sentences which of `n_records` records were tested and how."""
    n, tested = n_records, {i for part in parts for i in part.test.tolist()}
    how = {
        "cv": f"{plan.value}-fold cross-validation, themes spread evenly over the "
        f"folds, seed {seed}",
        "holdout": f"{plan.value} of the records held out, themes spread evenly, "
        f"seed {seed}",
        "group": f"One value of the field '{plan.value}' left out at a time "
        f"({len(parts)} values)",
        "time": f"Trained on records before {plan.value}, tested on {plan.value} "
        "and later",
    }[plan.kind]
    if repeat > 1:
        how += f", drawn {repeat} times; a record tested more than once is resampled "
        how += "as one"
    said = (
        f"{how}. Each record is judged by a model that learned its words, weights, "
        "calibration and thresholds without it and without any version or near-copy "
        "of it."
    )
    if len(tested) < n:
        left = n - len(tested)
        are = "is" if left == 1 else "are"
        said += f" {left:,} of the {n:,} labelled records {are} not tested."
    return said
