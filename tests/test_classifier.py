"""Logistic regression around a prior, against its definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix

from tagger.classifier import LinearModel, fit_logistic, sigmoid


@pytest.fixture
def problem():
    """Give 60 records of 5 features, and labels for 2 themes."""
    random = np.random.default_rng(3)
    X = random.normal(size=(60, 5)).astype(np.float32)
    z = X @ random.normal(size=(5, 2)) + [0.5, -1.0]
    y = (random.random((60, 2)) < 1 / (1 + np.exp(-z))).astype(np.float32)
    return X, y


def fit(X, y, *, importance=None, penalty=0.7, offset=None, tolerance=1e-5):
    return fit_logistic(
        [X],
        y,
        np.ones_like(y) if importance is None else importance,
        [penalty],
        np.zeros_like(y) if offset is None else offset,
        tolerance=tolerance,
    )


def gradient(X, y, importance, penalty, offset, model):
    """Give the gradient of the loss, written down anew."""
    w, b = model.weights[0].astype(float), model.intercept
    p = 1 / (1 + np.exp(-(X @ w + b + offset)))
    error = importance * (p - y)
    return np.vstack([X.T @ error + penalty * w, error.sum(0) + 1e-3 * b])


def test_sigmoid_of_known_logits():
    logits = np.array([0.0, np.log(3), -np.log(3), 1000, -1000])
    assert_allclose(sigmoid(logits), [0.5, 0.75, 0.25, 1, 0], atol=1e-15)


def test_logits_are_the_sum_over_blocks_and_the_intercept():
    model = LinearModel([np.array([[1.0], [2.0]]), np.array([[10.0]])], np.array([0.5]))
    blocks = [csr_matrix([[1.0, 1.0], [0.0, 3.0]]), np.array([[1.0], [0.0]])]
    assert_array_equal(model.logits(blocks), [[13.5], [6.5]])


@pytest.mark.parametrize("sparse", [False, True])
def test_the_optimum_is_that_of_scikit_learn(problem, sparse):
    from sklearn.linear_model import LogisticRegression

    X, y = problem
    model = fit(csr_matrix(X) if sparse else X, y)
    for column in range(2):
        wanted = LogisticRegression(C=1 / 0.7, tol=1e-10, max_iter=1000)
        wanted.fit(X, y[:, column])
        assert_allclose(model.weights[0][:, column], wanted.coef_[0], atol=1e-3)
        assert_allclose(model.intercept[column], wanted.intercept_[0], atol=1e-3)


def test_the_gradient_at_the_optimum_is_nothing(problem):
    X, y = problem
    random = np.random.default_rng(0)
    soft = 0.1 + 0.8 * y
    importance = random.uniform(0.1, 2, y.shape).astype(np.float32)
    offset = random.normal(size=y.shape).astype(np.float32)
    model = fit(X, soft, importance=importance, offset=offset)
    left = gradient(X, soft, importance, 0.7, offset, model)
    assert_allclose(left, 0, atol=5e-3)


def test_soft_targets_weigh_like_shares_of_both_labels(problem):
    X, y = problem
    soft = fit(X, np.full_like(y, 0.25))
    share = np.repeat([[0.75], [0.25]], len(y), axis=0)
    hard = fit(
        np.vstack([X, X]),
        np.repeat([[0.0, 0], [1, 1]], len(y), axis=0),
        importance=np.hstack([share, share]),
    )
    assert_allclose(soft.weights[0], hard.weights[0], atol=2e-3)
    assert_allclose(soft.intercept, hard.intercept, atol=2e-3)


def test_importance_0_is_leaving_out(problem):
    X, y = problem
    importance = np.ones_like(y)
    importance[40:, 0] = 0
    importance[:10, 1] = 0
    wrong = np.where(importance == 0, 1 - y, y)
    model = fit(X, wrong, importance=importance)
    first, second = fit(X[:40], y[:40]), fit(X[10:], y[10:])
    assert_allclose(model.weights[0][:, 0], first.weights[0][:, 0], atol=1e-3)
    assert_allclose(model.weights[0][:, 1], second.weights[0][:, 1], atol=1e-3)
    assert_allclose(
        model.intercept, [first.intercept[0], second.intercept[1]], atol=1e-3
    )


def test_blocks_have_their_own_penalty(problem):
    X, y = problem
    ones, zeros = np.ones_like(y), np.zeros_like(y)
    parted = fit_logistic([X[:, :2], X[:, 2:]], y, ones, [1.0, 100.0], zeros)
    whole = fit(X, y, penalty=1.0)
    assert [w.shape for w in parted.weights] == [(2, 2), (3, 2)]
    assert np.abs(parted.weights[1]).sum() < 0.2 * np.abs(whole.weights[0][2:]).sum()


@pytest.mark.parametrize("n", [0, 6])
def test_without_a_label_the_prior_is_kept(n):
    X = np.ones((n, 3), np.float32)
    y = np.zeros((n, 2), np.float32)
    model = fit(X, y, importance=np.zeros_like(y), offset=y + 2)
    assert_array_equal(model.weights[0], np.zeros((3, 2)))
    assert_array_equal(model.intercept, [0, 0])


def test_a_prior_that_fits_is_hardly_moved(problem):
    X, y = problem
    sure = np.where(y == 1, 12, -12).astype(np.float32)
    model = fit(X, y, offset=sure)
    assert np.abs(model.weights[0]).max() < 0.01


@pytest.mark.parametrize("label", [0, 1])
def test_a_theme_with_one_kind_of_label_stays_finite(problem, label):
    X, y = problem
    model = fit(X, np.full_like(y, label))
    p = sigmoid(model.logits([X]))
    assert np.isfinite(model.intercept).all()
    assert (np.abs(p - label) < 0.05).all()


def test_themes_do_not_disturb_each_other(problem):
    X, y = problem
    both, alone = fit(X, y), fit(X, y[:, :1])
    assert_array_equal(both.weights[0][:, :1], alone.weights[0])


def test_a_theme_is_fitted_the_same_by_any_number_of_jobs(problem):
    X, y = problem
    zeros = np.zeros_like(y)
    one, two = (
        fit_logistic([X], y, zeros + 1, [0.7], zeros, jobs=jobs) for jobs in (1, 2)
    )
    assert_array_equal(one.weights[0], two.weights[0])
    assert_array_equal(one.intercept, two.intercept)


def test_of_many_others_some_count_for_all():
    X = np.zeros((1000, 1), np.float32)
    X[:10] = 1
    y = X.copy()
    ones, zeros = np.ones_like(y), np.zeros_like(y)
    wanted = fit_logistic([X], y, ones, [0.7], zeros)
    found = fit_logistic([X], y, ones, [0.7], zeros, telling=y == 1, most_others=100)
    # The others are all alike here, so that a tenth of them says the same.
    assert_allclose(found.weights[0], wanted.weights[0], rtol=1e-4)
    assert_allclose(found.intercept, wanted.intercept, rtol=1e-4)


def test_few_others_are_all_looked_at(problem):
    X, y = problem
    ones, zeros = np.ones_like(y), np.zeros_like(y)
    wanted = fit_logistic([X], y, ones, [0.7], zeros)
    found = fit_logistic([X], y, ones, [0.7], zeros, telling=y == 1, most_others=len(y))
    assert_array_equal(found.weights[0], wanted.weights[0])


@pytest.mark.parametrize("away", [0.0, 0.5])
def test_where_the_work_begins_does_not_change_where_it_ends(problem, away):
    X, y = problem
    ones, zeros = np.ones_like(y), np.zeros_like(y)
    whole = fit(X, y)
    start = LinearModel([whole.weights[0] + away], whole.intercept - away)
    again = fit_logistic([X], y, ones, [0.7], zeros, tolerance=1e-5, start=start)
    assert_allclose(again.weights[0], whole.weights[0], atol=1e-3)
    assert_allclose(again.intercept, whole.intercept, atol=1e-3)
