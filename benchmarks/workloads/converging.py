"""A candidate surrogate, of curves that converge: f(x, r) is what the full budget gives, plus a change that shrinks to nothing.

Notation

=========  ==========================================================================================  ===========
symbol     meaning                                                                                     shape
=========  ==========================================================================================  ===========
``X``      inputs in the unit cube; the last column is r, as a share of the full budget                 (n, w)
``h``      the share of the change that is still to come at r: 1 at the first rung, 0 at the end        (n,)
``theta``  the kernel's hyperparameters, log G, logit ρ, κ, and log σ² of the noise last                (size,)
=========  ==========================================================================================  ===========
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xstar.models.kernels import Array, Covariance, Kernel, Mean, Variance
from xstar.models.priors import NOISE, Prior, about

CHANGE = about(1.0, 4.0, 1e-4, 1e3)
"""G: the variance of what changes from the first rung to the end, as a share of that of the end."""
LOGIT_COHERENCE = Prior(0.0, 1.5, -6.0, 6.0)
"""Nearly flat in ρ between 0.05 and 0.95."""
NOISE_SLOPE = Prior(0.0, 1.0, -4.0, 4.0)
"""κ: the noise of the first rung is as a rule between a third and three times that of the last."""
POWER = 0.3
"""p. Learned, it is overconfident: in 44 development states 90 % intervals covered 64 % instead of 70 %."""
LEVEL, DROP, DRIFT = 0.5, 2.0, 0.3
"""Variances of what all curves have in common, in units of the targets: their level at the full budget, the drop from the first
rung to it, and departures from it on the way. They are part of the covariance: while no trial is complete nobody knows how far
curves still fall."""
MEAN_DROP = 1.0
"""The expected drop, in standard deviations of the targets."""


@dataclass(frozen=True)
class ConvergingCurves:
    """f(x, r) = f(x) + g(x, r) with g(x, 1) = 0, both with the kernel k over configurations.

        h(r)        (r^-p - 1) / (r₁^-p - 1), where r₁ is the first rung
        mean        c h(r)
        covariance  k(x, x') [1 + G b(r, r')] + v₀ + v₁ h h' + v₂ min(h, h'),    b = ρ h h' + (1 - ρ) min(h, h')
        noise       σ² exp(κ u(r)), where u falls from 1 at the first rung to 0 at the end, linearly in log r

    g is in part the same curve shape for each configuration, scaled (h h'), and in part a Brownian motion that ends at 0
    (min(h, h')). G says how much the first rung hides of the last, ρ how much of the change goes on as it began.
    """

    kernel: Kernel
    kernel_priors: tuple[Prior, ...]
    first: float
    """r₁."""
    noise: Prior = NOISE

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.kernel.names, "change", "coherence", "noise slope", "noise")

    @property
    def priors(self) -> tuple[Prior, ...]:
        return (*self.kernel_priors, CHANGE, LOGIT_COHERENCE, NOISE_SLOPE, self.noise)

    def _parts(self, theta: Array) -> tuple[Array, float, float, float, float]:
        """Return the kernel's hyperparameters, G, ρ, κ, σ²."""
        change, coherence, slope, noise = theta[-4:].tolist()
        return theta[:-4], float(np.exp(change)), 1.0 / (1.0 + float(np.exp(-coherence))), slope, float(np.exp(noise))

    def _left(self, r: Array) -> Array:
        """Return h(r)."""
        if self.first >= 1.0:
            return np.zeros(len(r))
        made: Array = (r**-POWER - 1.0) / (self.first**-POWER - 1.0)
        return made

    def _extra_noise(self, r: Array, slope: float, noise: float) -> tuple[Array, Array]:
        """Return what the noise at r is above σ², and its derivative with respect to κ."""
        u = np.log(r) / np.log(self.first) if self.first < 1.0 else np.zeros(len(r))
        made = noise * np.exp(slope * u)
        return made - noise, made * u

    def mean(self, theta: Array, X: Array) -> Mean:
        return Mean(MEAN_DROP * self._left(X[:, -1]), lambda w: np.zeros(len(theta)))

    def covariance(self, theta: Array, A: Array, B: Array | None = None) -> Covariance:
        own, change, coherence, slope, noise = self._parts(theta)
        h = self._left(A[:, -1])
        other = h if B is None else self._left(B[:, -1])
        made = self.kernel.at(own, A[:, :-1], None if B is None else B[:, :-1])
        together, least = h[:, None] * other, np.minimum(h[:, None], other)
        shape = coherence * together + (1.0 - coherence) * least
        factor = 1.0 + change * shape
        K = made.K * factor
        K += LEVEL + DROP * together + DRIFT * least
        extra = to_slope = np.zeros(len(A))
        if B is None:
            extra, to_slope = self._extra_noise(A[:, -1], slope, noise)
            K.flat[:: len(A) + 1] += extra

        def to_theta(W: Array) -> Array:
            weighed = W * made.K
            diagonal = np.diagonal(W) if B is None else extra
            tail = (
                change * np.vdot(weighed, shape),
                change * coherence * (1.0 - coherence) * np.vdot(weighed, together - least),
                diagonal @ to_slope,
                diagonal @ extra,
            )
            return np.concatenate([made.to_theta(W * factor), tail])

        def to_left(W: Array) -> Array:
            return np.hstack([made.to_left(W * factor), np.zeros((len(A), 1))])  # the budget is not optimised

        return Covariance(K, to_theta, to_left)

    def variance(self, theta: Array, A: Array) -> Variance:
        own, change, coherence, _, _ = self._parts(theta)
        made, h = self.kernel.variance(own, A[:, :-1]), self._left(A[:, -1])
        factor = 1.0 + change * (coherence * h**2 + (1.0 - coherence) * h)
        values = made.values * factor + LEVEL + DROP * h**2 + DRIFT * h
        return Variance(values, lambda w: np.hstack([made.to_left(w * factor), np.zeros((len(A), 1))]))
