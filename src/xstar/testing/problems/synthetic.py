"""Classic test functions as problems of one budget, with minima known in closed form (or to the last digit).

=============  ===  ================  =====================================================================
name           d    range             minimum
=============  ===  ================  =====================================================================
branin         2    [-5,10] × [0,15]  10/(8π) at three places
hartmann6      6    [0,1]             -3.322…, a stationary point found by Newton's method
ackley10       10   [-32.8,32.8]      0 at ``ACKLEY_CENTRE``: off the centre, or a first guess in the middle of
                                      the space would be the answer
rosenbrock4    4    [-5,10]           0 at (1, 1, 1, 1), at the end of a curved valley
levy6          6    [-10,10]          0 at (1, …, 1), among many local minima
=============  ===  ================  =====================================================================

Definitions as in Surjanovic & Bingham, "Virtual Library of Simulation Experiments" (2013). The functions are written with
``math`` on tuples: on so few numbers that is five times faster than NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from math import cos, exp, pi, sin, sqrt
from typing import Any

from xstar.errors import InvalidArgument
from xstar.space import Config, Float, Space
from xstar.testing.problems.base import Curve, Noise

HARTMANN_A = (
    (10.0, 3.0, 17.0, 3.5, 1.7, 8.0),
    (0.05, 10.0, 17.0, 0.1, 8.0, 14.0),
    (3.0, 3.5, 1.7, 10.0, 17.0, 8.0),
    (17.0, 8.0, 0.05, 10.0, 0.1, 14.0),
)
HARTMANN_P = (
    (0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886),
    (0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991),
    (0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650),
    (0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381),
)
HARTMANN_ALPHA = (1.0, 1.2, 3.0, 3.2)
# Newton's method from the place found in the literature: the gradient here is 3e-15, the Hessian's least eigenvalue 18.
HARTMANN_BEST = (
    0.20168951100670543,
    0.15001069182345797,
    0.47687397422189703,
    0.2753324304940561,
    0.31165161660011326,
    0.6573005340656204,
)
HARTMANN_OPTIMUM = -3.322368011415515

# Irregular and up to two thirds of the way to the border, so that no grid, no Sobol point and no symmetry finds it.
ACKLEY_CENTRE = (7.3, -12.1, 3.9, 18.6, -5.2, -20.7, 11.4, 1.8, -9.5, 14.2)
ACKLEY_RANGE = 32.768


def branin(x: Sequence[float]) -> float:
    a, b = x
    valley = b - 5.1 / (4 * pi**2) * a * a + 5 / pi * a - 6
    return valley * valley + 10 * (1 - 1 / (8 * pi)) * cos(a) + 10


def hartmann6(x: Sequence[float]) -> float:
    total = 0.0
    for alpha, row, centre in zip(HARTMANN_ALPHA, HARTMANN_A, HARTMANN_P, strict=True):
        total -= alpha * exp(-sum([a * (v - p) ** 2 for a, v, p in zip(row, x, centre, strict=True)]))
    return total


def ackley10(x: Sequence[float]) -> float:
    shifted = [v - c for v, c in zip(x, ACKLEY_CENTRE, strict=True)]
    bowl = exp(-0.2 * sqrt(sum([v * v for v in shifted]) / 10))
    waves = exp(sum([cos(2 * pi * v) for v in shifted]) / 10)
    return 20 * (1 - bowl) + exp(1) - waves  # in this order both differences are exactly 0 at the centre


def rosenbrock4(x: Sequence[float]) -> float:
    return sum([100 * (after - v * v) ** 2 + (1 - v) ** 2 for v, after in pairwise(x)])


def levy6(x: Sequence[float]) -> float:
    w = [1 + (v - 1) / 4 for v in x]
    middle = sum([(v - 1) ** 2 * (1 + 10 * sin(pi * v + 1) ** 2) for v in w[:-1]])
    # sin(π·1)² is 1.5e-32 and not 0: the value at the optimum is that, too.
    return sin(pi * w[0]) ** 2 + middle + (w[-1] - 1) ** 2 * (1 + sin(2 * pi * w[-1]) ** 2)


class Function:
    """A function of several numbers as a problem: one budget, one second per evaluation, noise on demand."""

    budgets = (1,)
    unit = "value of the function"

    def __init__(
        self,
        name: str,
        function: Callable[[Sequence[float]], float],
        ranges: Sequence[tuple[float, float]],
        optimum: float,
        best: Sequence[float],
        *,
        noise: float = 0.0,
    ) -> None:
        if not noise >= 0.0:
            raise InvalidArgument("noise", "must be 0 or more", noise, "give the standard deviation of the noise")
        self.name = name
        self.space = Space({f"x{i}": Float(low, high) for i, (low, high) in enumerate(ranges, 1)})
        self.optimum = optimum
        self.best: Config = {f"x{i}": value for i, value in enumerate(best, 1)}
        self.noise = noise
        self._function = function
        self._noise = Noise(name, self.space)

    def loss(self, config: Mapping[str, Any]) -> float:
        try:
            return self._function(self.space.key(config))
        except KeyError:
            self.space.parse(config)  # says in words what is missing
            raise

    def curve(self, config: Mapping[str, Any], seed: int) -> Curve:
        loss = self.loss(config)
        if self.noise:
            loss += self.noise * self._noise.generator(config, seed).standard_normal()
        return Curve([loss], [1.0])


# name: (function, ranges, optimum, best)
FUNCTIONS: dict[str, tuple[Callable[[Sequence[float]], float], list[tuple[float, float]], float, tuple[float, ...]]] = {
    # The minima are where the square vanishes and cos is -1: at (±π, …) and (3π, …).
    "branin": (branin, [(-5, 10), (0, 15)], 10 / (8 * pi), (pi, 2.275)),
    "hartmann6": (hartmann6, [(0, 1)] * 6, HARTMANN_OPTIMUM, HARTMANN_BEST),
    "ackley10": (ackley10, [(-ACKLEY_RANGE, ACKLEY_RANGE)] * 10, 0.0, ACKLEY_CENTRE),
    "rosenbrock4": (rosenbrock4, [(-5, 10)] * 4, 0.0, (1.0,) * 4),
    "levy6": (levy6, [(-10, 10)] * 6, 0.0, (1.0,) * 6),
}


def make(name: str, *, noise: float = 0.0) -> Function:
    return Function(name, *FUNCTIONS[name], noise=noise)


ENTRIES = {name: partial(make, name) for name in FUNCTIONS}
