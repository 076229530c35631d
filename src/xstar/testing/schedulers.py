"""What every scheduler must do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xstar.journal import History
from xstar.journal.trial import State
from xstar.look.audit import audit
from xstar.schedulers import SCHEDULERS, Scheduler
from xstar.searchers import Random, Sobol
from xstar.space import Float, Space
from xstar.study import Limits, Study
from xstar.study.loop import run
from xstar.study.settings import Settings
from xstar.testing.problems import Curve
from xstar.testing.simulator import METRIC, Simulator

_SPACE = Space(x=Float(0, 1))


@dataclass(frozen=True)
class CrossingCurves:
    """A small problem: curves that cross, runtimes that differ by a factor of ten."""

    budgets: tuple[int, ...]
    name: str = "crossing"
    unit: str = "loss"
    optimum: float = 0.0

    @property
    def space(self) -> Space:
        return _SPACE

    @property
    def best(self) -> dict[str, Any]:
        return {"x": 0.0}

    def loss(self, config: Mapping[str, Any]) -> float:
        return float(config["x"])

    def curve(self, config: Mapping[str, Any], seed: int) -> Curve:
        x = config["x"]
        losses = [x + (1 - x) / budget ** (0.5 + x) for budget in self.budgets]  # the better, the slower
        pace = 1 + 9 * math.modf(x * 7.3)[0]
        return Curve(losses, [budget * pace for budget in self.budgets])


def simulated(scheduler: Scheduler, trials: int, workers: int, failures: float = 0.0, sobol: bool = False) -> Study:
    """A study of :class:`CrossingCurves` under ``scheduler`` on a simulated cluster."""
    full = scheduler.max_budget or 9
    problem = CrossingCurves(tuple(range(1, full + 1)))
    simulator = Simulator(problem, workers, seed=3, failures=failures)
    searcher = Sobol() if sobol else Random()
    settings = Settings(problem.space, searcher=searcher, scheduler=scheduler, metric=METRIC, seed=4)
    study = Study._of(settings, clock=lambda: simulator.now)
    run(study, simulator, Limits(trials=trials))
    return study


def check_scheduler(scheduler: Scheduler, trials: int = 60) -> None:
    """Every trial settled, no budget passed, every decision recomputable — with one worker, many, and dying ones."""
    assert SCHEDULERS.load(SCHEDULERS.dump(scheduler)) == scheduler, "its settings do not survive the journal"
    for workers, failures, sobol in ((1, 0.0, False), (7, 0.0, True), (7, 0.05, False), (200, 0.0, False)):
        where = f"{workers} workers, {failures:g} failures per epoch"
        study = simulated(scheduler, trials, workers, failures, sobol)
        history = study.history
        assert len(history.trials) == trials, f"{where}: {len(history.trials)} trials instead of {trials}"
        assert not history.running, f"{where}: trials are left running"
        assert not history.waiting, f"{where}: trials wait to be run again for ever"
        for trial in history.trials:
            budgets = [reading.budget for reading in trial.reports]
            assert budgets == sorted(set(budgets)), f"{where}: trial {trial.number} went back: {budgets}"
            if trial.state is State.COMPLETE and scheduler.max_budget is not None:
                assert trial.budget == scheduler.max_budget, f"{where}: trial {trial.number} ended at {trial.budget}"
            if trial.state is State.PAUSED:
                assert trial.budget in scheduler.rungs, f"{where}: trial {trial.number} pauses off the ladder"
        assert history.count(State.COMPLETE), f"{where}: not one trial was completed"
        found = audit(study).findings
        assert found == [], f"{where}: decisions cannot be recomputed: {found[:3]}"
        again = simulated(scheduler, trials, workers, failures, sobol)
        assert _story(history) == _story(again.history), f"{where}: the same run came out differently"


def _story(history: History) -> list[tuple[str, tuple[tuple[int, float], ...]]]:
    return [
        (trial.state.value, tuple((reading.budget, reading.at) for reading in trial.reports))
        for trial in history.trials
    ]
