"""A sum of Matérn-5/2 kernels, one for each parameter: functions that are sums of functions of one parameter.

Notation

=========  ==========================================================================================  ===========
symbol     meaning                                                                                     shape
=========  ==========================================================================================  ===========
``A, B``   inputs, one per row; ``B is None`` means ``B = A``                                          (m, w), (n, w)
``ρ_g``    √5 |a_g - b_g| / ℓ_g for parameter g, over its columns                                      (m, n)
``E_g``    s_g² exp(-ρ_g)                                                                              (m, n)
=========  ==========================================================================================  ===========

    K = Σ_g s_g² (1 + ρ_g + ρ_g²/3) exp(-ρ_g)

``Sum`` of ``Columns`` of ``Stationary`` is the same (a test compares them); this takes less than half of its time. One
term after the other is added in place: all terms at once would be an (m, n, g) array, too large for the processor's cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from xstar.models.kernels import Array, Covariance, Variance, no_gradient

ROOT5 = float(np.sqrt(5.0))


@dataclass(frozen=True)
class Additive:
    """k(a, b) = Σ_g k_g(a_g, b_g). ``theta`` holds all log length scales, then all log s_g²."""

    groups: tuple[int, ...]
    """The parameter of each column."""
    labels: tuple[str, ...]
    """A name for each parameter."""

    @property
    def names(self) -> tuple[str, ...]:
        lengths = (f"own length of {label}" for label in self.labels)
        return (*lengths, *(f"own scale of {label}" for label in self.labels))

    @property
    def _columns(self) -> list[list[int]]:
        return [[c for c, group in enumerate(self.groups) if group == g] for g in range(len(self.labels))]

    def at(self, theta: Array, A: Array, B: Array | None = None) -> Covariance:
        count = len(self.labels)
        inverse, scale = ROOT5 * np.exp(-theta[:count]), np.exp(theta[count:])
        other = A if B is None else B
        K = np.zeros((len(A), len(other)))
        columns = self._columns
        kept: list[tuple[Array, Array]] = []
        for g, own in enumerate(columns):
            rho, E = _term(A[:, own], other[:, own], float(inverse[g]), float(scale[g]))
            if B is None:  # the matrix of a fit is always differentiated; that of candidates hardly ever
                kept.append((rho, E))
            K += _values(rho, E)

        def term(g: int) -> tuple[Array, Array]:
            own = columns[g]
            return kept[g] if kept else _term(A[:, own], other[:, own], float(inverse[g]), float(scale[g]))

        def to_theta(W: Array) -> Array:
            made = np.empty(2 * count)
            for g in range(count):
                rho, E = term(g)
                WE = W * E
                # dk/dlog ℓ = E ρ²(1 + ρ)/3, dk/dlog s² = E (1 + ρ + ρ²/3)
                one, two = np.vdot(WE, rho), rho * rho
                square = np.vdot(WE, two)
                made[g] = (square + np.vdot(WE, two * rho)) / 3.0
                made[count + g] = WE.sum() + one + square / 3.0
            return made

        def to_left(W: Array) -> Array:
            made = np.zeros_like(A)
            for g, own in enumerate(columns):
                rho, E = term(g)
                # dk/da = -E (1 + ρ)/3 · 5/ℓ² · (a - b): finite where a = b
                G = W * E * (1.0 + rho) * (-(inverse[g] ** 2) / 3.0)
                made[:, own] = A[:, own] * G.sum(axis=1)[:, None] - G @ other[:, own]
            return made

        return Covariance(K, to_theta, to_left)

    def variance(self, theta: Array, A: Array) -> Variance:
        total = float(np.exp(theta[len(self.labels) :]).sum())
        return Variance(np.full(len(A), total), partial(no_gradient, A))


def _term(a: Array, b: Array, inverse: float, scale: float) -> tuple[Array, Array]:
    """Return ρ and E of one parameter."""
    if a.shape[1] == 1:
        rho: Array = (a * inverse) - (b * inverse).T
        np.abs(rho, out=rho)
    else:
        S = np.einsum("ij,ij->i", a, a)[:, None] + np.einsum("ij,ij->i", b, b) - 2.0 * (a @ b.T)
        rho = np.sqrt(np.maximum(S, 0.0)) * inverse
    E = np.exp(-rho)
    E *= scale
    return rho, E


def _values(rho: Array, E: Array) -> Array:
    """Return E (1 + ρ + ρ²/3)."""
    made: Array = rho * (1.0 / 3.0)
    made += 1.0
    made *= rho
    made += 1.0
    made *= E
    return made
