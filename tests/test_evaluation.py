"""Evaluation: exact small cases, scikit-learn where it defines them, and lies."""

import json

import numpy as np
import pytest
from sklearn import metrics

from tagger.definitions import DEFINITIONS, WITHOUT_INTERVAL
from tagger.errors import RecordError
from tagger.evaluation import evaluate

THEMES = ("optimizers", "llm-serving", "llm-agents", "remote-sensing")


def value(evaluation, name):
    return evaluation.overall[name].value


def random_case(seed=0, n=120, k=4):
    rng = np.random.default_rng(seed)
    y = (rng.random((n, k)) < 0.2).astype(np.int8)
    # Two decimals, so that equal probabilities occur.
    P = np.round(np.clip(0.5 * y + rng.random((n, k)) * 0.6, 0, 1), 2)
    return y, P, P >= 0.5


def test_a_false_theme_in_every_record_is_never_perfect():
    y = np.array([[1, 0], [1, 0], [1, 0]], dtype=np.int8)
    result = evaluate(y, np.ones(y.shape), y >= 0, ["right", "false"])
    assert value(result, "micro_f1") == pytest.approx(2 * 3 / (2 * 3 + 3))
    assert value(result, "macro_f1") == 0.5
    assert value(result, "weighted_f1") == 0.5
    assert value(result, "samples_f1") == pytest.approx(2 / 3)
    assert value(result, "exact_match") == 0.0
    assert result.themes[1].f1.value == 0.0
    assert metrics.f1_score(y, y >= 0, average="weighted", zero_division=0) == 1.0


def test_perfect_answers_with_unlabelled_records_are_perfect():
    y = np.array([[1, 0], [0, 0], [0, 0], [0, 0]], dtype=np.int8)
    result = evaluate(y, y.astype(float), y == 1, ["a", "b"])
    assert value(result, "samples_f1") == 1.0
    assert value(result, "exact_match") == 1.0
    sklearn_says = metrics.f1_score(y, y, average="samples", zero_division=0)
    assert sklearn_says == 0.25


@pytest.mark.parametrize("seed", range(4))
def test_figures_equal_scikit_learn(seed):
    y, P, D = random_case(seed)
    result = evaluate(y, P, D, THEMES, n_boot=2)
    for average in ("micro", "macro", "weighted"):
        expected = metrics.f1_score(y, D, average=average)
        assert value(result, f"{average}_f1") == pytest.approx(expected)
    for average in ("micro", "macro"):
        for name, score in (
            ("precision", metrics.precision_score),
            ("recall", metrics.recall_score),
        ):
            expected = score(y, D, average=average)
            assert value(result, f"{average}_{name}") == pytest.approx(expected)
    expected = metrics.f1_score(y, D, average="samples", zero_division=1.0)
    assert value(result, "samples_f1") == pytest.approx(expected)
    assert value(result, "exact_match") == pytest.approx(metrics.accuracy_score(y, D))
    expected = metrics.hamming_loss(y, D)
    assert value(result, "hamming_loss") == pytest.approx(expected)
    expected = metrics.average_precision_score(y, P, average="macro")
    assert value(result, "macro_average_precision") == pytest.approx(expected)
    some = y.any(axis=1)
    expected = metrics.label_ranking_average_precision_score(y[some], P[some])
    assert value(result, "ranking_average_precision") == pytest.approx(expected)
    expected = metrics.brier_score_loss(y.ravel(), P.ravel())
    assert value(result, "brier") == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(4))
def test_theme_figures_equal_scikit_learn(seed):
    y, P, D = random_case(seed)
    result = evaluate(y, P, D, THEMES, n_boot=2)
    expected = metrics.precision_recall_fscore_support(y, D)
    found = [
        (t.precision.value, t.recall.value, t.f1.value, t.support)
        for t in result.themes
    ]
    np.testing.assert_allclose(np.array(found).T, expected)
    expected = metrics.average_precision_score(y, P, average=None)
    found = [t.average_precision.value for t in result.themes]
    np.testing.assert_allclose(found, expected)


