"""The projection of kernel matrices that are not positive semi-definite."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from tests.models.differences import slopes
from tests.models.test_otmann_kernel import inputs
from xstar.models.kernels import Array
from xstar.models.otmann_kernel import Transported
from xstar.models.projection import Projected


def paths() -> Array:
    """The shortest paths between the nodes of a star and a circle: exp(-d²) of them is not positive semi-definite."""
    away = np.full((9, 9), 2.0)
    away[0, 1:] = away[1:, 0] = 1.0
    for node in range(1, 9):
        for step in (-1, 1):
            other = 1 + (node - 1 + step) % 8
            away[node, other] = 1.0
    np.fill_diagonal(away, 0.0)
    return away[:, :, None]


def made() -> Projected:
    D = paths()
    return Projected(
        Transported(lambda a, b: (D[np.ix_(a, b)], D[np.ix_(a, b)]), 1, "net", (0.1,), "plain", (2.0, 2.0))
    )


THETA = np.log([1.3, 0.3])
ALL = inputs(*range(9))


def test_the_matrix_is_the_nearest_one_that_is_positive_semi_definite() -> None:
    raw, K = made().kernel.at(THETA, ALL).K, made().at(THETA, ALL).K
    values, Q = np.linalg.eigh(raw)
    assert values[0] < -0.01, "the example must be one that needs it"
    assert np.linalg.eigvalsh(K)[0] > -1e-12
    assert_allclose(K, sum(max(value, 0.0) * np.outer(q, q) for value, q in zip(values, Q.T, strict=True)), atol=1e-12)
    other = K + 0.01 * np.eye(9)
    assert np.linalg.norm(K - raw) < np.linalg.norm(other - raw)


def test_gradients() -> None:
    kernel, rng = made(), np.random.default_rng(1)
    for W in (rng.normal(size=(9, 9)), np.tril(rng.normal(size=(9, 9)))):
        found = kernel.at(THETA, ALL).to_theta(W)
        expected = slopes(lambda t, W=W: float(np.vdot(W, kernel.at(t, ALL).K)), THETA)  # type: ignore[misc]
        assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def test_a_matrix_that_is_positive_definite_stays_as_it_is() -> None:
    far = np.log([1.3, 30.0])
    assert_array_equal(made().at(far, ALL).K, made().kernel.at(far, ALL).K)


def test_two_sets_of_inputs_are_left_alone() -> None:
    some = inputs(1, 4)
    assert_array_equal(made().at(THETA, ALL, some).K, made().kernel.at(THETA, ALL, some).K)
    assert_array_equal(made().variance(THETA, ALL).values, made().kernel.variance(THETA, ALL).values)
    assert made().names == made().kernel.names
