"""What a decision asks of a surrogate, and what it is answered. Any model that implements it can be used: GP, DNGO's heads,
a forest.

Inputs are rows of the unit cube, with the budget in an additional column if the scheduler has rungs. Targets are
standardised losses: mean 0, variance 1, lower is better.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, Self, TypeVar, runtime_checkable

import numpy as np

from xstar.models.kernels import Array


class Prediction(NamedTuple):
    """Posterior means and variances at N inputs, and a function that maps their derivatives back to the inputs."""

    mean: Array
    """(N, M): one column for each of M fantasies."""
    variance: Array
    """(N,), of the function, without noise."""
    to_left: Callable[[Array, Array], Array] | None = None
    """Maps derivatives with respect to ``mean`` and ``variance`` to the derivative with respect to the inputs. ``None``
    if the surrogate has no gradients (a forest, nearest neighbours); its acquisition function is then maximised by
    local search."""

    def gradient(self, d_mean: Array, d_variance: Array) -> Array:
        """Return the derivative with respect to the inputs; the surrogate must have gradients."""
        assert self.to_left is not None, "asked for a gradient that the surrogate does not have"
        return self.to_left(d_mean, d_variance)


class Model(Protocol):
    """The posterior of a surrogate. It is immutable: fantasies return a new one."""

    @property
    def noise(self) -> float:
        """The noise variance of an observation."""

    def means(self, A: Array) -> Array:
        """Return the posterior means without variances, which is cheaper: (N, M)."""

    def predict(self, A: Array) -> Prediction:
        """Return means and variances at ``A``."""

    def fantasised(self, A: Array, draws: int, rng: np.random.Generator) -> Self:
        """Return the posterior with ``A`` pending, conditioned on ``draws`` joint draws of its outcomes.

        Each draw is a column of the means from then on. With ``draws=0`` only the variance changes (hallucination).
        """


@runtime_checkable
class JointModel(Model, Protocol):
    """A surrogate that can draw sample functions."""

    def sample(self, A: Array, normal: Array) -> Array:
        """Draw the function jointly at ``A`` (for the first fantasy) from standard normal numbers: (N, k) → (N, k)."""


M = TypeVar("M", bound=Model)


def with_pending(model: M, pending: Array, fantasies: int, rng: np.random.Generator) -> M:
    """Return the model conditioned on the ``pending`` inputs, if there are any.

    ``fantasies``: joint draws of all pending targets, over which the acquisition function is averaged (MOBSTER, A.1); with 0,
    pending points reduce the variance and leave the mean unchanged (hallucination: NASBOT, Section 4; Desautels et al. 2014).
    """
    return model.fantasised(pending, fantasies, rng) if len(pending) else model


def normal_draws(count: int, samples: int, rng: np.random.Generator) -> Array:
    """Draw standard normal numbers (count, samples), stratified: each row has exactly one in each of ``samples``
    quantiles.

    This is a Latin hypercube: the average over 20 fantasies of one pending trial has the error of a few hundred
    independent draws.
    """
    from scipy.special import ndtri  # imported at use: only fantasies need it, and it takes as long as a first search

    order = rng.permuted(np.tile(np.arange(samples), (count, 1)), axis=1)
    made: Array = ndtri((order + rng.random((count, samples))) / samples)
    return np.clip(made, -6.0, 6.0)
