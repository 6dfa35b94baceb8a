"""A whole evaluation: answers, figures, baselines, leaks, groups, comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tagger.baselines import count_words, keyword_rules, tfidf_logistic
from tagger.comparison import Comparison, GroupFigures, compare, evaluate_groups
from tagger.errors import ModelError, RecordError
from tagger.evaluation import Evaluation
from tagger.fingerprints import Overlap
from tagger.heldout import (
    Answers,
    Part,
    SplitPlan,
    ask,
    cross_validate,
    learning_curve,
    make_parts,
)
from tagger.material import Material, prepare
from tagger.metrics import Flags
from tagger.model import Tagger
from tagger.records import Record
from tagger.report import build_report
from tagger.seen import seen_in_training
from tagger.splits import field_values, multilabel_folds
from tagger.themes import Theme
from tagger.training import Settings

__all__ = ["Review", "review_model", "review_split"]

LEARNED = "TF-IDF + logistic regression"
GROUP_FIELDS = ("year", "source", "venue", "subject", "length")
# Smaller groups say nothing; more rows are not read.
LEAST_IN_GROUP = 10
MOST_GROUPS = 20


@dataclass(frozen=True)
class Review:
    """All that was found out about a model or a way to train one.

    Parameters
    ----------
    answers : Answers
        Of the records that count.
    evaluation : Evaluation
        Of `answers`, with its baselines.
    split : str
        Sentences on which records were tested and how.
    seed : int
    overlaps : tuple of Overlap
        Records that a model was trained on; not among `answers`.
    flattered : Evaluation or None
        Figures with the overlaps, where they were asked for.
    comparison : Comparison or None
        With another model or setting, which is its first.
    learning_curve : list of dict
    out_of_fold : bool
        True where every answer comes from a model trained on part of the records.
    """

    answers: Answers
    evaluation: Evaluation
    split: str
    seed: int
    overlaps: tuple[Overlap, ...] = ()
    flattered: Evaluation | None = None
    comparison: Comparison | None = None
    learning_curve: Sequence[Mapping[str, float]] = ()
    out_of_fold: bool = False

    def groups(self) -> dict[str, tuple[GroupFigures, ...]]:
        """Measure the answers by part, year, source, venue, subject and length."""
        a = self.answers
        found = {}
        for field in ("part tested", *GROUP_FIELDS):
            values = _worth_showing(
                [(a.parts[i],) for i in a.model_of.tolist()]
                if field == "part tested"
                else [_group_values(record, field) for record in a.records]
            )
            if len({value for own in values for value in own}) > 1:
                found[field] = evaluate_groups(
                    a.y,
                    a.given,
                    values,
                    abstained=a.abstained,
                    units=a.units,
                    seed=self.seed,
                )
        return found

    def report(self, *, title: str, made: Mapping[str, Any]) -> dict[str, Any]:
        """Gather everything as plain JSON values; see `tagger.report`."""
        a = self.answers
        flattered = self.flattered
        return build_report(
            a.records,
            a.theme_ids,
            a.y,
            a.P,
            a.given,
            self.evaluation,
            title=title,
            split=self.split,
            names={theme.id: theme.name for theme in a.models[0].themes},
            thresholds=a.thresholds().tolist(),
            abstained=a.abstained,
            explain=a.explain,
            groups=self.groups(),
            overlaps=self.overlaps,
            seen=None
            if flattered is None
            else {
                "records": flattered.n_records,
                "overall": flattered.to_dict()["overall"],
            },
            comparison=self.comparison,
            learning_curve=self.learning_curve,
            out_of_fold=self.out_of_fold,
            made=made,
        )


def review_model(
    model: Tagger,
    records: Sequence[Record],
    *,
    other: Tagger | None = None,
    names: tuple[str, str] = ("the other model", "this model"),
    keep_seen: bool = False,
    seed: int = 0,
) -> Review:
    """Score a saved model on the labelled ones of some records.

    Parameters
    ----------
    model : Tagger
    records : sequence of Record
        Those the model, or the other one, was trained on are left out.
    other : Tagger, optional
        A model with the same themes to compare with.
    names : (str, str)
        What the other model and this one are called.
    keep_seen : bool, default=False
        Also give the figures with the records that were trained on.
    seed : int, default=0
        Of intervals and folds.

    Raises
    ------
    ModelError
        If the other model has other themes.
    RecordError
        If no record is labelled, a label is no theme, or every record was
        trained on and `keep_seen` is False.
    """
    answers = ask(model, records)
    models = (model,) if other is None else (model, other)
    overlaps = seen_in_training(models, answers.records)
    fresh = _fresh(answers, overlaps)
    if not fresh.any() and not keep_seen:
        raise RecordError(
            f"The model was trained on every one of the {len(fresh):,} labelled "
            "records, so nothing can be held out; give other records, "
            "cross-validate with --themes, or see the flattering figures with "
            "--keep-seen."
        )
    split = f"A trained model on {int(fresh.sum()):,} records it was not trained on."
    flattered = answers.evaluate(seed=seed) if keep_seen and overlaps else None
    if fresh.any():
        answers = answers.select(fresh)
    else:
        split = (
            "The model was trained on every one of these records: the figures "
            "flatter it and say nothing about new papers."
        )
    material = prepare(answers.records, model.themes)
    baselines = {"keyword rules": keyword_rules(material.scores)}
    learned = _learned_here(material, seed)
    if learned is not None:
        baselines[f"{LEARNED} (5-fold on these records)"] = learned
    return Review(
        answers,
        answers.evaluate(baselines=baselines, seed=seed),
        split,
        seed,
        overlaps,
        flattered,
        _compare(answers, other, names, seed),
    )


def review_split(
    records: Sequence[Record],
    themes: Sequence[Theme],
    plan: SplitPlan,
    *,
    repeat: int = 1,
    settings: Settings | None = None,
    other: Tagger | Settings | None = None,
    names: tuple[str, str] = ("the other", "this"),
    exclusive: bool = False,
    with_curve: bool = False,
    seed: int = 0,
    jobs: int = 1,
    progress: Callable[[str], None] | None = None,
) -> Review:
    """Train and test on the labelled ones of some records.

    Parameters
    ----------
    records : sequence of Record
    themes : sequence of Theme
    plan : SplitPlan
        From `tagger.heldout.read_split`.
    repeat : int, default=1
        How often folds or a held-out part are drawn.
    settings : Settings, optional
    other : Tagger or Settings, optional
        To compare with: a saved model (records it was trained on are left out),
        or other settings, trained and tested on the same parts.
    names : (str, str)
        What the other and this are called.
    exclusive : bool, default=False
        Every record has exactly one theme.
    with_curve : bool, default=False
        Measure a learning curve too.
    seed, jobs, progress
        As in `tagger.heldout.cross_validate`.

    Raises
    ------
    ModelError
        If the other model has other themes.
    RecordError
        If the records cannot be split so, or a label is no theme.
    """
    material = prepare(records, themes)
    parts = make_parts(plan, material, seed=seed, repeat=repeat)
    answers = cross_validate(
        material,
        parts,
        settings=settings,
        exclusive=exclusive,
        seed=seed,
        jobs=jobs,
        progress=progress,
    )
    baselines = _baselines(material, parts)
    curve = (
        learning_curve(material, parts[0], answers, seed=seed, jobs=jobs)
        if with_curve
        else []
    )
    overlaps: tuple[Overlap, ...] = ()
    rival: Tagger | Answers | None
    if isinstance(other, Settings):
        rival = cross_validate(
            material, parts, settings=other, exclusive=exclusive, seed=seed, jobs=jobs
        )
    else:
        rival = other
    if isinstance(rival, Tagger):
        overlaps = seen_in_training([rival], answers.records)
        fresh = _fresh(answers, overlaps)
        if not fresh.any():
            raise RecordError(
                "The model to compare with was trained on every record tested, so "
                "nothing can be compared; give other records, or another model."
            )
        answers = answers.select(fresh)
        baselines = {name: given[fresh] for name, given in baselines.items()}
    return Review(
        answers,
        answers.evaluate(baselines=baselines, seed=seed),
        _sentences(plan, parts, material, repeat, seed),
        seed,
        overlaps,
        None,
        _compare(answers, rival, names, seed),
        curve,
        out_of_fold=True,
    )


def _fresh(answers: Answers, overlaps: Sequence[Overlap]) -> Flags:
    """Mask of the answers' records that are not among the overlaps."""
    fresh = np.ones(len(answers.records), dtype=np.bool_)
    fresh[[overlap.row for overlap in overlaps]] = False
    return fresh


