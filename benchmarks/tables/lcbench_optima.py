"""The search behind ``lcbench.OPTIMA``: ``python -m benchmarks.tables.lcbench_optima`` prints that table again.

For every task three sets of points: the rows of the table, 2^20 points of a scrambled Sobol sequence, and the lattice
{0, 1/2, 1}^7, because a network extrapolates and its extremes tend to lie in corners, where a Sobol sequence never is. From
the best 128 of the first two and the best 64 of the lattice, descent by random steps of many lengths, each point on its
own, so that one basin does not swallow the others. Some 1.7 million evaluations and a minute per task.
"""

from __future__ import annotations

import math
import sys

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from benchmarks.tables import data
from benchmarks.tables.lcbench import OPTIMA, SPACE, TABLE, Surrogate
from xstar.space import Float, Int

POINTS = 2**20
BATCH = 2**14
"""Rows per call of the model: larger ones leave the cache."""
STARTS, CORNERS = 128, 64
CHILDREN = 16
ROUNDS = 200
# Steps from a thousandth of the range (to polish) to a third of it (to leave a basin), evenly on a log scale.
SHORTEST, LONGEST = 1e-3, 0.3

Points = NDArray[np.float64]


def decode(u: Points) -> Points:
    """Points of the unit cube (n, 7) as values in natural units: ``Encoder.decode``, column by column."""
    values = np.empty_like(u)
    for column, parameter in enumerate(SPACE.parameters.values()):
        assert isinstance(parameter, (Float, Int))
        origin, span = parameter.scale()
        scaled = origin + u[:, column] * span
        natural = np.exp(scaled) if parameter.log else scaled
        if isinstance(parameter, Int):
            natural = np.floor(natural + 0.5)
        values[:, column] = np.clip(natural, parameter.low, parameter.high)
    return values


def encode(values: Points) -> Points:
    """The inverse of ``decode``, but for rounding to integers."""
    u = np.empty_like(values)
    for column, parameter in enumerate(SPACE.parameters.values()):
        assert isinstance(parameter, (Float, Int))
        origin, span = parameter.scale()
        u[:, column] = ((np.log(values[:, column]) if parameter.log else values[:, column]) - origin) / span
    return u


def evaluate(problem: Surrogate, u: Points) -> Points:
    batches = [problem.losses(decode(u[start : start + BATCH])) for start in range(0, len(u), BATCH)]
    return np.concatenate(batches)


def best_of(problem: Surrogate, u: Points, count: int) -> tuple[Points, Points]:
    losses = evaluate(problem, u)
    first = np.argsort(losses)[:count]
    return u[first], losses[first]


def search(task: str, seed: int = 0) -> tuple[float, tuple[float, ...]]:
    """The lowest loss that was found, and where."""
    problem = Surrogate(task)
    rng = np.random.default_rng(seed)
    with np.load(data.path(TABLE), allow_pickle=False) as table:
        rows = encode(table["configs"])
    spread = np.concatenate([rows, qmc.Sobol(len(SPACE), rng=rng).random(POINTS)])
    lattice = np.stack(np.meshgrid(*[[0.0, 0.5, 1.0]] * len(SPACE)), axis=-1).reshape(-1, len(SPACE))
    starts = [best_of(problem, spread, STARTS), best_of(problem, lattice, CORNERS)]
    parents = np.concatenate([points for points, _ in starts])
    least = np.concatenate([losses for _, losses in starts])
    count = len(parents)
    every = np.arange(count)
    for _ in range(ROUNDS):
        lengths = SHORTEST * (LONGEST / SHORTEST) ** rng.random((count, CHILDREN, 1))
        moved = rng.random((count, CHILDREN, len(SPACE))) < 0.5  # half of the coordinates: valleys lie along axes
        steps = lengths * moved * rng.standard_normal((count, CHILDREN, len(SPACE)))
        children = np.clip(parents[:, None, :] + steps, 0.0, 1.0)
        values = evaluate(problem, children.reshape(-1, len(SPACE))).reshape(count, CHILDREN)
        chosen = values.argmin(axis=1)
        better = values[every, chosen] < least
        parents[better] = children[every, chosen][better]
        least[better] = values[every, chosen][better]
    winner = int(least.argmin())
    where = decode(parents[winner : winner + 1])[0].tolist()
    return math.floor(least[winner] * 1e4) / 1e4, tuple(float(f"{value:.9g}") for value in where)


if __name__ == "__main__":
    for name in OPTIMA:
        optimum, best = search(name)
        sys.stdout.write(f'    "{name}": ({optimum}, {best}),\n')
        sys.stdout.flush()
