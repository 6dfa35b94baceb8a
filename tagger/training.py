"""From records and themes to a frozen model.

One learner from no label to thousands. What the theme file says is the prior:
the logit ``slope * (keyword score - middle)``, as `Settings` has them. Labels
move it, through n-grams and through the background's semantic space. Calibration
and thresholds come from out-of-fold logits, and so do the figures a model carries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagger.background import Background, idf, shipped_background
from tagger.calibration import Calibration, Target, calibrate, tune_thresholds
from tagger.classifier import LinearModel, fit_logistic
from tagger.decide import cut
from tagger.evaluation import Evaluation, evaluate
from tagger.features import (
    NGRAM,
    Codes,
    Events,
    Rows,
    Vocabulary,
    find,
    ngram_events,
    only,
)
from tagger.fingerprints import fingerprints
from tagger.judge import judge, known_pairs, usual_share
from tagger.material import Material, prepare
from tagger.model import Phrases, Tagger
from tagger.records import Record
from tagger.splits import multilabel_folds
from tagger.text import clean
from tagger.themes import Theme
from tagger.tokens import join_codes, phrase_codes

__all__ = [
    "HeldOut",
    "Settings",
    "learn",
    "train",
    "train_held_out",
]

Labels = NDArray[np.int8]
Floats = NDArray[np.floating[Any]]


# A theme's intercept moves with tens of labels, not with the first.
_INTERCEPT_PENALTY = 3.0


@dataclass(frozen=True, slots=True)
class Settings:
    """What may be tuned.

    Parameters
    ----------
    penalty : float
        L2 penalty of the n-gram weights; > 0.
    caution : float
        ``caution / n_records`` is added to the penalty: few labels move the
        prior less; >= 0.
    semantic : float
        How much the semantic space counts beside the n-grams; > 0.
    slope, middle : float
        The prior of a theme is ``slope * (keyword score - middle)``, in logits.
    least_records : int
        An n-gram the background lacks is learned if this many records have it.
    abstract_alone, title_alone : float
        How much a copy of each record without its title, and one without its
        abstract, count, so that these are judged well too; in [0, 1].
    folds : int
        For the out-of-fold figures; >= 2.
    """

    penalty: float = 0.01
    caution: float = 15.0
    semantic: float = 4.0
    slope: float = 1.2
    middle: float = 1.5
    abstract_alone: float = 0.5
    title_alone: float = 0.15
    least_records: int = 3
    folds: int = 5


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What the model said of records it had not learned from.

    Parameters
    ----------
    records : list of Record
        The labelled ones of importance 1, in input order.
    y : int8 ndarray of shape (n_records, n_themes)
    P : float64 ndarray of shape (n_records, n_themes)
        Each record's by models, calibration and thresholds of other folds.
    given : bool ndarray of shape (n_records, n_themes)
    reasons : int8 ndarray of shape (n_records,)
        As `tagger.judge.judge` gives them.
    fold : int64 ndarray of shape (n_records,)
    """

    records: list[Record]
    y: Labels
    P: NDArray[np.float64]
    given: NDArray[np.bool_]
    reasons: NDArray[np.int8]
    fold: NDArray[np.int64]

    def evaluate(self, themes: Sequence[str], seed: int = 0) -> Evaluation:
        """Score it."""
        return evaluate(
            self.y,
            self.P,
            self.given,
            tuple(themes),
            abstained=self.reasons >= 0,
            seed=seed,
        )


@dataclass(frozen=True, slots=True)
class _Features:
    """Records as the learner sees them."""

    rows: Any  # scipy CSR (n_records, n_ngrams)
    semantic: NDArray[np.float32]  # (n_records, n_dimensions)
    prior: NDArray[np.float32]  # (n_records, n_themes), logits

    def part(self, mask: NDArray[np.bool_]) -> _Features:
        return _Features(self.rows[mask], self.semantic[mask], self.prior[mask])


@dataclass(frozen=True, slots=True)
class _Table:
    """Everything training needs to know of the labelled records."""

    whole: _Features
    abstracts: _Features  # the same records, their abstracts alone
    titles: _Features  # their titles alone
    y: Labels
    importance: Floats  # (n_records, n_themes); 0 leaves a pair out
    vocabulary: Vocabulary
    space: NDArray[np.float32]  # (n_ngrams, n_dimensions); 0 where unknown
    reasons: NDArray[np.int8]
    least_known_pairs: float


