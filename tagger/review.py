"""A whole evaluation: answers, figures, baselines, leaks, groups, comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from tagger.answers import Answers
from tagger.baselines import (
    LEARNED,
    RULES,
    keyword_rules,
    simple_decisions,
    simple_folds,
)
from tagger.company import Company
from tagger.comparison import Comparison, compare
from tagger.errors import ModelError, RecordError
from tagger.findings import Findings
from tagger.fingerprints import Overlap
from tagger.heldout import ask, cross_validate, learning_curve
from tagger.labels import check_one_theme, without_labels
from tagger.material import Material, prepare
from tagger.metrics import Flags
from tagger.model import Tagger
from tagger.plans import SplitPlan, describe_parts, make_parts, usual_plan
from tagger.records import Record
from tagger.seen import seen_in_training
from tagger.splits import multilabel_folds
from tagger.themes import Theme
from tagger.training import Settings, company_of
from tagger.wording import counted

__all__ = ["review_model", "review_split"]


def review_model(
    model: Tagger,
    records: Sequence[Record],
    *,
    other: Tagger | None = None,
    names: tuple[str, str] = ("the other model", "this model"),
    keep_seen: bool = False,
    seed: int = 0,
) -> Findings:
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
            "The model was trained on every one of "
            f"{counted(len(fresh), 'labelled record')}, so nothing can be held out; "
            "give other records, cross-validate with --themes, or see the flattering "
            "figures with --keep-seen."
        )
    n = counted(int(fresh.sum()), "record")
    split = f"A trained model on {n} it was not trained on."
    flattered = answers.evaluate(seed=seed) if keep_seen and overlaps else None
    if fresh.any():
        answers = answers.select(fresh)
    else:
        split = (
            "The model was trained on every one of these records: the figures "
            "flatter it and say nothing about new papers."
        )
    material = prepare(answers.records, model.themes)
    answers = replace(answers, baselines=_simple_here(material, seed))
    return Findings(
        answers,
        answers.evaluate(seed=seed),
        split,
        seed,
        overlaps,
        flattered,
        _compare(answers, other, names, seed),
    )


def review_split(
    records: Sequence[Record],
    themes: Sequence[Theme],
    plan: SplitPlan | None = None,
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
) -> Findings:
    """Train and test on the labelled ones of some records.

    Parameters
    ----------
    records : sequence of Record
        Those without labels are learned from as `tagger.training.train` does,
        in every part; they have no label to leak.
    themes : sequence of Theme
    plan : SplitPlan, optional
        From `tagger.plans.read_split`; five folds by default, fewer if there are
        fewer papers.
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
        If the records cannot be split so, a label is no theme, or `exclusive` is
        True and a record has not one theme.
    """
    material = prepare(records, themes, jobs=jobs)
    if exclusive:
        check_one_theme(material.records)
    plan = plan or usual_plan(material)
    parts = make_parts(plan, material, seed=seed, repeat=repeat)
    unlabelled = list(without_labels(records))

    def company(settings: Settings | None) -> Company | None:
        if exclusive:
            return None  # nothing would be learned from it
        return company_of(unlabelled, themes, settings=settings, jobs=jobs)

    ours = company(settings)
    answers = cross_validate(
        material,
        parts,
        company=ours,
        settings=settings,
        exclusive=exclusive,
        seed=seed,
        jobs=jobs,
        progress=progress,
    )
    baselines = simple_decisions(material, [(p.train, p.test) for p in parts])
    answers = replace(answers, baselines=baselines)
    curve = (
        learning_curve(
            material,
            parts[0],
            answers,
            company=ours,
            settings=settings,
            exclusive=exclusive,
            seed=seed,
            jobs=jobs,
        )
        if with_curve
        else []
    )
    overlaps: tuple[Overlap, ...] = ()
    rival: Tagger | Answers | None
    if isinstance(other, Settings):
        rival = cross_validate(
            material,
            parts,
            company=company(other),
            settings=other,
            exclusive=exclusive,
            seed=seed,
            jobs=jobs,
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
    return Findings(
        answers,
        answers.evaluate(seed=seed),
        describe_parts(plan, parts, len(material.records), repeat, seed),
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


def _simple_here(material: Material, seed: int) -> dict[str, Flags]:
    """Decide in simpler ways, cross-validated on the test records themselves.

    A saved model does not keep its training texts, so that its own data cannot
    be learned from again. Keyword rules alone where there are too few papers for
    5 folds.
    """
    if len(np.unique(material.groups)) < 5 or not (material.y == 1).any():
        return {RULES: keyword_rules(material.scores)}
    found = simple_folds(
        material, multilabel_folds(material.y, material.groups, 5, seed)
    )
    return {RULES: found[RULES], f"{LEARNED} (5-fold on these records)": found[LEARNED]}