def test_unsure_pairs_are_left_out_of_every_count():
    y = np.array([[1, -1], [0, 1], [-1, 0]], dtype=np.int8)
    D = np.array([[1, 1], [0, 1], [1, 0]], dtype=bool)
    P = np.array([[0.9, 0.8], [0.1, 0.7], [0.6, 0.2]])
    result = evaluate(y, P, D, ["a", "b"])
    assert value(result, "micro_f1") == 1.0
    assert value(result, "exact_match") == 1.0
    assert value(result, "samples_f1") == 1.0
    assert value(result, "hamming_loss") == 0.0
    assert value(result, "macro_average_precision") == 1.0
    brier = (0.1**2 + 0.1**2 + 0.3**2 + 0.2**2) / 4
    assert value(result, "brier") == pytest.approx(brier)
    assert [t.unsure for t in result.themes] == [1, 1]
    assert (result.n_labels, result.n_unlabelled, result.n_unsure) == (2, 1, 2)


def test_decisions_on_unsure_pairs_change_nothing():
    y, P, D = random_case(5)
    y[::7] = -1
    flipped = np.where(y == -1, ~D, D)
    one, two = (evaluate(y, P, d, THEMES, n_boot=20) for d in (D, flipped))
    assert one.to_dict() == two.to_dict()


def test_precision_at_k_is_over_records_with_a_label():
    y = np.array([[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]], dtype=np.int8)
    P = np.array([[0.9, 0.1, 0.8, 0.2], [0.9, 0.8, 0.1, 0.0], [0.9, 0.1, 0.1, 0.1]])
    result = evaluate(y, P, P >= 0.5, THEMES)
    assert value(result, "precision_at_1") == 0.5
    assert value(result, "precision_at_3") == pytest.approx((2 / 3 + 1 / 3) / 2)


def test_calibration_error_of_hand_computed_bins():
    y = np.array([[1], [0], [1], [0]], dtype=np.int8)
    P = np.array([[0.95], [0.93], [0.12], [0.14]])
    result = evaluate(y, P, P >= 0.5, ["a"])
    # Four pairs in fifteen bins: each has its own.
    apart = (0.05 + 0.93 + 0.88 + 0.14) / 4
    assert value(result, "calibration_error") == pytest.approx(apart)


def test_calibration_error_groups_equally_many_pairs():
    y = np.tile(np.array([[1], [0]], dtype=np.int8), (15, 1))
    P = np.repeat(np.linspace(0.3, 0.9, 15), 2)[:, None]
    result = evaluate(y, P, P >= 0.5, ["a"])
    expected = np.abs(np.linspace(0.3, 0.9, 15) - 0.5).mean()
    assert value(result, "calibration_error") == pytest.approx(expected)


def test_calibration_error_leans_upward_and_so_has_no_interval():
    rng = np.random.default_rng(0)
    P = rng.random((200, 4))
    y = (rng.random(P.shape) < P).astype(np.int8)
    figure = evaluate(y, P, P >= 0.5, THEMES, n_boot=50).overall["calibration_error"]
    # These probabilities are calibrated by construction; the error is 0.
    assert figure.value > 0.01
    assert np.isnan(figure.low)
    assert np.isnan(figure.high)
    assert "no interval" in DEFINITIONS["calibration_error"]


def test_certain_and_right_probabilities_have_no_calibration_error():
    y, _, _ = random_case()
    result = evaluate(y, y.astype(float), y == 1, THEMES, n_boot=5)
    for name in ("calibration_error", "brier"):
        assert value(result, name) == 0.0


def test_abstained_records_count_as_given_no_tag():
    y = np.array([[1], [1], [0], [0]], dtype=np.int8)
    D = np.array([[True], [True], [True], [False]])
    abstained = np.array([False, True, True, False])
    result = evaluate(y, D.astype(float), D, ["a"], abstained=abstained)
    assert value(result, "coverage") == 0.5
    assert value(result, "micro_recall") == 0.5
    assert value(result, "micro_precision") == 1.0
    assert result.n_abstained == 2
    assert value(result, "exact_match") == 0.75
    assert (result.themes[0].given, result.themes[0].right) == (1, 1)


def test_themes_with_neither_label_nor_tag_are_undefined_and_not_in_the_mean():
    y = np.array([[1, 0], [0, 0]], dtype=np.int8)
    result = evaluate(y, y.astype(float), y == 1, ["a", "b"])
    assert value(result, "macro_f1") == 1.0
    written = result.to_dict()["themes"][1]
    assert written["f1"] == {"value": None, "low": None, "high": None}
    assert written["recall"]["value"] is None


