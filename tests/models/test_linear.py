"""DNGO's head: against a GP with a linear kernel, direct integration, batches, quadrature, and differences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate
from scipy.special import expit
from scipy.stats import norm

from tests.models.differences import slopes
from xstar.models import linear, logistic, quadratic
from xstar.models.features import ACTIVATIONS, Network, initial, taken_apart
from xstar.models.kernels import Array
from xstar.models.linear import Basis, Head, Statistics, quadric, sample
from xstar.models.logistic import Belief, Constraint, with_constant
from xstar.models.quadratic import Quadratic, log_horseshoe


def basis(units: int = 6, columns: tuple[int, ...] = (0, 2), seed: int = 0) -> Basis:
    kinds = ACTIVATIONS["tanh"]
    return Basis(taken_apart(initial(3, kinds, np.random.default_rng(seed), units), kinds)[0], Quadratic(columns))


def data(n: int = 30, seed: int = 0) -> tuple[Array, Array, np.random.Generator]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    return X, np.sin(5.0 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.standard_normal(n), rng


THETA = np.array([0.3, -0.2, 0.4, 0.6, -0.5, 0.7, np.log(0.05)])
"""log α, λ, two centres, two log curvatures, log noise."""


def summed(on: Basis, X: Array, y: Array) -> Statistics:
    return Statistics.none(on.width + on.mean.size).extended(on.design(X), y)


def eta(X: Array, theta: Array = THETA) -> Array:
    """Eq. (9), as it stands."""
    centre, curvature = theta[2:4], np.exp(theta[4:6])
    made: Array = theta[1] + ((X[:, [0, 2]] - centre) ** 2 * curvature).sum(axis=1)
    return made


# ---------------------------------------------------------------- the posterior


def test_it_is_a_gp_with_the_linear_kernel_on_the_features() -> None:
    """k(x, x') = φ(x)ᵀφ(x')/α, mean η: (4) and (5) without its noise."""
    on = basis()
    X, y, rng = data()
    A = rng.random((12, 3))
    alpha, noise = np.exp(THETA[0]), np.exp(THETA[-1])
    Phi, at = on.network(X), on.network(A)
    K = Phi @ Phi.T / alpha + noise * np.eye(len(X))
    k = at @ Phi.T / alpha
    found = Head.of(summed(on, X, y), on, THETA).predict(A)
    assert_allclose(found.mean[:, 0], eta(A) + k @ np.linalg.solve(K, y - eta(X)), rtol=1e-6)
    own = (at**2).sum(axis=1) / alpha
    assert_allclose(found.variance, own - np.einsum("ij,ij->i", k, np.linalg.solve(K, k.T).T), rtol=1e-6, atol=1e-8)


def test_the_variance_of_an_observation_as_the_paper_writes_it() -> None:
    """Eq. (5): φᵀK⁻¹φ + 1/β, before and after fantasies; that of the function is without 1/β."""
    on = basis()
    X, y, rng = data()
    A, pending = rng.random((12, 3)), rng.random((4, 3))
    alpha, beta, at = np.exp(THETA[0]), np.exp(-THETA[-1]), on.network(A)
    head = Head.of(summed(on, X, y), on, THETA, of_observations=True)
    later = head.conditioned(pending, rng.standard_normal((6, 3)), rng.standard_normal((4, 3)))
    for found, inputs in ((head, X), (later, np.vstack([X, pending]))):
        Phi = on.network(inputs)
        K = beta * Phi.T @ Phi + alpha * np.eye(on.width)
        expected = np.array([phi @ np.linalg.solve(K, phi) + 1.0 / beta for phi in at])
        assert_allclose(found.predict(A).variance, expected, rtol=1e-7)
    of_function = Head.of(summed(on, X, y), on, THETA).predict(A).variance
    assert_allclose(head.predict(A).variance - of_function, np.full(12, 1.0 / beta), rtol=1e-7)


def test_one_by_one_is_all_at_once() -> None:
    on = basis()
    X, y, rng = data(200)
    sums = Statistics.none(on.width + on.mean.size)
    for place in range(len(y)):
        sums = sums.extended(on.design(X[place : place + 1]), y[place : place + 1])
    once = summed(on, X, y)
    assert sums.count == once.count == 200
    A = rng.random((20, 3))
    one, two = (Head.of(each, on, THETA).predict(A) for each in (sums, once))
    assert_allclose(one.mean, two.mean, rtol=1e-8, atol=1e-8)
    assert_allclose(one.variance, two.variance, rtol=1e-8, atol=1e-8)
    a = on.mean.coefficients(THETA[1:-1])
    values = [quadric(each, on.width, THETA[0], THETA[-1]).at(a) for each in (sums, once)]
    assert values[0] == pytest.approx(values[1], rel=1e-8)


def test_the_likelihood_as_the_paper_writes_it() -> None:
    """Eq. (8) term by term, with m from (6) and K from (7)."""
    on = basis()
    X, y, _ = data()
    alpha, beta, D, N = np.exp(THETA[0]), np.exp(-THETA[-1]), on.width, len(y)
    Phi, rest = on.network(X), y - eta(X)
    K = beta * Phi.T @ Phi + alpha * np.eye(D)
    m = beta * np.linalg.solve(K, Phi.T @ rest)
    expected = 0.5 * D * np.log(alpha) + 0.5 * N * np.log(beta) - 0.5 * N * np.log(2 * np.pi)
    expected -= 0.5 * beta * ((rest - Phi @ m) ** 2).sum() + 0.5 * alpha * m @ m + 0.5 * np.linalg.slogdet(K)[1]
    found = quadric(summed(on, X, y), D, THETA[0], THETA[-1]).at(on.mean.coefficients(THETA[1:-1]))
    assert found == pytest.approx(expected, rel=1e-7)


def test_gradients() -> None:
    on = basis()
    X, y, rng = data()
    head = Head.of(summed(on, X, y), on, THETA).conditioned(
        rng.random((4, 3)), rng.standard_normal((6, 5)), rng.standard_normal((4, 5))
    )
    A = rng.random((7, 3))
    d_mean, d_variance = rng.standard_normal((7, 5)), rng.standard_normal(7)

    def value(at: Array) -> float:
        found = head.predict(at)
        return float((found.mean * d_mean).sum() + (found.variance * d_variance).sum())

    assert_allclose(head.predict(A).gradient(d_mean, d_variance), slopes(value, A), rtol=1e-5, atol=1e-7)
    assert_allclose(head.means(A), head.predict(A).mean)


def test_evaluations_kept_are_those_of_the_inputs() -> None:
    on = basis()
    A = np.random.default_rng(0).random((3, 3))
    first = on.at(A)
    assert on.at(A.copy()) is first
    A[0, 0] += 0.1  # the same array, other inputs
    assert_allclose(on.at(A).values, on.network(A))


# ---------------------------------------------------------------- what still runs


def test_fantasies_are_observations_of_drawn_functions() -> None:
    """Each column is the head after observing its own fantasy; none pending changes nothing."""
    on = basis()
    X, y, rng = data()
    sums = summed(on, X, y)
    head = Head.of(sums, on, THETA)
    pending, normal, noise = rng.random((4, 3)), rng.standard_normal((6, 3)), rng.standard_normal((4, 3))
    found = head.conditioned(pending, normal, noise)
    A = rng.random((5, 3))
    drawn = head.weights + np.linalg.solve(head.L.T, normal)
    told = eta(pending)[:, None] + on.network(pending) @ drawn + noise * np.exp(0.5 * THETA[-1])
    assert found.fantasies is not None
    assert_allclose(found.fantasies, told, rtol=1e-7, atol=1e-8)
    for column in range(3):
        observed = Head.of(sums.extended(on.design(pending), told[:, column]), on, THETA).predict(A)
        assert_allclose(found.predict(A).mean[:, column], observed.mean[:, 0], rtol=1e-7, atol=1e-8)
        assert_allclose(found.predict(A).variance, observed.variance, rtol=1e-7)
    hallucinated = head.conditioned(pending, None, None).predict(A)
    assert_allclose(hallucinated.mean, head.predict(A).mean)
    assert_allclose(hallucinated.variance, found.predict(A).variance)
    none = head.conditioned(np.empty((0, 3)), normal, np.empty((0, 3)))
    assert_allclose(none.predict(A).mean, np.repeat(head.means(A), 3, axis=1), rtol=1e-7)


def test_fantasies_have_the_distribution_of_the_posterior() -> None:
    """Over many draws, the mean at a pending point stays, and varies as the posterior did, less what is left."""
    on = basis()
    X, y, rng = data()
    head = Head.of(summed(on, X, y), on, THETA)
    pending = rng.random((1, 3))
    after = head.conditioned(pending, rng.standard_normal((6, 20_000)), rng.standard_normal((1, 20_000)))
    before, then = head.predict(pending), after.predict(pending)
    assert then.mean.mean() == pytest.approx(before.mean[0, 0], abs=4 * np.sqrt(before.variance[0] / 20_000))
    assert then.mean.var() == pytest.approx(before.variance[0] - then.variance[0], rel=0.05)


# ---------------------------------------------------------------- theta


def test_the_horseshoe_is_a_mixture_of_half_normals() -> None:
    """p(Λ) = ∫ N⁺(Λ; 0, t²τ²) C⁺(t; 0, 1) dt, near and far; and it is a density."""
    for value in (1e-3, 0.1, 1.0, 8.0, 15.0, 60.0):
        for scale in (1.0, 0.5):
            direct, _ = integrate.quad(
                lambda u, v=value, s=scale: (
                    2.0 * norm.pdf(v, 0.0, s * np.tan(u)) * 2.0 / np.pi  # t = tan u: C⁺ becomes uniform
                ),
                0.0,
                np.pi / 2.0,
                limit=400,
            )
            assert log_horseshoe(np.array([value]), scale)[0] == pytest.approx(np.log(direct), abs=2e-5)
    logs = np.linspace(-30.0, 12.0, 20_001)
    total = integrate.trapezoid(np.exp(log_horseshoe(np.exp(logs)) + logs), logs)
    assert total == pytest.approx(1.0, abs=1e-4)


def test_the_prior_mean_is_linear_in_its_design() -> None:
    mean = Quadratic((0, 2))
    X, _, _ = data()
    a = mean.coefficients(THETA[1:-1])
    assert_allclose(mean.design(X) @ a, eta(X), rtol=1e-12)
    assert_allclose(mean.slope(a, X), slopes(lambda A: float((mean.design(A) @ a).sum()), X), rtol=1e-6, atol=1e-8)
    assert mean.size == len(mean.start()) == len(mean.widths()) == 5
    assert np.isfinite(mean.log_prior(mean.start()))
    assert mean.log_prior(np.array([0.0, 0.5, 0.5, 0.0, quadratic.HIGHEST + 1.0])) == -np.inf


def test_draws_of_theta_have_the_posterior_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one basis function and no columns, theta has three dimensions: the mean of each against a grid."""
    on = basis(units=1, columns=())
    X, y, _ = data(12)
    sums = summed(on, X, y)
    axes = [np.linspace(*WIDE, 25) for WIDE in ((-7.0, 7.0), (-3.0, 3.0), (linear.NOISE[2], linear.NOISE[3]))]
    logs = np.empty((25, 25, 25))
    for i, k in np.ndindex(25, 25):
        given = quadric(sums, 1, float(axes[0][i]), float(axes[2][k]))
        for j, offset in enumerate(axes[1]):
            theta = np.array([axes[0][i], offset, axes[2][k]])
            logs[i, j, k] = linear.log_prior(on.mean, theta) + given.at(on.mean.coefficients(theta[1:-1]))
    mass = np.exp(logs - logs.max())
    monkeypatch.setattr(linear, "THIN", 1)
    drawn = np.array(sample(sums, on, np.random.default_rng(0), 1500))
    for place, axis in enumerate(axes):
        own = mass.sum(axis=tuple(other for other in range(3) if other != place))
        mean = float((own * axis).sum() / own.sum())
        spread = float(np.sqrt((own * (axis - mean) ** 2).sum() / own.sum()))
        assert drawn[:, place].mean() == pytest.approx(mean, abs=0.15 * spread)


