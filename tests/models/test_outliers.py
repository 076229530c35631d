"""Observations far above what the others predict."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from xstar.models.gp import Posterior, fit
from xstar.models.kernels import Array
from xstar.models.outliers import FAR, FEWEST, MOST, outliers, surprises
from xstar.models.surrogate import Inputs, Plain, at_full_budget

SURROGATE: Plain = at_full_budget(Inputs((0, 1), ("x", "y"), (0, 1)))


def observed(n: int = 30, spoilt: tuple[int, ...] = (), height: float = 3.0) -> tuple[Array, Array]:
    X = np.random.default_rng(1).random((n, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2
    y = (y - y.mean()) / y.std()
    y[list(spoilt)] = height
    return X, y


def posterior(X: Array, y: Array) -> Posterior:
    return Posterior.of(SURROGATE, fit(SURROGATE, X, y, np.random.default_rng(0)), X, y)


def test_a_surprise_is_the_distance_from_the_prediction_of_all_others() -> None:
    X, y = observed(15, (3,))
    made = posterior(X, y)
    for place in range(len(y)):
        others = np.arange(len(y)) != place
        at = Posterior.of(SURROGATE, made.theta, X[others], y[others]).predict(X[[place]])
        expected = (y[place] - at.mean[0, 0]) / np.sqrt(at.variance[0] + made.noise)
        assert_allclose(surprises(made)[place], expected, rtol=1e-4)


def test_what_is_far_above_is_found_and_nothing_else() -> None:
    X, y = observed(30, (4, 17))
    assert np.flatnonzero(outliers(posterior(X, y), y)).tolist() == [4, 17]


def test_what_is_far_below_is_none() -> None:
    X, y = observed(30, (4,), height=-4.0)
    assert surprises(posterior(X, y))[4] < -3.0
    assert not outliers(posterior(X, y), y).any()


@pytest.mark.parametrize("n", [FEWEST - 1, 30])
def test_there_are_none_among_few_observations_or_without_noise(n: int) -> None:
    X, y = observed(n, (4,) if n < FEWEST else ())
    assert not outliers(posterior(X, y), y).any()


def test_what_is_frequent_is_no_exception() -> None:
    """A posterior to which everything is too high: a third of it is still no outlier."""
    X, y = observed(30)
    made = posterior(X, y)
    theta = made.theta.copy()
    theta[0], theta[-1] = -3.0, np.log(0.02)
    low = Posterior.of(SURROGATE, theta, X[:20], y[:20] + 30.0 * (np.arange(20) % 3 == 0))
    given = y[:20] + 30.0 * (np.arange(20) % 3 == 0)
    assert ((surprises(low) > FAR) & (given > np.median(given))).mean() > MOST
    assert not outliers(low, given).any()
