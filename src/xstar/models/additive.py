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
acquisition function and its gradient take half of the time. The covariance of the observations with themselves is kept: the
next suggestion needs it with a row and a column more, which takes a twelfth of its time less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from xstar.models.kernels import Array, Covariance, Variance, no_gradient

ROOT5 = float(np.sqrt(5.0))
MOST_KEPT = 2_000_000
"""Entries of all terms that are kept for the gradient of a fit: 32 MB. Beyond, they are computed again."""

FEWEST_KEPT = 50
"""Inputs from which on their covariance with themselves is kept for the next suggestion."""
AT_ONCE = 50_000
"""Entries of all terms up to which they are computed at once: they stay in the cache."""


@dataclass(frozen=True)
class Additive:
    """k(a, b) = Σ_g k_g(a_g, b_g). ``theta`` holds all log length scales, then all log s_g²."""

    groups: tuple[int, ...]
    """The parameter of each column."""
    labels: tuple[str, ...]
    """A name for each parameter."""
    _latest: _Latest = field(default_factory=lambda: _Latest(), init=False, repr=False, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        lengths = (f"own length of {label}" for label in self.labels)
        return (*lengths, *(f"own scale of {label}" for label in self.labels))

    @cached_property
    def _columns(self) -> list[list[int]]:
        return [[c for c, group in enumerate(self.groups) if group == g] for g in range(len(self.labels))]

    @cached_property
    def _order(self) -> list[int] | None:
        """The column of each parameter, where each has one."""
        return [own[0] for own in self._columns] if all(len(own) == 1 for own in self._columns) else None

    def at(self, theta: Array, A: Array, B: Array | None = None) -> Covariance:
        return _Terms(self._columns, self._order, *self._units(theta), A if B is None else B).at(A, fitted=B is None)

    def beside(self, theta: Array, B: Array) -> Callable[[Array], Covariance]:
        terms = _Terms(self._columns, self._order, *self._units(theta), B)

        def at(A: Array) -> Covariance:
            if len(A) == len(B) >= FEWEST_KEPT and np.array_equal(A, B):
                made = partial(terms.at, A, fitted=False)
                K = self._latest.grown(theta, B, lambda begin: terms.at(A[begin:], fitted=False).K)
                return Covariance(K, lambda W: made().to_theta(W), lambda W: made().to_left(W))
            return terms.at(A, fitted=False)

        return at

    def _units(self, theta: Array) -> tuple[Array, Array]:
        """Return √5/ℓ and s² of each parameter."""
        count = len(self.labels)
        return ROOT5 * np.exp(-theta[:count]), np.exp(theta[count:])

    def variance(self, theta: Array, A: Array) -> Variance:
        total = float(np.exp(theta[len(self.labels) :]).sum())
        return Variance(np.full(len(A), total), partial(no_gradient, A), constant=True)


class _Latest:
    """The latest covariance of inputs with themselves. Each entry depends on its two inputs alone, so that of more inputs has
    the same bits where it is kept as where it is computed again."""

    def __init__(self) -> None:
        self._kept: tuple[Array, Array, Array] | None = None  # theta, X, K: replaced together, threads may share them

    def grown(self, theta: Array, X: Array, rows: Callable[[int], Array]) -> Array:
        """Return the covariance of ``X`` with itself; ``rows(begin)``: that of all from ``begin`` on with ``X``."""
        kept = self._kept
        begin = 0
        if kept is not None and len(kept[1]) <= len(X) and np.array_equal(kept[0], theta):
            begin = len(kept[1]) if np.array_equal(kept[1], X[: len(kept[1])]) else 0
        if kept is None or not begin:
            K = rows(0)
        elif begin == len(X):
            K = kept[2]
        else:
            K, new = np.empty((len(X), len(X))), rows(begin)
            K[:begin, :begin] = kept[2]
            K[begin:] = new
            K[:begin, begin:] = new[:, :begin].T
        K.flags.writeable = False
        self._kept = theta.copy(), X.copy(), K
        return K


@dataclass(frozen=True)
class _Terms:
    """The terms of all parameters, between some inputs and ``B``."""

    columns: list[list[int]]
    order: list[int] | None
    inverse: Array
    scale: Array
    B: Array

    @cached_property
    def _factors(self) -> list[float]:
        """dk/da = -E (1 + ρ)/3 · 5/ℓ² · (a - b): finite where a = b."""
        return [-(each**2) / 3.0 for each in self.inverse]

    @cached_property
    def _right(self) -> Array:
        """``B`` in the order of parameters, transposed."""
        return self.B[:, self.order].T

    @cached_property
    def _right_in_units(self) -> Array:
        return (self._right * self.inverse[:, None])[:, None, :]

    def at(self, A: Array, *, fitted: bool) -> Covariance:
        """Return the covariance of ``A`` and ``B``; ``fitted``: ``A`` is ``B``, and its derivative will be asked for."""
        count = len(self.columns)
        size = count * len(A) * len(self.B)
        # Not of a single pair of points: numpy would add its terms in another order.
        if self.order is not None and count < size <= AT_ONCE:
            return self._at_once(A)
        # The matrix of a fit is always differentiated; that of candidates hardly ever, so that its terms share their memory.
        return self._one_by_one(A, keep=fitted and size <= MOST_KEPT)

    def _at_once(self, A: Array) -> Covariance:
        left = A[:, self.order].T
        rho, E, other = np.empty((3, len(left), len(A), len(self.B)))
        np.subtract((left * self.inverse[:, None])[:, :, None], self._right_in_units, out=rho)
        np.abs(rho, out=rho)
        np.negative(rho, out=E)
        np.exp(E, out=E)
        E *= self.scale[:, None, None]
        K: Array = np.add.reduce(_values(rho, E, other), 0)

        def to_left(W: Array) -> Array:
            every = np.multiply(W, E, out=other)
            every *= 1.0 + rho
            every *= np.array(self._factors)[:, None, None]
            made = np.zeros_like(A)
            made[:, self.order] = (
                left * np.add.reduce(every, 2) - np.matmul(every, self._right[:, :, None])[:, :, 0]
            ).T
            return made

        return Covariance(K, lambda W: _all_slopes(W, rho, E), to_left)

    def _one_by_one(self, A: Array, *, keep: bool) -> Covariance:
        count, columns, shape = len(self.columns), self.columns, (len(A), len(self.B))
        kept = np.empty((2, count if keep else 1, *shape))

        def term(g: int, place: int) -> tuple[Array, Array]:
            """Return ρ and E of a parameter, computed in ``kept[place]``."""
            rho, E = kept[:, place]
            _distances(A[:, columns[g]], self.B[:, columns[g]], float(self.inverse[g]), rho)
            np.negative(rho, out=E)
            np.exp(E, out=E)
            E *= self.scale[g]
            return rho, E

        K, term_values = np.zeros(shape), np.empty(shape)
        for g in range(count):
            K += _values(*term(g, g if keep else 0), term_values)

        def known(g: int) -> tuple[Array, Array]:
            rho, E = kept[:, g] if keep else term(g, 0)
            return rho, E

        def to_theta(W: Array) -> Array:
            made = np.empty(2 * count)
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
            for g, own in enumerate(columns):
                rho, E = known(g)
                G = W * E * (1.0 + rho) * self._factors[g]
                made[:, own] = A[:, own] * G.sum(axis=1)[:, None] - G @ self.B[:, own]
            return made

        return Covariance(K, to_theta, to_left)


def _distances(a: Array, b: Array, inverse: float, out: Array) -> None:
    """Compute ρ of one parameter."""
    if a.shape[1] == 1:
        np.subtract(a * inverse, (b * inverse).T, out=out)
        np.abs(out, out=out)
    else:
        S = np.einsum("ij,ij->i", a, a)[:, None] + np.einsum("ij,ij->i", b, b) - 2.0 * (a @ b.T)
        np.multiply(np.sqrt(np.maximum(S, 0.0)), inverse, out=out)


def _values(rho: Array, E: Array, out: Array) -> Array:
    """Return E (1 + ρ + ρ²/3)."""
    np.multiply(rho, 1.0 / 3.0, out=out)
    out += 1.0
    out *= rho
    out += 1.0
    out *= E
    return out


def _all_slopes(W: Array, rho: Array, E: Array) -> Array:
    """Return what ``to_theta`` returns of all parameters at once: their inner products with W E."""
    count = len(rho)
    out = np.empty(2 * count)
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
