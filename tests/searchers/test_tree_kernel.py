"""The tree-structured kernel over sequences of layers."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from tests.models.differences import slopes
from tests.models.test_otmann_kernel import inputs
from xstar.models.kernels import Array
from xstar.models.tree_kernel import Numbers, Tree

TYPES = [[], [3, 3], [3, 4, 4], [4], [3, 3, 5, 5], [5, 4, 3, 3, 4], [3, 3]]
SIZES = [[], [4.0, 5.0], [4.0, 4.0, 6.0], [3.0], [4.0, 5.0, 5.0, 5.0], [2.0, 3.0, 4.0, 5.0, 6.0], [4.0, 6.0]]
THETA = np.log([0.4, 1.5, 0.8, 0.3, 2.0])


def layers(numbers: Numbers) -> tuple[Numbers, Array]:
    most = max((len(TYPES[number]) for number in numbers), default=0)
    types, sizes = np.full((len(numbers), most), -1), np.zeros((len(numbers), most))
    for row, number in enumerate(numbers):
        types[row, : len(TYPES[number])] = TYPES[number]
        sizes[row, : len(SIZES[number])] = SIZES[number]
    return types, sizes


KERNEL = Tree(layers, 1, "net")
ALL = inputs(*range(len(TYPES)))


def plain(a: int, b: int) -> float:
    """The formula, layer by layer."""
    alpha, units, types, alpha_0, depth = np.exp(THETA)
    total = 0.0
    for o, u, o2, u2 in zip(TYPES[a], SIZES[a], TYPES[b], SIZES[b], strict=False):
        total += alpha * np.exp(-((u - u2) ** 2) / (2 * units**2) - (o != o2) / types)
    return float(total + alpha_0 * np.exp(-((len(TYPES[a]) - len(TYPES[b])) ** 2) / (2 * depth**2)))


def test_is_the_formula() -> None:
    ours, theirs = (5, 1, 3), (0, 4, 2, 6)  # of different lengths at most: 5 and 4
    K = KERNEL.at(THETA, inputs(*ours), inputs(*theirs)).K
    assert_allclose(K, [[plain(a, b) for b in theirs] for a in ours], rtol=1e-12)
    assert_allclose(KERNEL.variance(THETA, ALL).values, np.diagonal(KERNEL.at(THETA, ALL).K))


def test_is_positive_semi_definite() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        theta = THETA + rng.normal(size=5)
        assert np.linalg.eigvalsh(KERNEL.at(theta, ALL).K)[0] > -1e-10


def test_gradients() -> None:
    W, B = np.random.default_rng(1).normal(size=(7, 3)), inputs(1, 4, 5)
    found = KERNEL.at(THETA, ALL, B)
    expected = slopes(lambda t: float(np.vdot(W, KERNEL.at(t, ALL, B).K)), THETA)
    assert_allclose(found.to_theta(W), expected, rtol=1e-6, atol=1e-8)
    assert_array_equal(found.to_left(W), np.zeros_like(ALL))
    assert len(KERNEL.names) == len(KERNEL.priors) == 5
