"""The interface of Algorithm 1 to a family of distributions, their products, and margins that keep every probability positive.

Notation, for all of this package

=============  =============================================================================  =================
symbol         meaning                                                                        shape
=============  =============================================================================  =================
``D``          variables: columns of a point                                                  int
``n``          parameters: the dimension of Θ, Σ over variables of their degrees of freedom   int
``points``     x_1 … x_λ, one a row: bits, indices of values, or numbers                      (λ, D)
``θ``          the expectation parameters, E[T(x)]                                            ``family.shape``
``w``          preferences minus their mean (``adaptation.py``)                                  (λ,)
``∇̃``          (1/λ) Σ w_i (T(x_i) − θ): the stochastic natural gradient, line 10             as θ
``G``          the Fisher metric at θ                                                         –
``active``     which variables are active in which point; None: all                           (λ, D)
=============  =============================================================================  =================

An inactive variable contributes no gradient: if it were drawn all the same, f would not depend on it, and its terms would have
expectation zero given w.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from xstar.errors import InvalidArgument

Array = NDArray[np.float64]
Points = NDArray[Any]
Active = NDArray[np.bool_]


class Family(Protocol):
    """A family in expectation parameters. It is stateless: θ is an argument."""

    variables: int
    """D."""
    parameters: int
    """n."""
    shape: tuple[int, ...]
    """The shape in which θ is stored."""
    freedom: Array
    """The number of parameters of each variable, which sum to n: shape (D,)."""

    def start(self) -> Array:
        """Return the initial θ, the least informative one."""

    def draw(self, theta: Array, count: int, rng: np.random.Generator) -> Points:
        """Draw ``count`` independent points from P_θ."""

    def check(self, points: Points) -> None:
        """Raise InvalidArgument unless the family can draw every number of ``points`` (λ, D)."""

    def gradient(self, theta: Array, points: Points, w: Array, active: Active | None) -> Array:
        """Return ∇̃ at θ, in the shape of θ."""

    def whiten(self, theta: Array, gradient: Array) -> Array:
        """Return G(θ)^½ ∇̃ as a flat vector; its squared length is ∇̃ᵀ G ∇̃."""

    def move(self, theta: Array, gradient: Array, step: float, at: Array) -> Array:
        """Return Π(θ + ε ∇̃) as a new array, for a gradient taken at ``at``."""

    def inside(self, theta: Array) -> bool:
        """Return whether θ is within its margins."""

    def mode(self, theta: Array) -> Points:
        """Return the representative point of the distribution, shape (D,): the most probable value of each variable."""

    def within(self, total: int) -> Family:
        """Return the same family as part of a product over ``total`` variables, which determine its margins."""


class Product:
    """The independent product of ``parts``; the Fisher metric has one block for each.

    θ, gradients and whitened gradients are flat vectors, concatenated over the parts. A point is the concatenation of the
    parts' columns, as floats. The margins of the parts depend on the total number of variables.
    """

    def __init__(self, parts: Sequence[Family]) -> None:
        if not parts:
            raise InvalidArgument("parts", "a product needs at least one family", list(parts))
        self.variables = sum(part.variables for part in parts)
        self.parameters = sum(part.parameters for part in parts)
        self.parts: tuple[Family, ...] = tuple(part.within(self.variables) for part in parts)
        self.columns = _slices([part.variables for part in parts])
        self._places = _slices([prod(part.shape) for part in parts])
        self.shape: tuple[int, ...] = (self._places[-1].stop,)
        self.freedom = np.concatenate([part.freedom for part in parts])

    def split(self, vector: Array) -> Iterator[tuple[Family, Array, slice]]:
        """Yield each part with its share of a vector shaped like θ, and its columns."""
        for part, place, columns in zip(self.parts, self._places, self.columns, strict=True):
            yield part, vector[place].reshape(part.shape), columns

    def start(self) -> Array:
        return np.concatenate([part.start().ravel() for part in self.parts])

    def draw(self, theta: Array, count: int, rng: np.random.Generator) -> Points:
        points = np.empty((count, self.variables))
        for part, own, columns in self.split(theta):
            points[:, columns] = part.draw(own, count, rng)
        return points

    def check(self, points: Points) -> None:
        for part, columns in zip(self.parts, self.columns, strict=True):
            part.check(points[:, columns])

    def gradient(self, theta: Array, points: Points, w: Array, active: Active | None) -> Array:
        found = [
            part.gradient(own, points[:, columns], w, None if active is None else active[:, columns])
            for part, own, columns in self.split(theta)
        ]
        return np.concatenate([gradient.ravel() for gradient in found])

    def whiten(self, theta: Array, gradient: Array) -> Array:
        pairs = zip(self.split(theta), self.split(gradient), strict=True)
        return np.concatenate([part.whiten(own, its) for (part, own, _), (_, its, _) in pairs])

    def move(self, theta: Array, gradient: Array, step: float, at: Array) -> Array:
        triples = zip(self.split(theta), self.split(gradient), self.split(at), strict=True)
        moved = [part.move(own, its, step, then) for (part, own, _), (_, its, _), (_, then, _) in triples]
        return np.concatenate([theta.ravel() for theta in moved])

    def inside(self, theta: Array) -> bool:
        return all(part.inside(own) for part, own, _ in self.split(theta))

    def mode(self, theta: Array) -> Points:
        return np.concatenate([part.mode(own).astype(np.float64) for part, own, _ in self.split(theta)])

    def within(self, total: int) -> Product:
        """Products do not nest: their parts can be combined in one."""
        raise InvalidArgument("parts", "must not be products themselves", "a product", "list all parts in one product")


def _slices(sizes: Sequence[int]) -> list[slice]:
    ends = list(accumulate(sizes))
    return [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]


def least_probability(variables: int, values: int) -> float:
    """Return the minimum probability of a value: 1 / (D (K − 1)), and at most 1 / (2K).

    With every variable at its margin, a point differs from the most probable one in one variable on average, for any
    number of values: K − 1 others, each with 1 / (D (K − 1)), in each of D variables. For bits this is the paper's 1/n.
    With one or two bits that would leave θ no freedom at all; 1 / (2K) leaves some.
    """
    return min(1.0 / (variables * (values - 1)), 1.0 / (2 * values))


def weighted_sum(w: Array, columns: NDArray[Any]) -> Array:
    """Return Σ_i w_i columns_i, added row by row: a matrix product would add in an order that depends on the width."""
    total: Array = np.add.reduce(w.reshape(-1, *[1] * (columns.ndim - 1)) * columns, axis=0)
    return total
