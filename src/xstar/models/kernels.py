"""Covariance functions with hand-derived gradients.

Notation

=========  ==========================================================================================  ===========
symbol     meaning                                                                                     shape
=========  ==========================================================================================  ===========
``A, B``   inputs, one per row; ``B is None`` means ``B = A``                                          (m, w), (n, w)
``theta``  the kernel's hyperparameters: logarithms, so that any real number is valid                  (size,)
``K``      the covariance of ``A`` and ``B``                                                           (m, n)
``W``      the derivative of some number with respect to ``K``                                         (m, n)
``S``      squared distances after division by the length scales                                       (m, n)
=========  ==========================================================================================  ===========

``kernel.at(theta, A, B)`` returns a :class:`Covariance`: ``K``, and two functions that propagate a derivative ``W``
back to the hyperparameters (``to_theta(W)``) or to the inputs (``to_left(W)``). Sums, products and warped inputs are
thus composed of independent parts, and no (n, n, size) array is ever allocated.

The gradient with respect to a length scale, Σᵢⱼ Gᵢⱼ (aᵢ - bⱼ)², is expanded into three matrix products. Caching the
differences as an (n, n, w) array took three times as long at n = 400, w = 20, because that array has to be read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Covariance(NamedTuple):
    """A covariance matrix, and functions that map its derivative back."""

    K: Array
    to_theta: Callable[[Array], Array]
    """``W`` → the derivative with respect to ``theta``."""
    to_left: Callable[[Array], Array]
    """``W`` → the derivative with respect to ``A``, for a fixed ``B``: shape (m, w)."""


class Variance(NamedTuple):
    """The prior variance of each input, and its derivative with respect to that input."""

    values: Array
    to_left: Callable[[Array], Array]
    """The derivative with respect to ``values`` → the derivative with respect to ``A``."""


class Kernel(Protocol):
    """A covariance function."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the hyperparameters in ``theta``."""

    def at(self, theta: Array, A: Array, B: Array | None = None) -> Covariance:
        """Return the covariance of ``A`` and ``B`` under ``theta``."""

    def variance(self, theta: Array, A: Array) -> Variance:
        """Return the diagonal of ``at(theta, A).K``."""


def no_gradient(A: Array, given: Array) -> Array:
    """Return the zero gradient: a ``to_left`` for values that do not depend on the inputs."""
    return np.zeros_like(A)


# ---------------------------------------------------------------- stationary kernels


def _matern52(S: Array, scale: float) -> tuple[Array, Callable[[], Array]]:
    """Compute k = s²(1 + ρ + ρ²/3) exp(-ρ) with ρ = √(5S), and dk/dS = -5/6 s² (1 + ρ) exp(-ρ), finite at S = 0."""
    rho = np.sqrt(5.0 * S)
    E = np.exp(-rho)
    E *= scale
    rho += 1.0
    K = S * (5.0 / 3.0)
    K += rho
    K *= E
    return K, lambda: rho * (E * (-5.0 / 6.0))


def _rbf(S: Array, scale: float) -> tuple[Array, Callable[[], Array]]:
    """Compute k = s² exp(-S/2), and dk/dS = -k/2."""
    K = np.exp(-0.5 * S)
    K *= scale
    return K, lambda: -0.5 * K


SHAPES = {"matern52": _matern52, "rbf": _rbf}
"""Functions of S and s² that return the kernel and, lazily, its slope: half of all covariances are never
differentiated."""


