"""What a GP searcher knows of several objectives: a posterior of each, and the fronts of their means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from xstar.core.pareto import non_dominated, ordered, reference
from xstar.models.kernels import Array
from xstar.models.model import with_pending
from xstar.searchers.bo.learner import PROMISING, UNFINISHED, Known
from xstar.searchers.gp.learner import MOST_PENDING, Extended, GPLearner
from xstar.trial import Trial


def known_fronts(learner: GPLearner, tried: Array, pending: list[Trial], rng: np.random.Generator) -> Known:
    """Return the models; what is to be improved on are the fronts of their means, one under each fantasy."""
    waiting = learner.inputs_of(pending)
    every = [
        [with_pending(model, waiting, learner.fantasies, rng) for model in learner.with_new(refit, goal)]
        for goal, refit in enumerate(learner.refits)
    ]
    known = learner.described([model for models in every for model in models])
    if not len(tried):
        return replace(known, models=every[0])
    rows = np.vstack([tried, learner.data.rows(list(learner.history.running.values())[-MOST_PENDING:])])
    at = learner.with_budget(rows)
    joint = [Joint(models, [model.means(at) for model in models]) for models in zip(*every, strict=True)]
    if learner.over_budgets:
        joint = [each.conditioned(at, UNFINISHED, learner.fantasies, rng) for each in joint]
    average = np.mean([each.average for each in joint], axis=0)
    limits = np.array(
        [
            np.inf if np.isinf(limit) else float(refit.targets(np.array([limit]))[0])
            for refit, limit in zip(learner.refits, learner.data.goals.thresholds, strict=True)
        ]
    )
    return replace(
        known,
        models=[each.models for each in joint],
        fronts=[each.fronts for each in joint],
        reference=np.minimum(reference(average), limits),
        promising=rows[ordered(average)[:PROMISING]],
    )


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
