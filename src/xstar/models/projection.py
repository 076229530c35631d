"""A kernel whose matrices need not be positive semi-definite, projected onto those that are.

Notation

==========  ======================================================================  ==========
symbol      meaning                                                                 shape
==========  ======================================================================  ==========
``K``       the matrix of n inputs, symmetric                                       (n, n)
``Q, λ``    its eigenvectors and eigenvalues, K = Q diag(λ) Qᵀ                      (n, n), (n,)
``K₊``      Q diag(max(λ, 0)) Qᵀ, the nearest positive semi-definite matrix         (n, n)
``F``       divided differences of max(·, 0): (λᵢ₊ − λⱼ₊)/(λᵢ − λⱼ)                  (n, n)
==========  ======================================================================  ==========

The derivative of K₊ in the direction of dK is Q (F ∘ QᵀdK Q) Qᵀ (Daleckii and Krein), so a weight W of K₊ is one of
Q (F ∘ QᵀW Q) Qᵀ for K. Covariances between two sets of inputs are those of the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xstar.models.kernels import Array, Covariance, Kernel, Variance

CLOSE = 1e-12
"""Eigenvalues that differ by less, relative to the largest one, count as equal."""


@dataclass(frozen=True, eq=False)
class Projected:
    """A kernel with the matrix of one set of inputs projected."""

    kernel: Kernel

    @property
    def names(self) -> tuple[str, ...]:
        return self.kernel.names

    def at(self, theta: Array, A: Array, B: Array | None = None) -> Covariance:
        made = self.kernel.at(theta, A, B)
        if B is not None:
            return made
        values, Q = np.linalg.eigh(made.K)
        if values[0] >= 0.0:
            return made
        kept = np.maximum(values, 0.0)
        F = _divided_differences(values, kept)

        def back(W: Array) -> Array:
            made: Array = Q @ (F * (Q.T @ W @ Q)) @ Q.T
            return made

        return Covariance(
            (Q * kept) @ Q.T, lambda W: made.to_theta(back(0.5 * (W + W.T))), lambda W: made.to_left(back(W))
        )

    def variance(self, theta: Array, A: Array) -> Variance:
        return self.kernel.variance(theta, A)


def _divided_differences(values: Array, kept: Array) -> Array:
    """Return F; where two eigenvalues are equal, the derivative, 0 or 1."""
    gap = values[:, None] - values
    equal = np.abs(gap) <= CLOSE * np.abs(values).max()
    made: Array = np.where(
        equal, (values > 0.0).astype(np.float64)[:, None], (kept[:, None] - kept) / np.where(equal, 1.0, gap)
    )
    return made
