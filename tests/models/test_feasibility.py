"""The classifier of what can be evaluated: its mode, its gradient, and whether it says something sensible."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from tests.models.differences import slopes
from xstar.models.feasibility import LENGTHS, Feasibility

Array = NDArray[np.float64]


def halves(n: int = 40, d: int = 2, seed: int = 0) -> tuple[Array, NDArray[np.bool_]]:
    X = np.random.default_rng(seed).random((n, d))
    return X, X[:, 0] < 0.5


def fit(X: Array, feasible: NDArray[np.bool_], **options: Any) -> Feasibility:
    d = X.shape[1]
    return Feasibility.fit(X, feasible, tuple(range(d)), tuple(f"x{i}" for i in range(d)), **options)


def probability(model: Feasibility, A: Array) -> Array:
    return np.exp(model.log_probability(A)[0])


def test_half_of_the_space_is_learned() -> None:
    model = fit(*halves())
    A, expected = halves(200, seed=1)
    assert ((probability(model, A) > 0.5) == expected).mean() > 0.9


def test_the_mode_satisfies_its_equation() -> None:
    """f = K ∇log p(s | f) + prior (Rasmussen & Williams, eq. 3.17)."""
    X, feasible = halves()
    for length in LENGTHS:
        model = fit(X, feasible, lengths=(length,))
        K = model.kernel.at(model.theta, X).K
        f = K @ model.slope + model.prior
        slope = np.where(feasible, 1.0, 0.0) - 1.0 / (1.0 + np.exp(-f))
        assert_allclose(model.slope, slope, atol=1e-5)
        assert model.length == length


def test_the_evidence_is_laplaces() -> None:
    """log p(s | f) - ½ aᵀK a - ½ log |I + √D K √D| at the mode (eq. 3.32)."""
    X, feasible = halves()
    model = fit(X, feasible, lengths=(0.3,))
    K = model.kernel.at(model.theta, X).K
    f = K @ model.slope + model.prior
    p = 1.0 / (1.0 + np.exp(-f))
    D = p * (1.0 - p)
    B = np.eye(len(f)) + np.sqrt(D)[:, None] * K * np.sqrt(D)
    likelihood = np.log(np.where(feasible, p, 1.0 - p)).sum()
    expected = likelihood - 0.5 * model.slope @ K @ model.slope - 0.5 * np.linalg.slogdet(B)[1]
    assert model.evidence == pytest.approx(expected, abs=1e-4)


def test_the_evidence_prefers_a_sensible_length() -> None:
    """A smooth border asks for a longer length than a chequerboard."""
    X, smooth = halves(120)
    fine = (np.floor(X * 5).sum(axis=1) % 2) == 0
    lengths = (0.1, 0.2, 0.4, 0.8)
    assert fit(X, smooth, lengths=lengths).length > fit(X, fine, lengths=lengths).length
    best = fit(X, smooth, lengths=lengths)
    assert best.evidence == max(fit(X, smooth, lengths=(length,)).evidence for length in lengths)


@pytest.mark.parametrize("length", [0.1, 0.6])
def test_gradient(length: float) -> None:
    model = fit(*halves(), lengths=(length,))
    rng = np.random.default_rng(1)
    A, w = rng.random((6, 2)), rng.standard_normal(6)
    expected = slopes(lambda rows: float(w @ model.log_probability(rows)[0]), A)
    assert_allclose(model.log_probability(A)[1](w), expected, rtol=1e-5, atol=1e-6)


def test_gradient_with_columns_that_share_a_length() -> None:
    X, _ = halves(30, 4)
    model = Feasibility.fit(X, X[:, 2] < 0.6, (0, 1, 1, 1), ("a", "b"))
    rng = np.random.default_rng(1)
    A, w = rng.random((5, 4)), rng.standard_normal(5)
    expected = slopes(lambda rows: float(w @ model.log_probability(rows)[0]), A)
    assert_allclose(model.log_probability(A)[1](w), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 30, 300])
@pytest.mark.parametrize("all_of_them", [True, False])
def test_one_kind_only(n: int, all_of_them: bool) -> None:
    X = np.random.default_rng(0).random((n, 3))
    model = fit(X, np.full(n, all_of_them))
    found, back = model.log_probability(np.vstack([X, X + 5.0]))
    assert np.isfinite(found).all()
    assert np.isfinite(back(np.ones(2 * n))).all()
    assert (np.exp(found[:n]) > 0.5).all() == all_of_them


def test_far_away_the_odds_are_those_of_all_trials() -> None:
    X, _ = halves(30)
    model = fit(X, np.arange(30) < 29)
    near_zero = probability(model, np.full((1, 2), 1e3))
    assert 0.7 < near_zero < 30 / 31


def test_equal_points_that_disagree() -> None:
    X = np.tile([[0.3, 0.3]], (20, 1))
    model = fit(X, np.arange(20) % 2 == 0)
    assert probability(model, X[:1]) == pytest.approx(0.5, abs=0.05)


def test_what_the_others_say_of_each() -> None:
    """The cavity beside a classifier that was fitted without the trial."""
    X, feasible = halves()
    feasible[np.flatnonzero(feasible)[:3]] = False  # three that failed by chance
    order = np.argsort(~feasible, kind="stable")
    X, feasible = X[order], feasible[order]
    model, last = fit(X, feasible, lengths=(0.6,)), int((~feasible).sum())
    found = model.without_each(last)
    assert len(found) == last
    for place, value in zip(range(len(X) - last, len(X)), found, strict=True):
        rest = np.arange(len(X)) != place
        other = fit(X[rest], feasible[rest], lengths=(0.6,))
        latent = other.prior + (other.kernel.at(other.theta, X[place : place + 1], other.X).K @ other.slope)[0]
        assert value == pytest.approx(latent, abs=0.35)
        assert np.sign(value) == np.sign(latent)
    surprised = X[-last:][found > 0.0]
    assert len(surprised) >= 2
    assert (surprised[:, 0] < 0.55).all()
