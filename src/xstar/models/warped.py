"""A kernel of warped inputs, with hand-derived gradients; the notation is that of ``kernels.py``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xstar.models.kernels import Array, Covariance, Kernel, Variance


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


def _replaced(X: Array, places: list[int], columns: Array) -> Array:
    made = X.copy()
    made[:, places] = columns
    return made
