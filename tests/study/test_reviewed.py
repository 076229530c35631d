"""Situations that once went wrong: each test is the shortest way into one of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.clocks import Time, study_at
from tests.trials import ask
from tests.waiting import appears
from xstar.journal.trial import Done, New, State, Suggestion
from xstar.look.audit import audit
from xstar.schedulers import Hyperband
from xstar.searchers.random import Random
from xstar.study.loop import run
from xstar.testing.schedulers import CrossingCurves
from xstar.testing.simulator import METRIC, Simulator

SPACE = xs.Space(x=xs.Float(0, 1))


def test_a_late_report_of_ones_own_old_run_leaves_the_new_runs_lease(storage: str, name: str) -> None:
    times = {"now": 1000.0}

    def opened() -> xs.Study:
        return study_at(lambda: times["now"], SPACE, study=name, storage=storage, method="asha", max_budget=9)

    slow = opened()
    assert slow.ask() is not None
    times["now"] += 100
    opened()  # finds the lease expired
    again = ask(slow)
    assert again.attempt == 1
    assert slow.report(0, 0.5, 1, attempt=0) is xs.Verdict.STOP
    times["now"] += 1000
    assert opened().history.trials[0].state is State.WAITING, "its new run had a lease, which expired"


def test_the_end_of_an_old_run_does_not_hide_the_promoted_one() -> None:
    study = xs.Study(SPACE, method="asha", max_budget=9)
    for _ in range(3):
        trial = ask(study)
        study.report(trial, float(trial.number))
    promoted = ask(study)
    assert (promoted.number, promoted.attempt) == (0, 1)
    study.complete(0, attempt=0)
    study.leases.release("enough")
    assert promoted.state is State.WAITING


@pytest.mark.parametrize("workers", [1, 2])
def test_an_objective_that_fails_while_it_is_closed_ends_nothing_else(workers: int) -> None:
    def objective(trial: Any) -> Iterator[float]:
        try:
            for _ in trial.epochs():
                yield float(trial["x"])
        finally:
            raise OSError("the disk is gone")

    result = xs.minimize(objective, SPACE, method="asha", max_budget=9, trials=6, workers=workers)
    assert len(result.study.history.trials) == 6


def test_a_resumed_run_with_nothing_left_to_train_is_complete() -> None:
    def objective(trial: Any) -> Iterator[float]:
        saved = trial.checkpoint / "epoch"
        done = int(saved.read_text()) if trial.resumed else 0
        for epoch in trial.epochs(done):
            if trial["x"] < 0.3 and epoch > 1:
                return  # converged
            saved.write_text(str(epoch))
            yield float(trial["x"])

    for method in ("asha", "asha-stop", "hyperband", "successive-halving"):
        history = xs.minimize(objective, SPACE, method=method, max_budget=9, trials=40, seed=1).study.history
        assert history.count(State.FAILED) == 0, method
        assert history.best is not None
        assert history.best["x"] < 0.3


@pytest.mark.parametrize("workers", [1, 2])
def test_any_reason_can_be_kept(workers: int, tmp_path: Path) -> None:
    def objective(trial: Any) -> float:
        if trial.number == 0:
            raise ValueError("cannot read " + os.fsdecode(b"caf\xe9.csv") + "\0")
        if trial.number == 1:
            raise xs.Infeasible(" ")
        return 1.0

    result = xs.minimize(objective, SPACE, trials=3, workers=workers, study="s", storage=tmp_path / "s.db")
    assert [trial.state.value for trial in result.study.history.trials] == ["failed", "infeasible", "complete"]
    result.study.close()
    with xs.Study.open("s", storage=tmp_path / "s.db") as study:
        assert r"caf\udce9.csv" in (study.history.trials[0].reason or "")


class SlowToLoad:
    """Its loading takes longer than a trial may."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> Any:
        return (_load_slowly, (self.folder,))

    def __call__(self, trial: Any) -> float:
        return 1.0


def _load_slowly(folder: Path) -> SlowToLoad:
    (folder / "loading").touch()
    appears(folder / "overdue")
    return SlowToLoad(folder)


def test_loading_is_not_the_trials_time(tmp_path: Path, frozen: Time) -> None:
    def passed() -> float:
        late = (tmp_path / "loading").exists()
        if late:
            (tmp_path / "overdue").touch()
        return 1000.0 if late else 0.0

    frozen.passed = passed
    result = xs.minimize(SlowToLoad(tmp_path), SPACE, trials=3, executor=xs.Processes(timeout=500.0))
    assert result.study.history.count(State.COMPLETE) == 3