def test_a_bowl_is_found_by_the_prior_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    """A basis of nothing: the offset, the centre and the curvatures are what explains the data."""
    flat = Network(tuple((0.0 * W, 0.0 * b) for W, b in basis().network.layers), ACTIVATIONS["tanh"])
    on = Basis(flat, Quadratic((0, 1, 2)))
    rng = np.random.default_rng(0)
    X = rng.random((80, 3))
    y = -1.0 + 6.0 * (X[:, 0] - 0.3) ** 2 + 3.0 * (X[:, 1] - 0.6) ** 2
    monkeypatch.setattr(linear, "BURN_IN", 100)
    theta = np.mean(sample(summed(on, X, y), on, rng, 20), axis=0)
    assert_allclose(theta[2:4], [0.3, 0.6], atol=0.05)
    assert_allclose(np.exp(theta[5:7]), [6.0, 3.0], rtol=0.1)
    assert np.exp(theta[7]) < 0.1  # the third input changes nothing


# ---------------------------------------------------------------- Laplace


def test_laplace_against_quadrature_in_one_dimension() -> None:
    """One weight, eight observations with errors among them: its mean, its evidence, and P[c = 1]."""
    rng = np.random.default_rng(0)
    F = np.array([[-1.2], [-0.8], [-0.5], [0.3], [0.6], [0.9], [1.4], [-0.4]])
    feasible = np.array([False, False, True, False, True, True, True, False])
    belief, evidence = Belief.prior(1, 0.5, 0.0).after(F, feasible)
    w = np.linspace(-20.0, 20.0, 400_001)
    logs = norm.logpdf(w, 0.0, 0.5**-0.5)
    for row, kind in zip(F[:, 0], feasible, strict=True):
        logs += np.log(expit((1.0 if kind else -1.0) * row * w))
    mass = np.exp(logs) * (w[1] - w[0])
    total = mass.sum()
    assert evidence == pytest.approx(np.log(total), abs=0.1)
    assert belief.mean[0] == pytest.approx((mass * w).sum() / total, abs=0.4)
    flat = Network(((np.ones((1, 1)), np.zeros(1)),), ("relu",))
    wide = Belief(np.array([belief.mean[0], 0.0]), np.diag([belief.A[0, 0], 1e6]))
    for place in rng.random(5):
        row = 2.0 * place - 1.0
        found = np.exp(Constraint.of(flat, wide).log_probability(np.array([[place]]))[0][0])
        assert found == pytest.approx((mass * expit(w * max(row, 0.0))).sum() / total, abs=0.03)


