"""Surrogates: gradients of mean and covariance, and the decay kernel against its formula and its stochastic process."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from tests.models.differences import slopes
from xstar.models.decay import ExponentialDecay
from xstar.models.gp import negative_log_posterior
from xstar.models.gp_prior import (
    OVER_BUDGETS,
    GPPrior,
    Inputs,
    Plain,
    at_full_budget,
    over_budgets,
    over_configurations,
)
from xstar.models.kernels import Stationary
from xstar.models.priors import Prior

Array = NDArray[np.float64]

INPUTS = Inputs((0, 1, 1), ("number", "choice"))
BUDGETS = np.array([1.0, 3.0, 9.0]) / 9.0
FLAT = {"plain": at_full_budget(INPUTS)}
JOINT = {name: over_budgets(INPUTS, name) for name in OVER_BUDGETS}
EVERY = pytest.mark.parametrize("surrogate", [*FLAT.values(), *JOINT.values()], ids=[*FLAT, *JOINT])


def parts(surrogate: GPPrior, seed: int = 0) -> tuple[Array, Array, Array, np.random.Generator]:
    """theta near the middle of the priors, inputs with budgets in the last column if the surrogate has them."""
    rng = np.random.default_rng(seed)
    theta = np.array([prior.centre for prior in surrogate.priors]) + 0.3 * rng.standard_normal(len(surrogate.names))
    theta[-1] = np.log(0.02)
    sets = []
    for n in (7, 5):
        X = 0.05 + 0.9 * rng.random((n, 3))
        joint = surrogate in JOINT.values()
        sets.append(np.hstack([X, rng.choice(BUDGETS, (n, 1))]) if joint else X)
    return theta, sets[0], sets[1], rng


@EVERY
def test_names_and_priors_count_the_parameters(surrogate: GPPrior) -> None:
    assert len(surrogate.names) == len(surrogate.priors) == len(set(surrogate.names))
    assert surrogate.names[0] == "mean"
    assert surrogate.names[-1] == "noise"
    for prior in surrogate.priors:
        assert prior.low < prior.centre < prior.high
        assert prior.spread > 0


@EVERY
def test_gradient_of_the_mean(surrogate: GPPrior) -> None:
    theta, X, _, rng = parts(surrogate)
    w = rng.standard_normal(len(X))
    expected = slopes(lambda t: float(w @ surrogate.mean(t, X).values), theta)
    assert_allclose(surrogate.mean(theta, X).to_theta(w), expected, rtol=1e-6, atol=1e-8)


@EVERY
def test_gradient_of_the_covariance_in_theta(surrogate: GPPrior) -> None:
    theta, X, _, rng = parts(surrogate)
    W = rng.standard_normal((len(X), len(X)))
    expected = slopes(lambda t: float(np.vdot(W, surrogate.covariance(t, X).K)), theta)
    assert_allclose(surrogate.covariance(theta, X).to_theta(W), expected, rtol=1e-6, atol=1e-7)
    assert expected[-1] == 0.0  # of the noise


@EVERY
def test_gradient_of_the_covariance_in_the_inputs(surrogate: GPPrior) -> None:
    theta, A, B, rng = parts(surrogate)
    W = rng.standard_normal((len(A), len(B)))
    expected = slopes(lambda X: float(np.vdot(W, surrogate.covariance(theta, X, B).K)), A)
    given = surrogate.covariance(theta, A, B).to_left(W)
    assert given.shape == A.shape
    assert_allclose(given[:, :3], expected[:, :3], rtol=1e-6, atol=1e-8)  # the budget is not moved


@EVERY
def test_gradient_of_the_variance(surrogate: GPPrior) -> None:
    theta, A, _, rng = parts(surrogate)
    w = rng.standard_normal(len(A))
    made = surrogate.variance(theta, A)
    assert_allclose(made.values, np.diagonal(surrogate.covariance(theta, A).K), rtol=1e-12)
    expected = slopes(lambda X: float(w @ surrogate.variance(theta, X).values), A)
    assert_allclose(made.to_left(w)[:, :3], expected[:, :3], atol=1e-8)


@EVERY
def test_gradient_of_the_posterior_of_theta(surrogate: GPPrior) -> None:
    theta, X, _, rng = parts(surrogate)
    y = rng.standard_normal(len(X))
    expected = slopes(lambda t: negative_log_posterior(surrogate, t, X, y)[0], theta)
    assert_allclose(negative_log_posterior(surrogate, theta, X, y)[1], expected, rtol=1e-5, atol=1e-5)


@EVERY
def test_the_covariance_is_one(surrogate: GPPrior) -> None:
    theta, A, B, _ = parts(surrogate)
    both = surrogate.covariance(theta, np.vstack([A, B])).K
    assert_allclose(both[:7, 7:], surrogate.covariance(theta, A, B).K, rtol=1e-10)
    assert_allclose(both, both.T, rtol=1e-12)
    assert np.linalg.eigvalsh(both).min() > -1e-10


# ---------------------------------------------------------------- exponential decay


def decay(delta: float | None) -> tuple[ExponentialDecay, Array]:
    kernel, priors = over_configurations(INPUTS)
    surrogate = ExponentialDecay(kernel, priors, delta)
    learned = {"delta": 0.4}
    values = {"mean": 0.3, "alpha": np.log(1.7), "beta": np.log(0.6), "gamma": np.log(1.2), "noise": -5.0} | learned
    rng = np.random.default_rng(1)
    return surrogate, np.array([values.get(name, 0.3 * rng.standard_normal()) for name in surrogate.names])


@pytest.mark.parametrize("delta", [0.0, 1.0, None], ids=["0", "1", "learned"])
def test_decay_is_its_formula(delta: float | None) -> None:
    """k = (γ - δμ)² k̃ + k_X [1 - δ(κ + κ') + δ²κ(r + r')]."""
    surrogate, theta = decay(delta)
    d = 1.0 / (1.0 + np.exp(-0.4)) if delta is None else delta
    mu, alpha, beta, gamma = 0.3, 1.7, 0.6, 1.2
    _, A, B, _ = parts(JOINT["decay"])
    k_x = surrogate.kernel.at(theta[1 : 1 + len(surrogate.kernel.names)], A[:, :3], B[:, :3]).K

    def kappa(u: float) -> float:
        return float((beta / (u + beta)) ** alpha)

    for i, a in enumerate(A):
        for j, b in enumerate(B):
            r, s = a[3], b[3]
            spread = kappa(r + s) - kappa(r) * kappa(s)
            share = 1.0 - d * (kappa(r) + kappa(s)) + d**2 * kappa(r + s)
            expected = (gamma - d * mu) ** 2 * spread + k_x[i, j] * share
            assert surrogate.covariance(theta, A, B).K[i, j] == pytest.approx(expected, rel=1e-12)
    means = [gamma * kappa(a[3]) + mu * (1.0 - d * kappa(a[3])) for a in A]
    assert_allclose(surrogate.mean(theta, A).values, means, rtol=1e-12)


@pytest.mark.parametrize("delta", [0.0, 1.0, 0.6])
def test_decay_is_the_covariance_of_its_process(delta: float) -> None:
    """Monte Carlo: f(x, r) = γ e^(-λr) + f(x)(1 - δ e^(-λr)), λ ~ Gamma(α, rate β), f ~ GP(μ, k), independent.

    One λ per draw: that is the process whose covariance has no δ(x, x') in its first term.
    """
    surrogate, theta = decay(delta)
    mu, alpha, beta, gamma = 0.3, 1.7, 0.6, 1.2
    rng = np.random.default_rng(0)
    A = np.array([[0.2, 1.0, 0.0, 1 / 9], [0.7, 0.0, 1.0, 1 / 3], [0.7, 0.0, 1.0, 1.0]])
    k_x = surrogate.kernel.at(theta[1 : 1 + len(surrogate.kernel.names)], A[:, :3]).K
    n = 400_000
    rate = rng.gamma(alpha, 1.0 / beta, size=(n, 1))
    f = rng.multivariate_normal(np.full(3, mu), k_x, size=n)
    fall = np.exp(-rate * A[:, 3])
    drawn = gamma * fall + f * (1.0 - delta * fall)
    assert_allclose(surrogate.mean(theta, A).values, drawn.mean(axis=0), atol=0.01)
    assert_allclose(surrogate.covariance(theta, A).K, np.cov(drawn.T), atol=0.015)


# ---------------------------------------------------------------- the factories


def test_plain_has_its_kernels_covariance() -> None:
    kernel = Stationary("rbf", (0,), ("x",))
    prior = Prior(0.0, 1.0, -5.0, 5.0)
    surrogate = Plain(kernel, (prior, prior))
    X = np.linspace(0, 1, 4)[:, None]
    theta = np.array([0.7, -1.0, 0.2, -9.0])
    assert_allclose(surrogate.covariance(theta, X).K, kernel.at(theta[1:-1], X).K)
    assert_allclose(surrogate.mean(theta, X).values, 0.7)
