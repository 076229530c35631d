"""Syne Tune's MOBSTER (promotion, its defaults) on our problems, in simulated time.

Its own simulator plays tables of its repository back; this loop does what ours does (``xstar.testing.simulator``): a worker
that is free asks, every epoch is reported when the curve says, a paused trial goes on from where it was, and decisions take no
time. Needs ``pip install syne-tune==0.14.2 autograd scipy`` in an environment of its own: it asks for an older numpy.
"""

from __future__ import annotations

import heapq
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import Any

from benchmarks import tables as problems
from benchmarks.harness.problems import full_training
from benchmarks.harness.records import Found, Task, significant
from xstar.schedulers.rungs import geometric_rungs
from xstar.space import Choice, Float, Int, Ordinal, Space
from xstar.testing.problems import Curve, Problem
from xstar.testing.simulate import rungs_at

EPOCHS = "epochs"
ETA = 3


@dataclass
class Training:
    """A trial of theirs, and how far it has been trained."""

    trial: Any
    curve: Curve
    place: int = -1
    """Of its last report among the budgets of the problem."""


class Cluster:
    """Workers on paper, and a clock."""

    def __init__(self, problem: Problem, scheduler: Any, seconds: float) -> None:
        self.problem, self.scheduler, self.end = problem, scheduler, seconds
        self.trainings: dict[str, Training] = {}
        self.reports: list[tuple[float, int, str]] = []  # a heap: when, order, trial
        self.order = 0
        self.best: list[tuple[float, float]] = []
        self.complete: list[float] = []

    def start(self, now: float) -> None:
        """Let a free worker ask."""
        theirs = import_module("syne_tune.backend.trial_status")
        suggestion = self.scheduler.suggest(len(self.trainings))
        if suggestion is None:
            return
        if suggestion.spawn_new_trial_id:
            number = len(self.trainings)
            trial = theirs.Trial(number, suggestion.config, datetime.now())
            config = self.problem.space.parse({name: suggestion.config[name] for name in self.problem.space})
            training = self.trainings[str(number)] = Training(trial, self.problem.curve(config, number))
            self.scheduler.on_trial_add(trial)
        else:
            training = self.trainings[str(suggestion.checkpoint_trial_id)]
            if suggestion.config is not None:
                training.trial.config.update(suggestion.config)
        self.schedule(training, now)

    def schedule(self, training: Training, now: float) -> None:
        """The next report of a trial that runs."""
        seconds, place = training.curve.seconds, training.place
        passed = seconds[place + 1] - (seconds[place] if place >= 0 else 0.0)
        self.order += 1
        heapq.heappush(self.reports, (now + passed, self.order, str(training.trial.trial_id)))

    def run(self, workers: int) -> None:
        for _ in range(workers):
            self.start(0.0)
        while self.reports and self.reports[0][0] <= self.end:
            now, _, number = heapq.heappop(self.reports)
            training = self.trainings[number]
            training.place += 1
            loss, budget = training.curve.losses[training.place], self.problem.budgets[training.place]
            if not self.best or loss < self.best[-1][1]:
                self.best.append((now, loss))
            result = {"loss": loss, "epoch": budget}
            verdict = self.scheduler.on_trial_result(training.trial, result)
            if budget == self.problem.budgets[-1]:
                self.complete.append(now)
                self.scheduler.on_trial_complete(training.trial, result)
                self.start(now)
            elif verdict == "CONTINUE":
                self.schedule(training, now)
            else:
                self.start(now)


def space_of(space: Space) -> dict[str, Any]:
    """In their terms."""
    theirs = import_module("syne_tune.config_space")
    made = {}
    for name, parameter in space.parameters.items():
        match parameter:
            case Float(log=log):
                made[name] = (theirs.loguniform if log else theirs.uniform)(parameter.low, parameter.high)
            case Int(log=log):
                made[name] = (theirs.lograndint if log else theirs.randint)(parameter.low, parameter.high)
            case Ordinal():
                made[name] = theirs.ordinal(list(parameter.options))
            case Choice():
                made[name] = theirs.choice(list(parameter.options))
            case _:
                raise SystemExit(f"{name}: no such parameter in Syne Tune: {parameter!r}")
    return made


def ladder_of(budgets: Sequence[int]) -> dict[str, Any]:
    """Their default rungs; where a table has no losses there, those of our methods."""
    rungs = geometric_rungs(budgets[0], budgets[-1], ETA)
    if set(rungs) <= set(budgets):
        return {"grace_period": budgets[0], "reduction_factor": ETA}
    return {"rung_levels": list(rungs_at(budgets, ETA))}  # the last one is the end, which they leave out


def run_syne_tune(task: Task) -> Found:
    """One run; the settings are those of ``run_simulated``."""
    logging.disable(logging.INFO)
    baselines = import_module("syne_tune.optimizer.legacy_baselines")
    problem, seconds = problems.get(task.problem), full_training(task.problem) * task["trainings"]
    budgets, begun = problem.budgets, time.process_time()
    scheduler = baselines.MOBSTER(
        {**space_of(problem.space), EPOCHS: budgets[-1]},
        metric="loss",
        mode="min",
        resource_attr="epoch",
        max_resource_attr=EPOCHS,
        type="promotion",
        **ladder_of(budgets),
        random_seed=task.seed,
        search_options={"debug_log": False},
    )
    cluster = Cluster(problem, scheduler, seconds)
    cluster.run(task["workers"])
    return {
        "best": cluster.best,
        "seconds": seconds,
        "trials": len(cluster.trainings),
        "complete": len(cluster.complete),
        "first": min(cluster.complete, default=None),
        "processor": significant(time.process_time() - begun),
    }
