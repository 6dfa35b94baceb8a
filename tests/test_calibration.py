"""Calibration and thresholds, by hand and by their effect."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from tagger.calibration import Calibration, Target, calibrate, tune_thresholds
from tagger.classifier import sigmoid


def column(values, dtype=float):
    return np.array(values, dtype)[:, None]


def cut_at(p, y, target=None):
    """Give the threshold of one theme with so many positives that none is shrunk."""
    p, y = np.tile(p, 20_000), np.tile(y, 20_000)
    return float(tune_thresholds(column(p), column(y, np.int8), target)[0])


def log_loss(P, y):
    return float(-np.log(np.where(y == 1, P, 1 - P)).mean())


@pytest.fixture
def overconfident():
    """Give logits three times too large and shifted, and labels of 3 themes."""
    random = np.random.default_rng(1)
    true = random.normal(-1, 1.5, (2000, 3))
    y = (random.random(true.shape) < sigmoid(true)).astype(np.int8)
    return 3 * true + [2.0, 0.0, -3.0], y


def test_a_calibration_is_a_slope_and_a_shift_a_theme():
    calibration = Calibration(np.array([2.0, 1.0]), np.array([0.0, -1.0]))
    P = calibration.apply(np.array([[0.0, 1.0], [np.log(3) / 2, 1.0]]))
    assert_allclose(P, [[0.5, 0.5], [0.75, 0.5]])


def test_calibration_lowers_log_loss_and_brier_score(overconfident):
    logits, y = overconfident
    half = len(y) // 2
    before = sigmoid(logits[half:])
    after = calibrate(logits[:half], y[:half]).apply(logits[half:])
    for k in range(3):
        assert log_loss(after[:, k], y[half:, k]) < log_loss(before[:, k], y[half:, k])
    label = y[half:]
    assert ((after - label) ** 2).mean() < ((before - label) ** 2).mean()


def test_calibration_finds_the_slope_and_shift_that_were_put_in(overconfident):
    calibration = calibrate(*overconfident)
    assert_allclose(calibration.slope, 1 / 3, atol=0.07)
    assert_allclose(calibration.shift, [-2 / 3, 0, 1], atol=0.4)


def test_calibrated_probabilities_keep_the_order(overconfident):
    logits, y = overconfident
    P = calibrate(logits, y).apply(logits)
    for k in range(3):
        assert_array_equal(np.argsort(P[:, k]), np.argsort(logits[:, k]))


def test_pairs_left_out_do_not_count(overconfident):
    logits, y = overconfident
    y = y.copy()
    y[::3] = -1
    strange = logits.copy()
    strange[::3] = 99
    one, other = calibrate(logits, y), calibrate(strange, y)
    assert_array_equal(one.slope, other.slope)
    assert_array_equal(one.shift, other.shift)
    P = sigmoid(logits)
    assert_array_equal(tune_thresholds(P, y), tune_thresholds(sigmoid(strange), y))


def test_a_theme_without_positives_leans_on_the_others(overconfident):
    logits, y = overconfident
    y = y.copy()
    y[:, 1] = 0
    y[20:, 1] = -1
    calibration = calibrate(logits, y)
    assert 0.2 < calibration.slope[1] < 0.6


@pytest.mark.parametrize("label", [0, -1])
def test_without_any_positive_nothing_is_changed(label):
    y = np.full((4, 2), label, np.int8)
    calibration = calibrate(np.ones((4, 2)), y)
    assert calibration.slope.tolist() == [1, 1]
    assert calibration.shift.tolist() == [0, 0]
    assert tune_thresholds(np.full((4, 2), 0.3), y).tolist() == [0.5, 0.5]


@given(
    arrays(float, (6, 2), elements=st.floats(-700, 700)),
    arrays(np.int8, (6, 2), elements=st.integers(-1, 1)),
)
def test_calibration_stays_finite_whatever_the_logits(logits, y):
    calibration = calibrate(logits, y)
    assert np.isfinite(calibration.shift).all()
    assert (calibration.slope > 0).all()
    P = calibration.apply(logits)
    assert ((P >= 0) & (P <= 1)).all()
    thresholds = tune_thresholds(P, y)
    assert ((thresholds > 0) & (thresholds < 1)).all()


@pytest.mark.parametrize(
    ("p", "y", "target", "wanted"),
    [
        # F1 after 1, 2, 3, 4 tags: 2/3, 1, 4/5, 4/6.
        ([0.9, 0.8, 0.4, 0.1], [1, 1, 0, 0], None, 0.6),
        # 2/4, 2/5, 4/6, 6/7: all of them.
        ([0.9, 0.8, 0.4, 0.2], [1, 0, 1, 1], None, 0.1),
        # Of equals, all or none: one label among the three at 0.5.
        ([0.9, 0.5, 0.5, 0.5], [1, 1, 0, 0], None, 0.7),
        # The lowest cut with precision 2/3: behind the fourth (3 of 4).
        ([0.9, 0.8, 0.7, 0.6, 0.2], [1, 0, 1, 1, 0], Target(min_precision=2 / 3), 0.4),
        ([0.9, 0.8, 0.7, 0.6], [1, 1, 0, 0], Target(min_precision=1.0), 0.75),
        # The highest cut with recall 1/2, and with all.
        ([0.9, 0.8, 0.6, 0.2], [1, 0, 1, 0], Target(min_recall=0.5), 0.85),
        ([0.9, 0.8, 0.6, 0.2], [1, 0, 1, 0], Target(min_recall=1.0), 0.4),
        # Ties: one label of two among equals takes both.
        ([0.9, 0.6, 0.6, 0.2], [0, 1, 0, 0], Target(min_recall=1.0), 0.4),
        # A precision that cannot be had: nothing is given.
        ([0.9, 0.9, 0.5], [1, 0, 0], Target(min_precision=0.8), 0.95),
    ],
)
def test_a_threshold_by_hand(p, y, target, wanted):
    assert cut_at(p, y, target) == pytest.approx(wanted, abs=1e-3)


def test_few_positives_shrink_a_threshold_towards_a_half():
    P, y = column([0.9, 0.8, 0.4, 0.1]), column([1, 1, 0, 0], np.int8)
    # The best cut is 0.6. Two positives hold it against forty: the common
    # threshold keeps 1/21 of its logit; against eighty: the theme has 1/41 of its
    # own, and 40/41 of that.
    logit = np.log(0.6 / 0.4) * (1 / 41 + 40 / 41 * 1 / 21)
    assert tune_thresholds(P, y)[0] == pytest.approx(sigmoid(np.array(logit)))


def test_the_order_of_records_does_not_move_thresholds():
    random = np.random.default_rng(0)
    P = random.random((50, 2)).round(1)
    y = (random.random((50, 2)) < P).astype(np.int8)
    order = random.permutation(50)
    assert_allclose(tune_thresholds(P, y), tune_thresholds(P[order], y[order]))


def test_a_theme_with_few_positives_leans_on_the_common_threshold():
    rare = [0.2] + [0.05] * 99  # alone: a cut at 0.125
    common = [0.9] * 50 + [0.3] * 50  # alone: a cut at 0.6
    y = np.zeros((100, 2), np.int8)
    y[0, 0] = 1
    y[:50, 1] = 1
    low, high = tune_thresholds(np.array([rare, common]).T, y)
    assert 0.4 < low < high < 0.6


def test_more_precision_asks_for_a_higher_threshold():
    random = np.random.default_rng(5)
    P = random.random((300, 2))
    y = (random.random((300, 2)) < P).astype(np.int8)
    cuts = [tune_thresholds(P, y, Target(min_precision=p)) for p in (0.5, 0.7, 0.9)]
    assert (cuts[0] < cuts[1]).all()
    assert (cuts[1] < cuts[2]).all()


def test_few_records_that_part_perfectly_do_not_make_the_model_certain():
    y = column([1, 1, 1, 0, 0, 0, 0], np.int8)
    calibration = calibrate(np.where(y == 1, 3.0, -3.0), y)
    P = calibration.apply(np.array([[3.0], [0.0], [-3.0]]))
    assert 0.9 < P[0, 0] < 0.9999
    assert 0.0001 < P[2, 0] < 0.1


def test_two_targets_at_once_are_refused():
    with pytest.raises(ValueError, match="both min_precision and min_recall; give"):
        Target(0.9, 0.9)
