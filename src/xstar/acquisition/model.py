"""The interface between a decision and a surrogate. Any model that implements it can be used: GP, DNGO's heads, a
forest.

Inputs are rows of the unit cube, with the budget in an additional column if the scheduler has rungs. Targets are
standardised losses: mean 0, variance 1, lower is better.
"""

from __future__ import annotations

from typing import Protocol, Self, TypeVar, runtime_checkable

import numpy as np

from xstar.models.kernels import Array
from xstar.models.prediction import Prediction


class Model(Protocol):
    """The posterior of a surrogate. It is immutable: fantasies return a new one."""

    @property
    def noise(self) -> float:
        """The noise variance of an observation."""
        ...

    def means(self, A: Array) -> Array:
        """Return the posterior means without variances, which is cheaper: (N, M)."""
        ...

    def predict(self, A: Array) -> Prediction:
        """Return means and variances at ``A``."""
        ...

    def fantasised(self, A: Array, draws: int, rng: np.random.Generator) -> Self:
        """Return the posterior with ``A`` pending, conditioned on ``draws`` joint draws of its outcomes.

        Each draw is a column of the means from then on. With ``draws=0`` only the variance changes (hallucination).
        """
        ...


@runtime_checkable
class JointModel(Model, Protocol):
    """A surrogate that can draw sample functions."""

    def sample(self, A: Array, normal: Array) -> Array:
        """Draw the function jointly at ``A`` (for the first fantasy) from standard normal numbers: (N, k) → (N, k)."""
        ...


M = TypeVar("M", bound=Model)


def with_pending(model: M, pending: Array, fantasies: int, rng: np.random.Generator) -> M:
    """Return the model conditioned on the ``pending`` inputs, if there are any.

    ``fantasies``: joint draws of all pending targets, over which the acquisition function is averaged (MOBSTER, A.1); with 0,
    pending points reduce the variance and leave the mean unchanged (hallucination: NASBOT, Section 4; Desautels et al. 2014).
    """
    return model.fantasised(pending, fantasies, rng) if len(pending) else model
