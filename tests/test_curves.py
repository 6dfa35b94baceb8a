"""Curves: a point where it matters, the certain first."""

import numpy as np

from tagger.curves import coverage_curve, precision_recall_curves, reliability_curve


def test_the_most_certain_records_come_first():
    y = np.array([[1], [1], [0], [0]], dtype=np.int8)
    P = np.array([[0.99], [0.55], [0.01], [0.45]])
    D = np.array([[True], [False], [False], [True]])
    points = coverage_curve(y, P, D, n_points=2)
    assert points == [
        {"coverage": 0.5, "micro_f1": 1.0, "exact_match": 1.0},
        {"coverage": 1.0, "micro_f1": 0.5, "exact_match": 0.5},
    ]


def test_records_abstained_from_come_last_and_count_as_no_tag():
    y = np.array([[1], [0]], dtype=np.int8)
    # The first would seem the most certain, were it judged.
    P = np.array([[0.99], [0.3]])
    D = np.array([[True], [False]])
    abstained = np.array([True, False])
    points = coverage_curve(y, P, D, abstained=abstained, n_points=2)
    assert [point["exact_match"] for point in points] == [1.0, 0.5]
    assert points[1]["micro_f1"] == 0.0


def test_curve_holds_a_point_a_label_and_where_the_tags_stand():
    y = np.array([[1], [1], [0], [-1]], dtype=np.int8)
    P = np.array([[0.2], [0.7], [0.1], [0.9]])
    assert precision_recall_curves(y, P, P >= 0.5, ["moss"]) == {
        "moss": {
            "recall": [0.5, 1.0],
            "precision": [1.0, 1.0],
            "threshold": [0.7, 0.2],
            "chosen": {"recall": 0.5, "precision": 1.0},
            "choices": {
                name: {"threshold": 0.2, "precision": 1.0, "recall": 1.0}
                for name in ("best F1", "precision of 0.95", "recall of 0.95")
            },
        }
    }


def test_a_theme_without_labels_has_no_points():
    y = np.zeros((2, 1), dtype=np.int8)
    P = np.array([[0.2], [0.7]])
    curve = precision_recall_curves(y, P, P >= 0.9, ["a"])["a"]
    assert curve["recall"] == []
    assert curve["chosen"] == {"recall": None, "precision": None}


def test_reliability_leaves_unsure_pairs_and_empty_bins_out():
    y = np.array([[1, 0], [0, -1]], dtype=np.int8)
    P = np.array([[0.92, 0.05], [0.98, 0.5]])
    assert reliability_curve(y, P) == [
        {"low": 0.0, "high": 0.1, "pairs": 1, "mean_probability": 0.05, "share": 0.0},
        {"low": 0.9, "high": 1.0, "pairs": 2, "mean_probability": 0.95, "share": 0.5},
    ]