def test_baselines_stand_beside_the_figures():
    y = np.array([[1, 0], [1, 1], [0, 0]], dtype=np.int8)
    mine = {"keywords": y == 1}
    result = evaluate(y, y.astype(float), y == 1, ["a", "b"], baselines=mine)
    assert result.baselines["nothing"]["micro_f1"] == 0.0
    assert result.baselines["nothing"]["exact_match"] == pytest.approx(1 / 3)
    assert result.baselines["most frequent theme"]["micro_f1"] == pytest.approx(4 / 6)
    assert result.baselines["keywords"]["micro_f1"] == 1.0


def test_intervals_hold_their_figure_and_depend_only_on_the_seed():
    y, P, D = random_case(1)
    one, two, other = (evaluate(y, P, D, THEMES, seed=s) for s in (0, 0, 1))
    assert one.to_dict() == two.to_dict()
    assert one.overall["micro_f1"] != other.overall["micro_f1"]
    for name in one.overall.keys() - WITHOUT_INTERVAL:
        figure = one.overall[name]
        assert 0 <= figure.low <= figure.value <= figure.high <= 1


def test_no_record_is_an_error():
    empty = np.zeros((0, 4))
    with pytest.raises(RecordError, match=r"no labelled record to evaluate on"):
        evaluate(empty.astype(np.int8), empty, empty.astype(bool), THEMES)


def test_arrays_of_other_shapes_are_refused():
    y, P, D = random_case()
    with pytest.raises(ValueError, match=r"'P': \(120, 3\).*expected \(120, 4\)"):
        evaluate(y, P[:, :3], D, THEMES)
    with pytest.raises(ValueError, match=r"abstained has shape \(3,\)"):
        evaluate(y, P, D, THEMES, abstained=np.zeros(3, dtype=bool))


def test_scores_that_are_no_probabilities_are_refused():
    y, P, D = random_case()
    with pytest.raises(ValueError, match=r"outside \[0, 1\]"):
        evaluate(y, P * 3, D, THEMES)


def test_every_figure_has_a_definition_and_the_whole_is_json():
    y, P, D = random_case()
    written = evaluate(y, P, D, THEMES, n_boot=10).to_dict()
    assert set(written["overall"]) <= set(DEFINITIONS)
    assert all(text.endswith(".") for text in DEFINITIONS.values())
    assert json.loads(json.dumps(written, allow_nan=False)) == written


def test_the_figures_of_the_themes_are_a_pandas_table():
    y = np.array([[1, 0], [1, 1], [0, 0]], np.int8)
    P = np.array([[0.9, 0.1], [0.2, 0.8], [0.1, 0.1]])
    frame = evaluate(y, P, P >= 0.5, ("a", "b"), n_boot=10).to_frame()
    assert frame.index.tolist() == ["a", "b"]
    assert frame["labels"].tolist() == [2, 1]
    assert frame["recall"].tolist() == [0.5, 1.0]


def test_coverage_of_records_tested_more_than_once_stays_a_share():
    y = np.array([[1], [0], [1]], dtype=np.int8)
    units = np.array([0, 0, 1])
    twice = np.array([False, False, True])
    found = evaluate(
        y, y.astype(float), y == 1, ["a"], abstained=twice, units=units, n_boot=200
    ).overall["coverage"]
    assert found.value == pytest.approx(2 / 3)
    assert 0 <= found.low <= found.value <= found.high <= 1
    judged = np.zeros(3, bool)
    whole = evaluate(
        y, y.astype(float), y == 1, ["a"], abstained=judged, units=units, n_boot=200
    ).overall["coverage"]
    # Wilson's interval of 2 of 2: no resample says anything but 1.
    assert whole.low == pytest.approx(2 / (2 + 1.96**2), abs=1e-3)


def test_a_theme_of_one_label_or_none_is_too_few_to_tell():
    y = np.array([[1, 0, 1], [0, 0, 1]], dtype=np.int8)
    one, none, two = evaluate(y, y * 0.5, y >= 0, ["a", "b", "c"]).themes
    assert np.isnan([one.recall.low, one.average_precision.low, none.f1.low]).all()
    assert (one.recall.value, none.f1.value) == (1.0, 0.0)
    known = (one.precision, one.f1, two.recall, two.f1, two.average_precision)
    assert not np.isnan([figure.low for figure in known]).any()
