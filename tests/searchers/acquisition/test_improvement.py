"""log EI in the deep tail against mpmath, its derivatives and the confidence bound's against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy.stats import norm

from tests.searchers.acquisition.cases import row_slopes
from xstar.searchers.acquisition.criterion import (
    confidence_weight,
    log_expected_improvement,
    log_h,
    negative_lower_bound,
)

Array = NDArray[np.float64]

# log(φ(u) + uΦ(u)), by mpmath with 60 digits: as it stands down to -20 (400 digits), then
# -u²/2 - log √(2π) - 2 log|u| + log ∫ x exp(-x - x²/(2u²)) dx.
REFERENCE = {
    5.0: 1.609437923126431385103418,
    2.0: 0.6973835457882283121857878,
    0.5: -0.3598276837450638185881877,
    0.0: -0.9189385332046727417803297,
    -0.5: -1.620516264387319919262399,
    -0.99: -2.466114391669049382248677,
    -1.0: -2.485121025712641336759659,
    -1.01: -2.504199857480256779152065,
    -2.0: -4.76878352391711415688103,
    -5.0: -16.74430116266099014327101,
    -10.0: -55.55312203612235592718335,
    -38.0: -730.1961834021137391614907,
    -100.0: -5010.12957880024979232524,
    -1e3: -500014.7344520911584469149,
    -1e4: -50000019.33961930715703716,
    -99999.0: -4999900024.444769463345135,
    -100001.0: -5000100024.444809463345124,
    -1e6: -500000000028.5499596491362,
    -1e7: -50000000000033.15512983512,
    -1e8: -5000000000000037.760300021,
}


def test_log_h_is_the_reference() -> None:
    u = np.array(list(REFERENCE))
    assert_allclose(log_h(u), list(REFERENCE.values()), rtol=1e-13)


def test_log_h_is_the_reference_beside_the_square() -> None:
    """-u²/2 is exact and nearly all of it: what is left has to be right, too."""
    u = np.array([each for each in REFERENCE if each >= -1e5])
    left = np.array([REFERENCE[each] + 0.5 * each * each for each in u])
    assert_allclose(log_h(u) + 0.5 * u * u, left, rtol=2e-6)


def test_log_h_against_mpmath() -> None:
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(400):
        for u in np.random.default_rng(0).uniform(-25.0, 6.0, 40):
            exact = mpmath.log(mpmath.npdf(u) + mpmath.mpf(u) * mpmath.ncdf(u))
            assert log_h(np.array([u]))[0] == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("seam", [-1.0, -1e5])
def test_log_h_rises_across_the_seams_of_its_branches(seam: float) -> None:
    assert (np.diff(log_h(np.linspace(1.001 * seam, 0.999 * seam, 401))) > 0.0).all()


def test_log_ei_is_the_textbook_formula_where_that_works() -> None:
    rng = np.random.default_rng(1)
    mean, std, best = rng.standard_normal((50, 1)), 0.1 + rng.random(50), np.array([0.3])
    u = (0.3 - mean[:, 0]) / std
    plain = (0.3 - mean[:, 0]) * norm.cdf(u) + std * norm.pdf(u)
    assert_allclose(log_expected_improvement(mean, std**2, best)[0], np.log(plain), rtol=1e-6)


def test_fantasies_are_averaged() -> None:
    rng = np.random.default_rng(2)
    mean, variance, best = rng.standard_normal((6, 4)), 0.1 + rng.random(6), rng.standard_normal(4)
    each = [log_expected_improvement(mean[:, [m]], variance, best[[m]])[0] for m in range(4)]
    expected = np.log(np.mean(np.exp(each), axis=0))
    assert_allclose(log_expected_improvement(mean, variance, best)[0], expected, rtol=1e-10)


@pytest.mark.parametrize("depth", [0.0, 3.0, 100.0, 1e4])
def test_derivatives_of_log_ei(depth: float) -> None:
    rng = np.random.default_rng(3)
    mean, variance, best = depth + rng.standard_normal((5, 3)), 0.5 + rng.random(5), 0.1 * rng.standard_normal(3)
    d_mean, d_variance = log_expected_improvement(mean, variance, best)[1]()
    at_mean = row_slopes(lambda m: log_expected_improvement(m, variance, best)[0], mean, 1e-6 * (1.0 + depth))
    assert_allclose(d_mean, at_mean, rtol=1e-4, atol=1e-7 * (1.0 + depth))
    at_variance = row_slopes(lambda v: log_expected_improvement(mean, v[:, 0], best)[0], variance[:, None], 1e-6)
    assert_allclose(d_variance, at_variance[:, 0], rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("u", [-1e5, -1e6, -1e7, -1e8, -1e9, -1e12])
def test_derivatives_in_the_deepest_tail(u: float) -> None:
    """d log h / du → -u there, so d log EI / d mean = u / std and d log EI / d variance = (1 + u²) / (2 variance)."""
    value, slopes = log_expected_improvement(np.array([[-u]]), np.ones(1), np.zeros(1))
    d_mean, d_variance = slopes()
    assert np.isfinite(value).all()
    assert_allclose(d_mean, u, rtol=1e-5)
    assert_allclose(d_variance, 0.5 * u * u, rtol=1e-5)


def test_certain_improvement_and_tiny_deviations() -> None:
    value, slopes = log_expected_improvement(np.array([[-7.0]]), np.array([1e-12]), np.array([0.0]))
    d_mean, d_variance = slopes()
    assert value[0] == pytest.approx(np.log(7.0))
    assert d_mean[0, 0] == pytest.approx(-1.0 / 7.0)
    assert np.isfinite(d_variance).all()


# ---------------------------------------------------------------- confidence bounds


def test_the_lower_bound_and_its_derivatives() -> None:
    rng = np.random.default_rng(4)
    mean, variance = rng.standard_normal((5, 3)), 0.5 + rng.random(5)
    value, slopes = negative_lower_bound(mean, variance, 1.7)
    d_mean, d_variance = slopes()
    assert_allclose(value, -(mean.mean(axis=1) - 1.7 * np.sqrt(variance)))
    assert_allclose(d_mean, row_slopes(lambda m: negative_lower_bound(m, variance, 1.7)[0], mean), rtol=1e-6)
    at = row_slopes(lambda v: negative_lower_bound(mean, v[:, 0], 1.7)[0], variance[:, None])
    assert_allclose(d_variance, at[:, 0], rtol=1e-6)


def test_the_weight_grows_with_both() -> None:
    assert confidence_weight(3, 10) == pytest.approx(np.sqrt(0.2 * 3 * np.log(20)))
    assert confidence_weight(3, 100) > confidence_weight(3, 10) > confidence_weight(2, 10)
    assert confidence_weight(0, 0) > 0.0
