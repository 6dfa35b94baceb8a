"""Comparison: paired, and groups measured apart."""

import json

import numpy as np
import pytest

from tagger.comparison import compare
from tagger.groups import evaluate_groups

THEMES = ("a", "b", "c", "d")


def random_case():
    rng = np.random.default_rng(0)
    y = (rng.random((120, 4)) < 0.2).astype(np.int8)
    P = 0.5 * y + rng.random((120, 4)) * 0.6
    return y, P >= 0.5


def test_comparison_is_paired_and_names_what_changed():
    y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], dtype=np.int8)
    first = np.array([[1, 0], [0, 0], [1, 1], [0, 1]], dtype=bool)
    second = np.array([[1, 0], [0, 1], [1, 0], [0, 1]], dtype=bool)
    found = compare(y, first, second, ["a", "b"])
    assert found.differences["micro_f1"].value == 0.0
    assert found.changed == ((2, 0, 1), (1, 1, 0))
    assert found.themes["a"].to_dict() == {"value": 0.0, "low": 0.0, "high": 0.0}
    assert found.better["micro_f1"] == pytest.approx(0.5, abs=0.1)


def test_comparison_with_itself_is_zero_and_undecided():
    y, D = random_case()
    found = compare(y, D, D, THEMES, n_boot=50)
    assert {f.value for f in found.differences.values()} == {0.0}
    assert set(found.better.values()) == {0.5}
    assert found.changed == ()


def test_a_better_second_is_better_in_every_figure():
    y, D = random_case()
    found = compare(y, D, y == 1, THEMES, names=("rules", "model"))
    assert found.differences["micro_f1"].low > 0
    assert found.differences["hamming_loss"].high < 0
    assert found.better["micro_f1"] == found.better["hamming_loss"] == 1.0
    json.dumps(found.to_dict(), allow_nan=False)


def test_groups_are_measured_apart_and_a_record_may_be_in_several():
    y = np.array([[1], [1], [0]], dtype=np.int8)
    D = np.array([[True], [False], [False]])
    groups = evaluate_groups(y, D, [("2024",), ("2024", "x"), ()], n_boot=20)
    assert [(g.value, g.n_records, g.n_labels) for g in groups] == [
        ("2024", 2, 2),
        ("x", 1, 1),
    ]
    assert groups[0].figures["micro_f1"].value == pytest.approx(2 / 3)
    assert groups[1].figures["exact_match"].value == 0.0


def test_abstained_records_are_given_no_tag_on_either_side():
    y = np.array([[1], [0]], dtype=np.int8)
    D = np.ones((2, 1), dtype=bool)
    silent = np.array([False, True])
    found = compare(y, D, D, ["a"], abstained=(None, silent), n_boot=10)
    assert found.differences["micro_precision"].value == 0.5
    assert found.changed == ((1, 1, 0),)
    groups = evaluate_groups(y, D, [("x",)] * 2, abstained=silent, n_boot=10)
    assert groups[0].figures["exact_match"].value == 1.0


def test_arrays_of_other_shapes_are_not_compared():
    y, D = random_case()
    with pytest.raises(ValueError, match=r"'second': \(120, 3\)"):
        compare(y, D, D[:, :3], THEMES)