def train(
    records: Sequence[Record],
    themes: Sequence[Theme],
    *,
    background: Background | None = None,
    settings: Settings | None = None,
    target: Target | None = None,
    importance: Sequence[float] | None = None,
    exclusive: bool = False,
    seed: int = 0,
    jobs: int = 1,
) -> Tagger:
    """Train a model; see `train_held_out`, which gives its held-out answers too."""
    model, _ = train_held_out(
        records,
        themes,
        background=background,
        settings=settings,
        target=target,
        importance=importance,
        exclusive=exclusive,
        seed=seed,
        jobs=jobs,
    )
    return model


def train_held_out(
    records: Sequence[Record],
    themes: Sequence[Theme],
    *,
    background: Background | None = None,
    settings: Settings | None = None,
    target: Target | None = None,
    importance: Sequence[float] | None = None,
    exclusive: bool = False,
    seed: int = 0,
    jobs: int = 1,
) -> tuple[Tagger, HeldOut | None]:
    """Train a model, and say how it does on records held out from it.

    Parameters
    ----------
    records : sequence of Record
        Those with labels (``themes`` not None) are learned from; none need be.
    themes : sequence of Theme
        At least one.
    background : Background, optional
        The shipped one by default.
    settings : Settings, optional
    target : Target, optional
        What thresholds are chosen for; the best F1 by default.
    importance : sequence of float, optional
        How much each labelled record counts; 1 by default, > 0. One that counts
        less than 1 is learned from, but left out of calibration, thresholds
        and figures: it helps to learn, and is not like what will be asked.
    exclusive : bool, default=False
        Every record has exactly one theme.
    seed : int, default=0
        Of the folds. Same input and seed, same model, byte for byte.
    jobs : int, default=1
        Fits that run side by side; does not change the model.

    Returns
    -------
    model : Tagger
    held_out : HeldOut or None
        None where too few records are labelled for folds.

    Raises
    ------
    RecordError
        If a record has a label that is no theme.
    """
    settings = settings or Settings()
    material = prepare(records, themes)
    model, held_out = learn(
        material,
        background=background,
        settings=settings,
        target=target,
        importance=importance,
        exclusive=exclusive,
        seed=seed,
        jobs=jobs,
    )
    learned = material.records
    facts = _facts(learned, held_out, model.theme_ids, settings, seed)
    kept = fingerprints(learned).to_arrays() if learned else {}
    return replace(model, facts=facts, arrays=kept), held_out


def learn(
    material: Material,
    *,
    background: Background | None = None,
    settings: Settings | None = None,
    target: Target | None = None,
    importance: Sequence[float] | None = None,
    exclusive: bool = False,
    seed: int = 0,
    jobs: int = 1,
) -> tuple[Tagger, HeldOut | None]:
    """Train a model without facts or fingerprints; else as `train_held_out`."""
    settings = settings or Settings()
    learned, themes, y = material.records, material.themes, material.y
    counts = np.ones(len(learned)) if importance is None else np.asarray(importance)
    if counts.shape != (len(learned),):
        raise ValueError(
            f"importance has shape {counts.shape}; there are {len(learned)} labelled "
            "records, and each needs one number."
        )
    table = _table(material, background or shipped_background(), settings, counts)
    groups = material.groups
    n_folds = min(settings.folds, len(set(groups.tolist())))
    fold = (
        multilabel_folds(y, groups, n_folds, seed)
        if n_folds >= 2
        else np.zeros(len(learned), np.int64)
    )
    parts = [fold != f for f in range(n_folds)] if n_folds >= 2 else []
    everything = np.ones(len(learned), bool)
    models = _fit_all(table, [everything, *parts], settings, jobs)
    held_out = None
    calibration = Calibration(np.ones(len(themes)), np.zeros(len(themes)))
    thresholds = np.full(len(themes), 0.5)
    if parts:
        logits = np.zeros(y.shape)
        for mask, part in zip(parts, models[1:], strict=True):
            logits[~mask] = _logits(table, part, ~mask)
        asked = counts >= 1
        calibration = calibrate(logits[asked], y[asked])
        P = calibration.apply(logits[asked])
        thresholds = tune_thresholds(P, y[asked], target)
        held_out = _held_out(material, table, logits, fold, asked, target, exclusive)
    model = _freeze(table, themes, models[0], calibration, thresholds, settings)
    return replace(model, exclusive=exclusive), held_out


