"""A searcher, a scheduler, an executor and a domain: what a package may add to xstar. Entry points: pyproject.toml."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from xstar.errors import InvalidConfig
from xstar.journal.trial import Done, Job, New, Suggestion, Verdict
from xstar.run import InlineExecutor
from xstar.searchers.base import untried
from xstar.space import when_from_json


@dataclass(frozen=True)
class OneChange:
    """A searcher: the best configuration with one parameter drawn anew; random for the first ``initial`` trials."""

    initial: int = 5

    def suggest(self, history: Any, task: Any, rng: np.random.Generator) -> Suggestion | Done:
        best = history.best
        fresh = untried(history, rng)
        if isinstance(fresh, Done) or best is None or len(history.trials) < self.initial:
            return fresh if isinstance(fresh, Done) else Suggestion(fresh, "one-change: random")
        names = [name for name in best.config if name in fresh]
        name = names[rng.integers(len(names))]
        try:
            config = history.space.parse({**best.config, name: fresh[name]})
        except InvalidConfig:  # the change switched another parameter on or off
            return Suggestion(fresh, "one-change: random")
        if history.tried(config) is not None:
            return Suggestion(fresh, "one-change: random")
        return Suggestion(config, f"one-change: {name} of trial {best.number}")


@dataclass(frozen=True)
class BetterHalf:
    """A scheduler: stop a trial at budget ``look`` unless it is as good as the median of those before it."""

    max_budget: int = 9
    look: int = 3

    @property
    def rungs(self) -> tuple[int, ...]:
        return ()

    def next(self, history: Any) -> New:
        return New(self.max_budget)

    def judge(self, history: Any, report: Any) -> Verdict:
        if report.budget != self.look:
            return Verdict.CONTINUE
        readings = (reading for trial in history.trials for reading in trial.reports)
        losses = sorted(history.goals.loss(reading.metrics) for reading in readings if reading.budget == self.look)
        good = not losses or history.goals.loss(report.metrics) <= losses[len(losses) // 2]
        return Verdict.CONTINUE if good else Verdict.STOP

    def retired(self, history: Any, trial: int) -> tuple[int, ...]:
        return ()


class Counting(InlineExecutor):
    """An executor: runs trials in this process, and counts them."""

    jobs = 0

    def submit(self, job: Job) -> None:
        Counting.jobs += 1
        super().submit(job)


def counting(objective: Any, metric: str, workers: int) -> Counting:
    """What ``executor="counting"`` calls."""
    return Counting(objective, metric)


@dataclass(frozen=True)
class Permutation:
    """A domain: an order of ``size`` things."""

    size: int
    when: Any = None
    kind: str = "permutation"

    def sample(self, rng: np.random.Generator) -> tuple[int, ...]:
        return tuple(int(each) for each in rng.permutation(self.size))

    def contains(self, value: object) -> bool:
        return isinstance(value, tuple) and sorted(value) == list(range(self.size))

    def mutate(self, value: tuple[int, ...], rng: np.random.Generator) -> tuple[int, ...]:
        a, b = rng.choice(self.size, 2, replace=False)
        changed = list(value)
        changed[a], changed[b] = changed[b], changed[a]
        return tuple(changed)

    def dump(self, value: tuple[int, ...]) -> list[int]:
        return list(value)

    def parse(self, data: list[int]) -> tuple[int, ...]:
        return tuple(data)

    def to_json(self) -> dict[str, Any]:
        return {"size": self.size}


def permutation_from_json(data: dict[str, Any]) -> Permutation:
    """The inverse of ``Permutation.to_json``."""
    return Permutation(data["size"], when_from_json(data["when"]) if "when" in data else None)
