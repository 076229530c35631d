"""What a decision knows of several objectives: a posterior of each, and the fronts of their means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from xstar.core.pareto import non_dominated, ordered, reference
from xstar.models.kernels import Array
from xstar.models.model import Model, Prediction, with_pending
from xstar.models.targets import Targets
from xstar.searchers.bo.surrogate import LOCAL_CENTRES, Data, DecisionSettings, Fitted
from xstar.searchers.bo.transfer import unshifted

CERTAIN = 1e-6
"""The standard deviation of a known objective on the scale of models: the factor of E HVI is then max(u - max(l, y), 0)."""

WIDE = 1.0
"""How far beyond the front the reference point of every second suggestion lies, in ranges of the front. With all of them a
tenth beyond it, a search misses the ends: after 100 trials 0.021 of the hypervolume were missing on NAS-Bench-201 (error ×
latency), 0.076 on WFG4 and 0.016 on DTLZ2, with both in turn 0.004, 0.069 and 0.028 (``benchmarks/objectives.py``, 6 to 8
seeds).

Over budgets a front of means may shrink to a point, whose range says nothing. There the reference point of every second one is
the worst of all that was tried: of two tasks of LCBench (error × time, 4 workers, 4 trainings on each, three seeds) MOBSTER
covers 0.78 and 0.32, with a tenth of the front alone 0.57 and 0.28, in all six searches less; ASHA 0.45 and 0.22."""


def fronts_of(
    data: Data,
    settings: DecisionSettings,
    fits: Sequence[Fitted],
    waiting: Array,
    tried: Array,
    running: Array,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Return the models, and as what is to be improved on the fronts of their means, one under each fantasy (``Known``)."""
    goals = data.observed.goals
    learned: dict[int, Sequence[Model]] = {
        goal: [with_pending(each, waiting, settings.fantasies, rng) for each in fits[goal].models]
        for goal in goals.learned
    }
    first = learned[goals.learned[0]]
    posteriors = [unshifted(model) for models in learned.values() for model in models]
    if not len(tried):
        return {"models": first, "posteriors": posteriors}
    exact = {goal: [Exact.of(data, fits[goal].targets, goal, each) for each in first] for goal in goals.known}
    every: list[Sequence[Model]] = [learned.get(goal) or exact[goal] for goal in range(len(goals))]
    rows = np.vstack([tried, running])
    at = data.with_budget(rows)
    joint = [Joint(models, [model.means(at) for model in models]) for models in zip(*every, strict=True)]
    if data.over_budgets:
        joint = [each.conditioned(at, settings.most_fantasised, settings.fantasies, rng) for each in joint]
    average = np.mean([each.average for each in joint], axis=0)
    limits = np.array(
        [
            np.inf if np.isinf(limit) else float(fitted.targets(np.array([limit]))[0])
            for fitted, limit in zip(fits, goals.thresholds, strict=True)
        ]
    )
    return {
        "models": [each.models for each in joint],
        "posteriors": posteriors,
        "fronts": [each.fronts for each in joint],
        "reference": np.minimum(reference_for(data, average), limits),
        "centres": rows[ordered(average)[:LOCAL_CENTRES]],
    }


def reference_for(data: Data, average: Array) -> Array:
    """Return the reference point: near the front and far from it in turn (``WIDE``)."""
    near = reference(average)
    if len(data.history.trials) % 2 == 0:
        return near
    far: Array = np.maximum(near, average.max(axis=0)) if data.over_budgets else reference(average, WIDE)
    return far


@dataclass(frozen=True)
class Exact:
    """An objective that is known: its posterior is the value itself, whatever is pending."""

    values: Callable[[Array], Array]
    """Inputs to losses on the scale of the models."""
    draws: int
    """The columns of means: one for each fantasy of the other objectives."""
    noise: ClassVar[float] = 0.0

    @classmethod
    def of(cls, data: Data, targets: Targets, goal: int, beside: Model) -> Exact:
        known, observed = data.history.known_objectives, data.observed
        metric, sign = observed.goals.metrics[goal], observed.goals.signs[goal]
        assert known is not None, "the study hands over its functions"
        kept: dict[bytes, float] = {}

        def values(inputs: Array) -> Array:
            rows = inputs[:, : observed.width]
            keys = [row.tobytes() for row in rows]
            new = {key: place for place, key in enumerate(keys) if key not in kept}
            for key, config in zip(new, observed.decoded(rows[list(new.values())]), strict=True):
                kept[key] = sign * known.value(metric, config)
            return targets(np.array([kept[key] for key in keys]))

        return cls(values, beside.means(data.with_budget(observed.X[:1])).shape[1])

    def means(self, A: Array) -> Array:
        return np.repeat(self.values(A)[:, None], self.draws, axis=1)

    def predict(self, A: Array) -> Prediction:
        return Prediction(self.means(A), np.full(len(A), CERTAIN**2))

    def fantasised(self, A: Array, draws: int, rng: np.random.Generator) -> Exact:
        return replace(self, draws=max(draws, self.draws))


@dataclass(frozen=True)
class Joint:
    """A posterior of each objective, and its means at tried configurations."""

    models: Sequence[Model]
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
