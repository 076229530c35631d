"""The distribution that people are shown: quantiles of the mixture, and ends of intervals that losses can have."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from xstar.models.predictive import Mixture, bounds, forest_over_budgets, with_budget
from xstar.models.targets import Targets


def a_mixture() -> Mixture:
    mean, variance = np.array([0.0, 1.0, -2.0]), np.array([1.0, 0.04, 9.0])
    return Mixture.of((mean, variance), (mean + np.array([3.0, 0.0, 0.5]), variance * np.array([4.0, 1.0, 0.01])))


def test_quantiles_are_those_of_draws() -> None:
    made, rng = a_mixture(), np.random.default_rng(0)
    part = rng.integers(2, size=400_000)
    drawn = made.means[part] + made.deviations[part] * rng.standard_normal((len(part), 3))
    for q in (0.05, 0.5, 0.9):
        assert_allclose(made.below(made.quantile(q)), q)
        assert_allclose(made.quantile(q), np.quantile(drawn, q, axis=0), atol=0.05)
    assert_allclose(made.mean, drawn.mean(axis=0), atol=0.02)


def test_one_part_is_a_normal_distribution() -> None:
    made = Mixture.of((np.array([2.0]), np.array([0.25])))
    assert_allclose(made.quantile(0.95), 2.0 + 0.5 * 1.6448536)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_shares_are_not_expected_beyond_nothing_and_all(sign: float) -> None:
    """The model of errors of 0.01 to 0.3, or of accuracies between 0.7 and 0.99, is of any number; what is shown is not."""
    errors = np.linspace(0.01, 0.3, 30)
    known = errors if sign > 0 else errors - 1.0
    targets = Targets.of(known, transform=True)
    low = targets(known[:3]) - 2.0
    mean, *ends = Mixture.of((low, np.ones(3))).losses(targets, known)
    assert targets.inverse(low).max() < min(bounds(known))
    assert_array_equal(mean, bounds(known)[0])
    assert (ends[0] >= bounds(known)[0]).all()
    assert (ends[1] <= known.max()).all()


def test_what_may_be_negative_is_shown_so() -> None:
    known = np.array([-3.0, 0.5, 2.0, 4.0])
    targets = Targets.of(known, transform=False)
    _, low, high = Mixture.of((np.array([-2.0]), np.array([0.01]))).losses(targets, known)
    assert low < -3.0
    assert low < high < 0.0


def test_the_forest_beside_a_model_learns_of_budgets() -> None:
    rng = np.random.default_rng(0)
    X, share = rng.random((200, 2)), rng.choice([1 / 27, 1 / 3, 1.0], 200)
    made = forest_over_budgets(X, share, X[:, 0] - np.log(share))
    at = rng.random((50, 2))
    assert np.corrcoef(made.means(with_budget(at, 1.0))[:, 0], at[:, 0])[0, 1] > 0.9
    assert (made.means(with_budget(at, 1 / 27)) > made.means(with_budget(at, 1.0)) + 2.0).all()
