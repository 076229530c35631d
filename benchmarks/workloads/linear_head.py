"""DNGO's linear part at a given number of observations, and the training of its networks: how long each step takes."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks.harness.machine import peer
from xstar.models.blas import single_threaded
from xstar.models.features import Network, initial, steps_for, taken_apart, train
from xstar.models.kernels import Array
from xstar.models.linear import Basis, Head, Statistics
from xstar.models.quadratic import Quadratic

INPUTS, CHUNK, REPEATS = 6, 4096, 50


def head_times(n: int, device: str) -> dict[str, float]:
    """Seconds: to add one observation, each of many, to make the posterior, to predict at 1,000 points, to train."""
    rng, kinds = np.random.default_rng(0), ("tanh",) * 3
    basis = Basis(taken_apart(initial(INPUTS, kinds, rng), kinds)[0], Quadratic(tuple(range(INPUTS))))
    theta = np.concatenate([[0.0], basis.mean.start(), [np.log(1e-3)]])
    A, X = rng.random((1000, INPUTS)), rng.random((n, INPUTS))
    y = np.sin(5.0 * X[:, 0]) + X[:, 1] ** 2
    with single_threaded():
        begun, featured = time.perf_counter(), 0.0
        sums = Statistics.none(basis.width + basis.mean.size)
        for at in range(0, n, CHUNK):
            start = time.perf_counter()
            Z = basis.design(X[at : at + CHUNK])
            featured += time.perf_counter() - start
            sums = sums.extended(Z, y[at : at + CHUNK])
        each = (time.perf_counter() - begun - featured) / n
        Z, after = basis.design(X[:1]), Head.of(sums, basis, theta)
        return {
            "add": mean_time(lambda: sums.extended(Z, y[:1])),
            "each": each,
            "posterior": mean_time(lambda: Head.of(sums, basis, theta)),
            "predict": mean_time(lambda: after.predict(A + 1e-9 * rng.random())),
            "features": featured,
            "training": training_time(X, y, device),
            "steps": steps_for(n),
        }


def training_time(X: Array, y: Array, device: str) -> float:
    """Of ten networks."""
    t, rng = (y - y.mean()) / y.std(), np.random.default_rng(0)
    if device == "cuda":
        torch = peer("torch")
        from xstar.models.features_torch import train_on

        train_on("cuda", X[:1000], t[:1000], rng, networks=10, steps=20)  # kernels are loaded at first use
        torch.cuda.synchronize()
        begun = time.perf_counter()
        made: list[Network] = train_on("cuda", X, t, rng, networks=10)
    else:
        begun = time.perf_counter()
        made = train(X, t, rng, networks=10)
    assert len(made) == 10
    return time.perf_counter() - begun


def mean_time(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    for _ in range(REPEATS):
        work()
    return (time.perf_counter() - begun) / REPEATS
