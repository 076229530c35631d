"""Gaussian-process priors: a mean function, a covariance function, and priors of their hyperparameters.

Notation

=========  ==========================================================================================  ===========
symbol     meaning                                                                                     shape
=========  ==========================================================================================  ===========
``X``      inputs in the unit cube; over budgets the last column is r / r_max                          (n, w)
``theta``  all hyperparameters: the mean μ, the kernel's, and log σ² of the noise last                 (size,)
``m``      the mean at ``X``                                                                           (n,)
=========  ==========================================================================================  ===========

Targets are standardised, so the priors below have no units. Every prior is a normal distribution over an entry of
``theta``: μ itself, the logit of δ, and the logarithm of every other hyperparameter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from xstar.models.additive import Additive
from xstar.models.kernels import Array, Columns, Covariance, Kernel, Product, Stationary, Sum, Variance, beside
from xstar.models.warped import Warped


@dataclass(frozen=True, slots=True)
class Prior:
    """A normal prior, and bounds for the optimiser."""

    centre: float
    spread: float
    low: float
    high: float
    shared: float = 0.0
    """The standard deviation of a deviation that all hyperparameters with this prior have in common, besides ``spread`` of
    each: together they are normal with the covariance spread² I + shared² 11ᵀ."""


def about(value: float, factor: float, low: float, high: float) -> Prior:
    """Return a log-normal prior, from the median, the factor of one standard deviation, and the bounds."""
    return Prior(np.log(value), np.log(factor), np.log(low), np.log(high))


MEAN = Prior(0.0, 0.5, -3.0, 3.0)
"""Standardised targets have mean 0. The level far from the data may be higher than that, but not by much."""
SCALE = about(1.0, 2.7, 0.02, 50.0)
"""Standardised targets have variance 1."""
NOISE = about(1e-3, 10.0, 1e-6, 1.0)
"""Most losses are reproducible to a few percent of their spread, some are exact, and some data are all noise."""
EXACT = 1e-8
"""The lower bound of σ² where losses may be exact. With 10⁻⁶, a search near an optimum of an exact function takes 0.001 of the
spread for noise, and refines the same digit again and again: on 14 development problems, three of them noisy (two seeds, 100
trials) the loss was lower with 10⁻⁸ in 7 searches and higher in 2."""
WARP = about(1.0, 1.35, 0.25, 4.0)
"""No warping unless the data support it: a and b are within a factor of 1.8 of 1 with 95 % (two standard
deviations)."""
BUDGET_WARP = about(1.0, 2.0, 0.1, 10.0)
"""Learning curves fall fast at first, so warping of the budget is likely, and it is stronger."""


class Mean(NamedTuple):
    """The prior mean at some inputs, and a function that maps its derivative back to the hyperparameters."""

    values: Array
    to_theta: Callable[[Array], Array]


class Surrogate(Protocol):
    """Mean, covariance and priors. The mean has zero gradient with respect to the inputs that a searcher may change."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the hyperparameters in ``theta``."""

    @property
    def priors(self) -> tuple[Prior, ...]:
        """The prior of each hyperparameter."""

    def mean(self, theta: Array, X: Array) -> Mean: ...

    def covariance(self, theta: Array, A: Array, B: Array | None = None) -> Covariance:
        """Return the covariance without noise. ``to_theta`` covers all hyperparameters (0 for the noise)."""

    def variance(self, theta: Array, A: Array) -> Variance:
        """Return the prior variance without noise."""


