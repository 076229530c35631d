"""The criterion: averages over hyperparameters and fantasies, constraints, and all of its gradients."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy.stats import norm

from tests.searchers.acquisition.cases import posterior, row_slopes
from xstar.models.feasibility import Feasibility
from xstar.models.gp import Posterior
from xstar.searchers.acquisition.criterion import Criterion, averaged, below, log_expected_improvement

Array = NDArray[np.float64]

ROWS = 0.05 + 0.9 * np.random.default_rng(5).random((7, 2))


def as_it_is(rows: Array) -> Array:
    return rows


def at_half(rows: Array) -> Array:
    return np.hstack([rows, np.full((len(rows), 1), 0.5)])


def classifier() -> Feasibility:
    X = np.random.default_rng(6).random((25, 2))
    return Feasibility.fit(X, X[:, 0] + 0.3 * X[:, 1] < 0.7, (0, 1), ("a", "b"))


def several(count: int, fantasies: int, budgets: bool) -> tuple[list[Posterior], list[Array]]:
    rng = np.random.default_rng(7)
    made = []
    for place in range(count):
        base = posterior(budgets=budgets, shift=0.1 * place)
        pending = rng.random((2, base.X.shape[1]))
        made.append(
            base if fantasies == 1 else base.extended(pending, np.empty(0), rng.standard_normal((2, fantasies)))
        )
    return made, [each.means(each.X).min(axis=0) for each in made]


@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("confidence", [None, 1.3], ids=["ei", "ucb"])
@pytest.mark.parametrize("budgets", [False, True], ids=["flat", "budgets"])
@pytest.mark.parametrize(("count", "fantasies"), [(1, 1), (1, 4), (3, 1), (3, 4)])
def test_gradient(count: int, fantasies: int, budgets: bool, confidence: float | None, constrained: bool) -> None:
    posteriors, incumbents = several(count, fantasies, budgets)
    constraints = [classifier().log_probability, below(posterior(1), 0.2)] if constrained else []
    criterion = Criterion(posteriors, incumbents, at_half if budgets else as_it_is, constraints, confidence)
    value, slope = criterion.with_gradient(ROWS)
    assert_array_equal(value, criterion.score(ROWS))
    assert slope.shape == ROWS.shape
    assert_allclose(slope, row_slopes(criterion.score, ROWS), rtol=1e-4, atol=1e-5)


def test_ei_is_averaged_over_everything_and_multiplied_by_the_probabilities() -> None:
    posteriors, incumbents = several(3, 4, False)
    feasible, limit = classifier(), below(posterior(1), 0.2)
    total = np.zeros(len(ROWS))
    for each, incumbent in zip(posteriors, incumbents, strict=True):
        found = each.predict(ROWS)
        for m in range(4):
            total += np.exp(log_expected_improvement(found.mean[:, [m]], found.variance, incumbent[[m]])[0])
    expected = total / 12 * np.exp(feasible.log_probability(ROWS)[0]) * np.exp(limit(ROWS)[0])
    criterion = Criterion(posteriors, incumbents, as_it_is, [feasible.log_probability, limit])
    assert_allclose(np.exp(criterion.score(ROWS)), expected, rtol=1e-8)


def test_confidence_bounds_are_averaged() -> None:
    posteriors, incumbents = several(3, 4, False)
    expected = np.mean(
        [1.3 * np.sqrt(each.predict(ROWS).variance) - each.predict(ROWS).mean.mean(axis=1) for each in posteriors],
        axis=0,
    )
    assert_allclose(Criterion(posteriors, incumbents, as_it_is, (), 1.3).score(ROWS), expected)


def test_a_confidence_bound_beside_constraints_does_not_depend_on_the_level_of_the_losses() -> None:
    """Moved up by a thousand, losses are as good as before. -LCB + log p would seek nothing but feasibility then."""
    base, feasible = posterior(), classifier()
    moved = base.theta.copy()
    moved[0] += 1000.0
    high = Posterior(base.surrogate, moved, base.X, base.L, base.P)
    found = [
        Criterion([each], [each.means(each.X).min(axis=0)], as_it_is, [feasible.log_probability], 1.3).score(ROWS)
        for each in (base, high)
    ]
    assert_allclose(found[0], found[1], rtol=1e-6)
    alone = Criterion([base], [base.means(base.X).min(axis=0)], as_it_is, (), 1.3).score(ROWS)
    with_certainty = Criterion(
        [base], [base.means(base.X).min(axis=0)], as_it_is, [lambda rows: (np.zeros(len(rows)), np.zeros_like)], 1.3
    ).score(ROWS)
    assert_array_equal(np.argsort(alone), np.argsort(with_certainty))


def test_without_an_incumbent_only_the_probability_is_left() -> None:
    feasible = classifier()
    criterion = Criterion([posterior()], None, as_it_is, [feasible.log_probability])
    value, slope = criterion.with_gradient(ROWS)
    assert_array_equal(value, feasible.log_probability(ROWS)[0])
    assert_allclose(slope, row_slopes(criterion.score, ROWS), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("bound", [-2.0, 0.2, 3.0])
def test_below_and_its_gradient(bound: float) -> None:
    model = posterior(1)
    found = model.predict(ROWS)
    limit = below(model, bound)
    std = np.sqrt(found.variance + np.exp(model.theta[-1]))
    value, back = limit(ROWS)
    assert back is not None
    assert_allclose(value, norm.logcdf(bound, found.mean[:, 0], std), rtol=1e-9, atol=1e-12)
    w = np.random.default_rng(0).standard_normal(len(ROWS))
    expected = row_slopes(lambda rows: limit(rows)[0], ROWS) * w[:, None]
    assert_allclose(back(w), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("bound", [-1e6, 1e6])
def test_a_bound_far_away_stays_finite(bound: float) -> None:
    value, back = below(posterior(1), bound)(ROWS)
    assert back is not None
    assert np.isfinite(value).all()
    assert np.isfinite(back(np.ones(len(ROWS)))).all()
    if bound < 0:  # d log Φ(u) = -u du
        found = posterior(1).predict(ROWS)
        std = np.sqrt(found.variance + np.exp(posterior(1).theta[-1]))
        u = (bound - found.mean[:, 0]) / std
        assert_allclose(back(np.ones(len(ROWS))), found.gradient((u / std)[:, None], 0.5 * u * u / std**2), rtol=1e-6)
    assert (value < -1e6).all() if bound < 0 else (value > -1e-9).all()


def test_probabilities_are_averaged() -> None:
    parts = [below(each, 0.2) for each in several(3, 1, False)[0]]
    value, back = averaged(parts)(ROWS)
    assert back is not None
    assert_allclose(value, np.log(np.mean([np.exp(part(ROWS)[0]) for part in parts], axis=0)), rtol=1e-12)
    expected = row_slopes(lambda rows: averaged(parts)(rows)[0], ROWS)
    assert_allclose(back(np.ones(len(ROWS))), expected, rtol=1e-4, atol=1e-5)
