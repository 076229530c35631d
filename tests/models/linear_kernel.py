"""A kernel for tests: with it a Gaussian process is Bayesian linear regression, and sums and products have unlike parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xstar.models.kernels import Array, Covariance, Variance


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