@dataclass(frozen=True)
class Plain:
    """A constant mean μ and a kernel. ``theta``: μ, the kernel's hyperparameters, log σ²."""

    kernel: Kernel
    kernel_priors: tuple[Prior, ...]
    noise: Prior = NOISE

    @property
    def names(self) -> tuple[str, ...]:
        return ("mean", *self.kernel.names, "noise")

    @property
    def priors(self) -> tuple[Prior, ...]:
        return (MEAN, *self.kernel_priors, self.noise)

    def mean(self, theta: Array, X: Array) -> Mean:
        def to_theta(w: Array) -> Array:
            made = np.zeros(len(theta))
            made[0] = np.add.reduce(w)
            return made

        values = np.empty(len(X))
        values.fill(theta[0])
        return Mean(values, to_theta)

    def covariance(self, theta: Array, A: Array, B: Array | None = None) -> Covariance:
        return self._with_mean_and_noise(theta, self.kernel.at(theta[1:-1], A, B))

    def beside(self, theta: Array, B: Array) -> Callable[[Array], Covariance]:
        """Return what maps ``A`` to ``covariance(theta, A, B)``, to the same bits, with less to compute each time."""
        own = beside(self.kernel, theta[1:-1], B)
        return lambda A: self._with_mean_and_noise(theta, own(A))

    def _with_mean_and_noise(self, theta: Array, made: Covariance) -> Covariance:
        def to_theta(W: Array) -> Array:
            slopes = np.zeros(len(theta))
            slopes[1:-1] = made.to_theta(W)
            return slopes

        return Covariance(made.K, to_theta, made.to_left)

    def variance(self, theta: Array, A: Array) -> Variance:
        return self.kernel.variance(theta[1:-1], A)


ALPHA = about(1.0, 2.0, 0.05, 20.0)
"""The exponent of the power law that learning curves follow on average: between 1/4 and 4 with probability 95 %."""
BETA = about(0.1, 4.0, 1e-4, 10.0)
"""Where the curve begins to fall, as a share of the full budget: from one epoch of 200 to all of it with 95 %."""
GAMMA = about(1.0, 2.7, 1e-3, 20.0)
"""How far an untrained model lies above the mean, in standard deviations of the observations."""
LOGIT_DELTA = Prior(0.0, 1.5, -6.0, 6.0)
"""Nearly flat in δ between 0.05 and 0.95."""


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


# ---------------------------------------------------------------- surrogates for the searchers

LENGTH = about(0.7, 2.0, 0.02, 20.0)
"""Length scale, in sides of the cube. Of the medians 0.5, 0.7 and 1.0, 0.7 had the best mean rank over the fifteen
problems of ``benchmarks/quality.py`` (five seeds, 100 evaluations)."""
SHARED_LENGTH = replace(about(0.7, 1.5, 0.02, 20.0), shared=1.0)
"""Length scales that have a factor in common, of 2.7 either way, and differ from it by 1.5. Independent priors need several
observations per parameter to learn that a function is smooth in all of them, or rough: with 4 seeds on 18 functions of
``harness/development.py`` the loss after 50 evaluations was lower in 50 searches and higher in 20 with a common factor of 2
and own ones of 1.65, other settings as here. Own factors of 2 were worse (30 and 39), a common one of 2.7 no different (35
and 34), but better under noise (7 and 1). A median that grows with √d was worse than none (37 and 35 beside 46 and 26)."""
OPTION_LENGTH = about(1.0, 2.0, 0.02, 20.0)
"""Length scale of a categorical parameter. Two options are √2 apart in one-hot columns, so this is the same prior. With
half this length scale, the regret on NAS-Bench-201 (CIFAR-100) after 50 evaluations was 1.2 instead of 0.07."""

OWN_LENGTH = about(0.3, 2.0, 0.02, 20.0)
"""Length scale of the term of one parameter alone."""


@dataclass(frozen=True)
class Inputs:
    """The meaning of the columns: the length scale of each column, and which columns are numeric."""

    groups: tuple[int, ...]
    labels: tuple[str, ...]
    ranges: tuple[int, ...]
    """Numeric columns: those that can be warped."""
    options: frozenset[int] = frozenset()
    """The length scales that belong to categorical parameters."""
    networks: tuple[tuple[Kernel, tuple[Prior, ...]], ...] = ()
    """Kernels and priors of the network columns, which follow the others: one kernel per column."""