def test_a_report_from_elsewhere_does_not_end_the_loop(tmp_path: Path) -> None:
    storage = tmp_path / "s.db"

    def objective(trial: Any) -> Iterator[float]:
        for epoch in trial.epochs():
            if epoch == 1:
                with xs.Study.open("s", storage=storage) as other:
                    other.report(0, 0.75)
            yield 1 / epoch

    result = xs.minimize(objective, SPACE, trials=1, method="random", max_budget=3, study="s", storage=storage)
    values = [reading.metrics["value"] for reading in result.study.history.trials[0].reports]
    assert values == [0.75, 1 / 2, 1 / 3]
    result.study.close()


def test_only_the_run_that_was_found_dead_is_lost(tmp_path: Path) -> None:
    times = {"now": 1000.0}
    dead, fast, slow = (study_at(lambda: times["now"], SPACE, study="s", storage=tmp_path / "s.db") for _ in range(3))
    assert dead.ask() is not None
    times["now"] += 100
    look = slow.journal.abandoned  # type: ignore[attr-defined]

    def abandoned(now: float, running: Any) -> Any:
        found = look(now, running)
        fast.leases.reclaim()
        assert fast.ask() is not None  # runs the trial again before the slow one has acted on what it saw
        return found

    slow.journal.abandoned = abandoned  # type: ignore[attr-defined]
    slow.leases.reclaim()
    trial = slow.refresh().trials[0]
    assert (trial.state, trial.attempt, trial.runs.lost) == (State.RUNNING, 1, 1)


@pytest.mark.parametrize("how", ["told", "added"])
def test_values_from_outside_do_not_hold_up_a_bracket(how: str) -> None:
    study = xs.Study(SPACE, scheduler=Hyperband(9, brackets=1), seed=0)
    if how == "added":
        study.add({"x": 0.5}, -1.0)
    for _ in range(9 + 3 + 1):
        trial = ask(study)
        if how == "told" and trial.attempt == 0 and trial.number == 4:
            study.tell(trial, -1.0)
        else:
            study.report(trial, float(trial.number), budget=trial.target)
    assert any(trial.budget == 9 and trial.bracket == 0 for trial in study.history.trials)
    assert audit(study).findings == []


def test_counted_decisions_take_virtual_time(frozen: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    used = [0.0]
    monkeypatch.setattr(frozen, "process_time", lambda: used[0])

    class Slow(Random):
        """A searcher that takes its time."""

        def suggest(self, history: Any, task: New, rng: Any) -> Suggestion | Done:
            used[0] += 5.0
            return super().suggest(history, task, rng)

    ends = []
    for counted in (False, True):
        simulator = Simulator(CrossingCurves((1,)), 1, count_decisions=counted)
        study = study_at(lambda sim=simulator: sim.now, SPACE, searcher=Slow(), metric=METRIC, seed=1)  # type: ignore[misc]
        run(study, simulator, xs.Limits(trials=5))
        ends.append(simulator.now)
    assert ends[1] == pytest.approx(ends[0] + 5 * 5.0)


def test_a_conditional_space_is_tried_to_the_last() -> None:
    flags = {f"use_{i}": xs.Bool(when={"on": True}) for i in range(8)}
    space = xs.Space(on=xs.Bool(prior=0.01), **flags, more=xs.Int(1, 5, when={"on": False}))
    study = xs.Study(space, seed=1)
    count = 0
    while (trial := study.ask()) is not None:
        study.tell(trial, 1.0)
        count += 1
    assert count == space.size == 2**8 + 5


def test_opened_studies_are_let_go_of(tmp_path: Path) -> None:
    """Only descriptors of the studies' files count: threads that other tests left behind may open some of their own."""
    import gc

    def descriptors() -> int:
        opened = (os.path.realpath(each) for each in Path("/proc/self/fd").iterdir())
        return sum(path.startswith(str(tmp_path.resolve())) for path in opened)

    if not Path("/proc/self/fd").exists():
        pytest.skip("counts descriptors through /proc, which only Linux has")
    study = xs.Study(SPACE, study="held", storage=tmp_path / "s.db")
    assert descriptors() > 0
    study.close()
    for i in range(12):
        study = xs.Study(SPACE, study=f"s{i}", storage=tmp_path / "s.db")
        study.close()
    del study
    gc.collect()
    assert descriptors() == 0
