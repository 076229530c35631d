"""Over budgets, trials along the rungs and trials that go straight to the end take turns, or run beside each other."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import SQUARE
from xstar import problems
from xstar.errors import InvalidArgument
from xstar.executors.clock import wall_clock
from xstar.inspect.audit import audit
from xstar.journal import History
from xstar.nets import MLP
from xstar.schedulers import ASHA, Scheduler, StoppingASHA
from xstar.searchers import GP, Auto, Searcher
from xstar.searchers.base import SEARCHERS
from xstar.searchers.gp.earlier import BEFORE_BESIDE, BEFORE_LEVEL, BEFORE_STRAIGHT
from xstar.searchers.gp.fit import GPLearner
from xstar.searchers.gp.straight import FEWEST, PATIENCE, WORTH, Turns, goes_straight
from xstar.searchers.model_based.observations import Observations
from xstar.simulation import simulate
from xstar.trial import New, Origin, State, Suggestion, Trial

EPOCHS = 27
CURVES = problems.get("curves-mlp", max_budget=EPOCHS)


def loss(trial: Trial, budget: int) -> float:
    end = (trial["x"] - 0.3) ** 2 + (trial["y"] - 0.8) ** 2
    return float(end + (0.2 + trial["x"]) / budget)


def train(study: xs.Study, trial: Trial) -> None:
    while trial.state is State.RUNNING:
        study.report(trial, loss(trial, trial.budget + 1))


def searched(study: xs.Study, trials: int) -> xs.Study:
    """One worker, until so many trials have begun and none runs."""
    while len(study.history.trials) < trials:
        trial = study.ask()
        assert trial is not None
        train(study, trial)
    return study


def small(
    searcher: Searcher, scheduler: Scheduler | None = None, seed: int = 3, clock: Callable[[], float] = wall_clock
) -> xs.Study:
    return xs.Study(SQUARE, searcher=searcher, scheduler=scheduler or ASHA(EPOCHS), seed=seed, clock=clock)


def straight_ones(history: History) -> list[Trial]:
    return [trial for trial in history.trials if "straight to" in trial.origin]


# ---------------------------------------------------------------- trials that go straight


def test_they_train_to_the_end_at_once_in_a_bracket_of_their_own() -> None:
    study = searched(small(GP()), 40)
    found = straight_ones(study.history)
    assert 3 <= len(found) < 30
    for trial in found:
        assert trial.bracket == 3
        assert trial.state is State.COMPLETE
        assert trial.attempt == 0
        assert str(trial.origin).endswith(f"straight to {EPOCHS}")
    assert all(trial.bracket == 0 for trial in study.history.trials if trial not in found)
    assert audit(study).findings == []


def test_before_there_are_complete_trials_there_are_none() -> None:
    study = searched(small(GP()), 40)
    first = straight_ones(study.history)[0]
    before = [trial for trial in study.history.trials if trial.number < first.number]
    assert sum(trial.budget for trial in before) >= WORTH * 3 * EPOCHS
    assert sum(trial.state is State.COMPLETE for trial in before) >= FEWEST


@pytest.mark.parametrize(("running", "turns"), [(1, False), (2, True)])
def test_while_as_many_others_run_none_takes_a_turn(running: int, turns: bool) -> None:
    study = small(GP(straight_running=running, straight_beside="never"))
    other = study.ask()  # which goes on and on
    assert other is not None
    searched(study, 40)
    assert study.history.count(State.COMPLETE) >= FEWEST
    assert bool(straight_ones(study.history)) == turns


def test_with_four_workers_turns_change_nothing() -> None:
    with_it, without = (
        simulate(CURVES, searcher=each, scheduler=ASHA(EPOCHS), workers=4, trials=40, seed=1)
        for each in (GP(straight_beside="never"), GP(straight_running=0, straight_beside="never"))
    )
    assert not straight_ones(with_it.history)
    assert [trial.config for trial in with_it.history.trials] == [trial.config for trial in without.history.trials]


@pytest.mark.parametrize(
    "scheduler", [ASHA(EPOCHS, brackets=None), StoppingASHA(EPOCHS), ASHA(EPOCHS, levels=[EPOCHS])], ids=repr
)
def test_schedulers_that_offer_none(scheduler: Scheduler) -> None:
    task = scheduler.next(small(GP()).history)
    assert isinstance(task, New)
    assert task.straight is None


def test_a_task_that_offers_it_is_the_same_task_otherwise() -> None:
    task = ASHA(EPOCHS).next(small(GP()).history)
    assert task == New(1, 0)
    assert isinstance(task, New)
    assert task.straight == 3


def test_architectures_go_along_the_rungs() -> None:
    space = xs.Space(net=MLP(inputs=4, outputs=1))
    study = xs.Study(space, searcher=GP(initial=3), scheduler=ASHA(3), seed=1)
    while study.history.count(State.COMPLETE) < 5:
        trial = study.ask()
        assert trial is not None
        while trial.state is State.RUNNING:
            study.report(trial, float(trial.number) + 1.0 / (trial.budget + 1))
    assert study.history.memo.fold(Turns, study.history).spent >= WORTH * 2 * 3
    assert not straight_ones(study.history)


def test_auto_goes_straight_too() -> None:
    study = searched(small(Auto()), 40)
    found = straight_ones(study.history)
    assert found
    assert all(trial.bracket == 3 and trial.state is State.COMPLETE for trial in found)
    assert audit(study).findings == []


class Straight:
    """A searcher that asks for the full budget every time."""

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion:
        return Suggestion(history.space.sample(rng), Origin("straight"), EPOCHS)


@pytest.mark.parametrize(("scheduler", "budget"), [(ASHA(EPOCHS), EPOCHS), (StoppingASHA(EPOCHS), 1)], ids=repr)
def test_the_full_budget_is_given_where_it_is_offered(scheduler: Scheduler, budget: int) -> None:
    trial = small(Straight(), scheduler).ask()
    assert trial is not None
    assert trial.target == budget


# ---------------------------------------------------------------- the model of complete trials


def test_it_is_that_of_a_study_without_rungs() -> None:
    """Of the same observations at the full budget: whatever was seen below counts for nothing."""
    rng = np.random.default_rng(0)
    rows = [({"x": x, "y": y}, (x - 0.3) ** 2 + y) for x, y in rng.random((12, 2)).tolist()]
    whole, plain = small(GP()), xs.Study(SQUARE, searcher=GP(), seed=3)
    for place, (config, value) in enumerate(rows):
        whole.add(config, value + 5.0, 1 + 2 * (place % 2))
        whole.add(config | {"x": config["x"] / 2}, value)
        plain.add(config | {"x": config["x"] / 2}, value)
    data = Observations.of(whole.history).at(EPOCHS)
    ours = GPLearner(whole.history, data, GP(), complete=True)
    theirs = GPLearner(plain.history, Observations.of(plain.history), GP())
    points = rng.random((20, 2))
    assert data.count == 12
    assert not ours.over_budgets
    for one, other in zip(ours.fitted.posteriors, theirs.fitted.posteriors, strict=True):
        np.testing.assert_allclose(one.means(points), other.means(points))
    assert GPLearner(whole.history, Observations.of(whole.history), GP()).over_budgets


# ---------------------------------------------------------------- turns


def plainly(history: History) -> bool:
    """Whose turn it is, by the definition: gone through from the start."""
    top, spent, since, best, straight = history.levels[-1], 0, 0, math.inf, True
    reached: dict[int, int] = {}
    for number, budget, value in history.observed:
        epochs, reached[number] = budget - reached.get(number, 0), budget
        spent += epochs
        improved = budget == top and value < best
        best = value if improved else best
        if spent < WORTH * (len(history.space) + 1) * top:
            continue
        if (history.trials[number].bracket == len(history.levels) - 1) is straight:
            since = 0 if improved else since + epochs
        if since >= PATIENCE * top:
            straight, since = not straight, 0
    return straight


def test_turns_are_those_of_the_definition() -> None:
    study, turns = small(GP()), []
    for _ in range(90):
        searched(study, len(study.history.trials) + 1)
        turns.append(study.history.memo.fold(Turns, study.history).straight)
        assert turns[-1] == plainly(study.history)
    assert True in turns
    assert False in turns
    assert turns.index(False) < len(turns) - 1 - turns[::-1].index(True)  # and back again


def test_what_is_kept_does_not_matter() -> None:
    kept, emptied = small(GP()), small(GP())
    searched(kept, 30)
    for number in range(30):
        emptied.history.memo.clear()
        searched(emptied, number + 1)
    assert [trial.origin for trial in kept.history.trials] == [trial.origin for trial in emptied.history.trials]


def test_trials_added_by_hand_spend_nothing() -> None:
    study = small(GP())
    for place in range(20):
        study.add({"x": place / 20, "y": 0.5}, 1.0 + place)
    turns = study.history.memo.fold(Turns, study.history)
    assert (turns.complete, turns.spent, turns.straight) == (20, 0, True)
    assert not goes_straight(study.history, New(1, 0, straight=3), 1, "rising")


def test_an_infeasible_trial_is_no_improvement() -> None:
    study = xs.Study(SQUARE, searcher=GP(), scheduler=ASHA(EPOCHS), metric="loss", constraints={"size": 0.5}, seed=3)
    study.add({"x": 0.1, "y": 0.5}, {"loss": 1.0, "size": 0.9})
    assert study.history.memo.fold(Turns, study.history)._best == math.inf
    study.add({"x": 0.2, "y": 0.5}, {"loss": 2.0, "size": 0.1})
    assert study.history.memo.fold(Turns, study.history)._best == 2.0


# ---------------------------------------------------------------- beside others


@dataclass
class Crowd:
    """So many trials at a time, an epoch of each in turn."""

    study: xs.Study
    size: int
    running: list[Trial] = field(default_factory=list)
    asked: list[tuple[Trial, int, float, int]] = field(default_factory=list)
    """Each new trial once some are complete, the trials at a time, the trainings spent for each of these, and how many of the
    others go straight."""

    def step(self) -> None:
        for trial in self.running:
            self.study.report(trial, loss(trial, trial.budget + 1))
        self.running = [trial for trial in self.running if trial.state is State.RUNNING]
        while len(self.running) < self.size:
            at_a_time, beside = len(self.running) + 1, sum(trial.bracket == 3 for trial in self.running)
            spent, ready = self._spent() / at_a_time, self.study.history.count(State.COMPLETE) >= FEWEST
            known = len(self.study.history.trials)
            new = self.study.ask()
            assert new is not None
            if len(self.study.history.trials) > known and ready:
                self.asked.append((new, at_a_time, spent, beside))
            self.running.append(new)

    def _spent(self) -> float:
        """In trainings: of each trial up to the highest rung that it has reported."""
        reached = (max((level for level in (1, 3, 9, 27) if level <= trial.budget), default=0) for trial in self._all())
        return sum(reached) / EPOCHS

    def _all(self) -> list[Trial]:
        return list(self.study.history.trials)


def crowd(searcher: GP, size: int, steps: int, *, forgetful: bool = False) -> Crowd:
    """All epochs take the same time, as ASHA's quick trial is chosen by how long they take."""
    now = 0.0
    made = Crowd(small(searcher, clock=lambda: now), size)
    for _ in range(steps):
        if forgetful:
            made.study.history.memo.clear()
        made.step()
        now += 1.0
    return made


