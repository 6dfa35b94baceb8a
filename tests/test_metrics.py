"""Figures under many weightings of the records, and what counts as given."""

import numpy as np
import pytest
from sklearn import metrics

from tagger.errors import RecordError
from tagger.intervals import weightings
from tagger.metrics import (
    check_arrays,
    decision_figures,
    probability_figures,
    tags_given,
    trials,
)

Y = np.array([[1, 0], [1, 1], [0, -1]], dtype=np.int8)
D = np.array([[True, True], [False, True], [True, True]])


def test_a_record_that_was_not_judged_is_given_no_tag_and_unsure_pairs_none():
    given = tags_given(Y, D, np.array([False, True, False]))
    assert given.tolist() == [[True, True], [False, False], [True, False]]
    assert tags_given(Y, D).tolist() == [[True, True], [False, True], [True, False]]


def test_abstained_must_hold_a_value_a_record():
    with pytest.raises(ValueError, match=r"abstained has shape \(3, 2\); expected"):
        tags_given(Y, D, D)


def test_a_record_that_weighs_two_counts_twice():
    weights = np.array([[1.0, 1.0, 1.0], [0.0, 2.0, 0.0]])
    per_theme, overall = decision_figures(Y, tags_given(Y, D), weights)
    np.testing.assert_equal(per_theme["precision"], [[0.5, 0.5], [np.nan, 1.0]])
    np.testing.assert_equal(per_theme["recall"], [[0.5, 1.0], [0.0, 1.0]])
    assert overall["micro_f1"].tolist() == [4 / 7, 2 / 3]
    assert overall["exact_match"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("micro_precision", 4),
        ("macro_recall", 3),
        ("micro_f1", 5),
        ("precision_at_1", 2),
        ("ranking_average_precision", 2),
        ("exact_match", 3),
        ("macro_average_precision", 3),
    ],
)
def test_trials_are_tags_labels_or_records(name, count):
    assert trials(name, Y, tags_given(Y, D)) == count


def test_all_pairs_unsure_leaves_the_figures_undefined():
    y, P = np.full((2, 1), -1, dtype=np.int8), np.full((2, 1), 0.5)
    _, overall = probability_figures(y, P, np.ones((1, 2)))
    assert all(np.isnan(draws).all() for draws in overall.values())


def test_no_record_and_other_shapes_are_refused():
    with pytest.raises(RecordError, match=r"no labelled record to evaluate on"):
        check_arrays(Y[:0], 2, D=D[:0])
    with pytest.raises(ValueError, match=r"'D': \(3, 1\)}; expected \(3, 2\) for all"):
        check_arrays(Y, 2, D=D[:, :1])


def test_average_precision_of_a_resample_equals_scikit_learn_with_weights():
    rng = np.random.default_rng(3)
    y = (rng.random((120, 4)) < 0.2).astype(np.int8)
    # Two decimals, so that equal probabilities occur.
    P = np.round(np.clip(0.5 * y + rng.random((120, 4)) * 0.6, 0, 1), 2)
    weights = weightings(len(y), 5, seed=1)
    per_theme, _ = probability_figures(y, P, weights)
    expected = [
        [
            metrics.average_precision_score(y[:, j], P[:, j], sample_weight=w)
            for j in range(y.shape[1])
        ]
        for w in weights
    ]
    np.testing.assert_allclose(per_theme["average_precision"], expected)


@pytest.mark.parametrize("decimals", [1, 8])
def test_the_calibration_error_is_that_of_bins_of_equal_size(decimals):
    random = np.random.default_rng(0)
    P = random.random((40, 3)).round(decimals)
    y = random.integers(-1, 2, P.shape).astype(np.int8)
    known = y >= 0
    below = (P[known][:, None] > P[known]).sum(axis=1)
    bins = below * 15 // known.sum()
    gap = (P - y)[known]
    wanted = sum(abs(gap[bins == b].sum()) for b in range(15)) / known.sum()
    _, overall = probability_figures(y, P, np.ones((1, len(y))))
    assert overall["calibration_error"][0] == pytest.approx(wanted)