@dataclass(frozen=True)
class Stationary:
    """A stationary kernel with one length scale per group of columns (automatic relevance determination).

    ``groups[c]`` is the index of the length scale of column ``c``. The columns of one categorical parameter share a
    length scale, so for that parameter the kernel depends only on whether two options differ. ``theta`` holds the log
    length scales, then log s².
    """

    shape: str
    groups: tuple[int, ...]
    labels: tuple[str, ...]
    """A name for each length scale."""

    @property
    def names(self) -> tuple[str, ...]:
        return (*(f"length of {label}" for label in self.labels), "scale")

    @cached_property
    def _groups(self) -> NDArray[np.intp]:
        return np.asarray(self.groups, dtype=np.intp)

    def at(self, theta: Array, A: Array, B: Array | None = None) -> Covariance:
        groups = self._groups
        inverse = np.exp(-theta[:-1])[groups]
        a = A * inverse
        b = a if B is None else B * inverse
        aa = np.einsum("ij,ij->i", a, a)
        bb = aa if B is None else np.einsum("ij,ij->i", b, b)
        S = a @ b.T
        S *= -2.0
        S += aa[:, None]
        S += bb
        np.maximum(S, 0.0, out=S)
        if B is None:
            S.flat[:: len(A) + 1] = 0.0
        K, slope = SHAPES[self.shape](S, float(np.exp(theta[-1])))

        def to_theta(W: Array) -> Array:
            G = W * slope()
            per_column = G.sum(axis=1) @ (a * a) + G.sum(axis=0) @ (b * b) - 2.0 * np.einsum("ij,ij->j", a, G @ b)
            made = np.empty(len(self.labels) + 1)
            made[:-1] = np.bincount(groups, weights=-2.0 * per_column, minlength=len(self.labels))
            made[-1] = np.vdot(W, K)
            return made

        def to_left(W: Array) -> Array:
            G = W * slope()
            given: Array = 2.0 * inverse * (a * G.sum(axis=1)[:, None] - G @ b)
            return given

        return Covariance(K, to_theta, to_left)

    def variance(self, theta: Array, A: Array) -> Variance:
        return Variance(np.full(len(A), np.exp(theta[-1])), partial(no_gradient, A))


# ---------------------------------------------------------------- linear


@dataclass(frozen=True)
class Linear:
    """k = s²(1 + Σ_c x_c x'_c / ℓ²) over all columns: linear functions with an offset. ``theta``: log ℓ, log s²."""

    names: tuple[str, ...] = ("length of linear", "scale of linear")

    def at(self, theta: Array, A: Array, B: Array | None = None) -> Covariance:
        other = A if B is None else B
        slope, scale = np.exp(-2.0 * theta[0]), np.exp(theta[1])
        inner = scale * slope * (A @ other.T)
        K = inner + scale

        def to_theta(W: Array) -> Array:
            return np.array([-2.0 * np.vdot(W, inner), np.vdot(W, K)])

        return Covariance(K, to_theta, lambda W: scale * slope * (W @ other))

    def variance(self, theta: Array, A: Array) -> Variance:
        slope, scale = np.exp(-2.0 * theta[0]), np.exp(theta[1])
        values = scale * (1.0 + slope * np.einsum("ij,ij->i", A, A))
        return Variance(values, lambda w: 2.0 * scale * slope * w[:, None] * A)


# ---------------------------------------------------------------- composite kernels


@dataclass(frozen=True)
class _Several:
    """Several kernels; ``theta`` is the concatenation of theirs."""

    parts: tuple[Kernel, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for part in self.parts for name in part.names)


class Sum(_Several):
    """k₁ + k₂ + …"""

    def at(self, theta: Array, A: Array, B: Array | None = None) -> Covariance:
        made = [part.at(own, A, B) for part, own in _split(self.parts, theta)]
        return Covariance(
            sum((each.K for each in made), np.zeros(())),
            lambda W: np.concatenate([each.to_theta(W) for each in made]),
            lambda W: sum((each.to_left(W) for each in made), np.zeros(())),
        )

    def variance(self, theta: Array, A: Array) -> Variance:
        made = [part.variance(own, A) for part, own in _split(self.parts, theta)]
        values = sum((each.values for each in made), np.zeros(()))
        return Variance(values, lambda w: sum((each.to_left(w) for each in made), np.zeros(())))


class Product(_Several):
    """k₁ · k₂ · …"""

    def at(self, theta: Array, A: Array, B: Array | None = None) -> Covariance:
        made = [part.at(own, A, B) for part, own in _split(self.parts, theta)]
        K, others = _product([each.K for each in made])
        return Covariance(
            K,
            lambda W: np.concatenate([each.to_theta(W * rest) for each, rest in zip(made, others, strict=True)]),
            lambda W: sum((each.to_left(W * rest) for each, rest in zip(made, others, strict=True)), np.zeros(())),
        )

    def variance(self, theta: Array, A: Array) -> Variance:
        made = [part.variance(own, A) for part, own in _split(self.parts, theta)]
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
        return Covariance(made.K, made.to_theta, lambda W: _spread(made.to_left(W), places, A))

    def variance(self, theta: Array, A: Array) -> Variance:
        places = list(self.columns)
        made = self.kernel.variance(theta, A[:, places])
        return Variance(made.values, lambda w: _spread(made.to_left(w), places, A))


