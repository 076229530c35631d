"""Gaussian-process regression: against scikit-learn, Bayesian linear regression, refits from scratch, and brute force."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from sklearn.gaussian_process import GaussianProcessRegressor, kernels as sk

from tests.models.differences import slopes
from tests.models.linear_kernel import Linear
from xstar.models.gp import Posterior, fit, log_posterior, negative_log_posterior, sample_fits
from xstar.models.gp_prior import GPPrior, Inputs, Plain, at_full_budget, over_budgets
from xstar.models.kernels import Stationary
from xstar.models.linalg import NotPositiveDefinite, backward, cholesky, forward
from xstar.models.priors import Prior

Array = NDArray[np.float64]

WIDE = Prior(0.0, 3.0, -20.0, 20.0)
INPUTS = Inputs((0, 1, 2), ("a", "b", "c"))
LENGTHS, SCALE, NOISE, MEAN = np.array([0.3, 0.8, 1.5]), 1.7, 0.02, 0.4


def stationary(shape: str) -> Plain:
    return Plain(Stationary(shape, INPUTS.groups, INPUTS.labels), (WIDE,) * 4, WIDE)


def at(noise: float = NOISE) -> Array:
    return np.concatenate([[MEAN], np.log(LENGTHS), [np.log(SCALE), np.log(noise)]])


def middle(surrogate: GPPrior) -> Array:
    """The centre of the priors, whatever they are, with some noise."""
    return np.array([*(prior.centre for prior in surrogate.priors[:-1]), np.log(0.01)])


def data(n: int = 25, seed: int = 0) -> tuple[Array, Array, np.random.Generator]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    return X, np.sin(5.0 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.standard_normal(n), rng


def joint_data(n: int = 20, seed: int = 0) -> tuple[Array, Array, np.random.Generator]:
    X, y, rng = data(n, seed)
    budget = rng.choice([1 / 9, 1 / 3, 1.0], n)
    return np.column_stack([X, budget]), y + 1.0 / (1.0 + 5.0 * budget), rng


# ---------------------------------------------------------------- equal hyperparameters, equal answers


@pytest.mark.parametrize("shape", ["matern52", "rbf"])
def test_the_posterior_is_scikit_learns(shape: str) -> None:
    surrogate, theta = stationary(shape), at()
    X, y, rng = data()
    theirs = sk.Matern(LENGTHS, nu=2.5) if shape == "matern52" else sk.RBF(LENGTHS)
    kernel = sk.ConstantKernel(SCALE) * theirs
    peer = GaussianProcessRegressor(kernel, alpha=NOISE + 1e-9 * SCALE, optimizer=None).fit(X, y - MEAN)
    ours = Posterior.of(surrogate, theta, X, y)
    A = rng.random((40, 3))
    mean, covariance = peer.predict(A, return_cov=True)
    found = ours.predict(A)
    assert_allclose(found.mean[:, 0], mean + MEAN, rtol=1e-7, atol=1e-8)
    assert_allclose(found.variance, np.diagonal(covariance), rtol=1e-6, atol=1e-8)
    centre, spread = np.array([(prior.centre, prior.spread) for prior in surrogate.priors]).T
    prior = -0.5 * float((((theta - centre) / spread) ** 2).sum())
    theirs_log = peer.log_marginal_likelihood_value_ + 0.5 * len(y) * np.log(2.0 * np.pi)
    assert -negative_log_posterior(surrogate, theta, X, y)[0] - prior == pytest.approx(theirs_log, rel=1e-7)
    # Joint draws have that mean and that covariance: the identity in place of normal numbers gives the factor itself.
    drawn = ours.sample(A, np.hstack([np.zeros((40, 1)), np.eye(40)]))
    assert_allclose(drawn[:, 0], mean + MEAN, rtol=1e-7, atol=1e-8)
    factor = drawn[:, 1:] - drawn[:, :1]
    assert_allclose(factor @ factor.T, covariance, atol=1e-6)


def test_a_linear_kernel_is_bayesian_linear_regression() -> None:
    X, y, rng = data()
    length, scale = 0.7, 2.0
    surrogate = Plain(Linear(), (WIDE, WIDE), WIDE)
    theta = np.array([MEAN, np.log(length), np.log(scale), np.log(NOISE)])

    def features(A: Array) -> Array:
        return np.hstack([np.ones((len(A), 1)), A / length])

    F = features(X)
    precision = np.eye(4) / scale + F.T @ F / NOISE  # of the weights, whose prior is N(0, s² I)
    weights = np.linalg.solve(precision, F.T @ (y - MEAN) / NOISE)
    A = 3.0 * rng.standard_normal((30, 3))
    found = Posterior.of(surrogate, theta, X, y).predict(A)
    assert_allclose(found.mean[:, 0], MEAN + features(A) @ weights, rtol=1e-5)
    expected = np.einsum("ij,ij->i", features(A), np.linalg.solve(precision, features(A).T).T)
    assert_allclose(found.variance, expected, rtol=1e-4)


def test_both_forms_of_the_posterior_of_theta_agree() -> None:
    surrogate = over_budgets(INPUTS, "decay")
    X, y, rng = joint_data()
    for _ in range(5):
        theta = np.array([prior.centre + 0.3 * prior.spread * rng.standard_normal() for prior in surrogate.priors])
        assert log_posterior(surrogate, theta, X, y) == pytest.approx(
            -negative_log_posterior(surrogate, theta, X, y)[0]
        )


def test_outside_of_the_bounds_the_density_is_zero() -> None:
    surrogate = at_full_budget(INPUTS)
    X, y, _ = data()
    centre = np.array([prior.centre for prior in surrogate.priors])
    for place, prior in enumerate(surrogate.priors):
        for value in (prior.low - 1e-6, prior.high + 1e-6):
            theta = centre.copy()
            theta[place] = value
            assert log_posterior(surrogate, theta, X, y) == -np.inf
        for value in (prior.low, prior.high):
            theta = centre.copy()
            theta[place] = value
            assert np.isfinite(log_posterior(surrogate, theta, X, y))


def test_predict_and_means_agree_and_noise_shrinks_to_the_data() -> None:
    X, y, rng = data()
    posterior = Posterior.of(stationary("matern52"), at(noise=1e-8), X, y)
    A = rng.random((50, 3))
    assert_allclose(posterior.means(A), posterior.predict(A).mean, rtol=1e-10)
    assert_allclose(posterior.means(X)[:, 0], y, atol=1e-4)
    assert posterior.predict(X).variance.max() < 1e-6
    assert (posterior.predict(np.vstack([X, A])).variance > 0.0).all()


# ---------------------------------------------------------------- gradients


@pytest.mark.parametrize("name", ["flat", "decay", "matern"])
def test_gradient_of_a_prediction(name: str) -> None:
    flat = name == "flat"
    surrogate: GPPrior = at_full_budget(INPUTS) if flat else over_budgets(INPUTS, name)
    X, y, rng = data() if flat else joint_data()
    theta = middle(surrogate)
    posterior = Posterior.of(surrogate, theta, X, y).extended(X[:3] * 0.9, np.empty(0), rng.standard_normal((3, 4)))
    A = np.column_stack([0.05 + 0.9 * rng.random((6, 3)), *([] if flat else [np.full(6, 1 / 3)])])
    w_mean, w_variance = rng.standard_normal((6, 4)), rng.standard_normal(6)

    def weighed(rows: Array) -> float:
        found = posterior.predict(rows)
        return float(np.vdot(w_mean, found.mean) + w_variance @ found.variance)

    given = posterior.predict(A).gradient(w_mean, w_variance)
    assert_allclose(given[:, :3], slopes(weighed, A)[:, :3], rtol=1e-4, atol=1e-5)


# ---------------------------------------------------------------- extending, fantasies, hallucination


@pytest.mark.parametrize("name", ["flat", "decay", "matern"])
def test_more_rows_are_a_refit_with_all_rows(name: str) -> None:
    surrogate = at_full_budget(INPUTS) if name == "flat" else over_budgets(INPUTS, name)
    X, y, rng = data() if name == "flat" else joint_data(25)
    theta = middle(surrogate)
    whole = Posterior.of(surrogate, theta, X, y)
    A = np.vstack([X, rng.random((20, X.shape[1]))])
    for steps in ([10, 25], [24, 25], [1, 2, 3, 20, 25]):
        grown = Posterior.of(surrogate, theta, X[: steps[0]], y[: steps[0]])
        for start, end in pairwise(steps):
            grown = grown.extended(X[start:end], y[start:end])
        one, other = whole.predict(A), grown.predict(A)
        assert_allclose(other.mean, one.mean, atol=1e-7)
        assert_allclose(other.variance, one.variance, atol=1e-8)
        assert_allclose(grown.L, whole.L, atol=1e-8)
        assert_array_equal(np.triu(grown.L, 1), 0.0)


@pytest.mark.parametrize("name", ["flat", "decay"])
@pytest.mark.parametrize("new", [0, 4])
def test_fantasies_are_refits_with_the_targets_they_stand_for(name: str, new: int) -> None:
    surrogate = at_full_budget(INPUTS) if name == "flat" else over_budgets(INPUTS, name)
    X, y, rng = data() if name == "flat" else joint_data(25)
    theta = middle(surrogate)
    noise = float(np.exp(theta[-1]))
    known, pending, draws = 25 - new, rng.random((5, X.shape[1])), rng.standard_normal((5, 3))
    base = Posterior.of(surrogate, theta, X[:known], y[:known])
    fantasised = base.extended(np.vstack([X[known:], pending]), y[known:], draws)
    whole = Posterior.of(surrogate, theta, X, y)
    # The joint posterior of the pending targets, noise included, and the targets that the draws mean.
    K = surrogate.covariance(theta, X).K + noise * np.eye(25)
    k = surrogate.covariance(theta, pending, X).K
    covariance = surrogate.covariance(theta, pending).K + noise * np.eye(5) - k @ np.linalg.solve(K, k.T)
    targets = whole.means(pending) + np.linalg.cholesky(covariance) @ draws  # (5, 3)
    A = rng.random((30, X.shape[1]))
    found = fantasised.predict(A)
    assert found.mean.shape == (30, 3)
    for m in range(3):
        brute = Posterior.of(surrogate, theta, np.vstack([X, pending]), np.concatenate([y, targets[:, m]]))
        expected = brute.predict(A)
        assert_allclose(found.mean[:, m], expected.mean[:, 0], atol=1e-6)
        assert_allclose(found.variance, expected.variance, atol=1e-8)


def test_hallucination_leaves_the_mean_and_shrinks_the_variance() -> None:
    X, y, rng = data()
    before = Posterior.of(stationary("matern52"), at(), X, y)
    pending = rng.random((3, 3))
    after = before.extended(pending, np.empty(0))
    A = np.vstack([rng.random((30, 3)), pending])
    one, other = before.predict(A), after.predict(A)
    assert_allclose(other.mean, one.mean, atol=1e-9)
    assert (other.variance <= one.variance + 1e-10).all()
    assert (other.variance[-3:] < 0.5 * one.variance[-3:]).all()


# ---------------------------------------------------------------- fitting


def test_the_fit_is_a_stationary_point_or_at_a_bound() -> None:
    surrogate = at_full_budget(INPUTS)
    X, y, rng = data(40)
    y = (y - y.mean()) / y.std()
    theta = fit(surrogate, X, y)
    value, slope = negative_log_posterior(surrogate, theta, X, y)
    for place, prior in enumerate(surrogate.priors):
        inside = prior.low + 1e-6 < theta[place] < prior.high - 1e-6
        assert abs(slope[place]) < 0.1 or not inside
    for _ in range(20):
        other = theta + 0.05 * rng.standard_normal(len(theta))
        assert negative_log_posterior(surrogate, other, X, y)[0] > value - 1e-3


def test_draws_of_theta_are_possible_ones() -> None:
    surrogate = at_full_budget(INPUTS)
    X, y, _ = data(15)
    y = (y - y.mean()) / y.std()
    one, two = (sample_fits(surrogate, X, y, np.random.default_rng(1), 4) for _ in range(2))
    assert len(one) == 4
    assert_array_equal(one, two)
    assert len({tuple(theta) for theta in one}) == 4
    for theta in one:
        assert np.isfinite(log_posterior(surrogate, theta, X, y))


# ---------------------------------------------------------------- factors


def test_solves_with_the_factor() -> None:
    rng = np.random.default_rng(0)
    R = rng.standard_normal((6, 6))
    K = R @ R.T + np.eye(6)
    kept = K.copy()
    L = cholesky(K)
    assert_array_equal(K, kept)
    assert_allclose(L @ L.T, K, rtol=1e-7)
    B = rng.standard_normal((6, 2))
    assert_allclose(forward(L, B), np.linalg.solve(L, B))
    assert_allclose(backward(L, B[:, 0]), np.linalg.solve(L.T, B[:, 0]))


def test_equal_rows_are_no_trouble_and_an_indefinite_matrix_is_named() -> None:
    L = cholesky(np.ones((5, 5)))
    assert np.isfinite(L).all()
    assert_allclose(L @ L.T, 1.0, atol=1e-6)
    with pytest.raises(NotPositiveDefinite, match="of 2 rows"):
        cholesky(np.array([[1.0, 3.0], [3.0, 1.0]]))


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_observations(n: int) -> None:
    surrogate = at_full_budget(INPUTS)
    rng = np.random.default_rng(0)
    X, y = rng.random((n, 3)), np.zeros(n)
    theta = fit(surrogate, X, y)
    found = Posterior.of(surrogate, theta, X, y).predict(rng.random((5, 3)))
    assert np.isfinite(found.mean).all()
    assert np.isfinite(found.variance).all()


def test_a_fit_that_ends_at_a_bound_can_be_sampled_from() -> None:
    """Rounding must not lead past a bound, where the posterior is 0."""
    rng = np.random.default_rng(0)
    X, y = rng.random((12, 1)), rng.standard_normal(12)
    past = ended = 0
    for _ in range(40):
        spread = float(rng.uniform(3.0, 30.0))
        low = float(rng.uniform(6.0, 9.0))
        # Far more than the targets have: the fit ends at the lower bound.
        scale = Prior(low + float(rng.uniform(1.0, 9.0)), spread, low, low + 10.0)
        surrogate = Plain(Stationary("rbf", (0,), ("a",)), (Prior(0.0, 1.0, -1.0, 1.0), scale))
        theta = fit(surrogate, X, y)
        ended += theta[2] == low
        assert np.isfinite(log_posterior(surrogate, theta, X, y))
        past += scale.centre + spread * ((low - scale.centre) / spread) < low
    assert ended > 10
    assert past  # without the care taken in ``fit``, some would be out of bounds