def allowed(each: float, at_a_time: int) -> int:
    share = 0.75 if each >= 8 else 0.5 if each >= 4 else 0.25 if each >= 1 else 0.0
    return int(share * at_a_time)


@pytest.mark.parametrize("size", [2, 4, 5])
def test_beside_others_their_share_rises(size: int) -> None:
    found = crowd(GP(), size, 270)
    beside = set()
    for trial, at_a_time, spent, others in found.asked:
        went = trial.bracket == 3
        if at_a_time > 1:  # else they take turns
            assert went == (others < allowed(spent, at_a_time))
            beside.add(others + went)
    assert beside | {0} == set(range(allowed(9.0, size) + 1))
    assert audit(found.study).findings == []


def test_beside_others_none_goes_straight_before_there_are_complete_trials() -> None:
    found = crowd(GP(), 4, 60)
    ready = {trial.number for trial, *_ in found.asked}
    assert {trial.number for trial in straight_ones(found.study.history)} <= ready
    assert straight_ones(found.study.history)
    assert not straight_ones(crowd(GP(straight_beside="never"), 4, 60).study.history)


def test_none_of_the_initial_design_goes_straight() -> None:
    made = crowd(GP(initial=40), 4, 120).study.history
    assert made.count(State.COMPLETE) >= FEWEST
    assert len(made.trials) > 40
    assert min(trial.number for trial in straight_ones(made)) >= 40