@dataclass(frozen=True)
class Warped:
    """A kernel of warped inputs: some columns pass through the Kumaraswamy distribution function 1 - (1 - xᵃ)ᵇ.

    With learned a and b, a function that changes fast near one end of a range and slowly near the other becomes
    stationary (Snoek et al. 2014, Input Warping for Bayesian Optimization of Non-Stationary Functions; they use the
    beta distribution function, but this one has a closed form). ``theta``: log a of each column, log b of each column,
    then the kernel's hyperparameters.
    """

    kernel: Kernel
    columns: tuple[int, ...]
    labels: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        shapes = [f"warp {letter} of {label}" for letter in "ab" for label in self.labels]
        return (*shapes, *self.kernel.names)

    def at(self, theta: Array, A: Array, B: Array | None = None) -> Covariance:
        k, places = len(self.columns), list(self.columns)
        a, b = np.exp(theta[:k]), np.exp(theta[k : 2 * k])
        left = _Warp(A[:, places], a, b)
        A_warped = _replaced(A, places, left.values)
        right = left if B is None else _Warp(B[:, places], a, b)
        B_warped = None if B is None else _replaced(B, places, right.values)
        made = self.kernel.at(theta[2 * k :], A_warped, B_warped)

        def to_theta(W: Array) -> Array:
            if B_warped is None:
                sides = [(made.to_left(W + W.T), left)]  # each input appears on both sides
            else:
                turned = self.kernel.at(theta[2 * k :], B_warped, A_warped)
                sides = [(made.to_left(W), left), (turned.to_left(W.T), right)]
            to_a = sum(((given[:, places] * side.da).sum(axis=0) * a for given, side in sides), np.zeros(k))
            to_b = sum(((given[:, places] * side.db).sum(axis=0) * b for given, side in sides), np.zeros(k))
            return np.concatenate([to_a, to_b, made.to_theta(W)])

        def to_left(W: Array) -> Array:
            given = made.to_left(W)
            given[:, places] *= left.dx
            return given

        return Covariance(made.K, to_theta, to_left)

    def variance(self, theta: Array, A: Array) -> Variance:
        k, places = len(self.columns), list(self.columns)
        left = _Warp(A[:, places], np.exp(theta[:k]), np.exp(theta[k : 2 * k]))
        made = self.kernel.variance(theta[2 * k :], _replaced(A, places, left.values))

        def to_left(w: Array) -> Array:
            given = made.to_left(w)
            given[:, places] *= left.dx
            return given

        return Variance(made.values, to_left)


EDGE = 1e-9
"""Inputs are clipped to this distance from 0 and 1 before warping: the slope there is infinite if a or b is below 1."""


class _Warp:
    """Warped inputs with lazily computed slopes: acquisition functions never differentiate by the observations."""

    def __init__(self, X: Array, a: Array, b: Array) -> None:
        self.a, self.b = a, b
        self.x = np.minimum(np.maximum(X, EDGE), 1.0 - EDGE)
        self.power = self.x**a
        self.rest = 1.0 - self.power
        self.tail = self.rest**b
        self.values: Array = 1.0 - self.tail

    @cached_property
    def _to_power(self) -> Array:
        """The derivative of the value with respect to xᵃ."""
        made: Array = self.b * self.rest ** (self.b - 1.0)
        return made

    @cached_property
    def dx(self) -> Array:
        made: Array = self._to_power * self.a * self.x ** (self.a - 1.0)
        return made

    @cached_property
    def da(self) -> Array:
        return self._to_power * self.power * np.log(self.x)

    @cached_property
    def db(self) -> Array:
        return -self.tail * np.log(self.rest)


def _split(parts: Sequence[Kernel], theta: Array) -> list[tuple[Kernel, Array]]:
    ends = np.cumsum([len(part.names) for part in parts])
    return list(zip(parts, np.split(theta, ends[:-1]), strict=True))


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


def _replaced(X: Array, places: list[int], columns: Array) -> Array:
    made = X.copy()
    made[:, places] = columns
    return made


def _spread(given: Array, places: list[int], A: Array) -> Array:
    made = np.zeros_like(A)
    made[:, places] = given
    return made
