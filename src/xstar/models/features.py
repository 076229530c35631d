"""The network whose last hidden layer is DNGO's basis (Snoek et al. 2015, Section 3), trained by backpropagation.

Notation

=========  ==========================================================================================  ===========
symbol     meaning                                                                                     shape
=========  ==========================================================================================  ===========
``X``      inputs in the unit cube                                                                     (N, K)
``t``      targets with mean 0 and variance 1, or 0 and 1 for a classifier                             (N,)
``H``      the output of a layer, activation(H W + b); the first is 2X - 1                             (N, 50)
``Phi``    the output of the last hidden layer: the basis functions φ(x)                               (N, D)
=========  ==========================================================================================  ===========

During training, ``Phi`` feeds a linear output layer, and Adam fits all weights on minibatches: the MAP estimate of
Section 3. A Bayesian linear regressor (``linear.py``) then replaces the output layer. Each network is trained from
scratch for a bounded number of steps, so it depends on its data and its random stream only, not on earlier networks.
Gradients are derived by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xstar.models.kernels import Array

ACTIVATIONS: dict[str, tuple[str, ...]] = {
    "tanh": ("tanh", "tanh", "tanh"),
    "relu": ("relu", "relu", "relu"),
    "relu-tanh": ("relu", "relu", "tanh"),
}
"""Activations of the three hidden layers (Figure 2: a, c, b). Bounded functions have bounded variance far from the
data."""
UNITS = 50
"""Units per hidden layer (Section 3.1.1)."""
STEPS, MOST_STEPS = 1000, 10_000
"""Training steps for up to 1,000 observations, and the maximum. In between, the number grows with the square root: with 1,000
points more steps change nothing, with 20,000 four times as many halve the test error (Hartmann's function)."""
BATCH = 64
"""Rows of a minibatch. With 256, a step takes three times as long."""
RATE = 0.01
"""Learning rate of Adam. On 120 observations from a search on Hartmann's function, predictions near the optimum were as
good with 0.003 and worse with 0.03. The paper uses plain momentum, which needs a rate tuned to each problem."""
DECAY = 1e-4
"""Weight decay, multiplied by the learning rate at each step: "very modest" (Section 3.1.1). From 0.1 on the fit
suffers: at 1, the noise grows from 1e-4 to 5e-2 of the variance."""
MOMENTS = (0.9, 0.999)
SPEED = np.float32
"""Single precision halves the training time; minibatch noise far exceeds its rounding. All else is double precision."""

Layers = list[tuple[NDArray[Any], NDArray[Any]]]
"""Weights and biases of networks trained in parallel: (E, before, after) and (E, 1, after)."""


class Evaluated(NamedTuple):
    """Basis functions at some inputs, and a function that maps their derivative back to the inputs."""

    values: Array
    """(N, D)"""
    to_left: Callable[[Array], Array]
    """The derivative with respect to ``values`` → the derivative with respect to the inputs, (N, K)."""


@dataclass(frozen=True)
class Network:
    """Trained hidden layers."""

    layers: tuple[tuple[Array, Array], ...]
    """(W, b) of each layer."""
    kinds: tuple[str, ...]
    """The activation of each layer."""

    @property
    def width(self) -> int:
        """The number of basis functions, D."""
        return len(self.layers[-1][1])

    def __call__(self, X: Array) -> Array:
        """Return the basis functions at ``X``: (N, D)."""
        return self._forward(X)[-1]

    def at(self, X: Array) -> Evaluated:
        """Return the basis functions at ``X`` with their gradient."""
        H = self._forward(X)

        def to_left(W: Array) -> Array:
            for (weights, _), kind, out in zip(self.layers[::-1], self.kinds[::-1], H[::-1], strict=True):
                W = (W * _slope(out, kind)) @ weights.T
            return 2.0 * W

        return Evaluated(H[-1], to_left)

    def _forward(self, X: Array) -> list[Array]:
        """Return the output of each hidden layer."""
        made = []
        H = 2.0 * X - 1.0
        for (weights, bias), kind in zip(self.layers, self.kinds, strict=True):
            H = _activated(H @ weights, bias, kind)
            made.append(H)
        return made


def _activated(out: NDArray[Any], bias: NDArray[Any], kind: str) -> NDArray[Any]:
    """Add the bias to ``out`` and apply the activation, in place."""
    out += bias
    if kind == "tanh":
        np.tanh(out, out=out)
    else:
        np.maximum(out, 0.0, out=out)
    return out


def _slope(out: NDArray[Any], kind: str) -> NDArray[Any]:
    """Return the derivative of an activation, computed from its value."""
    return 1.0 - out * out if kind == "tanh" else (out > 0.0).astype(out.dtype)


# ---------------------------------------------------------------- training


def train(
    X: Array,
    t: Array,
    rng: np.random.Generator,
    *,
    networks: int = 1,
    activation: str = "tanh",
    logistic: bool = False,
    steps: int | None = None,
) -> list[Network]:
    """Train networks that predict ``t`` from ``X``, by squared error or as the log-odds of t = 1.

    The networks differ in their initial weights and minibatches. They are trained in parallel, along one extra axis of
    every array, so ten networks take five times as long as one.
    """
    kinds = ACTIVATIONS[activation]
    steps = steps_for(len(X)) if steps is None else steps
    start = initial(X.shape[1], kinds, rng, UNITS, networks)
    order = batches(len(X), steps, BATCH, rng, networks)
    theta, shapes = _flat(start)
    theta = _adam(theta, shapes, kinds, (2.0 * X - 1.0).astype(SPEED), t.astype(SPEED), order, logistic)
    return taken_apart(_views(theta.astype(np.float64), shapes), kinds)


def steps_for(count: int) -> int:
    """Return the number of training steps for ``count`` observations."""
    return min(int(STEPS * max(1.0, count / STEPS) ** 0.5), MOST_STEPS)


def taken_apart(layers: Layers, kinds: tuple[str, ...]) -> list[Network]:
    """Split networks that were trained in parallel, and return the hidden layers of each."""
    count = len(layers[0][0])
    return [
        Network(tuple((weights[each].copy(), bias[each, 0].copy()) for weights, bias in layers[:-1]), kinds)
        for each in range(count)
    ]


def initial(
    columns: int, kinds: tuple[str, ...], rng: np.random.Generator, units: int = UNITS, networks: int = 1
) -> Layers:
    """Return initial weights (E, before, after) and biases (E, 1, after) of all layers, the output layer last.

    The variances preserve the scale of the outputs from layer to layer (Glorot for tanh, He for ReLU). The biases of
    the first layer spread the transitions of its units over the cube.
    """
    made = []
    sizes = (columns, *(units,) * len(kinds), 1)
    for index, (before, after) in enumerate(pairwise(sizes)):
        gain = 2.0 if index < len(kinds) and kinds[index] == "relu" else 1.0
        weights = rng.standard_normal((networks, before, after)) * np.sqrt(gain / before)
        bias = rng.uniform(-1.0, 1.0, (networks, 1, after)) if index == 0 else np.zeros((networks, 1, after))
        made.append((weights, bias))
    return made


def batches(count: int, steps: int, batch: int, rng: np.random.Generator, networks: int = 1) -> NDArray[np.intp]:
    """Return the rows of each minibatch, (steps, E, batch): for each network, consecutive permutations of all rows."""
    size = min(batch, count)
    made = np.empty((networks, steps * size), dtype=np.intp)
    for order in made:
        rows = rng.permutation(count)
        for at in range(0, len(order), count):
            order[at : at + count] = rng.permutation(rows)[: len(order) - at]
    return made.reshape(networks, steps, size).swapaxes(0, 1)


def rates(steps: int) -> Array:
    """Return the learning rate of each step: a cosine decay to 0, so that the last steps average out the noise."""
    made: Array = 0.5 * RATE * (1.0 + np.cos(np.pi * np.arange(steps) / steps))
    return made


def _flat(layers: Layers) -> tuple[Array, list[tuple[int, ...]]]:
    parts = [part for pair in layers for part in pair]
    return np.concatenate([part.ravel() for part in parts]), [part.shape for part in parts]


def _views(flat: NDArray[Any], shapes: list[tuple[int, ...]]) -> Layers:
    """Return the layers' weights and biases as views of one array."""
    parts, at = [], 0
    for shape in shapes:
        size = int(np.prod(shape))
        parts.append(flat[at : at + size].reshape(shape))
        at += size
    return list(zip(parts[::2], parts[1::2], strict=True))


def gradient(
    layers: Layers, into: Layers, kinds: tuple[str, ...], inputs: NDArray[Any], t: NDArray[Any], logistic: bool
) -> None:
    """Compute the gradient of each network's mean loss over its minibatch, and write it to ``into``.

    ``inputs`` (E, B, K), ``t`` (E, B); ``into`` has the shapes of ``layers``. The loss is (o - t)²/2, or log(1 +
    exp(o)) - t o for a classifier. Its derivative with respect to the output o is o - t, or p - t.
    """
    H = [inputs]
    for (weights, bias), kind in zip(layers[:-1], kinds, strict=True):
        H.append(_activated(np.matmul(H[-1], weights), bias, kind))
    weights, bias = layers[-1]
    out = np.matmul(H[-1], weights) + bias
    if logistic:
        out = 0.5 + 0.5 * np.tanh(0.5 * out)
    error = (out - t[..., None]) / t.dtype.type(t.shape[-1])
    for index in range(len(layers) - 1, -1, -1):
        np.matmul(H[index].swapaxes(1, 2), error, out=into[index][0])
        np.sum(error, axis=1, keepdims=True, out=into[index][1])
        if index:
            error = np.matmul(error, layers[index][0].swapaxes(1, 2))
            error *= _slope(H[index], kinds[index - 1])


def _adam(
    theta: Array,
    shapes: list[tuple[int, ...]],
    kinds: tuple[str, ...],
    inputs: NDArray[Any],
    t: NDArray[Any],
    order: NDArray[np.intp],
    logistic: bool,
) -> NDArray[Any]:
    """Train with Adam (Kingma & Ba 2015) and decoupled weight decay (Loshchilov & Hutter 2019)."""
    dtype = inputs.dtype.type
    moving = theta.astype(dtype)
    slope, mean, square, scratch = (np.zeros_like(moving) for _ in range(4))
    layers, into = _views(moving, shapes), _views(slope, shapes)
    one, two = MOMENTS
    for number, (rows, speed) in enumerate(zip(order, rates(len(order)), strict=True), 1):
        gradient(layers, into, kinds, inputs[rows], t[rows], logistic)
        mean *= dtype(one)
        np.multiply(slope, dtype(1.0 - one), out=scratch)
        mean += scratch
        slope *= slope
        slope *= dtype(1.0 - two)
        square *= dtype(two)
        square += slope
        np.sqrt(square, out=scratch)
        scratch *= dtype(1.0 / np.sqrt(1.0 - two**number))
        scratch += dtype(1e-8)
        np.divide(mean, scratch, out=scratch)
        scratch *= dtype(speed / (1.0 - one**number))
        moving *= dtype(1.0 - speed * DECAY)
        moving -= scratch
    return moving