def test_what_is_kept_does_not_matter_beside_others() -> None:
    kept, emptied = (crowd(GP(), 4, 50, forgetful=forgetful).study.history for forgetful in (False, True))
    assert [trial.origin for trial in kept.trials] == [trial.origin for trial in emptied.trials]
    assert straight_ones(kept)


def test_a_bad_setting_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="straight_beside: must be one of never, rising"):
        GP(straight_beside="often")


# ---------------------------------------------------------------- studies from before


def test_a_study_from_before_others_ran_beside_keeps_its_rule() -> None:
    stored = {name: value for name, value in SEARCHERS.dump(GP()).items() if name not in BEFORE_BESIDE}
    first, *others = (SEARCHERS.load(each) for each in SEARCHERS.read(stored))
    assert first == GP(**BEFORE_BESIDE)
    assert GP() in others  # to ask for today's is no other method
    assert Auto(defaults=14)._gp == GP(**BEFORE_BESIDE)


def test_in_a_study_from_before_trials_of_a_given_design_go_straight_as_they_did() -> None:
    """With one worker they took turns already, whatever had suggested them."""
    before, today = (searched(small(GP(initial=60, **each)), 64) for each in (BEFORE_BESIDE, {}))
    assert min(trial.number for trial in straight_ones(before.history)) < 60
    assert not [trial for trial in straight_ones(today.history) if trial.number < 60]


