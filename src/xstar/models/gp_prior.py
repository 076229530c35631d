"""Gaussian-process priors: a mean function, a covariance function, and priors of their hyperparameters.

Notation

=========  ==========================================================================================  ===========
symbol     meaning                                                                                     shape
=========  ==========================================================================================  ===========
``X``      inputs in the unit cube; over budgets the last column is r / r_max                          (n, w)
``theta``  all hyperparameters: the mean μ, the kernel's, and log σ² of the noise last                 (size,)
``m``      the mean at ``X``                                                                           (n,)
=========  ==========================================================================================  ===========
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from xstar.models.composite import Columns, Product
from xstar.models.decay import ExponentialDecay
from xstar.models.kernels import Array, Covariance, Kernel, Mean, Stationary, Variance, beside
from xstar.models.priors import (
    BUDGET_WARP,
    LENGTH,
    MEAN,
    NOISE,
    OPTION_LENGTH,
    SCALE,
    SHARED_LENGTH,
    SWITCH_LENGTH,
    Prior,
)
from xstar.models.warped import Warped
from xstar.space.cube import Cube


class GPPrior(Protocol):
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


MOST_SHARING = 20
"""The most parameters whose length scales have a factor in common. Of many more, most may not matter: of Hartmann's function
of 6 among 100 parameters the median after 50 trials was -2.75 with the factor and -3.15 without it."""


@dataclass(frozen=True)
class Plain:
    """A constant mean μ and a kernel. ``theta``: μ, the kernel's hyperparameters, log σ²."""

    kernel: Kernel
    kernel_priors: tuple[Prior, ...]
    noise: Prior = NOISE
    level: Prior = MEAN
    """The prior of μ."""

    @property
    def names(self) -> tuple[str, ...]:
        return ("mean", *self.kernel.names, "noise")

    @property
    def priors(self) -> tuple[Prior, ...]:
        return (self.level, *self.kernel_priors, self.noise)

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


# ---------------------------------------------------------------- surrogates for the searchers


@dataclass(frozen=True)
class Inputs:
    """The meaning of the columns: the length scale of each column, and which columns are numeric."""

    groups: tuple[int, ...]
    labels: tuple[str, ...]
    options: frozenset[int] = frozenset()
    """The length scales that belong to categorical parameters."""
    network_kernels: tuple[tuple[Kernel, tuple[Prior, ...]], ...] = ()
    """Kernels and priors of the network columns, which follow the others: one kernel per column."""

    @classmethod
    def of(cls, cube: Cube) -> Inputs:
        """Return the columns of all parameters except architectures."""
        return cls(cube.groups, cube.labels, cube.categories)


def length_prior(cube: Cube) -> Prior:
    """Return the prior of the length scales of numbers and switches at full budget: with a factor in common where all
    parameters are of the same kind."""
    if not cube.numeric.any() and not cube.categories:
        return SWITCH_LENGTH
    return SHARED_LENGTH if bool(cube.numeric.all()) and len(cube.labels) <= MOST_SHARING else LENGTH


def over_configurations(inputs: Inputs, length: Prior = LENGTH) -> tuple[Kernel, tuple[Prior, ...]]:
    """Return the kernel over configurations and its priors; ``length`` is the prior of the length scales of numbers."""
    made = _over_positions(inputs, length) if inputs.groups else None
    return _times_networks(made, tuple(range(len(inputs.groups))), inputs)


def _over_positions(inputs: Inputs, length: Prior = LENGTH) -> tuple[Kernel, tuple[Prior, ...]]:
    """Return the kernel over all columns except network columns, and its priors."""
    lengths = [OPTION_LENGTH if place in inputs.options else length for place in range(len(inputs.labels))]
    return Stationary("matern52", inputs.groups, inputs.labels), (*lengths, SCALE)


def _times_networks(
    positions: tuple[Kernel, tuple[Prior, ...]] | None, columns: tuple[int, ...], inputs: Inputs
) -> tuple[Kernel, tuple[Prior, ...]]:
    """Return the product of a kernel over ``columns`` and the network kernels (NASBOT, end of Section 4)."""
    if not inputs.network_kernels:
        assert positions is not None
        return positions
    factors: list[tuple[Kernel, tuple[Prior, ...]]] = list(inputs.network_kernels)
    if positions is not None:
        factors.insert(0, (Columns(positions[0], columns), positions[1]))
    if len(factors) == 1:
        return factors[0]
    return Product(tuple(kernel for kernel, _ in factors)), tuple(prior for _, own in factors for prior in own)


def at_full_budget(inputs: Inputs, *, least_noise: float | None = None, length: Prior = LENGTH) -> Plain:
    """Return a surrogate of f(x). ``least_noise`` is the lower bound of σ², if it is not that of ``NOISE``."""
    noise = NOISE if least_noise is None else replace(NOISE, low=float(np.log(least_noise)))
    return Plain(*over_configurations(inputs, length), noise)


DELTAS = {"decay": None, "decay-0": 0.0, "decay-1": 1.0}
OVER_BUDGETS = ("matern", "matern-unwarped", *DELTAS)


def over_budgets(inputs: Inputs, name: str) -> GPPrior:
    """Return a surrogate of f(x, r): the last column of its inputs is r / r_max (MOBSTER, Section 3 and A.2).

    ``matern``: a Matérn kernel over (x, r), with r warped; ``matern-unwarped``: as it is; ``decay``: learning curves that decay
    exponentially, with learned δ; ``decay-0``, ``decay-1``: with this δ (the first is that of freeze-thaw).
    """
    assert name in OVER_BUDGETS, name
    if name in DELTAS:
        return ExponentialDecay(*over_configurations(inputs), DELTAS[name])
    width = len(inputs.groups)
    kernel, priors = _over_positions(
        Inputs((*inputs.groups, len(inputs.labels)), (*inputs.labels, "budget"), inputs.options)
    )
    if name == "matern":
        kernel, priors = Warped(kernel, (width,), ("budget",)), (BUDGET_WARP, BUDGET_WARP, *priors)
    return Plain(*_times_networks((kernel, priors), (*range(width), width + len(inputs.network_kernels)), inputs))
