"""Simulated studies: repeatable, on time, faster with more workers; and the regret that is read off them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, ClassVar

import pytest

from xstar.errors import InvalidArgument
from xstar.journal import Event
from xstar.journal.events import Started
from xstar.journal.trial import State
from xstar.schedulers import ASHA, FIFO, Hyperband
from xstar.space import Choice, Config, Space
from xstar.study import Study
from xstar.study.methods import METHODS
from xstar.testing import problems
from xstar.testing.problems import Curve
from xstar.testing.simulate import TIME_IS_OVER, fitted, regret_over_time, rungs_at, simulate

CURVES = problems.get("curves-mlp", max_budget=27)
TIMES = [1.0, 5.0, 20.0, 50.0, 100.0]


class Two:
    """Metrics at 12 and 200 only, as in NAS-Bench-201; no file."""

    name = "two"
    space = Space(x=Choice(list(range(50))))
    budgets: tuple[int, ...] = (12, 200)
    unit = "loss"
    optimum = 0.0
    best: ClassVar[Config] = {"x": 0}

    def loss(self, config: Mapping[str, Any]) -> float:
        return config["x"]

    def curve(self, config: Mapping[str, Any], seed: int) -> Curve:
        return Curve([config["x"] + 1.0, float(config["x"])], [12.0, 200.0])


def events(study: Study) -> list[Event]:
    return list(study.journal.read(0))[1:]  # the first has the folder's random name


@pytest.mark.usefixtures("short_training")
@pytest.mark.parametrize("method", [name for name in METHODS if name != "grid"])
def test_same_seed_same_study(method: str) -> None:
    seconds = 25.0 if "mobster" in method or "dngo" in method else 100.0  # a model takes its time to decide
    one, two = (simulate(CURVES, method, workers=5, seconds=seconds, seed=3, stragglers=0.3) for _ in range(2))
    assert events(one) == events(two)
    assert regret_over_time(one, CURVES, TIMES) == regret_over_time(two, CURVES, TIMES)


def test_it_stops_on_time() -> None:
    study = simulate(CURVES, "asha", workers=7, seconds=50.0)
    assert study.clock() == 50.0
    assert all(report.at <= 50.0 for trial in study.history.trials for report in trial.reports)
    assert study.history.count(State.RUNNING) == 0
    cut = [trial for trial in study.history.trials if trial.reason == TIME_IS_OVER]
    assert 1 <= len(cut) <= 7
    assert study.ended == "the time limit of 50 s is reached"


def test_what_is_seen_does_not_depend_on_the_time_limit() -> None:
    short, long = (simulate(CURVES, "asha-stop", workers=3, seconds=seconds, seed=2) for seconds in (40.0, 80.0))
    times = [10.0, 20.0, 40.0]
    assert regret_over_time(short, CURVES, times) == regret_over_time(long, CURVES, times)


def test_workers_speed_things_up() -> None:
    ends = [simulate(CURVES, "random", workers=workers, trials=40).clock() for workers in (1, 4, 16)]
    assert ends[0] > 3 * ends[1] > 3 * ends[2]


def test_regret_never_rises_and_is_never_negative() -> None:
    study = simulate(problems.get("curves-mlp", max_budget=9, noise=0.5), "random", workers=2, seconds=100.0)
    problem = problems.get("curves-mlp", max_budget=9, noise=0.5)
    times = [step * 0.5 for step in range(201)]
    regrets = regret_over_time(study, problem, times)
    assert regrets[0] == math.inf
    assert all(after <= before for before, after in pairwise(regrets))
    assert regrets[-1] == 0.0  # noise this strong reports less than the optimum
    lows = [min((r.metrics["loss"] for t in study.history.trials for r in t.reports if r.at <= at), default=math.inf)
            for at in times]  # fmt: skip
    assert regrets == [max(0.0, low - problem.optimum) for low in lows]  # the plain form


@pytest.mark.parametrize("method", ["asha", "asha-stop", "hyperband", "async-hyperband", "successive-halving"])
def test_rungs_are_budgets_of_the_problem(method: str) -> None:
    study = simulate(Two(), method, workers=3, seconds=2000.0)
    assert study.history.levels == (12, 200)
    assert {report.budget for trial in study.history.trials for report in trial.reports} == {12, 200}
    below = [trial for trial in study.history.trials if trial.budget == 12]
    assert len(below) > 5  # most of them were compared at 12, and left there


class Doubling(Two):
    """Metrics whenever the budget has doubled, as in HPOlib's logistic regression."""

    name = "doubling"
    budgets = (5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560)

    def curve(self, config: Mapping[str, Any], seed: int) -> Curve:
        return Curve([config["x"] + 1 / budget for budget in self.budgets], list(map(float, self.budgets)))