def test_a_study_from_before_has_none() -> None:
    stored = {name: value for name, value in SEARCHERS.dump(GP()).items() if name not in BEFORE_STRAIGHT}
    first, *others = (SEARCHERS.load(each) for each in SEARCHERS.read(stored))
    assert first == GP(**BEFORE_STRAIGHT)
    assert GP() in others  # to ask for today's is no other method
    assert Auto(defaults=11)._gp == GP(**{**BEFORE_STRAIGHT, **BEFORE_LEVEL})
    assert Auto()._gp == GP()


def test_a_study_from_before_goes_on_as_it_did(tmp_path: Path) -> None:
    place, before = str(tmp_path / "studies.db"), GP(**BEFORE_STRAIGHT)
    with xs.Study(SQUARE, method="mobster", max_budget=EPOCHS, seed=3, name="kept", storage=place):
        pass
    with sqlite3.connect(place) as database:
        ((body,),) = database.execute("SELECT body FROM xstar_events").fetchall()
        created = json.loads(body)
        for name in BEFORE_STRAIGHT:  # as it was stored before there were these settings
            del created["searcher"][name]
        database.execute("UPDATE xstar_events SET body = ?", (json.dumps(created),))
    database.close()
    with xs.Study(SQUARE, method="mobster", max_budget=EPOCHS, seed=3, name="kept", storage=place) as study:
        assert study.searcher == before
        searched(study, 40)
        assert not straight_ones(study.history)
        assert audit(study).findings == []
    assert straight_ones(searched(small(GP()), 40).history)
