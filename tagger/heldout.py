"""What models say of records that they did not learn from, under any split."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagger.errors import RecordError
from tagger.evaluation import Evaluation, evaluate
from tagger.labels import Labels, label_matrix, labelled
from tagger.material import Material
from tagger.metrics import Flags, Scores
from tagger.model import Tagger
from tagger.records import Record
from tagger.splits import group_split, holdout_split, multilabel_folds, time_split
from tagger.training import Settings, learn

__all__ = [
    "Answers",
    "Part",
    "SplitPlan",
    "ask",
    "cross_validate",
    "learning_curve",
    "make_parts",
    "read_split",
]

IntArray = NDArray[np.int64]
LEARNING_SHARES = (0.125, 0.25, 0.5)


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


@dataclass(frozen=True)
class Answers:
    """What was said of test records, beside their labels.

    Parameters
    ----------
    records : list of Record
        The records tested; one that was tested twice stands here twice.
    y : int8 ndarray of shape (n_records, n_themes)
        1 label, 0 not, -1 unsure.
    P : float64 ndarray of shape (n_records, n_themes)
        Probabilities in [0, 1].
    given : bool ndarray of shape (n_records, n_themes)
        Tags.
    abstained : bool ndarray of shape (n_records,)
        Records that were not judged.
    units : int64 ndarray of shape (n_records,)
        Row of the record in the input: equal numbers are one record.
    model_of : int64 ndarray of shape (n_records,)
        Which of `models` judged the record.
    models : tuple of Tagger
        At least one, all with the same themes.
    parts : tuple of str
        Name of what each model was tested on.
    """

    records: list[Record]
    y: Labels
    P: Scores
    given: Flags
    abstained: Flags
    units: IntArray
    model_of: IntArray
    models: tuple[Tagger, ...]
    parts: tuple[str, ...]

    @property
    def theme_ids(self) -> tuple[str, ...]:
        """Return the ids of the themes, in column order."""
        return self.models[0].theme_ids

    def select(self, rows: Flags) -> Answers:
        """Keep some records only; `rows` is a mask of shape (n_records,)."""
        at = np.flatnonzero(rows).tolist()
        arrays = ("y", "P", "given", "abstained", "units", "model_of")
        kept = {name: getattr(self, name)[rows] for name in arrays}
        return replace(self, records=[self.records[i] for i in at], **kept)

    def thresholds(self) -> Scores:
        """Give the threshold of each theme, the mean of the models that judged."""
        counts = np.bincount(self.model_of, minlength=len(self.models))
        every = np.array([model.thresholds for model in self.models])
        mean: Scores = counts @ every / max(int(counts.sum()), 1)
        return mean

    def explain(self, row: int, column: int) -> list[dict[str, Any]]:
        """Give what spoke for a theme in a record, as `tagger.report` wants it."""
        model = self.models[int(self.model_of[row])]
        found = model.explain(self.records[row], self.theme_ids[column])
        return [phrase.to_dict() for phrase in found.phrases]

    def evaluate(
        self, *, baselines: Mapping[str, Flags] | None = None, seed: int = 0
    ) -> Evaluation:
        """Score the answers; a record tested more than once is resampled as one."""
        return evaluate(
            self.y,
            self.P,
            self.given,
            self.theme_ids,
            abstained=self.abstained,
            baselines=baselines,
            units=self.units,
            seed=seed,
        )


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
        raise RecordError(
            f"{len(material.records):,} labelled records of {n_papers:,} papers cannot "
            f"be split by '{plan.kind}:{plan.value}'; label more papers in the field "
            "'themes', or ask for fewer folds."
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


def ask(model: Tagger, records: Sequence[Record]) -> Answers:
    """Let a saved model answer; records without labels are passed over.

    Raises
    ------
    RecordError
        If no record is labelled, or a label is no theme of the model.
    """
    chosen = labelled(records)
    if not chosen:
        raise RecordError(
            f"0 of {len(records):,} records are labelled; labels stand in the field "
            "'themes' as a list of theme ids."
        )
    y = label_matrix(chosen, model.theme_ids)
    return Answers(
        chosen,
        y,
        *_decide(model, chosen),
        units=np.arange(len(chosen)),
        model_of=np.zeros(len(chosen), np.int64),
        models=(model,),
        parts=("all",),
    )


def cross_validate(
    material: Material,
    parts: Sequence[Part],
    *,
    settings: Settings | None = None,
    exclusive: bool = False,
    seed: int = 0,
    jobs: int = 1,
    progress: Callable[[str], None] | None = None,
) -> Answers:
    """Train on each part's training records alone, and let the model answer.

    Vocabulary, weights, calibration and thresholds all come from the training
    records of the part (calibration and thresholds by cross-validation inside
    them), and the model is frozen before it sees a test record: exactly what
    `tagger.training.train` saves.

    Parameters
    ----------
    material : Material
    parts : sequence of Part
        From `make_parts`; at least one.
    settings : Settings, optional
    exclusive : bool, default=False
        Every record has exactly one theme.
    seed, jobs : int
        As of `tagger.training.train`.
    progress : callable, optional
        Told the name of each part before it is learned.
    """
    models, said = [], []
    for part in parts:
        if progress is not None:
            progress(part.name)
        model, _ = learn(
            material.part(part.train),
            settings=settings,
            exclusive=exclusive,
            seed=seed,
            jobs=jobs,
        )
        models.append(model)
        said.append(_decide(model, [material.records[i] for i in part.test.tolist()]))
    rows = np.concatenate([part.test for part in parts])
    P, given, abstained = (np.concatenate(arrays) for arrays in zip(*said, strict=True))
    return Answers(
        [material.records[i] for i in rows.tolist()],
        material.y[rows],
        P,
        given,
        abstained,
        units=rows,
        model_of=np.repeat(np.arange(len(parts)), [len(p.test) for p in parts]),
        models=tuple(models),
        parts=tuple(part.name for part in parts),
    )


def learning_curve(
    material: Material, part: Part, answers: Answers, *, seed: int = 0, jobs: int = 1
) -> list[dict[str, float]]:
    """Measure what fewer training records would have given on one part.

    Parameters
    ----------
    material : Material
    part : Part
        The first of those that were cross-validated.
    answers : Answers
        With all of its training records; its last point is taken from here.

    Returns
    -------
    points : list of dict
        ``records``, and ``value``, ``low`` and ``high`` of micro F1.
    """
    order = np.random.default_rng(seed).permutation(part.train)
    points = []
    for share in LEARNING_SHARES:
        train = np.sort(order[: int(share * len(order))])
        if len(train) < 2:
            continue
        some = [Part(part.name, train, part.test)]
        found = cross_validate(material, some, seed=seed, jobs=jobs)
        points.append(_point(found, len(train), seed))
    whole = answers.select(answers.model_of == 0)
    points.append(_point(whole, len(part.train), seed))
    return [point for point in points if not np.isnan(point["value"])]


def _point(answers: Answers, n_train: int, seed: int) -> dict[str, float]:
    figure = answers.evaluate(seed=seed).overall["micro_f1"]
    return {
        "records": n_train,
        "value": figure.value,
        "low": figure.low,
        "high": figure.high,
    }


def _decide(model: Tagger, records: Sequence[Record]) -> tuple[Scores, Flags, Flags]:
    """Give probabilities, tags and abstentions."""
    column = {theme: j for j, theme in enumerate(model.theme_ids)}
    decided = model.tag(records)
    given = np.zeros((len(decided), len(column)), dtype=np.bool_)
    for row, decision in enumerate(decided):
        given[row, [column[tag.theme] for tag in decision.tags]] = True
    P = np.array([d.probabilities for d in decided], np.float64).reshape(given.shape)
    abstained = np.array([d.status == "abstained" for d in decided], dtype=np.bool_)
    return P, given, abstained
