"""Kernel (7) against a double loop of its formula, and its gradients against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from tests.models.differences import slopes
from xstar.models.composite import Columns, Product, Sum
from xstar.models.kernels import Stationary
from xstar.models.otmann_kernel import PARTS, Described, Transported

Array = NDArray[np.float64]
STRUCTURE = (0.1, 0.4)


def of_points(count: int = 9) -> tuple[Array, Array]:
    """Distances of points on a line (several ν: several units), and normalised ones."""
    at = np.random.default_rng(0).random(count)
    d = np.abs(at[:, None] - at)[:, :, None] * np.array([1.0, 2.5])
    return d, d / (1.0 + d)


D, D_BAR = of_points()


def between(ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> tuple[Array, Array]:
    return D[np.ix_(ours, theirs)], D_BAR[np.ix_(ours, theirs)]


def made(parts: str, powers: tuple[float, float] = (1.0, 2.0)) -> Transported:
    return Transported(between, 1, "net", STRUCTURE, parts, powers)


def inputs(*numbers: int) -> Array:
    return np.column_stack([np.linspace(0, 1, len(numbers)), numbers])


@pytest.mark.parametrize("parts", sorted(PARTS))
@pytest.mark.parametrize("powers", [(1.0, 2.0), (1.0, 1.0), (0.5, 1.5)], ids=str)
def test_is_the_formula(parts: str, powers: tuple[float, float]) -> None:
    kernel = made(parts, powers)
    theta = np.random.default_rng(1).normal(size=len(kernel.names))
    ours, theirs = (2, 0, 5, 5), (1, 5, 8)
    K = kernel.at(theta, inputs(*ours), inputs(*theirs)).K
    for i, u in enumerate(ours):
        for j, v in enumerate(theirs):
            rest, expected = list(np.exp(theta)), 0.0
            for far, power, used in zip((D, D_BAR), powers, PARTS[parts], strict=True):
                if used:
                    scale, one, two = rest.pop(0), rest.pop(0), rest.pop(0)
                    expected += scale * np.exp(-(one * far[u, v, 0] ** power + two * far[u, v, 1] ** power))
            assert_allclose(K[i, j], expected, rtol=1e-12)
    assert_allclose(kernel.variance(theta, inputs(*ours)).values, np.diagonal(kernel.at(theta, inputs(*ours)).K))


@pytest.mark.parametrize("parts", sorted(PARTS))
def test_gradients(parts: str) -> None:
    kernel = made(parts)
    rng = np.random.default_rng(2)
    theta, A, B = rng.normal(size=len(kernel.names)), inputs(2, 0, 5, 7), inputs(1, 5, 8)
    W = rng.normal(size=(4, 3))
    found = kernel.at(theta, A, B)
    assert_allclose(
        found.to_theta(W), slopes(lambda t: float(np.vdot(W, kernel.at(t, A, B).K)), theta), rtol=1e-6, atol=1e-8
    )
    assert_array_equal(found.to_left(W), np.zeros_like(A))
    assert_array_equal(kernel.variance(theta, A).to_left(np.ones(4)), np.zeros_like(A))


def test_of_what_describes_things() -> None:
    """Described is the kernel of what is looked up; in sums and products its gradients hold, too."""
    features = np.random.default_rng(3).random((9, 2))
    plain = Stationary("matern52", (0, 1), ("one", "two"))
    kernel = Described(plain, lambda numbers: features[numbers], 1)
    theta, A, B = np.array([0.1, -0.3, 0.2]), inputs(2, 0, 5), inputs(1, 5)
    assert_array_equal(kernel.at(theta, A, B).K, plain.at(theta, features[[2, 0, 5]], features[[1, 5]]).K)
    assert kernel.names == plain.names
    joint = Product((Columns(Stationary("matern52", (0,), ("x",)), (0,)), Sum((kernel, made("both")))))
    rng = np.random.default_rng(4)
    theta, W = 0.5 * rng.normal(size=len(joint.names)), rng.normal(size=(3, 2))
    found = joint.at(theta, A, B)
    assert_allclose(
        found.to_theta(W), slopes(lambda t: float(np.vdot(W, joint.at(t, A, B).K)), theta), rtol=1e-6, atol=1e-8
    )

    def moved(x: Array) -> float:
        return float(np.vdot(W, joint.at(theta, np.column_stack([x, A[:, 1]]), B).K))

    assert_allclose(found.to_left(W)[:, 0], slopes(moved, A[:, 0]), rtol=1e-6, atol=1e-8)
    assert_array_equal(found.to_left(W)[:, 1], np.zeros(3))
