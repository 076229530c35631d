"""What runs: fantasies or hallucinations; and Thompson's draws."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from tests.searchers.acquisition.cases import posterior
from xstar.models.gp import Posterior
from xstar.models.model import normal_draws, with_pending
from xstar.searchers.acquisition.criterion import LogProbability
from xstar.searchers.acquisition.thompson import thompson_scores

A = np.random.default_rng(9).random((20, 2))
PENDING = np.random.default_rng(8).random((3, 2))


@pytest.mark.parametrize("fantasies", [8, 0])
@pytest.mark.parametrize("new", [0, 2])
def test_nothing_pending_is_none(fantasies: int, new: int) -> None:
    base = posterior()
    X, y = A[:new], np.linspace(0.0, 1.0, new)
    made = with_pending(base.extended(X, y), np.empty((0, 2)), fantasies, np.random.default_rng(0))
    assert_array_equal(made.predict(A).mean, base.extended(X, y).predict(A).mean)


def test_fantasies_are_the_brute_force_of_their_draws() -> None:
    base = posterior()
    X, y = A[:2], np.array([0.3, -0.4])
    made = with_pending(base.extended(X, y), PENDING, 5, np.random.default_rng(3))
    draws = normal_draws(3, 5, np.random.default_rng(3))
    surrogate, theta, noise = base.surrogate, base.theta, np.exp(base.theta[-1])
    known = base.extended(X, y)
    K = surrogate.covariance(theta, known.X).K + noise * np.eye(len(known.X))
    k = surrogate.covariance(theta, PENDING, known.X).K
    joint = surrogate.covariance(theta, PENDING).K + noise * np.eye(3) - k @ np.linalg.solve(K, k.T)
    targets = known.means(PENDING) + np.linalg.cholesky(joint) @ draws
    y_base = base.L @ base.P[:, 0] + surrogate.mean(theta, base.X).values
    for m in range(5):
        rows = np.vstack([base.X, X, PENDING])
        brute = Posterior.of(surrogate, theta, rows, np.concatenate([y_base, y, targets[:, m]])).predict(A)
        assert_allclose(made.predict(A).mean[:, m], brute.mean[:, 0], atol=1e-6)
        assert_allclose(made.predict(A).variance, brute.variance, atol=1e-8)


def test_draws_are_stratified_normal_numbers() -> None:
    drawn = normal_draws(6, 16, np.random.default_rng(1))
    assert drawn.shape == (6, 16)
    for row in drawn:
        assert sorted(np.floor(16 * norm.cdf(row))) == list(range(16))
    assert np.abs(np.corrcoef(normal_draws(4, 4000, np.random.default_rng(2))) - np.eye(4)).max() < 0.07
    assert np.isfinite(normal_draws(1, 1, np.random.default_rng(0))).all()


def test_thompson_draws_from_the_posterior() -> None:
    base, rng = posterior(), np.random.default_rng(0)
    drawn = np.array([thompson_scores([base], A, lambda rows: rows, (), rng) for _ in range(800)])
    found = base.predict(A)
    assert_allclose(-drawn.mean(axis=0), found.mean[:, 0], atol=0.15)
    assert_allclose(drawn.var(axis=0), found.variance, atol=0.15)


def test_thompson_takes_one_of_the_posteriors() -> None:
    sure = [posterior().extended(A[:1], np.array([value])) for value in (-50.0, 50.0)]
    rng = np.random.default_rng(0)
    signs = [np.sign(thompson_scores(sure, A[:1], lambda rows: rows, (), rng)[0]) for _ in range(30)]
    assert set(signs) == {-1.0, 1.0}


def test_thompson_draws_feasibility_too() -> None:
    """A row comes out on top as often as it is feasible; where none is, the most probable one does."""
    base, rng = posterior(), np.random.default_rng(0)
    better = np.argsort(base.means(A)[:2, 0])[0]
    sure = base.extended(A[:2], np.where(np.arange(2) == better, -50.0, 50.0))  # no doubt which is better

    def constraint(*p: float) -> LogProbability:
        return lambda rows: (np.log(np.array(p)), np.zeros_like)

    odds = constraint(*(0.3 if place == better else 0.999999 for place in range(2)))
    tops = [np.argmax(thompson_scores([sure], A[:2], lambda rows: rows, [odds], rng)) == better for _ in range(1000)]
    assert np.mean(tops) == pytest.approx(0.3, abs=0.05)
    hopeless = constraint(*(1e-200 if place == better else 1e-100 for place in range(2)))
    assert np.argmax(thompson_scores([sure], A[:2], lambda rows: rows, [hopeless], rng)) != better
