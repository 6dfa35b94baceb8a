"""Mistakes: paired, ordered, and labels read again."""

import numpy as np

from tagger.comparison import compare
from tagger.mistakes import (
    changed_records,
    confusions,
    label_errors,
    worst_errors,
)
from tagger.records import Record

THEMES = ("bells", "moss", "orchards")
RECORDS = [Record(id=name, title=name.upper()) for name in "abcd"]
Y = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 0], [0, -1, 1]], dtype=np.int8)
P = np.array([[0.9, 0.2, 0.1], [0.8, 0.7, 0.1], [0.1, 0.1, 0.6], [0.1, 0.9, 0.3]])
D = P >= 0.5


def test_confusions_pair_what_was_missed_with_what_was_given_instead():
    y = np.array([[1, 0], [1, 0], [1, 0], [0, 0], [-1, -1]], dtype=np.int8)
    D = np.array([[0, 1], [0, 1], [0, 0], [1, 0], [1, 1]], dtype=bool)
    assert confusions(y, D, ["a", "b"]) == [
        {"missed": "a", "given": "b", "count": 2},
        {"missed": None, "given": "a", "count": 1},
        {"missed": "a", "given": None, "count": 1},
    ]


def test_worst_errors_begin_with_the_most_confident_and_skip_unsure_pairs():
    found = worst_errors(RECORDS, THEMES, Y, P, D)
    assert [(e["id"], [w["theme"] for w in e["wrong"]]) for e in found] == [
        ("a", ["moss"]),
        ("b", ["bells"]),
        ("d", ["orchards"]),
        ("c", ["orchards"]),
    ]
    assert found[0]["wrong"][0] == {
        "theme": "moss",
        "kind": "missed",
        "probability": 0.2,
        "evidence": [],
    }
    assert found[1]["labels"] == ["moss"]
    assert found[1]["tags"] == ["bells", "moss"]


def test_number_of_worst_errors_is_limited():
    assert len(worst_errors(RECORDS, THEMES, Y, P, D, n_errors=2)) == 2


def test_label_errors_are_pairs_the_probabilities_contradict():
    records = [Record(id=str(i)) for i in range(6)]
    y = np.array([[1], [1], [1], [0], [0], [-1]], dtype=np.int8)
    P = np.array([[0.9], [0.8], [0.02], [0.95], [0.05], [0.99]])
    # Mean of those that have it: 0.573; of those that have it not: 0.5.
    found = [
        (f["id"], f["suggestion"], f["probability"])
        for f in label_errors(records, ["a"], y, P)
    ]
    assert found == [("2", "remove", 0.02), ("3", "add", 0.95)]


def test_a_theme_without_labels_has_no_label_errors():
    y = np.zeros((2, 1), dtype=np.int8)
    records = [Record(id="a"), Record(id="b")]
    assert label_errors(records, ["x"], y, np.array([[0.9], [0.1]])) == []


def test_a_record_abstained_from_shows_no_tag_and_says_so():
    abstained = np.array([False, True, False, False])
    found = worst_errors(RECORDS, THEMES, Y, P, D, abstained=abstained)
    error = next(e for e in found if e["id"] == "b")
    assert error["tags"] == []
    assert error["abstained"]
    assert [(w["theme"], w["kind"]) for w in error["wrong"]] == [("moss", "missed")]
    assert not found[0]["abstained"]


def test_changed_records_show_the_tags_of_both():
    second = P >= 0.75
    found = compare(Y, D, second, THEMES, n_boot=2)
    assert changed_records(RECORDS, THEMES, Y, second, found) == [
        {
            "id": "b",
            "title": "B",
            "labels": ["moss"],
            "first": ["bells", "moss"],
            "second": ["bells"],
            "wrong_first": 1,
            "wrong_second": 2,
        },
        {
            "id": "c",
            "title": "C",
            "labels": [],
            "first": ["orchards"],
            "second": [],
            "wrong_first": 1,
            "wrong_second": 0,
        },
    ]
