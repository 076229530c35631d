"""What a decision needs of a surrogate. A GP, DNGO's heads, a forest: whatever answers this can be searched with.

Inputs are rows of the unit cube, with the budget in one more column where a scheduler has rungs. Targets are standardised
losses: mean 0, variance 1, lower is better.
"""

from __future__ import annotations

from typing import Protocol, Self, runtime_checkable

import numpy as np

from xstar.models.kernels import Array
from xstar.models.prediction import Prediction


class Model(Protocol):
    """The posterior of a surrogate. It is never changed: fantasies give a new one."""

    @property
    def noise(self) -> float:
        """The variance of the noise on an observation."""
        ...

    def means(self, A: Array) -> Array:
        """The posterior means alone, which is cheaper: (N, M)."""
        ...

    def predict(self, A: Array) -> Prediction:
        """Means and variances at ``A``."""
        ...

    def fantasised(self, A: Array, draws: int, rng: np.random.Generator) -> Self:
        """The posterior with ``A`` pending: after ``draws`` joint draws of its outcomes, which are columns of the means from
        then on; with ``draws=0`` only the variance knows of it (hallucination)."""
        ...


@runtime_checkable
class JointModel(Model, Protocol):
    """A surrogate that can draw whole functions."""

    def sample(self, A: Array, normal: Array) -> Array:
        """Joint draws of the function at ``A`` (of the first fantasy), from standard normal numbers: (N, k) → (N, k)."""
        ...