def _baselines(material: Material, parts: Sequence[Part]) -> dict[str, Flags]:
    """Decide in simpler ways, learned on the same training records."""
    rows = np.concatenate([part.test for part in parts])
    counts = count_words(material.records)
    learned = [
        tfidf_logistic(counts, material.y, part.train, part.test) for part in parts
    ]
    return {
        "keyword rules": keyword_rules(material.scores[rows]),
        LEARNED: np.concatenate(learned),
    }


def _compare(
    answers: Answers,
    other: Tagger | Answers | None,
    names: tuple[str, str],
    seed: int,
) -> Comparison | None:
    """Compare answers with those of another on the same records."""
    if other is None:
        return None
    if isinstance(other, Tagger):
        if other.theme_ids != answers.theme_ids:
            differ = sorted(set(other.theme_ids) ^ set(answers.theme_ids))
            raise ModelError(
                "The two models do not have the same themes in the same order, so "
                "they cannot be compared; they differ in "
                f"{', '.join(differ) or 'the order'}."
            )
        other = ask(other, answers.records)
    return compare(
        answers.y,
        other.given,
        answers.given,
        answers.theme_ids,
        names=names,
        abstained=(other.abstained, answers.abstained),
        units=answers.units,
        seed=seed,
    )


def _learned_here(material: Material, seed: int) -> Flags | None:
    """Cross-validate the plain learner on the test records themselves.

    A saved model does not keep its training texts, so that its own data cannot
    be learned from again. None where there are too few papers for 5 folds.
    """
    groups = material.groups
    if len(np.unique(groups)) < 5 or not (material.y == 1).any():
        return None
    fold = multilabel_folds(material.y, groups, 5, seed)
    counts = count_words(material.records)
    given = np.zeros(material.y.shape, dtype=np.bool_)
    for f in range(5):
        train, test = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        given[test] = tfidf_logistic(counts, material.y, train, test)
    return given


def _sentences(
    plan: SplitPlan, parts: Sequence[Part], material: Material, repeat: int, seed: int
) -> str:
    """Say which records were tested and how."""
    n, tested = len(material.records), {i for p in parts for i in p.test.tolist()}
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
        said += f" {n - len(tested):,} of the {n:,} labelled records are not tested."
    return said


def _group_values(record: Record, field: str) -> tuple[str, ...]:
    values = field_values(record, field)
    if field == "subject":  # the first class of several is the main one
        values = tuple(value.split()[0] for value in values if value.split())
    return values or ("not given",)


def _worth_showing(values: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Keep the largest groups; drop those too small to say anything."""
    counts = Counter(value for own in values for value in own)
    large = [v for v, count in counts.most_common() if count >= LEAST_IN_GROUP]
    kept = set(large[:MOST_GROUPS])
    return [tuple(value for value in own if value in kept) for own in values]
