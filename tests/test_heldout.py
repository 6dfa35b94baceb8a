"""Held-out answers: no paper on both sides, and the frozen model answers."""

from dataclasses import replace

import numpy as np
import pytest

from tagger.errors import RecordError
from tagger.heldout import ask, cross_validate, learning_curve
from tagger.material import prepare
from tagger.plans import Part, SplitPlan, make_parts, read_split, usual_plan
from tagger.records import Record
from tagger.training import train


@pytest.fixture
def toy(toy_records, toy_themes, toy_background, monkeypatch):
    """Give the toy corpus with years and sources, read."""
    monkeypatch.setattr("tagger.training.shipped_background", lambda: toy_background)
    sources = [("one",), ("two",), ("one", "two")]
    records = [
        replace(record, year=2020 + row % 3, sources=sources[row % 3])
        for row, record in enumerate(toy_records)
    ]
    return prepare(records, toy_themes)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("cv:5", "cv", 5),
        ("holdout:0.2", "holdout", 0.2),
        ("group:source", "group", "source"),
        ("group:strata:a", "group", "strata:a"),
        ("time:2025", "time", 2025),
    ],
)
def test_a_split_is_read(text, kind, value):
    plan = read_split(text)
    assert (plan.kind, plan.value) == (kind, value)


@pytest.mark.parametrize(
    "text", ["", "cv", "cv:1", "cv:a", "holdout:1", "time:", "group:", "leave:one"]
)
def test_what_is_no_split_is_refused_with_what_would_be(text):
    with pytest.raises(ValueError, match=r"is no split; expected 'cv:5' \(folds\)"):
        read_split(text)


@pytest.mark.parametrize("text", ["cv:3", "holdout:0.4", "group:source", "time:2022"])
def test_no_paper_stands_on_both_sides_in_any_version(toy, text):
    # The last record is another version of the first, under another year and source.
    again = replace(toy.records[0], id="again", year=2022, sources=("two",))
    material = prepare([*toy.records, again], toy.themes)
    for part in make_parts(read_split(text), material):
        trained = {material.groups[row] for row in part.train.tolist()}
        assert not trained & {material.groups[row] for row in part.test.tolist()}


def test_every_record_is_tested_once_in_folds_and_as_often_as_repeated(toy):
    parts = make_parts(read_split("cv:3"), toy, repeat=2)
    tested = np.concatenate([part.test for part in parts])
    assert np.bincount(tested).tolist() == [2] * 9
    assert parts[0].name == "repeat 1, fold 1"
    assert parts[5].name == "repeat 2, fold 3"


def test_parts_by_source_test_a_record_of_two_sources_twice(toy):
    parts = make_parts(read_split("group:source"), toy)
    assert [part.name for part in parts] == ["one", "two"]
    assert [len(part.test) for part in parts] == [6, 6]
    assert [len(part.train) for part in parts] == [3, 3]


def test_too_few_papers_for_the_folds_are_counted(toy_records, toy_themes):
    copies = [replace(toy_records[0], id=f"copy{n}") for n in range(6)]
    material = prepare(copies, toy_themes)
    with pytest.raises(RecordError, match=r"^6 labelled records of 1 paper cannot be"):
        make_parts(read_split("cv:5"), material)


def test_what_has_nothing_random_is_not_repeated(toy):
    with pytest.raises(ValueError, match=r"by time is the same every time; repeat"):
        make_parts(read_split("time:2022"), toy, repeat=2)


def test_the_answers_are_those_of_a_model_trained_on_the_other_records(
    toy, toy_background
):
    train_rows, test_rows = np.array([0, 1, 3, 4, 5, 6, 7]), np.array([2, 8])
    answers = cross_validate(toy, [Part("end", train_rows, test_rows)])
    others = [toy.records[row] for row in train_rows]
    model = train(others, toy.themes, background=toy_background)
    tested = [toy.records[2], toy.records[8]]
    assert np.array_equal(answers.P, model.predict_proba(tested))
    assert np.array_equal(answers.given, model.predict(tested))
    assert answers.records == tested
    assert answers.units.tolist() == [2, 8]


