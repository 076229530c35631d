"""Kernels: against double loops of their formulas, and their gradients against finite differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from tests.models.differences import slopes
from tests.models.linear_kernel import Linear
from xstar.models.composite import Columns, Product, Sum
from xstar.models.kernels import SHAPES, Kernel, Stationary, beside
from xstar.models.warped import Warped

Array = NDArray[np.float64]

GROUPS = (0, 1, 1, 2)
LABELS = ("one", "two", "three")
MATERN = Stationary("matern52", GROUPS, LABELS)
RBF = Stationary("rbf", GROUPS, LABELS)

KERNELS: dict[str, Kernel] = {
    "matern52": MATERN,
    "rbf": RBF,
    "linear": Linear(),
    "sum": Sum((MATERN, Linear(), RBF)),
    "product": Product((MATERN, Linear(), RBF)),
    "columns": Columns(Stationary("matern52", (0, 0), ("pair",)), (3, 1)),
    "warped": Warped(MATERN, (0, 3), ("one", "three")),
    "warped linear": Warped(Linear(), (2,), ("two",)),
    "warped twice": Warped(Warped(RBF, (0, 3), ("one", "three")), (3,), ("again",)),
    "one each": Stationary("matern52", (0, 1, 2, 3), tuple("abcd")),
    "nested": Sum((Product((MATERN, Columns(Linear(), (0, 2)))), Warped(RBF, (1,), ("two",)))),
}
EVERY = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def parts(kernel: Kernel, seed: int = 0) -> tuple[Array, Array, Array, np.random.Generator]:
    rng = np.random.default_rng(seed)
    theta = 0.5 * rng.standard_normal(len(kernel.names))
    A, B = (0.05 + 0.9 * rng.random((n, 4)) for n in (6, 5))
    return theta, A, B, rng


# ---------------------------------------------------------------- the formulas


def matern52(a: Array, b: Array, theta: Array) -> float:
    rho = np.sqrt(5.0 * sum(((a[c] - b[c]) / np.exp(theta[GROUPS[c]])) ** 2 for c in range(4)))
    return float(np.exp(theta[-1]) * (1.0 + rho + rho**2 / 3.0) * np.exp(-rho))


def rbf(a: Array, b: Array, theta: Array) -> float:
    squared = sum(((a[c] - b[c]) / np.exp(theta[GROUPS[c]])) ** 2 for c in range(4))
    return float(np.exp(theta[-1]) * np.exp(-0.5 * squared))


def linear(a: Array, b: Array, theta: Array) -> float:
    return float(np.exp(theta[1]) * (1.0 + sum(a[c] * b[c] for c in range(len(a))) / np.exp(theta[0]) ** 2))


def added(a: Array, b: Array, theta: Array) -> float:
    return matern52(a, b, theta[:4]) + linear(a, b, theta[4:6]) + rbf(a, b, theta[6:])


def multiplied(a: Array, b: Array, theta: Array) -> float:
    return matern52(a, b, theta[:4]) * linear(a, b, theta[4:6]) * rbf(a, b, theta[6:])


def on_columns(a: Array, b: Array, theta: Array) -> float:
    rho = np.sqrt(5.0 * ((a[3] - b[3]) ** 2 + (a[1] - b[1]) ** 2)) / np.exp(theta[0])
    return float(np.exp(theta[-1]) * (1.0 + rho + rho**2 / 3.0) * np.exp(-rho))


def warped(a: Array, b: Array, theta: Array) -> float:
    def through(x: Array) -> Array:
        made = x.copy()
        for place, column in enumerate((0, 3)):
            made[column] = 1.0 - (1.0 - x[column] ** np.exp(theta[place])) ** np.exp(theta[2 + place])
        return made

    return matern52(through(a), through(b), theta[4:])


PLAIN: dict[str, Callable[[Array, Array, Array], float]] = {
    "matern52": matern52,
    "rbf": rbf,
    "linear": linear,
    "sum": added,
    "product": multiplied,
    "columns": on_columns,
    "warped": warped,
}


@pytest.mark.parametrize("name", PLAIN)
def test_the_matrix_is_the_double_loop(name: str) -> None:
    kernel, plain = KERNELS[name], PLAIN[name]
    theta, A, B, _ = parts(kernel)
    loop = [[plain(a, b, theta) for b in B] for a in A]
    assert_allclose(kernel.at(theta, A, B).K, loop, rtol=1e-12)


@EVERY
def test_alone_it_is_the_covariance_with_itself(kernel: Kernel) -> None:
    theta, A, _, _ = parts(kernel)
    K = kernel.at(theta, A).K
    assert_allclose(K, kernel.at(theta, A, A.copy()).K, rtol=1e-7)  # √ of a rounding error on the diagonal
    assert_allclose(K, K.T, rtol=1e-12)
    assert_allclose(kernel.variance(theta, A).values, np.diagonal(K), rtol=1e-12)
    assert np.linalg.eigvalsh(K).min() > -1e-10


@EVERY
def test_beside_inputs_that_stay_it_is_the_same_to_the_last_bit(kernel: Kernel) -> None:
    theta, A, B, rng = parts(kernel)
    prepared = beside(kernel, theta, B)
    for rows in (A, A[:1], rng.random((40, 4)), A):  # what one call leaves behind must not change the next
        made, expected = prepared(rows), kernel.at(theta, rows, B)
        W = rng.standard_normal(expected.K.shape)
        assert_array_equal(made.K, expected.K)
        assert_array_equal(made.to_theta(W), expected.to_theta(W))
        assert_array_equal(made.to_left(W), expected.to_left(W))
        assert_array_equal(made.to_left(W), expected.to_left(W))  # asked for once more


# ---------------------------------------------------------------- gradients


@EVERY
@pytest.mark.parametrize("lower", [False, True], ids=["any weights", "lower triangle"])
def test_gradient_in_theta(kernel: Kernel, lower: bool) -> None:
    theta, A, _, rng = parts(kernel)
    W = rng.standard_normal((6, 6))
    if lower:  # what the likelihood hands over
        W = np.tril(W)
    given = kernel.at(theta, A).to_theta(W)
    assert given.shape == (len(kernel.names),)
    assert_allclose(given, slopes(lambda t: float(np.vdot(W, kernel.at(t, A).K)), theta), rtol=1e-6, atol=1e-7)


@EVERY
def test_gradients_of_two_sets(kernel: Kernel) -> None:
    theta, A, B, rng = parts(kernel)
    W = rng.standard_normal((6, 5))
    made = kernel.at(theta, A, B)
    in_theta = slopes(lambda t: float(np.vdot(W, kernel.at(t, A, B).K)), theta)
    in_inputs = slopes(lambda X: float(np.vdot(W, kernel.at(theta, X, B).K)), A)
    assert_allclose(made.to_theta(W), in_theta, rtol=1e-6, atol=1e-7)
    assert_allclose(made.to_left(W), in_inputs, rtol=1e-6, atol=1e-7)


@EVERY
def test_gradient_in_the_left_inputs_of_one_set(kernel: Kernel) -> None:
    """For a fixed right side, although it is the same set."""
    theta, A, _, rng = parts(kernel)
    W = rng.standard_normal((6, 6))
    expected = slopes(lambda X: float(np.vdot(W, kernel.at(theta, X, A).K)), A)
    assert_allclose(kernel.at(theta, A).to_left(W), expected, rtol=1e-5, atol=1e-5)  # Matérn bends sharply at 0


@EVERY
def test_gradient_of_the_variance(kernel: Kernel) -> None:
    theta, A, _, rng = parts(kernel)
    w = rng.standard_normal(6)
    expected = slopes(lambda X: float(w @ kernel.variance(theta, X).values), A)
    found = kernel.variance(theta, A)
    assert_allclose(found.to_left(w), expected, rtol=1e-6, atol=1e-8)
    if found.constant:
        assert_array_equal(found.to_left(w), 0.0)


# ---------------------------------------------------------------- particular cases


@pytest.mark.parametrize("shape", SHAPES)
def test_equal_inputs_have_the_full_covariance_and_no_slope(shape: str) -> None:
    kernel = Stationary(shape, (0, 1), ("a", "b"))
    theta = np.log([0.3, 0.7, 2.0])
    A = np.array([[0.2, 0.4], [0.2, 0.4], [0.9, 0.1]])
    made = kernel.at(theta, A)
    assert made.K[0, 1] == made.K[0, 0] == pytest.approx(2.0)
    W = np.zeros((3, 3))
    W[0, 1] = 1.0
    assert_allclose(made.to_left(W), 0.0, atol=1e-12)
    assert_allclose(made.to_theta(W), [0.0, 0.0, 2.0], atol=1e-12)


def test_options_of_a_choice_are_equally_far_apart() -> None:
    kernel = Stationary("matern52", (0, 0, 0), ("choice",))
    K = kernel.at(np.log([0.4, 1.0]), np.eye(3)).K
    assert_allclose(K[np.triu_indices(3, 1)], K[0, 1])


def test_no_warping_is_the_kernel_itself() -> None:
    theta, A, B, _ = parts(MATERN)
    one = Warped(MATERN, (0, 3), ("one", "three")).at(np.concatenate([np.zeros(4), theta]), A, B)
    assert_allclose(one.K, MATERN.at(theta, A, B).K, rtol=1e-7)


@pytest.mark.parametrize("shape", [0.1, 0.5, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("other", [0.1, 1.0, 10.0])
def test_warping_the_ends_of_the_range_stays_finite(shape: float, other: float) -> None:
    kernel = Warped(Stationary("matern52", (0,), ("x",)), (0,), ("x",))
    A = np.array([[0.0], [1e-12], [0.5], [1.0 - 1e-12], [1.0]])
    made = kernel.at(np.log([shape, other, 0.5, 1.0]), A)
    W = np.ones((5, 5))
    for each in (made.K, made.to_theta(W), made.to_left(W)):
        assert np.isfinite(each).all()


def test_warping_keeps_the_order_and_the_ends() -> None:
    line = np.linspace(0.0, 1.0, 51)[:, None]
    kernel = Warped(Linear(), (0,), ("x",))
    for a, b in [(0.3, 0.3), (3.0, 0.5), (0.5, 4.0)]:
        K = kernel.at(np.array([np.log(a), np.log(b), 0.0, 0.0]), line, np.ones((1, 1))).K[:, 0]
        assert_allclose([K[0], K[-1]], [1.0, 2.0], atol=1e-2)
        assert (np.diff(K) > 0).all()


def test_the_factors_of_a_product_may_be_zero() -> None:
    kernel = Product((Linear(), Linear()))
    theta = np.zeros(4)
    A, B = np.array([[1.0, 0.0]]), np.array([[-1.0, 0.5]])  # 1 + a·b = 0
    made = kernel.at(theta, A, B)
    assert_array_equal(made.K, [[0.0]])
    assert np.isfinite(made.to_theta(np.ones((1, 1)))).all()