def over_configurations(
    inputs: Inputs, *, shape: str = "matern52", warp: bool = False, length: Prior = LENGTH
) -> tuple[Kernel, tuple[Prior, ...]]:
    """Return the kernel over configurations and its priors."""
    made = _over_positions(inputs, shape, warp, length) if inputs.groups else None
    return _times_networks(made, tuple(range(len(inputs.groups))), inputs)


def _over_positions(inputs: Inputs, shape: str, warp: bool, length: Prior = LENGTH) -> tuple[Kernel, tuple[Prior, ...]]:
    """Return the kernel over all columns except network columns, and its priors."""
    kernel: Kernel = Stationary(shape, inputs.groups, inputs.labels)
    lengths = [OPTION_LENGTH if place in inputs.options else length for place in range(len(inputs.labels))]
    priors = (*lengths, SCALE)
    if warp and inputs.ranges:
        labels = tuple(inputs.labels[inputs.groups[column]] for column in inputs.ranges)
        return Warped(kernel, inputs.ranges, labels), (*(WARP for _ in range(2 * len(labels))), *priors)
    return kernel, priors


def _times_networks(
    positions: tuple[Kernel, tuple[Prior, ...]] | None, columns: tuple[int, ...], inputs: Inputs
) -> tuple[Kernel, tuple[Prior, ...]]:
    """Return the product of a kernel over ``columns`` and the network kernels (NASBOT, end of Section 4)."""
    if not inputs.networks:
        assert positions is not None
        return positions
    factors: list[tuple[Kernel, tuple[Prior, ...]]] = list(inputs.networks)
    if positions is not None:
        factors.insert(0, (Columns(positions[0], columns), positions[1]))
    if len(factors) == 1:
        return factors[0]
    return Product(tuple(kernel for kernel, _ in factors)), tuple(prior for _, own in factors for prior in own)


def at_full_budget(
    inputs: Inputs,
    *,
    shape: str = "matern52",
    warp: bool = False,
    least_noise: float | None = None,
    length: Prior = LENGTH,
) -> Plain:
    """Return a surrogate of f(x).

    ``least_noise`` is the lower bound of σ², if it is not that of ``NOISE``; ``length`` the prior of length scales of numbers.
    """
    noise = NOISE if least_noise is None else replace(NOISE, low=float(np.log(least_noise)))
    return Plain(*over_configurations(inputs, shape=shape, warp=warp, length=length), noise)


def with_own_terms(surrogate: Plain, inputs: Inputs) -> Plain:
    """Return the surrogate with a term for each parameter alone added to its kernel."""
    d = len(inputs.labels)
    scale = about(1.0 / d, 2.7, 1e-4, 50.0)
    priors = (*(OWN_LENGTH for _ in range(d)), *(scale for _ in range(d)))
    own = Additive(inputs.groups, inputs.labels)
    return Plain(Sum((surrogate.kernel, own)), (*surrogate.kernel_priors, *priors), surrogate.noise)


def over_budgets(inputs: Inputs, name: str, *, shape: str = "matern52", warp: bool = False) -> Surrogate:
    """Return a surrogate of f(x, r): the last column of its inputs is r / r_max (MOBSTER, Section 3 and A.2)."""
    if name.startswith("decay"):
        kernel, priors = over_configurations(inputs, shape=shape, warp=warp)
        return ExponentialDecay(kernel, priors, {"decay": None, "decay-0": 0.0, "decay-1": 1.0}[name])
    width = len(inputs.groups)
    joint = Inputs((*inputs.groups, len(inputs.labels)), (*inputs.labels, "budget"), inputs.ranges, inputs.options)
    kernel, priors = _over_positions(joint, shape, warp)
    if name == "matern-warped":
        kernel, priors = Warped(kernel, (width,), ("budget",)), (BUDGET_WARP, BUDGET_WARP, *priors)
    return Plain(*_times_networks((kernel, priors), (*range(width), width + len(inputs.networks)), inputs))
