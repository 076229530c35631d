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

``Sum`` of ``Columns`` of ``Stationary`` is the same (a test compares them). One term after the other is added in place, in
memory that is allocated once: fresh memory for every term took four times as long at n = 200. Small matrices, such as those of
the few points that climb, are computed all at once, to the same bits: with 6 points, 200 observations and 20 parameters the
acquisition function and its gradient take half of the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from xstar.models.kernels import Array, Covariance, Variance, no_gradient

ROOT5 = float(np.sqrt(5.0))
MOST_KEPT = 2_000_000
"""Entries of all terms that are kept for the gradient of a fit: 32 MB. Beyond, they are computed again."""

AT_ONCE = 50_000
"""Entries of all terms up to which they are computed at once: they stay in the cache."""


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
        columns, shape = self._columns, (len(A), len(other))
        size = count * len(A) * len(other)
        # Not of a single pair of points: numpy would add its terms in another order.
        at_once = count < size <= AT_ONCE and all(len(own) == 1 for own in columns)
        # The matrix of a fit is always differentiated; that of candidates hardly ever, so that its terms share their memory.
        keep = at_once or (B is None and size <= MOST_KEPT)
        kept = np.empty((2, count if keep else 1, *shape))

        def term(g: int, place: int) -> tuple[Array, Array]:
            """Return ρ and E of a parameter, computed in ``kept[place]``."""
            rho, E = kept[:, place]
            _distances(A[:, columns[g]], other[:, columns[g]], float(inverse[g]), rho)
            np.negative(rho, out=E)
            np.exp(E, out=E)
            E *= scale[g]
            return rho, E

        if at_once:
            order = [own[0] for own in columns]
            rhos, Es = kept[0], kept[1]
            _all_terms(A[:, order].T, other[:, order].T, inverse[:, None], scale[:, None, None], rhos, Es)
            K: Array = _values(rhos, Es, np.empty_like(rhos)).sum(axis=0)
        else:
            K, term_values = np.zeros(shape), np.empty(shape)
            for g in range(count):
                K += _values(*term(g, g if keep else 0), term_values)

        def known(g: int) -> tuple[Array, Array]:
            rho, E = kept[:, g] if keep else term(g, 0)
            return rho, E

        def to_theta(W: Array) -> Array:
            made = np.empty(2 * count)
            if at_once:
                return _all_slopes(W, kept[0], kept[1], made)
            for g in range(count):
                rho, E = known(g)
                WE = W * E
                # dk/dlog ℓ = E ρ²(1 + ρ)/3, dk/dlog s² = E (1 + ρ + ρ²/3)
                one, two = np.vdot(WE, rho), rho * rho
                square = np.vdot(WE, two)
                made[g] = (square + np.vdot(WE, two * rho)) / 3.0
                made[count + g] = WE.sum() + one + square / 3.0
            return made

        def to_left(W: Array) -> Array:
            made = np.zeros_like(A)
            # dk/da = -E (1 + ρ)/3 · 5/ℓ² · (a - b): finite where a = b
            factors = [-(each**2) / 3.0 for each in inverse]
            if at_once:
                every = W * kept[1] * (1.0 + kept[0]) * np.array(factors)[:, None, None]
                order = [own[0] for own in columns]
                left, right = A[:, order].T, other[:, order].T
                made[:, order] = (left * every.sum(axis=2) - np.matmul(every, right[:, :, None])[:, :, 0]).T
                return made
            for g, own in enumerate(columns):
                rho, E = known(g)
                G = W * E * (1.0 + rho) * factors[g]
                made[:, own] = A[:, own] * G.sum(axis=1)[:, None] - G @ other[:, own]
            return made

        return Covariance(K, to_theta, to_left)

    def variance(self, theta: Array, A: Array) -> Variance:
        total = float(np.exp(theta[len(self.labels) :]).sum())
        return Variance(np.full(len(A), total), partial(no_gradient, A))


def _distances(a: Array, b: Array, inverse: float, out: Array) -> None:
    """Compute ρ of one parameter."""
    if a.shape[1] == 1:
        np.subtract(a * inverse, (b * inverse).T, out=out)
        np.abs(out, out=out)
    else:
        S = np.einsum("ij,ij->i", a, a)[:, None] + np.einsum("ij,ij->i", b, b) - 2.0 * (a @ b.T)
        np.multiply(np.sqrt(np.maximum(S, 0.0)), inverse, out=out)


def _all_terms(a: Array, b: Array, inverse: Array, scale: Array, rho: Array, E: Array) -> None:
    """Compute ρ and E of all parameters, of one column each: ``a`` (count, m) and ``b`` (count, n)."""
    np.subtract((a * inverse)[:, :, None], (b * inverse)[:, None, :], out=rho)
    np.abs(rho, out=rho)
    np.negative(rho, out=E)
    np.exp(E, out=E)
    E *= scale


def _values(rho: Array, E: Array, out: Array) -> Array:
    """Return E (1 + ρ + ρ²/3)."""
    np.multiply(rho, 1.0 / 3.0, out=out)
    out += 1.0
    out *= rho
    out += 1.0
    out *= E
    return out


def _all_slopes(W: Array, rho: Array, E: Array, out: Array) -> Array:
    """Compute what ``to_theta`` returns of all parameters at once: their inner products with W E."""
    count = len(rho)
    WE, two = W * E, rho * rho
    flat = WE.reshape(count, 1, -1)

    def inner(power: Array) -> Array:
        made: Array = np.matmul(flat, power.reshape(count, -1, 1))[:, 0, 0]
        return made

    square = inner(two)
    two *= rho
    out[:count] = (square + inner(two)) / 3.0
    out[count:] = flat[:, 0].sum(axis=1) + inner(rho) + square / 3.0
    return out
