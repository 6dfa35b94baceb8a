"""A whole evaluation: leaks left out, baselines beside, groups and comparison."""

from dataclasses import replace

import jsonschema
import numpy as np
import pytest

from tagger.errors import ModelError, RecordError
from tagger.plans import read_split
from tagger.records import Record
from tagger.report import report_schema
from tagger.review import review_model, review_split
from tagger.training import Settings, train

NEW = [
    Record(id="n1", title="An optimizer with momentum", themes=("optimizers",)),
    Record(id="n2", title="FP8 for all", themes=("low-precision",)),
    Record(id="n3", title="The game of chess", themes=()),
]


@pytest.fixture
def small(toy_background, monkeypatch):
    monkeypatch.setattr("tagger.training.shipped_background", lambda: toy_background)


def test_records_trained_on_are_left_out_named_and_shown_beside_if_asked(
    tiny, toy_records
):
    version = replace(toy_records[1], id="v2", abstract="Rewritten all over.")
    records = [toy_records[0], *NEW, version]
    review = review_model(tiny, records)
    assert [record.id for record in review.answers.records] == ["n1", "n2", "n3"]
    assert [(o.id, o.trained_id, o.kind) for o in review.overlaps] == [
        ("r0", "r0", "exact"),
        ("v2", "r1", "same paper"),
    ]
    assert review.flattered is None
    beside = review_model(tiny, records, keep_seen=True)
    assert beside.evaluation.to_dict() == review.evaluation.to_dict()
    assert beside.flattered.n_records == 5


def test_a_model_that_saw_every_record_is_not_scored(tiny, toy_records):
    with pytest.raises(RecordError, match=r"trained on every one of 9 labelled"):
        review_model(tiny, toy_records)


def test_baselines_of_a_saved_model_are_learned_on_the_test_records_and_say_so(tiny):
    words = ("one", "two", "three", "four", "five")
    many = [
        replace(record, id=f"{record.id}-{word}", title=f"{record.title} {word}")
        for word in words
        for record in NEW
    ]
    assert list(review_model(tiny, many).evaluation.baselines) == [
        "nothing",
        "most frequent theme",
        "keyword rules",
        "TF-IDF + logistic regression (5-fold on these records)",
    ]


def test_a_split_gives_a_report_by_its_schema(toy_records, toy_themes, small):
    review = review_split(
        toy_records, toy_themes, read_split("cv:3"), other=Settings(penalty=1.0)
    )
    report = review.report(title="Toy", made={})
    jsonschema.validate(report, report_schema())
    assert report["split"].startswith("3-fold cross-validation")
    assert report["label_errors"] is not None
    assert report["comparison"]["names"] == ["the other", "this"]
    assert list(report["evaluation"]["baselines"])[2:] == [
        "keyword rules",
        "TF-IDF + logistic regression",
    ]


def test_records_on_neither_side_are_counted(toy_records, toy_themes, small):
    dated = [
        replace(record, year=2020 + row % 2) for row, record in enumerate(toy_records)
    ]
    review = review_split(dated, toy_themes, read_split("time:2021"))
    assert review.evaluation.n_records == 4
    assert review.split.startswith("Trained on records before 2021, tested on 2021 and")
    assert review.split.endswith("5 of the 9 labelled records are not tested.")


def test_what_the_other_model_was_trained_on_is_left_out_of_both(
    toy_records, toy_themes, toy_background, small
):
    other = train(toy_records[:4], toy_themes, background=toy_background)
    review = review_split(toy_records, toy_themes, read_split("cv:3"), other=other)
    assert {overlap.id for overlap in review.overlaps} == {"r0", "r1", "r2", "r3"}
    assert review.evaluation.n_records == 5
    everything = train(toy_records, toy_themes, background=toy_background)
    with pytest.raises(RecordError, match=r"trained on every record tested, so nothi"):
        review_split(toy_records, toy_themes, read_split("cv:3"), other=everything)


def test_models_with_other_themes_are_not_compared(tiny, toy_themes, toy_background):
    other = train([], toy_themes[:2], background=toy_background)
    with pytest.raises(
        ModelError, match=r"same themes .* they differ in potentials\.$"
    ):
        review_model(tiny, NEW, other=other)


def test_only_groups_large_enough_to_say_something_are_shown(tiny):
    years = [2020] * 10 + [2021] * 12 + [2022] * 3 + [None] * 11
    records = [
        Record(id=str(n), title=f"Title {n}", year=year, themes=())
        for n, year in enumerate(years)
    ]
    groups = review_model(tiny, records).groups()
    found = {group.value: group.n_records for group in groups["year"]}
    assert found == {"2020": 10, "2021": 12, "not given": 11}
    assert "venue" not in groups


def test_equal_seeds_give_equal_reviews(toy_records, toy_themes, small):
    plan = read_split("holdout:0.4")
    one, two = (
        review_split(toy_records, toy_themes, plan, repeat=2, seed=3) for _ in range(2)
    )
    assert one.evaluation.to_dict() == two.evaluation.to_dict()
    assert np.array_equal(one.answers.P, two.answers.P)


def test_parts_are_shown_even_where_they_are_small(toy_records, toy_themes, small):
    records = [replace(r, sources=(str(n % 2),)) for n, r in enumerate(toy_records)]
    review = review_split(records, toy_themes, read_split("group:source"))
    parts = review.groups()["part tested"]
    assert [(part.value, part.n_records) for part in parts] == [("0", 5), ("1", 4)]