def _table(
    material: Material,
    background: Background,
    settings: Settings,
    importance: NDArray[np.floating[Any]],
) -> _Table:
    documents = material.documents
    events = ngram_events(documents)
    least = settings.least_records
    vocabulary = _vocabulary(events.codes, events.rows, background, least)
    space = np.zeros((len(vocabulary), background.vectors.shape[1]), np.float32)
    space[find(vocabulary.codes, np.asarray(background.codes))] = background.space
    # A record must not vouch for its own n-grams, as no new text can: what it
    # has in common with the others counts.
    others = _vocabulary(events.codes, events.rows, background, least + 1)
    least_known_pairs = usual_share(known_pairs(events, others, len(documents)))

    def features(events: Events, scores: NDArray[np.float64]) -> _Features:
        rows = to_scipy(vocabulary.transform(events, len(documents)), len(vocabulary))
        prior = settings.slope * (scores - settings.middle)
        return _Features(rows, rows @ space, prior.astype(np.float32))

    abstracts = [only(document, title=False) for document in documents]
    titles = [only(document, title=True) for document in documents]
    return _Table(
        features(events, material.scores),
        features(ngram_events(abstracts), material.abstract_scores),
        features(ngram_events(titles), material.title_scores),
        material.y,
        importance[:, None] * (material.y >= 0),
        vocabulary,
        space,
        judge(events, vocabulary, len(documents), least_known_pairs),
        least_known_pairs,
    )


def _vocabulary(
    codes: Codes,
    rows: NDArray[np.int64],
    background: Background,
    least_records: int,
) -> Vocabulary:
    """Join the background's n-grams and those new ones that enough records have.

    A new n-gram is weighed like the rarest the background knows.
    """
    known = np.asarray(background.codes)
    fresh = find(known, codes) < 0
    pairs = np.unique(np.stack([codes[fresh], rows[fresh].astype(np.uint64)]), axis=1)
    new, df = np.unique(pairs[0], return_counts=True)
    new = new[df >= least_records]
    rarest = int(background.df.min()) if len(background.df) else 1
    weight = idf(np.array([rarest]), background.n_documents)
    joined = np.concatenate([known, new])
    weights = np.concatenate([background.idf, np.full(len(new), weight[0])])
    order = np.argsort(joined)
    return Vocabulary(joined[order], weights[order].astype(np.float32))


def to_scipy(rows: Rows, n_columns: int) -> Any:
    """Give rows as a scipy CSR matrix of float32."""
    from scipy.sparse import csr_matrix

    return csr_matrix(
        (rows.values.astype(np.float32), rows.columns, rows.indptr),
        shape=(len(rows), n_columns),
    )


def _fit_all(
    table: _Table,
    masks: Sequence[NDArray[np.bool_]],
    settings: Settings,
    jobs: int,
) -> list[LinearModel]:
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=jobs, prefer="threads")
    models = parallel(delayed(_fit)(table, mask, settings) for mask in masks)
    return list(models)


def _fit(table: _Table, mask: NDArray[np.bool_], settings: Settings) -> LinearModel:
    """Fit on the masked records; n-grams none of them has keep weight 0."""
    from scipy.sparse import vstack
    from threadpoolctl import threadpool_limits

    y, importance = table.y[mask], table.importance[mask]
    copies = [
        (table.whole.part(mask), 1.0 - settings.abstract_alone / 2),
        (table.abstracts.part(mask), settings.abstract_alone),
        (table.titles.part(mask), settings.title_alone),
    ]
    rows = vstack([copy.rows for copy, _ in copies], format="csr")
    present = np.flatnonzero(np.bincount(rows.indices, minlength=rows.shape[1]))
    semantic = np.vstack([copy.semantic for copy, _ in copies])
    semantic *= np.float32(settings.semantic**0.5)
    # A field without a known word teaches nothing.
    weights = [
        importance * share * (np.diff(copy.rows.indptr) > 0)[:, None]
        for copy, share in copies
    ]
    penalty = settings.penalty + settings.caution / max(len(y), 1)
    # One thread a fit: sums then have one order, whatever the machine.
    with threadpool_limits(1):
        model = fit_logistic(
            [rows[:, present], semantic],
            np.vstack([y == 1] * len(copies)).astype(np.float32),
            np.vstack(weights).astype(np.float32),
            [penalty, penalty],
            np.vstack([copy.prior for copy, _ in copies]),
            intercept_penalty=_INTERCEPT_PENALTY,
        )
    full = np.zeros((rows.shape[1], y.shape[1]), np.float32)
    full[present] = model.weights[0]
    return LinearModel(
        [full, model.weights[1] * np.float32(settings.semantic**0.5)],
        model.intercept,
    )


