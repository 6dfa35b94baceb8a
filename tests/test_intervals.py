"""Intervals: Wilson's, for as many trials as the bootstrap finds."""

import numpy as np
import pytest

from tagger.intervals import (
    bootstrap_figure,
    difference_figure,
    mean_figure,
    unseen_variance,
    weightings,
)


def test_a_perfect_figure_of_few_trials_is_not_certain():
    # Wilson's interval of 8 out of 8 begins at 8 / (8 + 1.96 squared).
    figure = bootstrap_figure(np.ones(100), trials=8)
    assert figure.low == pytest.approx(8 / (8 + 1.96**2), abs=1e-4)
    assert figure.high == 1.0


def test_the_interval_of_a_share_of_records_is_wilsons():
    hits = np.repeat([1.0, 0.0], [30, 70])
    draws = weightings(100, 20_000, seed=0) @ hits / 100
    figure = bootstrap_figure(draws, trials=100)
    # 30 of 100, from the closed form.
    assert (figure.low, figure.high) == pytest.approx((0.2189, 0.3958), abs=2e-3)


def test_undefined_draws_are_passed_over_and_an_undefined_figure_has_no_interval():
    draws = np.array([0.5, 0.4, np.nan, 0.6])
    assert bootstrap_figure(draws, 10) == bootstrap_figure(draws[[0, 1, 3]], 10)
    for figure in (bootstrap_figure, lambda draws, _: difference_figure(draws)):
        found = figure(np.array([np.nan, 0.5]), 10)
        assert found.to_dict() == {"value": None, "low": None, "high": None}


def test_a_difference_has_the_quantiles_of_its_resamples():
    draws = np.concatenate([[0.5], np.linspace(0, 1, 41)])
    found = difference_figure(draws)
    assert (found.low, found.high) == pytest.approx((0.025, 0.975))


def test_weightings_begin_with_all_ones_and_draw_as_many_records():
    weights = weightings(7, 50, seed=1)
    assert weights.shape == (51, 7)
    assert weights[0].tolist() == [1.0] * 7
    assert set(weights.sum(axis=1)) == {7.0}
    assert (weights == weightings(7, 50, seed=1)).all()
    assert (weights != weightings(7, 50, seed=2)).any()


def test_rows_of_one_record_are_drawn_together():
    weights = weightings(5, 50, 0, np.array([7, 3, 7, 3, 9]))
    assert np.array_equal(weights[:, 0], weights[:, 2])
    assert np.array_equal(weights[:, 1], weights[:, 3])
    assert (weights[0] == 1).all()
    assert np.array_equal(weights[:, [1, 0, 4]], weightings(3, 50, 0))


def test_a_theme_that_happens_to_be_all_right_still_makes_the_mean_uncertain():
    draws = np.array([[0.5, 1.0], [0.4, 1.0], [0.6, 1.0]])
    own = bootstrap_figure(draws[:, 1], 10)
    expected = ((own.high - own.low) / 2 / 1.959964) ** 2 / 3 / 4
    noisy = unseen_variance(np.array([[1.0, np.nan], [1.0, np.nan]]), np.array([10, 0]))
    assert noisy == pytest.approx(4 * expected)
    assert unseen_variance(draws, np.array([10.0, 10.0])) >= expected


def test_variance_that_no_resample_shows_widens_an_interval():
    draws = np.array([0.5, 0.4, 0.6])
    plain, wide = bootstrap_figure(draws, 10), bootstrap_figure(draws, 10, 0.01)
    assert wide.low < plain.low
    assert plain.high < wide.high
    assert wide.value == plain.value


def test_a_mean_leans_to_the_side_where_its_resamples_have_their_tail():
    sample = np.array([0.3] * 8 + [0.4, 0.5])
    figure = mean_figure(np.array([0.33, *sample]), 1000, step=1 / 3)
    assert figure.high - 0.33 > 0.33 - figure.low
    assert np.isnan(mean_figure(np.array([np.nan, 0.5]), 10, step=0.5).low)


def test_a_handful_of_equal_records_is_no_proof_that_all_are_equal():
    figure = mean_figure(np.array([0.5, 0.5, 0.5]), 8, step=0.5)
    half = 1.959964 * (2 * 0.25 / (8 * 10)) ** 0.5
    assert (figure.low, figure.high) == pytest.approx((0.5 - half, 0.5 + half))
