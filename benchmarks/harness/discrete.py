"""Problems of switches and of counts for the development set, made to find out what a GP lacks there.

Switches: choosing things that fit (a knapsack), quadratic forms, tables of neighbours (NK landscapes), cuts of a graph, blocks
that count only as a whole, columns of a regression, clauses to satisfy, leading ones with plateaus. Each has a hidden string or
random coefficients, so that no optimum is all ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import xstar as xs
from benchmarks.harness.cases import Case

Vector = NDArray[np.float64]


def _rng(name: str) -> np.random.Generator:
    return np.random.default_rng([ord(letter) for letter in name])


def of_bits(function: Callable[[Vector], float], n: int) -> Case:
    """A function of ``n`` switches, given as an array of 0 and 1."""
    space = xs.Space({f"b{place}": xs.Bool() for place in range(n)})
    return Case("bits", space, lambda config: float(function(np.fromiter(config.values(), float))))


def knapsack(n: int) -> Case:
    """Things of a weight and a worth each; what is above the capacity costs more than anything is worth."""
    rng = _rng(f"knapsack{n}")
    weight, worth = rng.uniform(1, 10, n), rng.uniform(1, 10, n)
    capacity = 0.4 * weight.sum()
    return of_bits(lambda x: 3.0 * max(0.0, float(weight @ x) - capacity) - float(worth @ x), n)


def quadratic(n: int, density: float) -> Case:
    """A quadratic form, of which a share of the pairs has a coefficient."""
    rng = _rng(f"qubo{n}")
    Q = np.triu(rng.standard_normal((n, n)) * (rng.random((n, n)) < density))
    np.fill_diagonal(Q, rng.standard_normal(n))
    return of_bits(lambda x: float(x @ Q @ x), n)


def nk(n: int, k: int) -> Case:
    """An NK landscape: the worth of each switch depends on ``k`` others, by a table."""
    rng = _rng(f"nk{n}-{k}")
    others = [rng.choice([j for j in range(n) if j != i], k, replace=False) for i in range(n)]
    with_own = np.array([np.append(i, each) for i, each in enumerate(others)])
    tables, powers = rng.random((n, 2 ** (k + 1))), 2 ** np.arange(k + 1)
    return of_bits(lambda x: -10.0 * float(tables[np.arange(n), (x[with_own] @ powers).astype(int)].mean()), n)


def cut(n: int, density: float) -> Case:
    """The weight of a graph's edges between two sides."""
    rng = _rng(f"maxcut{n}")
    weights = np.triu((rng.random((n, n)) < density) * rng.uniform(0.2, 1.0, (n, n)), 1)
    return of_bits(lambda x: -float(weights[x[:, None] != x].sum()), n)


def blocks(n: int, size: int) -> Case:
    """Blocks of a hidden string count as a whole (a royal road), each right switch a little."""
    hidden = _rng(f"royal{n}").random(n) < 0.5

    def function(x: Vector) -> float:
        right = (x > 0.5) == hidden
        return -float(size * right.reshape(-1, size).all(axis=1).sum()) - 0.25 * float(right.sum())

    return of_bits(function, n)


def columns(n: int, rows: int) -> Case:
    """Columns of a linear regression, by the squared error on other rows: a third of them matter, all are correlated."""
    rng = _rng(f"subset{n}")
    X = rng.standard_normal((2 * rows, n)) @ (np.eye(n) + 0.3 * rng.standard_normal((n, n)) / np.sqrt(n))
    y = X @ np.where(rng.random(n) < 0.35, rng.standard_normal(n), 0.0) + rng.standard_normal(2 * rows)

    def function(x: Vector) -> float:
        own = X[:, x > 0.5]
        A = own[:rows].T @ own[:rows] + 1e-6 * np.eye(own.shape[1])
        w = np.linalg.solve(A, own[:rows].T @ y[:rows])
        return float(((y[rows:] - own[rows:] @ w) ** 2).mean())

    return of_bits(function, n)


def clauses(n: int, count: int) -> Case:
    """How many clauses of three literals are not satisfied."""
    rng = _rng(f"sat{n}")
    places = np.array([rng.choice(n, 3, replace=False) for _ in range(count)])
    signs = rng.random((count, 3)) < 0.5
    return of_bits(lambda x: float((~((x[places] > 0.5) == signs).any(axis=1)).sum()), n)


def plateaus(n: int, step: int) -> Case:
    """Leading ones of a hidden string in a hidden order, counted by whole steps."""
    rng = _rng(f"plateaus{n}")
    hidden, order = rng.random(n) < 0.5, rng.permutation(n)

    def function(x: Vector) -> float:
        right = ((x > 0.5) == hidden)[order]
        leading = n if right.all() else int(np.argmin(right))
        return -float(leading // step)

    return of_bits(function, n)


def terraces(z: Vector) -> float:
    """A bowl of steps, with hardly a slope on them."""
    return float((np.floor(1.5 * np.abs(z)) ** 2).sum() + 0.01 * abs(z[0]))


def bits() -> dict[str, Case]:
    """All problems of switches."""
    return {
        "knapsack20": knapsack(20),
        "qubo20": quadratic(20, 0.3),
        "qubo30": quadratic(30, 0.1),
        "nk18": nk(18, 3),
        "maxcut16": cut(16, 0.5),
        "royal20": blocks(20, 4),
        "subset20": columns(20, 40),
        "sat24": clauses(24, 100),
        "plateaus16": plateaus(16, 2),
    }