def test_labels_of_the_tested_records_change_no_answer(toy, toy_themes):
    parts = make_parts(read_split("time:2022"), toy)
    wrong = [
        replace(record, themes=("potentials",)) if record.year == 2022 else record
        for record in toy.records
    ]
    right = cross_validate(toy, parts)
    other = cross_validate(prepare(wrong, toy_themes), parts)
    assert np.array_equal(right.P, other.P)
    assert np.array_equal(right.given, other.given)


def test_a_record_tested_twice_is_one_record_to_the_intervals(toy):
    parts = make_parts(read_split("cv:3"), toy)
    once = cross_validate(toy, parts)
    twice = cross_validate(toy, [*parts, *parts])
    for name in ("micro_f1", "exact_match", "samples_f1"):
        one, two = (answers.evaluate().overall[name] for answers in (once, twice))
        assert one.value == pytest.approx(two.value)
        assert two.high - two.low > 0.8 * (one.high - one.low)


def test_thresholds_are_the_mean_of_the_models_that_judged(toy):
    answers = cross_validate(toy, make_parts(read_split("cv:3"), toy))
    every = np.array([model.thresholds for model in answers.models])
    sizes = np.bincount(answers.part_of)
    assert answers.thresholds() == pytest.approx(sizes @ every / 9)


def test_evidence_comes_from_the_model_that_judged(toy):
    answers = cross_validate(toy, make_parts(read_split("cv:3"), toy))
    row = next(i for i, r in enumerate(answers.records) if r.id == "r3")
    found = answers.explain(row, 1)
    assert found[0]["text"] in toy.records[3].title + toy.records[3].abstract
    assert found[0].keys() == {"field", "start", "end", "text", "contribution"}


def test_a_saved_model_answers_for_labelled_records_alone(tiny, toy_records):
    answers = ask(tiny, [Record(id="x", title="FP8"), *toy_records[:2]])
    assert [record.id for record in answers.records] == ["r0", "r1"]
    assert np.array_equal(answers.P, tiny.predict_proba(toy_records[:2]))


def test_no_labelled_record_is_a_sentence(tiny):
    with pytest.raises(RecordError, match=r"^Of 1 record none is labelled; labels"):
        ask(tiny, [Record(id="x")])


def test_a_learning_curve_ends_with_all_training_records(toy):
    parts = make_parts(read_split("cv:3"), toy)
    answers = cross_validate(toy, parts)
    points = learning_curve(toy, parts[0], answers)
    assert points[-1]["records"] == len(parts[0].train)
    sizes = [point["records"] for point in points]
    assert sizes == sorted(sizes)
    assert all(p["low"] <= p["value"] <= p["high"] for p in points)


@pytest.mark.parametrize(("n", "folds"), [(9, 5), (5, 5), (3, 3), (2, 2), (1, 2)])
def test_without_a_plan_there_are_five_folds_or_one_a_paper(toy, n, folds):
    assert usual_plan(toy.part(np.arange(n))) == SplitPlan("cv", folds)


def test_every_point_of_the_curve_is_learned_as_the_answers_were(
    toy_records, toy_themes, monkeypatch
):
    from tagger import heldout
    from tagger.training import Settings

    material = prepare(toy_records, toy_themes)
    rows = np.arange(len(material.records))
    part = heldout.Part("a part", rows[2:], rows[:2])
    answers = heldout.cross_validate(material, [part])
    seen = []

    def noted(*_, settings, exclusive, **__):
        seen.append((settings, exclusive))
        return answers

    monkeypatch.setattr(heldout, "cross_validate", noted)
    other = Settings(penalty=0.1)
    heldout.learning_curve(material, part, answers, settings=other, exclusive=True)
    assert set(seen) == {(other, True)}
