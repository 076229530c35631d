"""A kernel over items given by pairwise distances: kernel (7) of NASBOT, B.1.

    k = α exp(-Σᵢ βᵢ dᵢᵖ) + ᾱ exp(-Σᵢ β̄ᵢ d̄ᵢᵖ̄)

Notation

==========  ========================================================================================  ===========
symbol      meaning                                                                                   shape
==========  ========================================================================================  ===========
``A, B``    inputs; one of their columns holds the index of an item                                   (m, w), (n, w)
``d``       distances at each ν_str, in units of a typical mass                                       (m, n, S)
``d̄``       normalised distances, at most 1                                                           (m, n, S)
``theta``   log α, log β₁ … log β_S, log ᾱ, log β̄₁ … log β̄_S (of the parts that are used)             (size,)
==========  ========================================================================================  ===========

It is not known to be positive definite: d need not be of negative type. ``linalg.py`` detects a matrix that is not
positive definite, adds jitter and reports it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from xstar.models.kernels import Array, Covariance, Kernel, Variance, no_gradient
from xstar.models.priors import Prior, about, uniform

Numbers = NDArray[np.int64]
Between = Callable[[Numbers, Numbers], tuple[Array, Array]]
"""Maps indices (m,) and (n,) to d and d̄ of all pairs, each (m, n, S)."""

PARTS = {"both": (True, True), "plain": (True, False), "normalised": (False, True)}
"""The terms that a kernel has, out of the two (Figure 7a)."""

SCALE = about(0.7, 2.7, 0.01, 50.0)
"""α and ᾱ: together they explain targets of variance 1."""
SMALL_SCALE = about(0.1, 2.7, 0.001, 50.0)
"""The same scale next to a term over descriptive features: the variance that those leave unexplained. Sample paths of
these kernels are rough (p = 1). A model that gives them all the variance is uncertain everywhere and follows no
trend."""
RATE = about(0.1, 10.0, 1e-4, 30.0)
"""βᵢ, with d in units of a typical mass: the four together halve the covariance at a distance of 1.7, so that networks
of another size remain correlated. The paper's prior is flat over six decades; this one is nearly flat."""
NORMALISED_RATE = about(1.0, 5.0, 0.02, 100.0)
"""β̄ᵢ: d̄ is at most 1, and a d̄ of 0.4 halves the covariance."""

UNIFORM_SCALE = uniform(0.01, 100.0)
"""α and ᾱ with the uniform prior of B.1, for targets of variance 1. The paper states no bounds; those here are of the authors'
published code, where the prior is uniform in the logarithm."""
UNIFORM_NORMALISED_RATE = uniform(0.1, 100.0)
"""β̄ᵢ, from the same source."""
UNIFORM_NOISE = uniform(0.005, 0.2)
"""η², from the same source."""


def uniform_rate(unit: float) -> Prior:
    """Return the prior of βᵢ from the same source, 1e-9 to 1e-3 for masses, for d in a unit of mass."""
    return uniform(1e-9 * unit, 1e-3 * unit)


@dataclass(frozen=True, eq=False)
class Transported:
    """Kernel (7) over one column of indices."""

    between: Between
    column: int
    label: str
    structure: tuple[float, ...]
    parts: str = "both"
    powers: tuple[float, float] = (1.0, 1.0)
    """p and p̄."""
    scale: Prior = SCALE
    """Prior of the scale of each term."""
    rates: tuple[Prior, Prior] = (RATE, NORMALISED_RATE)
    """Priors of βᵢ and of β̄ᵢ."""

    @property
    def names(self) -> tuple[str, ...]:
        made: list[str] = []
        for kind, used in zip(("", "normalised "), PARTS[self.parts], strict=True):
            if used:
                made.append(f"scale of {self.label} by {kind}distance")
                made += [f"rate of {self.label} by {kind}distance at {nu:g}" for nu in self.structure]
        return tuple(made)

    @property
    def priors(self) -> tuple[Prior, ...]:
        made: list[Prior] = []
        for rate, used in zip(self.rates, PARTS[self.parts], strict=True):
            if used:
                made += [self.scale, *(rate for _ in self.structure)]
        return tuple(made)

    def at(self, theta: Array, A: Array, B: Array | None = None) -> Covariance:
        ours = A[:, self.column].astype(np.int64)
        theirs = ours if B is None else B[:, self.column].astype(np.int64)
        given = [
            far**power if power != 1.0 else far
            for far, power, used in zip(self.between(ours, theirs), self.powers, PARTS[self.parts], strict=True)
            if used
        ]
        scales, rates = self._split(theta)
        terms = [
            scale * np.exp(-(far @ rate)) for far, scale, rate in zip(given, scales, rates, strict=True)
        ]  # each (m, n)

        def to_theta(W: Array) -> Array:
            made: list[Array] = []
            for far, term, rate in zip(given, terms, rates, strict=True):
                G = W * term
                made += [np.array([G.sum()]), -rate * np.einsum("mn,mns->s", G, far)]
            return np.concatenate(made)

        return Covariance(sum(terms[1:], terms[0]), to_theta, partial(no_gradient, A))

    def variance(self, theta: Array, A: Array) -> Variance:
        return Variance(np.full(len(A), sum(self._split(theta)[0])), partial(no_gradient, A))

    def _split(self, theta: Array) -> tuple[list[float], list[Array]]:
        """Return the scales and the rates of the terms."""
        size = 1 + len(self.structure)
        rows = np.exp(theta).reshape(-1, size)
        return [float(row[0]) for row in rows], [row[1:] for row in rows]


@dataclass(frozen=True, eq=False)
class Described:
    """A kernel over the descriptive features of items, looked up by the index in one column."""

    kernel: Kernel
    describe: Callable[[Numbers], Array]
    column: int

    @property
    def names(self) -> tuple[str, ...]:
        return self.kernel.names

    def at(self, theta: Array, A: Array, B: Array | None = None) -> Covariance:
        made = self.kernel.at(theta, self._of(A), None if B is None else self._of(B))
        return Covariance(made.K, made.to_theta, partial(no_gradient, A))

    def variance(self, theta: Array, A: Array) -> Variance:
        return Variance(self.kernel.variance(theta, self._of(A)).values, partial(no_gradient, A))

    def _of(self, A: Array) -> Array:
        return self.describe(A[:, self.column].astype(np.int64))
