"""The slice sampler against distributions that are known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from xstar.models.slice_sampling import slice_sample

Array = NDArray[np.float64]


@pytest.mark.parametrize("width", [0.3, 2.0, 30.0])
def test_a_correlated_normal(width: float) -> None:
    """Whatever the width, also one far too small or too large."""
    mean, covariance = np.array([1.0, -2.0]), np.array([[2.0, 0.9], [0.9, 1.0]])
    precision = np.linalg.inv(covariance)

    def log_density(point: Array) -> float:
        z = point - mean
        return -0.5 * float(z @ precision @ z)

    drawn = slice_sample(
        log_density, np.zeros(2), np.full(2, width), np.random.default_rng(0), samples=6000, burn_in=50, thin=1
    )
    assert drawn.shape == (6000, 2)
    assert_allclose(drawn.mean(axis=0), mean, atol=0.12)
    assert_allclose(np.cov(drawn.T), covariance, atol=0.2)


def test_a_gamma_on_a_half_line() -> None:
    shape = 2.5

    def log_density(point: Array) -> float:
        x = float(point[0])
        return (shape - 1.0) * np.log(x) - x if x > 0.0 else -np.inf

    drawn = slice_sample(
        log_density, np.ones(1), np.ones(1), np.random.default_rng(1), samples=8000, burn_in=20, thin=2
    )[:, 0]
    assert drawn.min() > 0.0
    assert drawn.mean() == pytest.approx(shape, rel=0.03)
    assert drawn.var() == pytest.approx(shape, rel=0.1)
    # Quartiles of Gamma(2.5, 1): 1.3373, 2.1757, 3.3128.
    assert_allclose(np.quantile(drawn, [0.25, 0.5, 0.75]), [1.3373, 2.1757, 3.3128], rtol=0.05)


def test_two_separate_intervals_keep_their_shares() -> None:
    """Uniform on [0, 1] and [1.5, 2.5]: stepping out crosses the gap, and half of the draws lie on either side."""

    def log_density(point: Array) -> float:
        return 0.0 if 0.0 <= point[0] <= 1.0 or 1.5 <= point[0] <= 2.5 else -np.inf

    drawn = slice_sample(log_density, np.array([0.5]), np.ones(1), np.random.default_rng(2), samples=5000)[:, 0]
    assert (drawn > 1.2).mean() == pytest.approx(0.5, abs=0.07)


def test_burn_in_and_thinning_take_draws_of_the_same_chain() -> None:
    def log_density(point: Array) -> float:
        return -0.5 * float(point @ point)

    def run(**options: int) -> Array:
        return slice_sample(log_density, np.zeros(3), np.ones(3), np.random.default_rng(3), **options)

    chain = run(samples=20)
    assert_array_equal(run(samples=5, burn_in=4, thin=3), chain[[6, 9, 12, 15, 18]])
    assert_array_equal(run(samples=20), chain)


def test_the_start_is_left_as_it_is() -> None:
    start = np.zeros(2)
    slice_sample(lambda point: -0.5 * float(point @ point), start, np.ones(2), np.random.default_rng(4), samples=3)
    assert_array_equal(start, 0.0)


@pytest.mark.parametrize("bad", [-np.inf, np.inf, np.nan])
def test_an_impossible_start_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="density at the start must be positive"):
        slice_sample(lambda point: bad, np.zeros(1), np.ones(1), np.random.default_rng(0), samples=1)
