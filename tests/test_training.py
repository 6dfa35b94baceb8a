"""From records and themes to a model."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tagger.calibration import Target
from tagger.errors import RecordError, ThemeError
from tagger.features import read_document
from tagger.keywords import KeywordMatcher
from tagger.model import save
from tagger.records import Record
from tagger.seen import seen_in_training
from tagger.themes import Theme
from tagger.training import Settings, train, train_held_out


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("jobs", [1, 2])
def test_same_input_and_seed_give_the_same_bytes_whatever_the_jobs(
    jobs, toy_records, toy_themes, toy_background, tiny_dir, tmp_path
):
    model = train(toy_records, toy_themes, background=toy_background, jobs=jobs)
    save(model, tmp_path / "again")
    assert bytes_of(tmp_path / "again") == bytes_of(tiny_dir)


def test_another_seed_may_make_other_folds_but_the_same_weights(
    toy_records, toy_themes, toy_background, tiny
):
    other = train(toy_records, toy_themes, background=toy_background, seed=1)
    assert_array_equal(other.vocabulary.codes, tiny.vocabulary.codes)
    assert other.facts["trained_on"]["seed"] == 1


def test_a_trained_model_finds_what_it_was_taught(tiny, toy_records):
    P = tiny.predict_proba(toy_records)
    for row, record in zip(P, toy_records, strict=True):
        for theme in record.themes:
            assert tiny.theme_ids[row.argmax()] == theme


def test_what_a_label_taught_reaches_words_that_were_in_no_record(tiny):
    # "force" stood in a labelled record, "quantization" is near "fp8" in the space.
    told = tiny.explain(Record(id="x", abstract="momentum"), "optimizers")
    assert told.words[0].contribution > 0


def test_permuting_the_themes_permutes_the_columns(
    toy_records, toy_themes, toy_background
):
    # A fold a record: then the order of the themes cannot move the folds.
    order, alone = [2, 0, 1], Settings(folds=len(toy_records))
    themes = [toy_themes[k] for k in order]
    one, other = (
        train(toy_records, t, background=toy_background, settings=alone)
        for t in (toy_themes, themes)
    )
    assert other.theme_ids == tuple(theme.id for theme in themes)
    P = one.predict_proba(toy_records)[:, order]
    assert_allclose(other.predict_proba(toy_records), P, atol=2e-3)
    assert_allclose(other.thresholds, one.thresholds[order], atol=2e-3)


def test_without_a_label_the_model_is_what_the_theme_file_says(
    toy_records, toy_themes, toy_background
):
    bare = [replace(record, themes=None) for record in toy_records]
    model, held_out = train_held_out([], toy_themes, background=toy_background)
    assert held_out is None
    settings = Settings()
    scores = KeywordMatcher(toy_themes).scores([read_document(r) for r in bare])
    logits = settings.slope * (scores - settings.middle)
    P = model.predict_proba(bare)
    assert_allclose(P, 1 / (1 + np.exp(-logits)), atol=1e-6)
    assert model.thresholds.tolist() == [0.5] * 3
    assert model.arrays == {}


def test_records_without_labels_teach_the_same_wherever_they_stand(
    toy_records, toy_themes, toy_background
):
    bare = [replace(record, themes=None) for record in toy_records]
    among, _ = train_held_out(bare, toy_themes, background=toy_background)
    beside = train([], toy_themes, unlabelled=bare, background=toy_background)
    assert_array_equal(among.weights, beside.weights)
    assert among.facts["trained_on"]["n_unlabelled"] == len(bare)
    alone = train([], toy_themes, background=toy_background)
    assert (among.weights != alone.weights).any()


def test_a_word_beside_the_keywords_speaks_for_the_theme_without_a_label(
    toy_themes, toy_background
):
    texts = ["An adam optimizer with momentum.", "The force of the energy."] * 40
    seen = [Record(id=str(i), abstract=text) for i, text in enumerate(texts)]
    model = train([], toy_themes, unlabelled=seen, background=toy_background)
    told = model.explain(Record(id="x", abstract="momentum"), "optimizers")
    assert [word.text for word in told.words if word.contribution > 0] == ["momentum"]


def test_the_heading_of_a_list_makes_words_speak_where_no_keyword_stands(
    toy_themes, toy_background
):
    texts = ["The momentum of training.", "The force of the energy."] * 40
    seen = [Record(id=str(i), abstract=text) for i, text in enumerate(texts)]
    listed = [replace(r, themes=("optimizers",)) for r in seen[::2]]
    bare = train([], toy_themes, unlabelled=seen, background=toy_background)
    model = train([], toy_themes, listed=listed + seen[1::2], background=toy_background)
    asked = Record(id="x", abstract="Momentum; force.")
    assert bare.explain(asked, "optimizers").words == ()
    told = model.explain(asked, "optimizers")
    assert [word.text for word in told.words if word.contribution > 0] == ["Momentum"]
    assert model.facts["trained_on"]["n_listed"] == 80
    assert model.facts["trained_on"]["n_unlabelled"] == 0


def test_a_list_is_passed_over_where_a_person_labelled_the_record(
    toy_records, toy_themes, toy_background
):
    wrong = [replace(record, themes=("potentials",)) for record in toy_records]
    plain = train(toy_records, toy_themes, background=toy_background)
    model = train(toy_records, toy_themes, listed=wrong, background=toy_background)
    assert_array_equal(model.weights, plain.weights)


def test_a_list_may_come_once_and_its_papers_count_once(toy_themes, toy_background):
    rows = [Record(id=str(i), title=f"On momentum {i}") for i in range(20)]
    listed = [replace(r, themes=("optimizers",)) for r in rows]
    once = train([], toy_themes, listed=iter(listed), background=toy_background)
    twice = train([], toy_themes, listed=listed * 2, background=toy_background)
    assert once.facts["trained_on"]["n_listed"] == 20
    assert_array_equal(once.weights, twice.weights)


def test_what_themes_that_exclude_each_other_do_not_learn_from_is_not_counted(
    toy_records, toy_themes, toy_background
):
    one = [r for r in toy_records if len(r.themes) == 1]
    bare = [replace(r, themes=None) for r in toy_records]
    model = train(
        one + bare,
        toy_themes,
        unlabelled=bare,
        listed=toy_records,
        exclusive=True,
        background=toy_background,
    )
    facts = model.facts["trained_on"]
    assert (facts["n_unlabelled"], facts["n_listed"]) == (0, 0)
    with pytest.raises(RecordError, match="exactly one theme"):
        train(toy_records, toy_themes, exclusive=True, background=toy_background)


def test_what_a_list_taught_counts_as_seen_in_training(toy_themes, toy_background):
    listed = [Record(id="a", title="On momentum and on force", themes=("optimizers",))]
    model = train([], toy_themes, listed=listed, background=toy_background)
    assert seen_in_training([model], listed)[0].trained_id == "a"


def test_a_heading_that_is_no_theme_is_refused(toy_themes, toy_background):
    listed = [Record(id="a", title="On momentum", themes=("optimiser",))]
    with pytest.raises(RecordError, match="optimiser"):
        train([], toy_themes, listed=listed, background=toy_background)


def test_one_labelled_record_is_too_few_to_hold_any_out(
    toy_records, toy_themes, toy_background
):
    _, held_out = train_held_out(toy_records[:1], toy_themes, background=toy_background)
    assert held_out is None


def test_what_is_held_out_is_the_labelled_records_in_order(tiny_trained, toy_records):
    model, held_out = tiny_trained
    assert held_out.records == toy_records
    assert held_out.y.shape == held_out.P.shape == held_out.given.shape == (9, 3)
    assert ((held_out.P >= 0) & (held_out.P <= 1)).all()
    assert sorted(set(held_out.part_of.tolist())) == [0, 1, 2, 3, 4]
    figures = held_out.evaluate().to_dict()
    assert model.facts["held_out"] == figures
    assert figures["records"] == 9
    assert list(figures["baselines"])[2:] == [
        "keyword rules",
        "TF-IDF + logistic regression",
    ]


def test_two_versions_of_a_paper_are_in_one_fold(
    toy_records, toy_themes, toy_background
):
    twice = [replace(r, id=f"2401.0000{n}v1") for n, r in enumerate(toy_records)]
    twice += [replace(r, id=r.id.replace("v1", "v2")) for r in twice]
    _, held_out = train_held_out(twice, toy_themes, background=toy_background)
    assert_array_equal(held_out.part_of[:9], held_out.part_of[9:])


def test_an_unsure_pair_is_not_learned_from(toy_records, toy_themes, toy_background):
    unsure = [replace(r, themes=(), unsure=("potentials",)) for r in toy_records]
    model = train(unsure, toy_themes, background=toy_background)
    prior = train([], toy_themes, background=toy_background)
    one, other = (m.predict_proba(toy_records)[:, 2] for m in (model, prior))
    assert_allclose(one, other, atol=1e-3)


def test_an_exclusive_model_gives_one_theme_each(
    toy_records, toy_themes, toy_background
):
    some = [record for record in toy_records if len(record.themes) == 1]
    model = train(some, toy_themes, background=toy_background, exclusive=True)
    assert model.exclusive
    judged = [d for d in model.tag(toy_records) if d.status != "abstained"]
    assert {len(decision.tags) for decision in judged} == {1}


def test_the_target_moves_the_thresholds(toy_records, toy_themes, toy_background):
    eager, careful = (
        train(toy_records, toy_themes, background=toy_background, target=target)
        for target in (Target(min_recall=1.0), Target(min_precision=1.0))
    )
    assert (eager.thresholds <= careful.thresholds).all()


def test_new_words_of_the_records_are_learned_if_enough_have_them(
    toy_themes, toy_background
):
    records = [
        Record(id=str(n), abstract=f"zyxo alone{n}.", themes=("optimizers",))
        for n in range(4)
    ]
    model = train(records, toy_themes, background=toy_background)
    assert len(model.vocabulary) == len(toy_background.codes) + 1
    P = model.predict_proba([Record(id="x", abstract="zyxo"), Record(id="y")])
    assert P[0, 0] > P[1, 0]


def test_a_theme_without_keywords_is_learned_from_labels(toy_background):
    themes = [Theme(id="a", name="A"), Theme(id="b", name="B")]
    texts = ["momentum", "fp8"]
    records = [
        Record(id=str(n), abstract=f"{texts[n % 2]}, case{n}", themes=("ab"[n % 2],))
        for n in range(12)
    ]
    model = train(records, themes, background=toy_background)
    assert model.predict(records[:2]).tolist() == [[True, False], [False, True]]


def test_an_unknown_label_is_refused_with_a_hint(toy_themes, toy_background):
    record = Record(id="r", themes=("optimizer",))
    with pytest.raises(RecordError, match=r"'optimizer'.* Did you mean 'optimizers'\?"):
        train([record], toy_themes, background=toy_background)


def test_no_theme_is_refused(toy_background):
    with pytest.raises(ThemeError, match="There is no theme to learn"):
        train([], [], background=toy_background)


@pytest.mark.parametrize("jobs", [1, 2])
def test_of_many_records_samples_and_fewer_folds_do(
    jobs, toy_records, toy_themes, toy_background, monkeypatch
):
    # Nine records are many here.
    monkeypatch.setattr("tagger.training._MANY", 3)
    monkeypatch.setattr("tagger.training._BLOCK", 2)
    model, held_out = train_held_out(
        toy_records, toy_themes, background=toy_background, jobs=jobs
    )
    assert sorted(set(held_out.part_of.tolist())) == [0, 1]
    P = model.predict_proba(toy_records)
    for row, record in zip(P, toy_records, strict=True):
        for theme in record.themes:
            assert model.theme_ids[row.argmax()] == theme


def test_of_many_records_rare_ngrams_are_not_learned(
    toy_themes, toy_background, monkeypatch
):
    monkeypatch.setattr("tagger.training._RAREST", 2)
    records = [
        Record(id=str(n), abstract="zyxo" if n < 4 else "often", themes=())
        for n in range(12)
    ]
    model = train(records, toy_themes, background=toy_background)
    assert len(model.vocabulary) == len(toy_background.codes) + 1


def test_of_many_records_fewer_resamples_tell_how_sure_it_is(tiny_trained, monkeypatch):
    _, held_out = tiny_trained
    assert held_out.evaluate().n_boot == 1000
    monkeypatch.setattr("tagger.answers._RESAMPLED", 9 * 300)
    assert held_out.evaluate().n_boot == 300
