"""A kernel over sequences of layers: the tree-structured kernel of Jenatton et al. (2017), for feed-forward networks.

A feed-forward network is a path in a tree: the v-th vertex on it is its v-th layer. Each vertex has a function of its own, a
network's value is their sum over its path, and two networks covary through the vertices that they share:

    k(a, b) = α Σ_{v ≤ min(L_a, L_b)} exp(−(u_v − u'_v)²/(2ℓ²) − [o_v ≠ o'_v]/ω) + α₀ exp(−(L_a − L_b)²/(2ℓ₀²))

Notation

==========  ==============================================================================  ==========
symbol      meaning                                                                         shape
==========  ==============================================================================  ==========
``L``       the number of layers; 0: there is no network                                    (n,)
``o``       the type of each layer, −1 beyond the last                                      (n, most)
``u``       log₂ of its units, 0 if it has none                                             (n, most)
``theta``   log α, log ℓ, log ω, log α₀, log ℓ₀                                             (5,)
==========  ==============================================================================  ==========

It is positive semi-definite: "both have a v-th layer" is a product of two indicators. The functions of all vertices have
the same hyperparameters, because hardly any data would be left for each of 60. The last term, a function of the depth, is the
one that the paper's tree has at its leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from xstar.models.kernels import Array, Covariance, Variance, no_gradient
from xstar.models.priors import Prior, about

Numbers = NDArray[np.int64]
Layers = Callable[[Numbers], tuple[NDArray[np.int64], Array]]
"""Maps indices of networks to ``o`` and ``u``."""

SCALE = about(0.1, 2.7, 1e-3, 10.0)
"""α: ten layers together explain targets of variance 1."""
UNITS = about(2.0, 2.0, 0.1, 20.0)
"""ℓ, in doublings of the units."""
TYPES = about(1.0, 2.7, 0.05, 20.0)
"""ω: two types of layers correlate with e^(−1/ω)."""
DEPTH_SCALE = about(0.3, 2.7, 1e-3, 10.0)
DEPTH = about(5.0, 2.0, 0.5, 60.0)
"""ℓ₀, in layers."""


@dataclass(frozen=True, eq=False)
class Tree:
    """The kernel over one column of indices."""

    layers: Layers
    column: int
    label: str

    @property
    def names(self) -> tuple[str, ...]:
        what = ("scale of", "units of", "types of", "scale of the depth of", "depth of")
        return tuple(f"{each} {self.label}" for each in what)

    @property
    def priors(self) -> tuple[Prior, ...]:
        return (SCALE, UNITS, TYPES, DEPTH_SCALE, DEPTH)

    def at(self, theta: Array, A: Array, B: Array | None = None) -> Covariance:
        alpha, units, types, alpha_0, depth = np.exp(theta)
        o, u, L = self._of(A)
        o2, u2, L2 = (o, u, L) if B is None else self._of(B)
        most = min(o.shape[1], o2.shape[1])  # no vertex beyond is shared
        o, u, o2, u2 = o[:, :most], u[:, :most], o2[:, :most], u2[:, :most]
        both = (o[:, None] >= 0) & (o2 >= 0)  # (m, n, most)
        away = np.where(both, (u[:, None] - u2) ** 2, 0.0) / (2.0 * units**2)
        other = (both & (o[:, None] != o2)) / types
        shared = alpha * np.where(both, np.exp(-away - other), 0.0)
        gap = (L[:, None] - L2) ** 2 / (2.0 * depth**2)
        by_depth = alpha_0 * np.exp(-gap)

        def to_theta(W: Array) -> Array:
            weighed = W[:, :, None] * shared
            return np.array(
                [
                    weighed.sum(),
                    2.0 * np.vdot(weighed, away),
                    np.vdot(weighed, other),
                    np.vdot(W, by_depth),
                    2.0 * np.vdot(W, by_depth * gap),
                ]
            )

        return Covariance(shared.sum(axis=2) + by_depth, to_theta, partial(no_gradient, A))

    def variance(self, theta: Array, A: Array) -> Variance:
        alpha, _, _, alpha_0, _ = np.exp(theta)
        return Variance(alpha * self._of(A)[2] + alpha_0, partial(no_gradient, A))

    def _of(self, A: Array) -> tuple[NDArray[np.int64], Array, Array]:
        """Return o, u and L."""
        o, u = self.layers(A[:, self.column].astype(np.int64))
        return o, u, (o >= 0).sum(axis=1).astype(np.float64)
