"""States of real searches over budgets, and the configurations whose losses at the full budget are to be predicted in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.harness.problems import named
from xstar.core.randomness import Streams
from xstar.journal import History
from xstar.models.gp_prior import Inputs
from xstar.models.kernels import Array
from xstar.searchers.bo.observations import Observations
from xstar.space import Config
from xstar.testing.problems import Problem
from xstar.testing.simulate import simulate

COUNTS = (20, 60, 180)
"""The states are those after so many trials have begun."""
WORKERS = 4
DRAWN = 100
LEADING = 10
CHANGED = 0.5
MOVED = 0.3
"""A neighbour is one of the best configurations of which half of the columns move this far towards a random configuration; an
option becomes that of the other with this probability."""
PLACES = {"unseen": 1, "near": 2}
"""The seeds of the trainings of configurations that no trial has are beyond those of the trials."""
BEYOND = 100_000


@dataclass(frozen=True)
class State:
    """What a model is given, and what it is asked for: inputs, and losses at the full budget, of each set of configurations."""

    inputs: Inputs
    levels: tuple[int, ...]
    X: Array
    budget: Array
    loss: Array
    asked: Mapping[str, tuple[Array, Array]]
    """``begun``: trials not trained to the end; ``unseen``: random configurations; ``near``: neighbours of the best."""


def states(name: str, source: str, seed: int) -> list[State]:
    """The states of a search by ``source`` with four workers."""
    problem = named(name)
    study = simulate(problem, source, workers=WORKERS, trials=COUNTS[-1], seed=seed)
    history, found = History(study.history.levels), []
    for event in study.journal.read(0):
        history.fold(event)
        if len(found) < len(COUNTS) and len(history.trials) == COUNTS[len(found)]:
            found.append(_state(problem, history, Streams(seed).generator(len(found), "curves")))
    return found


def _state(problem: Problem, history: History, rng: np.random.Generator) -> State:
    data = Observations.of(history)
    reached = {trial: (budget, loss) for trial, budget, loss in zip(*_columns(data), strict=True)}
    begun = [trial for trial, (budget, _) in reached.items() if budget < history.levels[-1]]
    leading = sorted(reached, key=lambda trial: (-reached[trial][0], reached[trial][1]))[:LEADING]
    unseen = [problem.space.sample(rng) for _ in range(DRAWN)]
    near = [
        _neighbour(data, history.trials[leading[i % len(leading)]].config, problem.space.sample, rng)
        for i in range(DRAWN)
    ]
    asked = {
        "begun": _asked(problem, data, [history.trials[trial].config for trial in begun], begun),
        "unseen": _asked(problem, data, unseen, range(PLACES["unseen"] * BEYOND, PLACES["unseen"] * BEYOND + DRAWN)),
        "near": _asked(problem, data, near, range(PLACES["near"] * BEYOND, PLACES["near"] * BEYOND + DRAWN)),
    }
    return State(
        Inputs.of(data.cube), tuple(history.levels), data.X.copy(), data.budget.copy(), data.loss.copy(), asked
    )


def _columns(data: Observations) -> tuple[list[int], list[float], list[float]]:
    """Trials, budgets and losses, in the order in which they were observed: the last of a trial counts."""
    return data.trial.tolist(), data.budget.tolist(), data.loss.tolist()


def _asked(problem: Problem, data: Observations, configs: list[Config], seeds: Any) -> tuple[Array, Array]:
    losses = np.array([problem.curve(config, seed).losses[-1] for config, seed in zip(configs, seeds, strict=True)])
    keep = np.isfinite(losses)
    X = data.encoded(configs) if configs else np.empty((0, data.width))
    return X[keep], losses[keep]


def _neighbour(
    data: Observations, config: Config, sample: Callable[[np.random.Generator], Config], rng: np.random.Generator
) -> Config:
    row, other = data.encoded([config, sample(rng)])
    options = np.isin(data.cube.groups, list(data.cube.categories))
    changed = rng.random(len(row)) < CHANGED
    moved = np.where(changed & ~options, row + MOVED * (other - row), row)
    if rng.random() < MOVED:
        moved = np.where(changed & options, other, moved)
    return data.cube.decode(moved)
