"""What models say of records that they did not learn from, under any split."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tagger.answers import Answers
from tagger.company import Company
from tagger.errors import RecordError
from tagger.labels import label_matrix, labelled
from tagger.material import Material
from tagger.metrics import Flags, Scores
from tagger.model import Tagger
from tagger.plans import Part
from tagger.records import Record
from tagger.training import Settings, learn
from tagger.wording import counted

__all__ = ["ask", "cross_validate", "learning_curve"]

LEARNING_SHARES = (0.125, 0.25, 0.5)


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
            f"Of {counted(len(records), 'record')} none is labelled; labels stand in "
            "the field 'themes' as a list of theme ids."
        )
    y = label_matrix(chosen, model.theme_ids)
    return Answers(
        chosen,
        model.theme_ids,
        y,
        *_decide(model, chosen),
        units=np.arange(len(chosen)),
        parts=("all",),
        part_of=np.zeros(len(chosen), np.int64),
        models=(model,),
    )


def cross_validate(
    material: Material,
    parts: Sequence[Part],
    *,
    company: Company | None = None,
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
        From `tagger.plans.make_parts`; at least one.
    company : Company, optional
        What records without labels taught; see `tagger.training.company_of`.
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
            company=company,
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
        material.theme_ids,
        material.y[rows],
        P,
        given,
        abstained,
        units=rows,
        parts=tuple(part.name for part in parts),
        part_of=np.repeat(np.arange(len(parts)), [len(p.test) for p in parts]),
        models=tuple(models),
    )


def learning_curve(
    material: Material,
    part: Part,
    answers: Answers,
    *,
    company: Company | None = None,
    settings: Settings | None = None,
    exclusive: bool = False,
    seed: int = 0,
    jobs: int = 1,
) -> list[dict[str, float]]:
    """Measure what fewer training records would have given on one part.

    Parameters
    ----------
    material : Material
    part : Part
        The first of those that were cross-validated.
    answers : Answers
        With all of its training records; its last point is taken from here.
    company, settings, exclusive, seed, jobs
        As `answers` were made.

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
        found = cross_validate(
            material,
            some,
            company=company,
            settings=settings,
            exclusive=exclusive,
            seed=seed,
            jobs=jobs,
        )
        points.append(_point(found, len(train), seed))
    whole = answers.select(answers.part_of == 0)
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
