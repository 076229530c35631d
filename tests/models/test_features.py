"""The network of DNGO: gradients against differences, determinism, and whether it learns."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.models.differences import slopes
from xstar.models import features
from xstar.models.features import ACTIVATIONS, Network, batches, gradient, initial, rates, taken_apart, train
from xstar.models.kernels import Array


def data(n: int = 60, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    t = np.sin(5.0 * X[:, 0]) + X[:, 1] ** 2
    return X, (t - t.mean()) / t.std()


def small(activation: str, seed: int = 0) -> Network:
    kinds = ACTIVATIONS[activation]
    return taken_apart(initial(3, kinds, np.random.default_rng(seed), 7), kinds)[0]


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_basis_is_three_layers(activation: str) -> None:
    """Plain form: one input at a time, one unit at a time."""
    network = small(activation)
    X, _ = data(4)
    plain: dict[str, Callable[[float], float]] = {"tanh": np.tanh, "relu": lambda value: max(value, 0.0)}
    for row, found in zip(X, network(X), strict=True):
        out = [2.0 * value - 1.0 for value in row]
        for (weights, bias), kind in zip(network.layers, network.kinds, strict=True):
            out = [plain[kind](sum(o * weights[i, j] for i, o in enumerate(out)) + bias[j]) for j in range(len(bias))]
        assert_allclose(found, out, rtol=1e-12, atol=1e-14)
    assert network.width == 7


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_gradient_by_the_inputs(activation: str) -> None:
    network = small(activation)
    X, _ = data(5)
    W = np.random.default_rng(1).standard_normal((5, 7))
    at = network.at(X)
    assert_array_equal(at.values, network(X))
    assert_allclose(at.to_left(W), slopes(lambda A: float((network(A) * W).sum()), X, 1e-6), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("logistic", [False, True], ids=["squared", "logistic"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_gradient_by_the_weights(activation: str, logistic: bool) -> None:
    kinds = ACTIVATIONS[activation]
    X, t = data(9)
    if logistic:
        t = (t > 0).astype(np.float64)
    layers = initial(3, kinds, np.random.default_rng(2), 5, networks=2)
    into = [(np.empty_like(weights), np.empty_like(bias)) for weights, bias in layers]
    rows = np.array([[0, 3, 4, 7], [8, 1, 2, 5]])
    gradient(layers, into, kinds, X[rows], t[rows], logistic)

    def loss(each: int, place: int, part: int, value: Array) -> float:
        """Plain form: one network."""
        changed = [[pair[0][each], pair[1][each, 0]] for pair in layers]
        changed[place][part] = value
        H = X[rows[each]]
        for (weights, bias), kind in zip(changed[:-1], kinds, strict=True):
            H = np.tanh(H @ weights + bias) if kind == "tanh" else np.maximum(H @ weights + bias, 0.0)
        out = (H @ changed[-1][0])[:, 0] + changed[-1][1]
        own = t[rows[each]]
        return float((np.logaddexp(0.0, out) - own * out if logistic else 0.5 * (out - own) ** 2).mean())

    for each, place in np.ndindex(2, len(layers)):
        for part, value in enumerate((layers[place][0][each], layers[place][1][each, 0])):
            expected = slopes(partial(loss, each, place, part), value, 1e-6)
            found = into[place][part][each]
            assert_allclose(found.reshape(expected.shape), expected, rtol=1e-4, atol=1e-8)


def test_the_same_stream_gives_the_same_network() -> None:
    X, t = data()
    one, two, other = (train(X, t, np.random.default_rng(seed), steps=50)[0] for seed in (3, 3, 4))
    for (weights, bias), (weights_2, bias_2) in zip(one.layers, two.layers, strict=True):
        assert_array_equal(weights, weights_2)
        assert_array_equal(bias, bias_2)
    assert np.abs(one.layers[0][0] - other.layers[0][0]).max() > 0.01


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_it_learns(activation: str) -> None:
    """A linear fit on the basis predicts new points; one on the inputs leaves a third of the variance."""
    X, t = data(200)
    A, expected = data(100, seed=1)
    network = train(X, t, np.random.default_rng(0), activation=activation)[0]

    def unexplained(before: Array, after: Array) -> float:
        weights = np.linalg.solve(before.T @ before + 1e-3 * np.eye(before.shape[1]), before.T @ t)
        return float(np.mean((after @ weights - expected) ** 2))

    assert unexplained(np.hstack([X, np.ones((200, 1))]), np.hstack([A, np.ones((100, 1))])) > 0.2
    assert unexplained(network(X), network(A)) < 0.02


def test_a_classifier_learns() -> None:
    X, _ = data(300)
    inside = ((X[:, :2] - 0.5) ** 2).sum(axis=1) < 0.1
    network = train(X, inside.astype(np.float64), np.random.default_rng(0), logistic=True)[0]
    F = np.hstack([network(X), np.ones((300, 1))])
    weights = np.linalg.lstsq(F, np.where(inside, 1.0, -1.0), rcond=None)[0]
    assert np.mean((F @ weights > 0) == inside) > 0.98


def test_networks_side_by_side_are_different_and_as_good() -> None:
    X, t = data(200)
    one, two = train(X, t, np.random.default_rng(0), networks=2, steps=1000)
    for network in (one, two):
        Phi = network(X)
        weights = np.linalg.solve(Phi.T @ Phi + 1e-3 * np.eye(50), Phi.T @ t)
        assert np.mean((Phi @ weights - t) ** 2) < 0.01
    assert np.abs(one(X) - two(X)).max() > 0.1


def test_mini_batches_are_permutations() -> None:
    rng = np.random.default_rng(0)
    rows = batches(10, 5, 4, rng, networks=2)
    assert rows.shape == (5, 2, 4)
    for each in (0, 1):
        order = rows[:, each].ravel()
        assert sorted(order[:10]) == sorted(order[10:]) == list(range(10))
    assert (rows[:, 0] != rows[:, 1]).any()
    assert (np.sort(batches(3, 2, 4, rng)) == [0, 1, 2]).all()  # fewer rows than a batch: all of them
    assert len(np.unique(batches(1000, 3, 64, rng))) == 192


def test_the_rate_falls_to_nothing() -> None:
    found = rates(100)
    assert found[0] == pytest.approx(features.RATE)
    assert (np.diff(found) < 0).all()
    assert found[-1] < 1e-5


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("constant", [False, True], ids=["any", "constant"])
def test_few_or_constant_targets(n: int, constant: bool) -> None:
    X = np.random.default_rng(0).random((n, 200))
    t = np.zeros(n) if constant else np.linspace(-1.0, 1.0, n)
    network = train(X, t, np.random.default_rng(1), steps=50)[0]
    assert np.isfinite(network(X)).all()
    assert network.width == features.UNITS