def test_the_mode_is_where_the_gradient_vanishes() -> None:
    rng = np.random.default_rng(0)
    F = with_constant(rng.standard_normal((50, 4)))
    feasible = F[:, 0] + 0.5 * rng.standard_normal(50) > 0
    prior = Belief.prior(5, 0.3, 0.4)
    belief, _ = prior.after(F, feasible)
    miss = feasible - expit(F @ belief.mean)
    assert_allclose(F.T @ miss, 0.3 * (belief.mean - prior.mean), atol=1e-4)


def test_a_belief_after_two_halves_is_near_the_belief_after_the_whole() -> None:
    rng = np.random.default_rng(0)
    F = with_constant(rng.standard_normal((400, 3)))
    feasible = F[:, 0] + rng.standard_normal(400) > 0
    prior = Belief.prior(4, 0.3, 0.0)
    whole, _ = prior.after(F, feasible)
    half, _ = prior.after(F[:200], feasible[:200])
    both, _ = half.after(F[200:], feasible[200:])
    assert_allclose(both.mean, whole.mean, atol=0.1)
    assert_allclose(both.A, whole.A, rtol=0.15, atol=2.0)
    assert prior.after(F[:0], feasible[:0])[0] is prior


def test_gradients_of_the_probability() -> None:
    X, y, rng = data(60)
    network = basis().network
    belief = logistic.fit(with_constant(network(X)), y > 0.5)
    constraint = Constraint.of(network, belief)
    A, w = rng.random((6, 3)), rng.standard_normal(6)
    value, back = constraint.log_probability(A)
    assert (value < 0).all()
    found = slopes(lambda at: float(constraint.log_probability(at)[0] @ w), A)
    assert_allclose(back(w), found, rtol=1e-4, atol=1e-7)


def test_probabilities_separate_the_kinds() -> None:
    X, y, _ = data(200)
    network = basis(units=20).network
    belief = logistic.fit(with_constant(network(X)), y > 0.5)
    p = np.exp(Constraint.of(network, belief).log_probability(X)[0])
    assert np.mean((p > 0.5) == (y > 0.5)) > 0.9


def test_all_of_one_kind() -> None:
    """Nothing feasible is known: where nothing was tried, it is less certain that nothing is."""
    rng = np.random.default_rng(0)
    network = basis(units=20).network
    X = 0.3 * rng.random((30, 3))
    belief = logistic.fit(with_constant(network(X)), np.zeros(30, dtype=bool))
    constraint = Constraint.of(network, belief)
    here, there = (constraint.log_probability(each)[0].mean() for each in (X, 1.0 - X))
    assert here < there < 0.0
