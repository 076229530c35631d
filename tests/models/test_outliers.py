"""Observations far above what the others predict."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from xstar.models.gp import Posterior, fit
from xstar.models.kernels import Array
from xstar.models.outliers import FAR, FEWEST, MOST, confirmed, surprises, suspects
from xstar.models.surrogate import Inputs, Plain, at_full_budget

SURROGATE: Plain = at_full_budget(Inputs((0, 1), ("x", "y"), (0, 1)))


def observed(n: int = 30, spoilt: tuple[int, ...] = (), height: float = 4.0) -> tuple[Array, Array]:
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


def low_places(y: Array, count: int) -> tuple[int, ...]:
    """Of the lowest observations some that are not each other's neighbours."""
    return tuple(np.argsort(y)[1 : 3 * count : 3].tolist())


def test_what_is_far_above_is_found_and_nothing_else() -> None:
    X, y = observed()
    spoilt = low_places(y, 2)
    X, y = observed(30, spoilt)
    assert np.flatnonzero(suspects(posterior(X, y), y)).tolist() == sorted(spoilt)


def test_a_model_without_a_suspect_confirms_it_or_does_not() -> None:
    X, y = observed()
    rest = posterior(X[1:], y[1:])
    assert confirmed(rest, X[:1], y[:1] + 4.0).tolist() == [True]
    assert confirmed(rest, X[:1], y[:1]).tolist() == [False]


def test_what_is_far_below_is_none() -> None:
    X, y = observed(30, (4,), height=-4.0)
    assert surprises(posterior(X, y))[4] < -FAR
    assert not suspects(posterior(X, y), y).any()


@pytest.mark.parametrize("n", [FEWEST - 1, 30])
def test_there_are_none_among_few_observations_or_where_all_is_explained(n: int) -> None:
    X, y = observed(n, (4,) if n < FEWEST else ())
    assert not suspects(posterior(X, y), y).any()


def test_two_neighbours_that_are_high_are_no_exception() -> None:
    X, y = observed()
    place = low_places(y, 1)[0]
    X, y = np.vstack([X, X[place] + 0.001]), np.append(y, y[place])
    made = posterior(X, y)
    y = y.copy()
    y[[place, -1]] = 6.0
    both = Posterior.of(SURROGATE, made.theta, X, y)
    assert not suspects(both, y)[[place, -1]].any()


def test_what_is_frequent_is_no_exception() -> None:
    X, y = observed(30)
    theta = posterior(X, y).theta.copy()
    theta[0], theta[-1] = -3.0, np.log(0.02)
    given = y + 30.0 * (np.arange(30) % 3 == 0)
    low = Posterior.of(SURROGATE, theta, X, given)
    assert ((surprises(low) > FAR) & (given > np.median(given))).mean() > MOST
    assert not suspects(low, given).any()
