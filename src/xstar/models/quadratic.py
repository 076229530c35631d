"""The quadratic prior mean of DNGO (Snoek et al. 2015, Section 3.1.3, eq. 9), as a linear function of fixed columns.

Notation

==============  =====================================================================================  ===========
symbol          meaning                                                                                shape
==============  =====================================================================================  ===========
``columns``     numeric inputs: k of the K columns; categorical options and budgets have no centre
``Q``           the design [1, x, x²] over those columns                                               (N, 1 + 2k)
``λ, c, Λ``     offset, centre, curvatures                                                             1, (k,), (k,)
``a``           η(x) = λ + Σ Λ_k (x_k - c_k)² = Q a                                                    (1 + 2k,)
==============  =====================================================================================  ===========

a = (λ + Σ Λ_k c_k², -2 Λ_k c_k, Λ_k). The marginal likelihood under any (λ, c, Λ) therefore follows from the Gram
matrix of [Phi, Q], and the cost of changing them does not depend on the number of observations.

Priors, for targets of variance 1 over the unit cube: λ and c are normal; Λ has a half-horseshoe prior (Carvalho et al.
2009) with the density

    p(Λ) = √2 π^(-3/2) / τ · exp(z) E₁(z),    z = Λ² / (2τ²)

with the exponential integral E₁. It has a spike at 0, which removes unneeded curvatures, and a tail like 1/Λ².
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xstar.core.compiled import exp1
from xstar.models.kernels import Array

OFFSET = (0.0, 1.0)
"""Prior mean and standard deviation of λ: the lowest targets are one or two below 0, the mean of all targets."""
CENTRE = (0.5, 0.25)
"""Prior mean and standard deviation of c: the centre of the cube (text of eq. 9), and inside it with probability
0.95."""
SCALE = 1.0
"""τ. Half of the curvatures are below about 0.7, which is 0.2 standard deviations of the targets over half a side."""
LOG_FRONT = 0.5 * float(np.log(2.0)) - 1.5 * float(np.log(np.pi))
FAR = 50.0
LOWEST, HIGHEST = -12.0, 7.0
"""Bounds of log Λ: below, a curvature changes no target by 1e-5; above, the corners are 300 standard deviations up."""


@dataclass(frozen=True)
class Quadratic:
    """A quadratic mean over some of the input columns."""

    columns: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of parameters: λ, c, log Λ."""
        return 1 + 2 * len(self.columns)

    def design(self, X: Array) -> Array:
        """Return Q: (N, 1 + 2k)."""
        x = X[:, list(self.columns)]
        return np.hstack([np.ones((len(X), 1)), x, x * x])

    def coefficients(self, psi: Array) -> Array:
        """Compute a from (λ, c, log Λ)."""
        k = len(self.columns)
        c, curvature = psi[1 : 1 + k], np.exp(psi[1 + k :])
        bent = curvature * c
        return np.concatenate([[psi[0] + float(bent @ c)], -2.0 * bent, curvature])

    def slope(self, a: Array, X: Array) -> Array:
        """Return the derivative of η with respect to ``X``: (N, K)."""
        k, columns = len(self.columns), list(self.columns)
        made = np.zeros_like(X)
        made[:, columns] = a[1 : 1 + k] + 2.0 * a[1 + k :] * X[:, columns]
        return made

    def log_prior(self, psi: Array) -> float:
        """Return the log density of (λ, c, log Λ), up to a constant."""
        k = len(self.columns)
        offset = (float(psi[0]) - OFFSET[0]) / OFFSET[1]
        if not k:
            return -0.5 * offset * offset
        logarithms = psi[1 + k :]
        if logarithms.min() < LOWEST or logarithms.max() > HIGHEST:
            return -np.inf
        centre = (psi[1 : 1 + k] - CENTRE[0]) / CENTRE[1]
        # log Λ has the density p(Λ) Λ.
        bends = float(log_horseshoe(np.exp(logarithms), SCALE).sum() + logarithms.sum())
        return -0.5 * (offset * offset + float(centre @ centre)) + bends

    def start(self) -> Array:
        """Return the starting point of sampling: a shallow bowl in the middle of the cube."""
        k = len(self.columns)
        return np.concatenate([[OFFSET[0]], np.full(k, CENTRE[0]), np.full(k, -2.0)])

    def widths(self) -> Array:
        """Return initial interval widths for slice sampling."""
        k = len(self.columns)
        return np.concatenate([[0.5], np.full(k, 0.3), np.full(k, 2.0)])


def log_horseshoe(values: Array, scale: float = 1.0) -> Array:
    """Return the log density of the half horseshoe at positive ``values``."""
    z = 0.5 * (values / scale) ** 2
    made: Array = LOG_FRONT - np.log(scale) + z
    if z.max() < FAR:
        return made + np.log(exp1(z))
    # exp(z) E₁(z) = (1 - 1/z + 2/z² - 6/z³ + …)/z: at z = 50 the next term is a share of 4e-6.
    far = np.maximum(z, FAR)
    series = np.log1p((-1.0 + (2.0 - 6.0 / far) / far) / far) - np.log(far) - z
    return made + np.where(z < FAR, np.log(exp1(np.minimum(z, FAR))), series)
