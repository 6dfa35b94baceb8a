"""The frozen model: probabilities, evidence, saving."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tagger.classifier import sigmoid
from tagger.errors import ModelError, ThemeError
from tagger.features import TITLE_WEIGHT, Vocabulary, ngram_events, read_document
from tagger.keywords import KeywordMatcher
from tagger.model import BATCH, Phrases, Tagger, load, save
from tagger.records import Record
from tagger.store import read_folder, write_folder
from tagger.themes import Theme
from tagger.tokens import code, phrase_codes

LATEX = Record(
    id="latex",
    title=r"\textsc{Adam} at 4-bit: machine-learned interatomic potentials",
    abstract=(
        r"Abstract--- We show that na\"ive $\beta_1$-momentum in FP8 gives a "
        r"$1.51\times$ gain (14.8\%), with <i>machine learned</i> interatomic "
        "poten-\ntials; Adam, Adam and e\ufb03cient optimi\u00adzers &amp; learning "
        "rates~\\cite{kingma}. The energy of the action potential is unknown zzz."
    ),
)
EMPTY = Record(id="empty")
RECORDS = [LATEX, EMPTY, Record(id="a", title="Adam"), Record(id="b", abstract="FP8")]


@pytest.fixture
def by_hand():
    """Give a model of two themes and two words whose logits are plain sums."""
    codes = sorted([code("adam"), code("loss")])
    weights = np.zeros((2, 2))
    weights[codes.index(code("adam")), 0] = 3.0
    weights[codes.index(code("loss")), 1] = -1.0
    return Tagger(
        (Theme(id="a", name="A"), Theme(id="b", name="B")),
        Vocabulary(np.array(codes, np.uint64), np.full(2, 5.0)),
        weights,
        Phrases(
            np.array([code("adam")], np.uint64),
            np.zeros(0, np.uint64),
            np.array([[0.5, 0.0]]),
        ),
        np.array([-1.0, 0.0]),
        np.array([0.5, 0.5]),
    )


def test_a_logit_by_hand(by_hand):
    records = [
        Record(id="1", title="Adam"),  # 3 + 0.5 * log2(1 + title) - 1
        Record(id="2", abstract="loss"),  # -1 + 0 | 0 - 1
        Record(id="3", abstract="adam, loss"),  # 3 / sqrt 2 + .5 - 1 | -1 / sqrt 2
        Record(id="4", abstract="other"),
    ]
    root = 2**0.5
    title = np.log2(1 + TITLE_WEIGHT)
    logits = [[2 + 0.5 * title, 0], [-1, -1], [3 / root - 0.5, -1 / root], [-1, 0]]
    assert_allclose(by_hand.predict_proba(records), sigmoid(np.array(logits)))


def test_no_records_give_no_rows(tiny):
    assert tiny.predict_proba([]).shape == (0, 3)
    assert tiny.predict([]).shape == (0, 3)
    assert tiny.predict([]).dtype == bool
    assert tiny.tag([]) == []


def test_the_probabilities_of_a_record_do_not_depend_on_its_company(tiny, toy_records):
    records = RECORDS + toy_records
    together = tiny.predict_proba(records)
    alone = np.vstack([tiny.predict_proba([record]) for record in records])
    assert_array_equal(together, alone)
    assert_array_equal(together[::-1], tiny.predict_proba(records[::-1]))


def test_more_records_than_a_batch_come_in_order(tiny):
    records = (RECORDS * (BATCH // 2))[: BATCH + 3]
    found = tiny.predict_proba(iter(records))
    assert_array_equal(found[:4], tiny.predict_proba(RECORDS))
    assert_array_equal(found[BATCH:], found[:3])
    decisions = tiny.tag(iter(records))
    assert [d.id for d in decisions] == [record.id for record in records]


def test_predict_and_tag_say_the_same(tiny, toy_records):
    given = tiny.predict(RECORDS + toy_records)
    decisions = tiny.tag(RECORDS + toy_records)
    ids = np.array(tiny.theme_ids)
    for row, decision in zip(given, decisions, strict=True):
        assert {tag.theme for tag in decision.tags} == set(ids[row])
    assert decisions[1].status == "abstained"
    assert decisions[1].reason == "no_text"


def test_tagging_does_not_wait_for_the_last_record(tiny):
    def endless():
        while True:
            yield RECORDS[2]

    stream = tiny.tag_stream(endless())
    assert next(stream).id == "a"


@pytest.mark.parametrize("theme", ["optimizers", "low-precision", "potentials"])
def test_contributions_and_intercept_are_the_logit(tiny, theme):
    column = tiny.theme_ids.index(theme)
    for record in RECORDS:
        told = tiny.explain(record, theme)
        total = told.intercept + sum(word.contribution for word in told.words)
        assert total == pytest.approx(told.logit, abs=1e-9)
        p = tiny.predict_proba([record])[0, column]
        assert told.probability == pytest.approx(p, abs=1e-12)
        assert sigmoid(np.array(told.logit)) == pytest.approx(p, abs=1e-12)


pieces = st.sampled_from(
    ["Adam", "FP8", "4-bit", "interatomic", "potential", " ", ", ", "-", r"\textit{",
     "}", "learning", "rate", "$", "machine learned", "action", "the", "&lt;", "<i>"]
)  # fmt: skip
texts = st.lists(pieces, max_size=12).map(" ".join)


@given(texts, texts)
def test_contributions_and_intercept_are_the_logit_of_any_text(tiny, title, abstract):
    record = Record(id="x", title=title, abstract=abstract)
    for theme in tiny.theme_ids:
        told = tiny.explain(record, theme)
        total = told.intercept + sum(word.contribution for word in told.words)
        assert total == pytest.approx(told.logit, abs=1e-9)


@pytest.mark.parametrize("theme", ["optimizers", "low-precision", "potentials"])
def test_evidence_is_a_stretch_of_the_record_as_it_came(tiny, theme):
    told = tiny.explain(LATEX, theme)
    assert told.phrases
    for item in told.words + told.phrases:
        assert getattr(LATEX, item.field)[item.start : item.end] == item.text
    values = [phrase.contribution for phrase in told.phrases]
    assert values == sorted(values, reverse=True)
    assert min(values) > 0


def test_evidence_shows_words_as_the_user_wrote_them(tiny):
    words = [word.text for word in tiny.explain(LATEX, "potentials").words]
    assert "poten-\ntials" in words
    words = [word.text for word in tiny.explain(LATEX, "optimizers").words]
    assert "optimi\u00adzers" in words


def test_neighbouring_words_are_one_phrase_and_a_break_parts_them(by_hand):
    record = Record(id="x", title="Adam Adam, Adam", abstract="Adam")
    told = by_hand.explain(record, "a")
    found = [(e.field, e.start, e.end, e.text) for e in told.phrases]
    assert sorted(found) == [
        ("abstract", 0, 4, "Adam"),
        ("title", 0, 9, "Adam Adam"),
        ("title", 11, 15, "Adam"),
    ]


def test_an_unknown_theme_is_refused(tiny):
    with pytest.raises(ThemeError, match=r"no theme 'optimizer' \(did you mean 'opti"):
        tiny.explain(LATEX, "optimizer")


def test_the_phrase_part_of_a_model_is_the_keyword_score(tiny, toy_themes, toy_records):
    documents = [read_document(record) for record in RECORDS + toy_records]
    scores = KeywordMatcher(toy_themes).scores(documents)
    events = ngram_events(documents, tiny.phrases.prefixes)
    _, cells = tiny._rows(events, len(documents))
    signs = np.sign(tiny.phrases.weights)[cells.columns]
    assert_array_equal(cells.row_sums(cells.values[:, None] * signs), scores)


@given(texts, texts)
def test_spacy_and_the_frozen_model_find_the_same_keywords(
    tiny, matcher, title, abstract
):
    document = read_document(Record(id="x", title=title, abstract=abstract))
    events = ngram_events([document], tiny.phrases.prefixes)
    _, cells = tiny._rows(events, 1)
    signs = np.sign(tiny.phrases.weights)[cells.columns]
    found = cells.row_sums(cells.values[:, None] * signs)
    assert_allclose(found, matcher.scores([document]), atol=1e-12)


@pytest.fixture(scope="module")
def matcher(toy_themes):
    return KeywordMatcher(toy_themes)


def test_a_phrase_of_four_tokens_is_found(tiny):
    assert len(phrase_codes("machine learned interatomic potential")) == 4
    assert len(tiny.phrases.prefixes) == 2
    long = Record(id="x", abstract="machine learned interatomic potential")
    cut = Record(id="x", abstract="machine learned, interatomic potential")
    P = tiny.predict_proba([long, cut])
    assert P[0, 2] > P[1, 2]


def test_a_saved_model_gives_equal_probabilities(tiny, tiny_dir, toy_records):
    found = load(tiny_dir)
    assert found.themes == tiny.themes
    assert found.exclusive == tiny.exclusive
    assert found.facts == tiny.facts
    assert found.arrays.keys() == tiny.arrays.keys()
    records = RECORDS + toy_records
    assert_array_equal(found.predict_proba(records), tiny.predict_proba(records))
    assert found.tag(records) == tiny.tag(records)
    assert found.explain(LATEX, "optimizers") == tiny.explain(LATEX, "optimizers")


def test_an_exclusive_model_is_exclusive_when_it_is_read_back(by_hand, tmp_path):
    from dataclasses import replace

    save(replace(by_hand, exclusive=True), tmp_path / "m")
    records = [Record(id="x", title="Adam"), Record(id="y", abstract="loss")]
    assert by_hand.predict(records).tolist() == [[True, True], [False, False]]
    given = load(tmp_path / "m").predict(records)
    # Of the second, both themes are as probable.
    assert given.tolist() == [[True, False], [False, False]]


def test_a_model_is_saved_again_only_when_told(by_hand, tmp_path):
    save(by_hand, tmp_path / "m")
    with pytest.raises(ModelError, match="exists already"):
        save(by_hand, tmp_path / "m")
    save(by_hand, tmp_path / "m", overwrite=True)


def test_a_folder_that_is_no_model_is_refused(tmp_path):
    write_folder(tmp_path / "b", "background", {}, {})
    with pytest.raises(ModelError, match="choose a model folder"):
        load(tmp_path / "b")


def forged(tiny_dir, tmp_path, arrays=None, **facts):
    """Write a tiny model with other arrays or facts, and valid checksums."""
    found, manifest = read_folder(tiny_dir, "model")
    found |= arrays or {}
    kept = {name: array for name, array in found.items() if array is not None}
    skip = ("format", "format_version", "files")
    manifest = {k: v for k, v in manifest.items() if k not in skip}
    write_folder(tmp_path / "m", "model", kept, {**manifest, **facts})
    return tmp_path / "m"


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"weights": None, "idf": None}, r"is not whole: it lacks idf, weights\."),
        ({"weights": np.zeros((2, 2))}, r"weights is float64 of shape \(2, 2\)"),
        ({"thresholds": np.zeros(4)}, r"thresholds is float64 of shape \(4,\)"),
        ({"thresholds": np.array(["a", "b", "c"])}, "thresholds is <U1 of shape"),
        (
            {"codes": np.zeros((18, 1), np.uint64)},
            r"codes is uint64 of shape \(18, 1\)",
        ),
        ({"phrase-prefixes": np.zeros((2, 2), np.uint64)}, "phrase-prefixes is"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(tiny_dir, tmp_path, arrays, message):
    with pytest.raises(ModelError, match=message):
        load(forged(tiny_dir, tmp_path, arrays))


@pytest.mark.parametrize(
    ("themes", "message"),
    [
        (None, r"is not whole: it lacks themes\."),
        ([], "is altered: The list of themes is empty"),
        ([{"name": 3}], "is altered: .*'name' is a number"),
        ([{"name": "One"}], "is altered: weights is float16 of shape"),
    ],
)
def test_themes_that_do_not_fit_are_refused(tiny_dir, tmp_path, themes, message):
    with pytest.raises(ModelError, match=message):
        load(forged(tiny_dir, tmp_path, themes=themes))


def test_the_shipped_model_is_the_default(shipped):
    assert len(shipped.themes) == 26
    record = Record(
        id="x",
        title="A second-order optimizer for deep networks",
        abstract="We study an optimizer that preconditions stochastic gradient "
        "descent with curvature, and prove its convergence rate.",
    )
    assert [tag.theme for tag in shipped.tag([record])[0].tags] == ["optimizers"]


def test_the_logits_of_the_shipped_model_can_be_taken_apart(shipped):
    for theme in shipped.theme_ids:
        told = shipped.explain(LATEX, theme)
        total = told.intercept + sum(word.contribution for word in told.words)
        assert total == pytest.approx(told.logit, abs=1e-9)


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_model_with_a_weight_that_is_no_number_is_refused(
    tiny, tmp_path, kind, value
):
    weights = tiny.weights.astype(kind)
    save(replace(tiny, weights=weights), tmp_path / "good")
    load(tmp_path / "good")
    weights[1, 1] = value
    save(replace(tiny, weights=weights), tmp_path / "bad")
    with pytest.raises(ModelError, match="altered: weights cannot be of a model"):
        load(tmp_path / "bad")
