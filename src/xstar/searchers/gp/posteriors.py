"""Posteriors of a GP searcher: as of the last refit, with the observations since then, and of several objectives together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from xstar.core.pareto import non_dominated, ordered
from xstar.models.gp import Posterior
from xstar.models.kernels import Array
from xstar.models.prediction import Prediction, normal_draws
from xstar.models.targets import Targets
from xstar.searchers.bo.transfer import Shift, shifted


@dataclass(frozen=True)
class Fitted:
    """A model as of its last refit."""

    last: int
    targets: Targets
    chosen: NDArray[np.intp]
    """Indices, among the ``last`` observations, of those that it was fitted to."""
    posteriors: tuple[Posterior, ...]
    """One posterior, or one per draw of the hyperparameters."""
    shift: Shift | None = None
    """What other studies predict; the posteriors are of what is left."""


@dataclass(frozen=True)
class Extended:
    """A posterior and the observations since its refit, which become rows together with pending trials."""

    posterior: Posterior
    X: Array
    y: Array
    shift: Shift | None = None
    """What other studies predict; ``y`` are the residuals."""

    @cached_property
    def _whole(self) -> Posterior:
        return self.posterior.extended(self.X, self.y)

    @property
    def noise(self) -> float:
        return self.posterior.noise

    @property
    def rows(self) -> int:
        """The number of rows of the factor."""
        return len(self._whole.X)

    @property
    def jitter(self) -> float:
        """The jitter added to the diagonal."""
        return self._whole.jitter

    def means(self, A: Array) -> Array:
        made = self._whole.means(A)
        return made if self.shift is None else made + self.shift(A)[:, None]

    def predict(self, A: Array) -> Prediction:
        at = self._whole.predict(A)
        return at if self.shift is None else shifted(at, self.shift, A)

    def sample(self, A: Array, normal: Array) -> Array:
        made = self._whole.sample(A, normal)
        return made if self.shift is None else made + self.shift(A)[:, None]

    def fantasised(self, A: Array, draws: int, rng: np.random.Generator) -> Extended:
        normal = normal_draws(len(A), draws, rng) if draws else None
        made = self.posterior.extended(np.vstack([self.X, A]), self.y, normal)
        return Extended(made, A[:0], self.y[:0], self.shift)


@dataclass(frozen=True)
class Joint:
    """A posterior of each objective, and its means at tried configurations."""

    models: Sequence[Extended]
    means: Sequence[Array]
    """Of each objective: (R, M)."""

    @property
    def average(self) -> Array:
        """The means over all fantasies: (R, m)."""
        return np.column_stack([each.mean(axis=1) for each in self.means])

    @property
    def fronts(self) -> list[Array]:
        """The front under each fantasy."""
        stacked = np.stack(self.means, axis=2)  # (R, M, m)
        return [Y[non_dominated(Y)] for Y in np.moveaxis(stacked, 1, 0)]

    def conditioned(self, at: Array, most: int, draws: int, rng: np.random.Generator) -> Joint:
        """The same, conditioned on fantasies of what the most promising configurations would come to there."""
        inputs = at[np.sort(ordered(self.average)[:most])]
        models = [model.fantasised(inputs, draws, rng) for model in self.models]
        return Joint(models, [model.means(at) for model in models])
