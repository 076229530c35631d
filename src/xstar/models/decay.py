"""The surrogate of learning curves that decay exponentially (MOBSTER, A.2).

Notation

=========  ==========================================================================================  ===========
symbol     meaning                                                                                     shape
=========  ==========================================================================================  ===========
``X``      inputs in the unit cube; the last column is r / r_max                                       (n, w)
``theta``  all hyperparameters: the mean μ, the kernel's, α, β, γ, δ, and log σ² of the noise last     (size,)
``κ``      E[e^(-λu)] over the random rate λ                                                           (n,)
=========  ==========================================================================================  ===========
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from xstar.models.kernels import Array, Covariance, Kernel, Mean, Variance
from xstar.models.priors import ALPHA, BETA, GAMMA, LOGIT_DELTA, MEAN, NOISE, Prior


@dataclass(frozen=True)
class ExponentialDecay:
    """Learning curves f(x, r) = γ e^(-λr) + f(x)(1 - δ e^(-λr)) with a random rate λ (MOBSTER, A.2, eq. 2).

    With λ ~ Gamma(α, β), κ(u) = E[e^(-λu)] = (1 + u/β)^-α and k̃(r, r') = κ(r + r') - κ(r)κ(r'):

        mean        γκ(r) + μ(1 - δκ(r))
        covariance  (γ - δμ)² k̃(r, r') + k(x, x') [1 - δ(κ(r) + κ(r')) + δ²κ(r + r')]

    (The sign of the δ² term follows the paper's derivation; its displayed formula has a misprint.) With δ = 0, the
    improvement from further training does not depend on x; with δ = 1, an untrained model is equally bad for all x.
    ``theta``: μ, the kernel's hyperparameters, log α, log β, log γ, logit δ if it is learned, log σ².

    There are only a few distinct budgets, so terms that depend on r are computed once per pair of budgets, as a table.
    With the indicator matrix E of the budgets, E T Eᵀ expands a table T to the inputs, and Eᵀ W E sums W into a table.
    """

    kernel: Kernel
    kernel_priors: tuple[Prior, ...]
    delta: float | None = None
    """A fixed value, or None to learn δ."""
    noise: Prior = NOISE

    @property
    def names(self) -> tuple[str, ...]:
        learned = ("delta",) if self.delta is None else ()
        return ("mean", *self.kernel.names, "alpha", "beta", "gamma", *learned, "noise")

    @property
    def priors(self) -> tuple[Prior, ...]:
        learned = (LOGIT_DELTA,) if self.delta is None else ()
        return (MEAN, *self.kernel_priors, ALPHA, BETA, GAMMA, *learned, self.noise)

    def _parts(self, theta: Array) -> tuple[float, Array, float, float, float, float]:
        """Return μ, the kernel's hyperparameters, α, β, γ, δ."""
        k = 1 + len(self.kernel.names)
        alpha, beta, gamma = np.exp(theta[k : k + 3])
        delta = 1.0 / (1.0 + np.exp(-theta[k + 3])) if self.delta is None else self.delta
        return float(theta[0]), theta[1:k], float(alpha), float(beta), float(gamma), float(delta)

    def _gather(self, mu: Any, kernel: Array, alpha: Any, beta: Any, gamma: Any, delta: Any) -> Array:
        """Assemble the gradient in ``theta`` from those by μ, the kernel, log α, log β, log γ and logit δ."""
        learned = [delta] if self.delta is None else []
        return np.concatenate(([mu], kernel, [alpha, beta, gamma, *learned, 0.0]))

    def mean(self, theta: Array, X: Array) -> Mean:
        mu, own, alpha, beta, gamma, delta = self._parts(theta)
        r = X[:, -1]
        k = _kappa(r, alpha, beta)

        def to_theta(w: Array) -> Array:
            rest = gamma - delta * mu
            return self._gather(
                w @ (1.0 - delta * k.values),
                np.zeros(len(own)),
                rest * (w @ k.to_alpha) * alpha,
                rest * (w @ k.to_beta) * beta,
                (w @ k.values) * gamma,
                -mu * (w @ k.values) * delta * (1.0 - delta),
            )

        return Mean(gamma * k.values + mu * (1.0 - delta * k.values), to_theta)

    def covariance(self, theta: Array, A: Array, B: Array | None = None) -> Covariance:
        mu, own, alpha, beta, gamma, delta = self._parts(theta)
        rest = gamma - delta * mu
        levels, E = _levels(A[:, -1])
        levels_b, E_b = (levels, E) if B is None else _levels(B[:, -1])
        one, other = _kappa(levels, alpha, beta), _kappa(levels_b, alpha, beta)
        both = _kappa(levels[:, None] + levels_b, alpha, beta)
        noise_table = both.values - one.values[:, None] * other.values
        share_table = 1.0 - delta * (one.values[:, None] + other.values) + delta**2 * both.values
        share = E @ share_table @ E_b.T
        made = self.kernel.at(own, A[:, :-1], None if B is None else B[:, :-1])
        K = made.K * share
        K += E @ (rest**2 * noise_table) @ E_b.T

        def to_theta(W: Array) -> Array:
            plain = E.T @ W @ E_b
            weighed = E.T @ (W * made.K) @ E_b

            def through(d_one: Array, d_other: Array, d_both: Array) -> float:
                """Return the change of K, weighted by W, for these changes of κ(r), κ(r') and κ(r + r')."""
                cross = d_one[:, None] * other.values + one.values[:, None] * d_other
                return float(
                    np.vdot(plain, rest**2 * (d_both - cross))
                    + np.vdot(weighed, delta**2 * d_both - delta * (d_one[:, None] + d_other))
                )

            d_rest = 2.0 * rest * np.vdot(plain, noise_table)
            d_delta = np.vdot(weighed, 2.0 * delta * both.values - one.values[:, None] - other.values)
            return self._gather(
                -delta * d_rest,
                made.to_theta(W * share),
                alpha * through(one.to_alpha, other.to_alpha, both.to_alpha),
                beta * through(one.to_beta, other.to_beta, both.to_beta),
                gamma * d_rest,
                float(d_delta - mu * d_rest) * delta * (1.0 - delta),
            )

        def to_left(W: Array) -> Array:
            return np.hstack([made.to_left(W * share), np.zeros((len(A), 1))])  # the budget is not optimised

        return Covariance(K, to_theta, to_left)

    def variance(self, theta: Array, A: Array) -> Variance:
        mu, own, alpha, beta, gamma, delta = self._parts(theta)
        made = self.kernel.variance(own, A[:, :-1])
        one, both = _kappa(A[:, -1], alpha, beta).values, _kappa(2.0 * A[:, -1], alpha, beta).values
        share = 1.0 - 2.0 * delta * one + delta**2 * both
        values = (gamma - delta * mu) ** 2 * (both - one**2) + made.values * share
        return Variance(values, lambda w: np.hstack([made.to_left(w * share), np.zeros((len(A), 1))]))


class _Kappa(NamedTuple):
    values: Array
    to_alpha: Array
    to_beta: Array


def _kappa(u: Array, alpha: float, beta: float) -> _Kappa:
    """Return κ(u) = (1 + u/β)^-α and its derivatives with respect to α and β."""
    logarithm = np.log1p(u / beta)
    values = np.exp(-alpha * logarithm)
    return _Kappa(values, -values * logarithm, values * alpha * u / (beta * (beta + u)))


def _levels(column: Array) -> tuple[Array, Array]:
    """Return the distinct budgets (k,), and an indicator matrix of each input's budget (n, k)."""
    if (column == column[0]).all():  # the usual case for candidates, and 20 times faster
        return column[:1], np.ones((len(column), 1))
    levels, places = np.unique(column, return_inverse=True)
    E = np.zeros((len(column), len(levels)))
    E[np.arange(len(column)), places] = 1.0
    return levels, E