def _logits(
    table: _Table, model: LinearModel, mask: NDArray[np.bool_]
) -> NDArray[np.float64]:
    whole = table.whole.part(mask)
    logits = model.logits([whole.rows, whole.semantic]) + whole.prior
    return np.asarray(logits, np.float64)


def _held_out(
    material: Material,
    table: _Table,
    logits: NDArray[np.float64],
    fold: NDArray[np.int64],
    asked: NDArray[np.bool_],
    target: Target | None,
    exclusive: bool,
) -> HeldOut:
    """Calibrate and cut the asked records of each fold by those of the others."""
    rows = np.flatnonzero(asked)
    logits, y, fold = logits[rows], material.y[rows], fold[rows]
    reasons = table.reasons[rows]
    P = np.zeros_like(logits)
    given = np.zeros(logits.shape, bool)
    for f in np.unique(fold):
        test = fold == f
        calibration = calibrate(logits[~test], y[~test])
        thresholds = tune_thresholds(calibration.apply(logits[~test]), y[~test], target)
        P[test] = calibration.apply(logits[test])
        given[test] = cut(P[test], thresholds, reasons[test], exclusive=exclusive)
    records = [material.records[row] for row in rows]
    return HeldOut(records, y, P, given, reasons, fold)


def _freeze(
    table: _Table,
    themes: Sequence[Theme],
    model: LinearModel,
    calibration: Calibration,
    thresholds: NDArray[np.float64],
    settings: Settings,
) -> Tagger:
    """Fold prior, semantic space and calibration into plain weights."""
    weights = model.weights[0] + table.space @ model.weights[1]
    weights = weights * calibration.slope.astype(np.float32)
    base = model.intercept - settings.slope * settings.middle
    return Tagger(
        tuple(themes),
        table.vocabulary,
        # Half precision: 3 digits a weight are more than the data can tell.
        weights.astype(np.float16),
        _phrases(themes, calibration.slope * settings.slope),
        calibration.slope * base + calibration.shift,
        thresholds,
        table.least_known_pairs,
    )


def _phrases(themes: Sequence[Theme], slope: NDArray[np.float64]) -> Phrases:
    """Give the weights of every keyword and "not" phrase of the themes."""
    weights: dict[int, NDArray[np.float64]] = {}
    prefixes: set[int] = set()
    for column, theme in enumerate(themes):
        known: set[int] = set()
        signed = [(1.0, p) for p in theme.keywords] + [(-1.0, p) for p in theme.exclude]
        for sign, phrase in signed:
            codes = phrase_codes(clean(phrase).text)
            if not codes:
                continue
            code = codes[0]
            for n, token in enumerate(codes[1:], start=2):
                if n > NGRAM:
                    prefixes.add(code)
                code = join_codes(code, token)
            if code not in known:
                known.add(code)
                row = weights.setdefault(code, np.zeros(len(themes)))
                row[column] += sign * slope[column]
    order = sorted(weights)
    table = np.array([weights[code] for code in order]).reshape(-1, len(themes))
    return Phrases(
        np.array(order, np.uint64),
        np.array(sorted(prefixes), np.uint64),
        table.astype(np.float32),
    )


def _facts(
    records: Sequence[Record],
    held_out: HeldOut | None,
    ids: Sequence[str],
    settings: Settings,
    seed: int,
) -> dict[str, Any]:
    figures = held_out.evaluate(ids, seed).to_dict() if held_out else None
    return {
        "package": {name: version(name) for name in ("paper-tagger", "numpy")},
        "trained_on": {"n_records": len(records), "seed": seed},
        "settings": {name: getattr(settings, name) for name in settings.__slots__},
        "held_out": figures,
    }
