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

The gradient with respect to a length scale, Σᵢⱼ Gᵢⱼ (aᵢ - bⱼ)², is expanded into three matrix products: an (n, n, w) array
of differences would have to be read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple, Protocol, runtime_checkable

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
    constant: bool = False
    """The same everywhere: its derivative is 0."""


class Mean(NamedTuple):
    """The prior mean at some inputs, and a function that maps its derivative back to the hyperparameters."""

    values: Array
    to_theta: Callable[[Array], Array]


class Kernel(Protocol):
    """A covariance function."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the hyperparameters in ``theta``."""

    def at(self, theta: Array, A: Array, B: Array | None = None) -> Covariance:
        """Return the covariance of ``A`` and ``B`` under ``theta``."""

    def variance(self, theta: Array, A: Array) -> Variance:
        """Return the diagonal of ``at(theta, A).K``."""


@runtime_checkable
class Prepared(Protocol):
    """A covariance function that computes what depends on ``theta`` and ``B`` alone only once: a model predicts many times."""

    def beside(self, theta: Array, B: Array) -> Callable[[Array], Covariance]:
        """Return what maps ``A`` to ``at(theta, A, B)``, to the same bits."""


def beside(kernel: Kernel, theta: Array, B: Array) -> Callable[[Array], Covariance]:
    """Return what maps ``A`` to ``kernel.at(theta, A, B)``."""
    return kernel.beside(theta, B) if isinstance(kernel, Prepared) else lambda A: kernel.at(theta, A, B)


def no_gradient(A: Array, given: Array) -> Array:
    """Return the zero gradient: a ``to_left`` for values that do not depend on the inputs."""
    return np.zeros_like(A)


# ---------------------------------------------------------------- stationary kernels


def _matern52(S: Array, scale: float) -> tuple[Array, Callable[[], Array]]:
    """Compute k = s²(1 + ρ + ρ²/3) exp(-ρ) with ρ = √(5S), and dk/dS = -5/6 s² (1 + ρ) exp(-ρ), finite at S = 0."""
    rho = 5.0 * S
    np.sqrt(rho, out=rho)
    E = np.negative(rho)
    np.exp(E, out=E)
    E *= scale
    rho += 1.0
    S *= 5.0 / 3.0
    S += rho
    S *= E
    return S, lambda: rho * (E * (-5.0 / 6.0))


def _rbf(S: Array, scale: float) -> tuple[Array, Callable[[], Array]]:
    """Compute k = s² exp(-S/2), and dk/dS = -k/2."""
    K = np.exp(-0.5 * S)
    K *= scale
    return K, lambda: -0.5 * K


SHAPES = {"matern52": _matern52, "rbf": _rbf}
"""Functions of S, whose memory they may use, and s² that return the kernel and, lazily, its slope: half of all covariances
are never differentiated."""


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

    @cached_property
    def _one_each(self) -> bool:
        """Whether each column has a length scale of its own, in their order."""
        return self.groups == tuple(range(len(self.labels)))

    def at(self, theta: Array, A: Array, B: Array | None = None) -> Covariance:
        if B is not None:
            return self.beside(theta, B)(A)
        inverse, scale = self._units(theta)
        a = A * inverse
        aa, inner = np.einsum("ij,ij->i", a, a), a @ a.T
        inner *= -2.0
        return self._with_gradients(2.0 * inverse, scale, a, a, inner, aa, aa)

    def beside(self, theta: Array, B: Array) -> Callable[[Array], Covariance]:
        inverse, scale = self._units(theta)
        b = B * inverse
        bb = np.einsum("ij,ij->i", b, b)
        # Twice is exact: -2 a·b and a·(-2b) are the same bits.
        twice, minus_two_b = 2.0 * inverse, (-2.0 * b).T

        def between(A: Array) -> Covariance:
            a = A * inverse
            return self._with_gradients(twice, scale, a, b, a @ minus_two_b, np.einsum("ij,ij->i", a, a), bb)

        return between

    def _units(self, theta: Array) -> tuple[Array, float]:
        """Return 1/ℓ of each column, and s²."""
        inverse = np.exp(-theta[:-1])
        return inverse if self._one_each else inverse[self._groups], float(np.exp(theta[-1]))

    def _with_gradients(
        self, twice: Array, scale: float, a: Array, b: Array, S: Array, aa: Array, bb: Array
    ) -> Covariance:
        """Return the covariance of inputs that are divided by the length scales.

        ``twice``: 2/ℓ of each column; ``S``: -2 a·b, whose memory is used; ``aa``, ``bb``: their squares, summed.
        """
        same = a is b
        S += aa[:, None]
        S += bb
        np.maximum(S, 0.0, out=S)
        if same:
            S.flat[:: len(a) + 1] = 0.0
        K, slope = SHAPES[self.shape](S, scale)

        def to_theta(W: Array) -> Array:
            G = slope()
            G *= W
            squares = a * a
            per_column = np.add.reduce(G, 1) @ squares + np.add.reduce(G, 0) @ (squares if same else b * b)
            per_column -= 2.0 * np.einsum("ij,ij->j", a, G @ b)
            per_column *= -2.0
            made = np.empty(len(self.labels) + 1)
            if not self._one_each:
                per_column = np.bincount(self._groups, weights=per_column, minlength=len(self.labels))
            made[:-1] = per_column
            made[-1] = np.vdot(W, K)
            return made

        def to_left(W: Array) -> Array:
            G = slope()
            G *= W
            given: Array = twice * (a * np.add.reduce(G, 1)[:, None] - G @ b)
            return given

        return Covariance(K, to_theta, to_left)

    def variance(self, theta: Array, A: Array) -> Variance:
        values = np.empty(len(A))
        values.fill(np.exp(theta[-1]))
        return Variance(values, partial(no_gradient, A), constant=True)