def test_rungs_are_at_least_eta_apart() -> None:
    assert simulate(Doubling(), "asha", trials=5).history.levels == (5, 20, 80, 320, 1280, 2560)
    changed = fitted(ASHA(2560, min_budget=2, eta=5), Doubling.budgets)
    assert isinstance(changed, ASHA)
    assert changed.rungs == rungs_at(Doubling.budgets, 5) == (5, 40, 320, 2560)


@pytest.mark.parametrize("scheduler", [ASHA(200), ASHA(200, rung_levels=(12, 100, 200)), FIFO(100), Hyperband(300)])
def test_rungs_that_the_problem_does_not_have_are_refused(scheduler: ASHA | FIFO | Hyperband) -> None:
    with pytest.raises(InvalidArgument, match=r"budgets of two, which are 12, 200.*rung_levels=\[12, 200\]"):
        simulate(Two(), scheduler=scheduler, trials=3)


def test_an_endless_simulation_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="needs an end"):
        simulate(CURVES, "asha")
    assert len(simulate(Two(), "grid", workers=10).history.trials) == 50  # a finite space ends by itself


def test_lost_workers_cost_time_and_not_the_study() -> None:
    study = simulate(CURVES, "asha", workers=4, trials=30, failures=0.05)
    assert sum(trial.runs.crashes for trial in study.history.trials) > 0
    assert study.history.running == {}
    assert study.best.budget == 27


def test_without_checkpoints_a_resumed_trial_trains_again_what_it_had_trained() -> None:
    """One worker, so that nothing else takes time: each run takes as long as its curve up to where it ends."""
    kept, lost = (simulate(CURVES, "asha", trials=30, checkpoints=given) for given in (True, False))
    seconds = {trial.number: CURVES.curve(trial.config, trial.number).seconds for trial in lost.history.trials}
    again = [(each.trial, each.budget) for each in lost.journal.read(0) if isinstance(each, Started)]
    first = [(trial.number, 1) for trial in lost.history.trials]
    assert len(again) > 5
    assert lost.clock() == pytest.approx(sum(seconds[number][(to or 0) - 1] for number, to in [*first, *again]))
    assert kept.clock() == pytest.approx(sum(seconds[trial.number][trial.budget - 1] for trial in kept.history.trials))
    assert [t.value for t in kept.history.trials] == [t.value for t in lost.history.trials]


def test_without_checkpoints_a_trial_of_a_lost_worker_begins_anew() -> None:
    kept, lost = (simulate(CURVES, "random", trials=30, failures=0.005, checkpoints=given) for given in (True, False))
    assert (
        sum(trial.runs.crashes for trial in kept.history.trials)
        == sum(trial.runs.crashes for trial in lost.history.trials)
        > 0
    )
    assert [t.value for t in kept.history.trials] == [t.value for t in lost.history.trials]
    assert lost.clock() > kept.clock()


def test_methods_that_resume_nothing_need_no_checkpoints() -> None:
    kept, lost = (simulate(CURVES, "asha-stop", workers=4, trials=20, checkpoints=given) for given in (True, False))
    assert events(kept) == events(lost)


def test_stragglers_change_the_times_and_not_the_losses() -> None:
    even, uneven = (simulate(CURVES, "random", trials=10, stragglers=sigma) for sigma in (0.0, 1.0))
    assert [t.value for t in even.history.trials] == [t.value for t in uneven.history.trials]
    assert even.clock() != uneven.clock()
