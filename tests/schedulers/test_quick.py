"""The first trial that goes up: the best of those that train quickly, while none is complete."""

from __future__ import annotations

from statistics import median_low
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xstar as xs
from tests.schedulers.curves import EPOCHS, SPACE
from xstar.errors import InvalidArgument
from xstar.inspect.audit import audit
from xstar.inspect.why import why
from xstar.journal import History
from xstar.schedulers import ASHA, SCHEDULERS, StoppingASHA
from xstar.schedulers.quick import Paces
from xstar.trial import New, State, Trial


class Workers:
    """A study whose trials take as long as they are told, on a clock of its own."""

    def __init__(self, scheduler: ASHA) -> None:
        self.now = 0.0
        self.study = xs.Study(
            SPACE, scheduler=scheduler, method="random", metric="loss", seed=1, clock=lambda: self.now
        )

    def ask(self) -> Trial:
        trial = self.study.ask()
        assert trial is not None
        return trial

    def train(self, trial: Trial, loss: float, pace: float) -> None:
        """Train to the next pause."""
        while trial.state is State.RUNNING:
            self.now += pace
            self.study.report(trial, {"loss": loss + 1.0 / (trial.budget + 1)})


def begun(scheduler: ASHA, *trained: tuple[float, float]) -> Workers:
    """With one trial that runs, and others of these losses and paces that pause at the lowest rung."""
    workers = Workers(scheduler)
    workers.ask()
    for loss, pace in trained:
        workers.train(workers.ask(), loss, pace)
    return workers


def test_the_best_of_the_quick_ones_goes_up_alone() -> None:
    workers = begun(ASHA(27, min_budget=2), (0.1, 9.0), (0.3, 1.0), (0.2, 2.0))
    study = workers.study
    first = workers.ask()
    assert (first.number, first.budget) == (3, 2)  # the second best, and not slower than the median
    assert [workers.ask().number for _ in range(2)] == [
        1,
        4,
    ]  # one is on its way: the best third, as ever, and a new one
    for rung in study.scheduler.rungs[1:-1]:
        workers.train(first, 0.2, 2.0)
        assert (first.state, first.budget) == (State.PAUSED, rung)
        assert workers.ask() is first
    workers.train(first, 0.2, 2.0)
    assert first.state is State.COMPLETE
    assert isinstance(study.scheduler.next(study.history), New)  # one is complete
    assert not audit(study).findings
    assert "the best of those that train quickly, as none is complete yet" in why(study.journal, 3).turns[2].why


def test_alone_time_decides_nothing() -> None:
    """One worker: what is tried, and in which order, does not depend on the clock."""

    def searched(paces: list[float], rule: str) -> list[tuple[int, int]]:
        workers = Workers(ASHA(EPOCHS, min_budget=1, last_rung=rule))
        made = []
        for _ in range(30):
            trial = workers.ask()
            made.append((trial.number, trial.budget))
            workers.train(trial, 0.01 * (trial.number * 7 % 10), paces[trial.number % len(paces)])
        return made

    assert searched([1.0, 5.0, 2.0], "quick") == searched([4.0, 1.0], "quick") == searched([1.0], "best")


def pace(history: History, trial: Trial) -> float | None:
    at = {0: trial.asked_at, **{report.budget: report.at for report in trial.reports}}
    reached = [budget for number, budget, _ in history.observed if number == trial.number]
    told = [budget for budget in reached if budget - 1 not in history.levels]
    return at[told[-1]] - at[told[-1] - 1] if told else None


def plain_first(scheduler: ASHA, history: History) -> Trial | None:
    live = [trial for trial in history.trials if trial.state is State.RUNNING]
    near = any(trial.target == scheduler.max_budget for trial in live)
    if not live or near or any(trial.state is State.COMPLETE for trial in history.trials):
        return None
    paces = {trial.number: known for trial in history.trials if (known := pace(history, trial)) is not None}
    if len(paces) < scheduler.eta:
        return None
    quick = [trial for trial in history.trials if paces.get(trial.number, 1e9) <= median_low(paces.values())]
    if any(trial in live for trial in quick):
        return None
    paused = [trial for trial in quick if trial.state is State.PAUSED]
    return min(paused, key=lambda t: (-t.budget, t.bracket, t.known_loss, t.number), default=None)


rules = st.sampled_from([{"min_budget": 3}, {"levels": (1, 2, 4, 9)}, {"min_budget": 1, "brackets": None}])


@settings(max_examples=40)
@given(rules, st.randoms(use_true_random=False))
def test_the_first_is_that_of_the_plain_rule(given_rules: dict[str, Any], draw: Any) -> None:
    """Three workers, losses and paces at random, reports in any order."""
    scheduler = ASHA(EPOCHS, **given_rules)
    workers = Workers(scheduler)
    study, running = workers.study, list[Trial]()
    for _ in range(60):
        if len(running) < 3:
            assert scheduler.first_up(study.history) is plain_first(scheduler, study.history)
            running.append(workers.ask())
        workers.now += draw.choice([0.5, 1.0, 4.0])
        trial = draw.choice(running)
        study.report(trial, {"loss": draw.random()})
        running = [each for each in running if each.state is State.RUNNING]


@pytest.mark.parametrize("rule", ["quick", "best", "soon", "ratio", "eta"])
def test_what_was_chosen_is_nothing_else(rule: str) -> None:
    chosen = ASHA(27, last_rung=rule)
    assert [SCHEDULERS.load(each) for each in SCHEDULERS.read(SCHEDULERS.dump(chosen))] == [chosen]


@pytest.mark.parametrize("method", ["asha", "async-hyperband", "mobster", "mobster-hyperband", "bohb"])
def test_all_methods_that_promote_have_the_rule(method: str) -> None:
    study = xs.Study(SPACE, method=method, max_budget=27, metric="loss")
    assert isinstance(study.scheduler, ASHA)
    assert study.scheduler.last_rung == "quick"


def test_by_stopping_there_is_no_such_rule() -> None:
    with pytest.raises(InvalidArgument, match="last_rung"):
        StoppingASHA(27, last_rung="quick")


def test_a_decision_does_not_go_through_all_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = ASHA(27, min_budget=2)
    workers = begun(scheduler, (0.1, 9.0), (0.3, 1.0), (0.2, 2.0))
    for _ in range(100):
        workers.ask()
    asked = 0
    real = Paces.is_quick

    def counted(self: Paces, trial: Trial) -> bool:
        nonlocal asked
        asked += 1
        return real(self, trial)

    monkeypatch.setattr(Paces, "is_quick", counted)
    for _ in range(50):
        assert scheduler.first_up(workers.study.history) is None, "a quick one is on its way"
    assert asked < 200, "it is found once, and asked again"
