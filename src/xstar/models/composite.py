"""Kernels made of others: sums, products, and kernels over some of the columns. Notation: ``kernels.py``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise

import numpy as np

from xstar.models.kernels import Array, Covariance, Kernel, Variance, beside


@dataclass(frozen=True)
class _Several:
    """Several kernels; ``theta`` is the concatenation of theirs."""

    parts: tuple[Kernel, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for part in self.parts for name in part.names)

    @cached_property
    def _places(self) -> list[slice]:
        ends = np.cumsum([0, *(len(part.names) for part in self.parts)]).tolist()
        return [slice(begin, end) for begin, end in pairwise(ends)]

    def _split(self, theta: Array) -> list[tuple[Kernel, Array]]:
        """Return each kernel, and what of ``theta`` belongs to it."""
        return [(part, theta[own]) for part, own in zip(self.parts, self._places, strict=True)]


class Sum(_Several):
    """k₁ + k₂ + …"""

    def at(self, theta: Array, A: Array, B: Array | None = None) -> Covariance:
        return _added([part.at(own, A, B) for part, own in self._split(theta)])

    def beside(self, theta: Array, B: Array) -> Callable[[Array], Covariance]:
        parts = [beside(part, own, B) for part, own in self._split(theta)]
        return lambda A: _added([part(A) for part in parts])

    def variance(self, theta: Array, A: Array) -> Variance:
        made = [part.variance(own, A) for part, own in self._split(theta)]
        values = reduce(np.add, [each.values for each in made])
        constant = all(each.constant for each in made)
        return Variance(values, lambda w: reduce(np.add, [each.to_left(w) for each in made]), constant)


class Product(_Several):
    """k₁ · k₂ · …"""

    def at(self, theta: Array, A: Array, B: Array | None = None) -> Covariance:
        made = [part.at(own, A, B) for part, own in self._split(theta)]
        K, others = _product([each.K for each in made])
        return Covariance(
            K,
            lambda W: np.concatenate([each.to_theta(W * rest) for each, rest in zip(made, others, strict=True)]),
            lambda W: sum((each.to_left(W * rest) for each, rest in zip(made, others, strict=True)), np.zeros(())),
        )

    def variance(self, theta: Array, A: Array) -> Variance:
        made = [part.variance(own, A) for part, own in self._split(theta)]
        values, others = _product([each.values for each in made])
        return Variance(
            values,
            lambda w: sum((each.to_left(w * rest) for each, rest in zip(made, others, strict=True)), np.zeros(())),
        )


@dataclass(frozen=True)
class Columns:
    """A kernel applied to a subset of the columns."""

    kernel: Kernel
    columns: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return self.kernel.names

    def at(self, theta: Array, A: Array, B: Array | None = None) -> Covariance:
        places = list(self.columns)
        made = self.kernel.at(theta, A[:, places], None if B is None else B[:, places])
        return Covariance(made.K, made.to_theta, lambda W: _scattered(made.to_left(W), places, A))

    def variance(self, theta: Array, A: Array) -> Variance:
        places = list(self.columns)
        made = self.kernel.variance(theta, A[:, places])
        return Variance(made.values, lambda w: _scattered(made.to_left(w), places, A))


def _added(made: Sequence[Covariance]) -> Covariance:
    """Return the sum of covariances whose hyperparameters follow each other."""
    return Covariance(
        reduce(np.add, [each.K for each in made]),
        lambda W: np.concatenate([each.to_theta(W) for each in made]),
        lambda W: reduce(np.add, [each.to_left(W) for each in made]),
    )


def _product(factors: Sequence[Array]) -> tuple[Array, list[Array]]:
    """Return the product, and for each factor the product of the others (without division: a factor may be 0)."""
    others = []
    for i in range(len(factors)):
        rest = np.ones_like(factors[0])
        for j, factor in enumerate(factors):
            if i != j:
                rest = rest * factor
        others.append(rest)
    return factors[0] * others[0], others


def _scattered(given: Array, places: list[int], A: Array) -> Array:
    made = np.zeros_like(A)
    made[:, places] = given
    return made
