"""From records and themes to a frozen model.

One learner from no label to thousands. What the theme file says is the prior:
the logit ``slope * (keyword score - middle)``, as `Settings` has them. Labels
move it, through n-grams and through the background's semantic space; records
without labels, and reading lists, add to it what keeps the keywords' company.
Calibration and thresholds come from out-of-fold logits, and so do the figures a
model carries.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagger.answers import Answers
from tagger.background import Background, idf, shipped_background
from tagger.baselines import RULES, keyword_rules, simple_folds
from tagger.calibration import Calibration, Target, calibrate, tune_thresholds
from tagger.classifier import LinearModel, fit_logistic
from tagger.company import Company, learn_company, no_company
from tagger.counts import Counts
from tagger.decide import cut
from tagger.duplicates import merge_same
from tagger.exclusive import (
    LEAST_RECORDS,
    ExclusiveModel,
    compete,
    fit_exclusive,
    judged_anyway,
    sharpen,
    word_beginnings,
)
from tagger.features import Codes, Phrases, Rows, Vocabulary, find, read_events
from tagger.fingerprints import (
    Fingerprints,
    find_overlap,
    fingerprints,
    join_fingerprints,
)
from tagger.judge import (
    EMPTY_CODES,
    EMPTY_IDF,
    FUNCTION_CODES,
    known_pairs,
    reasons,
    shuffled,
    usual_share,
)
from tagger.keywords import phrase_table
from tagger.labels import check_one_theme, without_labels
from tagger.material import Material, read
from tagger.model import Tagger
from tagger.records import Record
from tagger.splits import multilabel_folds
from tagger.themes import Theme

__all__ = [
    "Settings",
    "company_of",
    "learn",
    "train",
    "train_held_out",
]

Labels = NDArray[np.int8]
Floats = NDArray[np.floating[Any]]


# A theme's intercept moves with hundreds of labels, not with the first: its
# penalty, and what is added to it, divided by the number of records.
_INTERCEPT_PENALTY = 3.0
_INTERCEPT_CAUTION = 900.0
# Of many records, so many say what all would: of those with one field alone, of
# those that have neither a theme's label nor a word of its keywords, and in the
# folds (see `experiments/scale`).
_MANY = 20_000
# Records that are turned into rows at a time.
_BLOCK = 4096
# An n-gram that fewer than one record of so many has is too rare to be learned.
_RAREST = 5_000
# Records among which TF-IDF with logistic regression is learned to stand beside.
_SIMPLE = 5_000


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
class _Table:
    """Everything training needs to know of the labelled records.

    The first six have a row for every record, then one for the abstract alone
    and one for the title alone of some.
    """

    rows: Any  # scipy CSR (n_rows, n_ngrams)
    semantic: NDArray[np.float32]  # (n_rows, n_dimensions)
    prior: NDArray[np.float32]  # (n_rows, n_themes), logits
    hit: NDArray[np.bool_]  # (n_rows, n_themes), a keyword of the theme speaks
    importance: NDArray[np.float32]  # (n_rows, n_themes); 0 leaves a pair out
    record: NDArray[np.int64]  # (n_rows,), whose row it is
    y: Labels  # (n_records, n_themes)
    vocabulary: Vocabulary
    space: NDArray[np.float32]  # (n_ngrams, n_dimensions); 0 where unknown
    company: Company  # with the vocabulary's n-grams
    reasons: NDArray[np.int8]
    least_known_pairs: float


def train(
    records: Sequence[Record],
    themes: Sequence[Theme],
    *,
    unlabelled: Iterable[Record] = (),
    listed: Iterable[Record] = (),
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
        unlabelled=unlabelled,
        listed=listed,
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
    unlabelled: Iterable[Record] = (),
    listed: Iterable[Record] = (),
    background: Background | None = None,
    settings: Settings | None = None,
    target: Target | None = None,
    importance: Sequence[float] | None = None,
    exclusive: bool = False,
    seed: int = 0,
    jobs: int = 1,
) -> tuple[Tagger, Answers | None]:
    """Train a model, and say how it does on records held out from it.

    Parameters
    ----------
    records : sequence of Record
        Those with labels (``themes`` not None) are learned from; none need be.
        The others are taken as `unlabelled`.
    themes : sequence of Theme
        At least one.
    unlabelled : iterable of Record, optional
        Read once, whatever their ``themes``; they teach what keeps the
        company of the keywords. Thousands help where labels are few.
    listed : iterable of Record, optional
        Of a reading list: their ``themes`` are hints, believed about as much as a
        keyword, and what is not among them is left open. Those that are near-copies
        of labelled records are passed over.
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
        Every record has exactly one theme. What has no label, or is of a list, is
        not learned from then.
    seed : int, default=0
        Of the folds. Same input and seed, same model, byte for byte.
    jobs : int, default=1
        Fits that run side by side; does not change the model.

    Returns
    -------
    model : Tagger
    held_out : Answers or None
        None where too few records are labelled for folds.

    Raises
    ------
    RecordError
        If a record has a label that is no theme, or `exclusive` is True and one has
        not one theme.
    """
    settings = settings or Settings()
    background = background or shipped_background()
    material, prints = read(records, themes, jobs=jobs)
    if exclusive:
        check_one_theme(material.records)
        unlabelled, listed = (), ()
    else:
        unlabelled = chain(without_labels(records), unlabelled)
    hints = _apart(listed, prints)
    company = company_of(
        unlabelled,
        themes,
        listed=hints,
        background=background,
        settings=settings,
        jobs=jobs,
    )
    model, held_out = learn(
        material,
        company=company,
        background=background,
        settings=settings,
        target=target,
        importance=importance,
        exclusive=exclusive,
        seed=seed,
        jobs=jobs,
    )
    learned = material.records
    if held_out is not None:
        held_out = replace(held_out, baselines=_baselines(material, held_out))
    facts = _facts(learned, company, len(hints), held_out, settings, seed)
    if hints:  # what a list taught was seen in training too
        prints = join_fingerprints([prints, fingerprints(hints)])
    kept = prints.to_arrays() if learned or hints else {}
    return replace(model, facts=facts, arrays=kept), held_out


def company_of(
    unlabelled: Iterable[Record],
    themes: Sequence[Theme],
    *,
    listed: Iterable[Record] = (),
    background: Background | None = None,
    settings: Settings | None = None,
    jobs: int = 1,
) -> Company:
    """Learn what `learn` takes as ``company``; see `tagger.company.learn_company`."""
    settings = settings or Settings()
    return learn_company(
        unlabelled,
        themes,
        background or shipped_background(),
        listed=listed,
        slope=settings.slope,
        middle=settings.middle,
        semantic=settings.semantic,
        jobs=jobs,
    )


def _apart(listed: Iterable[Record], labelled: Fingerprints) -> list[Record]:
    """Leave out records of lists that are labelled too: their labels are better.

    They would also tell of records that are held out.
    """
    listed = merge_same(listed).records
    known = {overlap.row for overlap in find_overlap(listed, labelled)}
    return [record for row, record in enumerate(listed) if row not in known]


def learn(
    material: Material,
    *,
    company: Company | None = None,
    background: Background | None = None,
    settings: Settings | None = None,
    target: Target | None = None,
    importance: Sequence[float] | None = None,
    exclusive: bool = False,
    seed: int = 0,
    jobs: int = 1,
) -> tuple[Tagger, Answers | None]:
    """Train a model without facts or fingerprints; else as `train_held_out`."""
    from joblib import Parallel, delayed
    from threadpoolctl import threadpool_limits

    settings = settings or Settings()
    learned, themes, y = material.records, material.themes, material.y
    counts = np.ones(len(learned)) if importance is None else np.asarray(importance)
    if counts.shape != (len(learned),):
        raise ValueError(
            f"importance has shape {counts.shape}; there are {len(learned)} labelled "
            "records, and each needs one number."
        )
    if exclusive:
        settings = replace(settings, least_records=LEAST_RECORDS)
        company = None  # themes that compete are learned in another way
    background = background or shipped_background()
    company = company or no_company(background, len(themes))
    table = _table(material, company, background, settings, counts, jobs)
    groups = material.groups
    # What half of many records teach is nearly what all do.
    most_folds = max(5 * _MANY // max(len(learned), 1), 2)
    n_folds = min(settings.folds, most_folds, len(set(groups.tolist())))
    fold = (
        multilabel_folds(y, groups, n_folds, seed)
        if n_folds >= 2
        else np.zeros(len(learned), np.int64)
    )
    parts = [fold != f for f in range(n_folds)] if n_folds >= 2 else []
    if exclusive:
        return _learn_exclusive(material, table, fold, parts, counts, settings)
    everything = np.ones(len(learned), bool)
    # One thread a theme: sums then have one order, whatever the machine.
    with threadpool_limits(1):
        models = [_fit(table, mask, settings, jobs) for mask in parts]
        start = _between(models) if len(learned) > _MANY else None
        # Most of either goes on without the interpreter's lock.
        beside = Parallel(n_jobs=min(jobs, 2), require="sharedmem")
        whole, (calibration, thresholds, held_out) = beside(
            [
                delayed(_fit)(table, everything, settings, jobs, start),
                delayed(_judge)(material, table, models, fold, counts >= 1, target),
            ]
        )
    model = _freeze(table, themes, whole, calibration, thresholds, settings)
    return model, held_out


def _table(
    material: Material,
    company: Company,
    background: Background,
    settings: Settings,
    importance: NDArray[np.floating[Any]],
    jobs: int,
) -> _Table:
    counts, n = material.counts, len(material.records)
    least = max(settings.least_records, n // _RAREST)
    df = counts.document_frequency()
    vocabulary = _vocabulary(counts.codes, df, background, least)
    space = np.zeros((len(vocabulary), background.vectors.shape[1]), np.float32)
    space[find(vocabulary.codes, np.asarray(background.codes))] = background.space
    space *= np.float32(settings.semantic**0.5)
    words = _count_words(counts, vocabulary)
    pairs = words[:, 4]
    # A record must not vouch for its own n-grams, as no new text can: what it
    # has in common with the others counts.
    others = _vocabulary(counts.codes, df, background, least + 1)
    shared = ~counts.is_word & (find(others.codes, counts.codes) >= 0)
    known = counts.sums(shared[:, None])[:, 0]
    out_of_order = shuffled(material.records)
    chance = known_pairs(read_events(out_of_order), others, len(out_of_order))
    least_known_pairs = usual_share(known / np.maximum(pairs, 1), chance)
    some, share = _with_one_field(material.y)
    copies = [
        _Copy(
            np.arange(n),
            material.scores,
            np.full(n, 1 - settings.abstract_alone / 2),
        ),
        _Copy(
            some,
            material.abstract_scores,
            settings.abstract_alone * share,
            title=False,
        ),
        _Copy(
            some,
            material.title_scores,
            settings.title_alone * share,
            abstract=False,
        ),
    ]
    rows = _rows(counts, copies, vocabulary, jobs)
    scores = np.vstack([copy.scores[copy.record] for copy in copies])
    prior = settings.slope * (scores - settings.middle)
    company = company.among(vocabulary.codes)
    if company.n_records:
        prior = prior + company.logits(rows)
    record = np.concatenate([copy.record for copy in copies])
    weight = np.concatenate([copy.weight for copy in copies])
    # A field without a known word teaches nothing.
    weight = weight * importance[record] * (np.diff(rows.indptr) > 0)
    return _Table(
        rows,
        _semantic(rows, space, jobs),
        prior.astype(np.float32),
        scores != 0,
        (weight[:, None] * (material.y[record] >= 0)).astype(np.float32),
        record,
        material.y,
        vocabulary,
        space,
        company,
        reasons(words, least_known_pairs),
        least_known_pairs,
    )


@dataclass(frozen=True, slots=True)
class _Copy:
    """Some records, read with one or both of their fields."""

    record: NDArray[np.int64]
    scores: NDArray[np.float64]  # (n_records, n_themes), of those fields
    weight: NDArray[np.float64]  # of each
    title: bool = True
    abstract: bool = True

    def __len__(self) -> int:
        return len(self.record)


def _with_one_field(
    y: Labels,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Give the records to be read with one field alone too, and how each counts.

    All that have a label; of very many without one, some count for all: labels
    are rare, and a few of them would not speak for the others.
    """
    has_label = (y == 1).any(axis=1)
    others = np.flatnonzero(~has_label)
    picked = others[:: max(-(-len(others) // _MANY), 1)]
    some = np.sort(np.concatenate([np.flatnonzero(has_label), picked]))
    share = len(others) / max(len(picked), 1)
    return some, np.where(has_label[some], 1.0, share)


def _rows(
    counts: Counts, copies: Sequence[_Copy], vocabulary: Vocabulary, jobs: int
) -> Any:
    """Give the TF-IDF rows of all copies, one behind the other."""
    from joblib import Parallel, delayed
    from scipy.sparse import csr_matrix

    place = find(vocabulary.codes, counts.codes)

    def block(copy: _Copy, start: int) -> Rows:
        part = counts.part(copy.record[start : start + _BLOCK])
        return part.transform(
            vocabulary, place, title=copy.title, abstract=copy.abstract
        )

    blocks = Parallel(n_jobs=jobs, prefer="threads", return_as="generator")(
        delayed(block)(copy, start)
        for copy in copies
        for start in range(0, max(len(copy), 1), _BLOCK)
    )
    # Each goes to its place at once: to join them at the end takes twice the memory.
    size = np.diff(counts.indptr)
    most = sum(int(size[copy.record].sum()) for copy in copies)
    columns, values = np.empty(most, np.int32), np.empty(most, np.float32)
    ends, end = [np.zeros(1, np.int64)], 0
    for rows in blocks:
        ends.append(end + rows.indptr[1:])
        at, end = end, end + int(rows.indptr[-1])
        columns[at:end], values[at:end] = rows.columns, rows.values
    indptr = np.concatenate(ends)
    shape = (len(indptr) - 1, len(vocabulary))
    return csr_matrix((values[:end], columns[:end], indptr), shape=shape)


def _semantic(rows: Any, space: NDArray[np.float32], jobs: int) -> NDArray[np.float32]:
    """Give the places of rows in the semantic space, block by block."""
    from joblib import Parallel, delayed

    semantic = np.empty((rows.shape[0], space.shape[1]), np.float32)

    def fill(start: int) -> None:
        semantic[start : start + _BLOCK] = rows[start : start + _BLOCK] @ space

    # Filled in place: that cannot be done from another process or machine.
    parallel = Parallel(n_jobs=jobs, require="sharedmem")
    parallel(delayed(fill)(start) for start in range(0, len(semantic), _BLOCK))
    return semantic


def _count_words(counts: Counts, vocabulary: Vocabulary) -> NDArray[np.int32]:
    """Do what `tagger.judge.count_words` does."""
    place = find(vocabulary.codes, counts.codes)
    known, word = place >= 0, counts.is_word
    telling = known & (vocabulary.idf[place] > EMPTY_IDF)
    telling &= find(EMPTY_CODES, counts.codes) < 0
    function = find(FUNCTION_CODES, counts.codes) >= 0
    marks = (word, word & known, word & telling, word & function, ~word, ~word & known)
    return counts.sums(np.stack(marks, axis=1))


def _vocabulary(
    codes: Codes,
    df: NDArray[np.int64],
    background: Background,
    least_records: int,
) -> Vocabulary:
    """Join the background's n-grams and those new ones that enough records have.

    A new n-gram is weighed like the rarest the background knows.
    """
    known = np.asarray(background.codes)
    new = codes[(find(known, codes) < 0) & (df >= least_records)]
    rarest = int(background.df.min()) if len(background.df) else 1
    weight = idf(np.array([rarest]), background.n_documents)
    joined = np.concatenate([known, new])
    weights = np.concatenate([background.idf, np.full(len(new), weight[0])])
    order = np.argsort(joined)
    return Vocabulary(joined[order], weights[order].astype(np.float32))


def _fit(
    table: _Table,
    mask: NDArray[np.bool_],
    settings: Settings,
    jobs: int,
    start: LinearModel | None = None,
) -> LinearModel:
    """Fit on the masked records; n-grams none of them has keep weight 0."""
    label = table.y[table.record] == 1
    n = max(int(mask.sum()), 1)
    penalty = settings.penalty + settings.caution / n
    return fit_logistic(
        [table.rows, table.semantic],
        label.astype(np.float32),
        table.importance * mask[table.record][:, None],
        [penalty, penalty],
        table.prior,
        telling=label | table.hit,
        most_others=_MANY,
        intercept_penalty=_INTERCEPT_PENALTY + _INTERCEPT_CAUTION / n,
        start=start,
        jobs=jobs,
    )


def _between(models: Sequence[LinearModel]) -> LinearModel | None:
    """Give the mean of models; that of all records will be near it."""
    if not models:
        return None
    weights = zip(*(model.weights for model in models), strict=True)
    return LinearModel(
        [np.mean(block, axis=0) for block in weights],
        np.mean([model.intercept for model in models], axis=0),
    )


def _judge(
    material: Material,
    table: _Table,
    models: Sequence[LinearModel],
    fold: NDArray[np.int64],
    asked: NDArray[np.bool_],
    target: Target | None,
) -> tuple[Calibration, NDArray[np.float64], Answers | None]:
    """Calibrate, and choose thresholds, by what models say of their own folds.

    Without such models, the calibration leaves logits as they are.
    """
    y = material.y
    if not models:
        k = y.shape[1]
        return Calibration(np.ones(k), np.zeros(k)), np.full(k, 0.5), None
    logits = np.zeros(y.shape)
    for number, model in enumerate(models):
        rows = np.flatnonzero(fold == number)
        for start in range(0, len(rows), _BLOCK):
            some = rows[start : start + _BLOCK]
            logits[some] = _logits(table, model, some)
    calibration = calibrate(logits[asked], y[asked])
    P = calibration.apply(logits[asked])
    thresholds = tune_thresholds(P, y[asked], target)
    held_out = _held_out(material, table, logits, fold, asked, target)
    return calibration, thresholds, held_out


def _logits(
    table: _Table, model: LinearModel, rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Give the logits of some rows."""
    logits = model.logits([table.rows[rows], table.semantic[rows]])
    return np.asarray(logits + table.prior[rows], np.float64)


def _held_out(
    material: Material,
    table: _Table,
    logits: NDArray[np.float64],
    fold: NDArray[np.int64],
    asked: NDArray[np.bool_],
    target: Target | None,
) -> Answers:
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
        given[test] = cut(P[test], thresholds, reasons[test])
    return _answers(material, rows, P, given, reasons, fold)


def _answers(
    material: Material,
    rows: NDArray[np.int64],
    P: NDArray[np.float64],
    given: NDArray[np.bool_],
    reasons: NDArray[np.int8],
    fold: NDArray[np.int64],
) -> Answers:
    """Gather what was said of the records at some rows."""
    return Answers(
        [material.records[row] for row in rows],
        material.theme_ids,
        material.y[rows],
        P,
        given,
        abstained=reasons >= 0,
        units=rows,
        parts=tuple(f"fold {f + 1}" for f in range(int(fold.max()) + 1)),
        part_of=fold,
    )


def _baselines(material: Material, held_out: Answers) -> dict[str, NDArray[np.bool_]]:
    """Decide in simpler ways on the held-out records, by the same folds."""
    asked = material.part(held_out.units)
    if len(asked.records) > _SIMPLE:
        return {RULES: keyword_rules(asked.scores)}
    return simple_folds(asked, held_out.part_of)


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
    weights = (weights + table.company.weights) * calibration.slope.astype(np.float32)
    base = model.intercept - settings.slope * settings.middle + table.company.shift
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


def _learn_exclusive(
    material: Material,
    table: _Table,
    fold: NDArray[np.int64],
    parts: Sequence[NDArray[np.bool_]],
    importance: Floats,
    settings: Settings,
) -> tuple[Tagger, Answers | None]:
    """Learn from records of one theme each; see `tagger.exclusive`."""
    from threadpoolctl import threadpool_limits

    y, keywords = material.y, material.scores
    rows = table.rows[: len(y)]
    space = table.space / np.float32(settings.semantic**0.5)
    beginnings = word_beginnings(material.records, table.vocabulary.codes)
    pairs = importance[:, None] * (y >= 0)
    idfs = table.vocabulary.idf

    def fit(mask: NDArray[np.bool_]) -> ExclusiveModel:
        some = rows[mask], y[mask], pairs[mask]
        with threadpool_limits(1):
            return fit_exclusive(*some, idfs, space, beginnings)

    scores, base = np.zeros(y.shape), np.zeros(y.shape)
    for mask in parts:
        part = fit(mask)
        scores[~mask], base[~mask] = part.scores(rows[~mask]), part.base
    asked = (importance >= 1) & bool(parts)
    sharpness = sharpen(scores[asked], base[asked], keywords[asked], y[asked])
    model = fit(np.ones(len(y), bool))
    kept = model.scale > 0
    frozen = Tagger(
        material.themes,
        Vocabulary(table.vocabulary.codes[kept], idfs[kept] * model.scale[kept]),
        (model.weights[kept] * np.float32(sharpness.scale)).astype(np.float16),
        _phrases(material.themes, np.full(y.shape[1], sharpness.keywords)),
        sharpness.scale * sharpness.share * model.base + sharpness.shift,
        np.zeros(y.shape[1]),
        exclusive=True,
    )
    if not parts:
        return frozen, None
    P = np.zeros(y.shape)
    for f in np.unique(fold):
        test, others = asked & (fold == f), asked & (fold != f)
        found = sharpen(scores[others], base[others], keywords[others], y[others])
        P[test] = compete(found.logits(scores[test], base[test], keywords[test]))
    reasons = judged_anyway(table.reasons[asked])
    given = cut(P[asked], frozen.thresholds, reasons, exclusive=True)
    at = np.flatnonzero(asked)
    return frozen, _answers(material, at, P[at], given, reasons, fold[at])


def _phrases(themes: Sequence[Theme], slope: NDArray[np.float64]) -> Phrases:
    """Give the weights of every keyword and "not" phrase of the themes."""
    table = phrase_table(themes)
    weights = (table.signs * slope).astype(np.float32)
    return Phrases(table.codes, table.prefixes, weights)


def _facts(
    records: Sequence[Record],
    company: Company,
    n_listed: int,
    held_out: Answers | None,
    settings: Settings,
    seed: int,
) -> dict[str, Any]:
    figures = held_out.evaluate(seed=seed).to_dict() if held_out else None
    return {
        "package": {name: version(name) for name in ("paper-tagger", "numpy")},
        "trained_on": {
            "n_records": len(records),
            "n_unlabelled": company.n_records - n_listed,
            "n_listed": n_listed,
            "seed": seed,
        },
        "settings": {name: getattr(settings, name) for name in settings.__slots__},
        "held_out": figures,
    }
