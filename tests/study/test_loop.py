"""The loop: limits, resuming, several workers, Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.clocks import Time
from tests.waiting import appears, hear, program
from xstar.errors import ObjectiveError, StudyMismatch
from xstar.look.audit import audit

SPACE = xs.Space(x=xs.Float(0, 1))


def objective(trial: Any) -> float:
    return float(trial["x"])


@pytest.mark.parametrize("workers", [1, 3])
def test_minimize_and_maximize(workers: int) -> None:
    low = xs.minimize(objective, SPACE, trials=20, seed=1, workers=workers)
    high = xs.maximize(objective, SPACE, trials=20, seed=1, workers=workers)
    # Each by its own trials: which ends of the range a search tries is the model's affair, and several workers' order's.
    assert low.best.value == min(trial["x"] for trial in low.study.history.trials)
    assert high.best.value == max(trial["x"] for trial in high.study.history.trials)
    assert low.reason == "all 20 trials are done"


def test_trials_is_the_total(tmp_path: Path) -> None:
    for total, expected in ((5, 5), (3, 5), (8, 8)):
        result = xs.minimize(objective, SPACE, trials=total, study="s", storage=tmp_path / "s.db", seed=3)
        assert len(result.study.history.trials) == expected
        assert audit(result.study).findings == []
        result.study.close()
    with pytest.raises(StudyMismatch, match="direction"):
        xs.maximize(objective, SPACE, trials=10, study="s", storage=tmp_path / "s.db")


def test_the_order_of_events_decides_not_the_number_of_workers() -> None:
    alone = xs.minimize(objective, SPACE, trials=12, method="random", seed=8)
    many = xs.minimize(objective, SPACE, trials=12, method="random", seed=8, workers=3)
    assert [t.config for t in alone.study.history.trials] == [t.config for t in many.study.history.trials]


def test_limits() -> None:
    result = xs.minimize(objective, SPACE, target=0.2, seed=1)
    assert result.best.value is not None
    assert result.best.value <= 0.2
    assert sum(trial["x"] <= 0.2 for trial in result.study.history.trials) == 1
    assert result.reason == "the target 0.2 is reached"
    result = xs.maximize(objective, SPACE, target=0.8, seed=1)
    assert result.best.value is not None
    assert result.best.value >= 0.8
    result = xs.minimize(objective, SPACE, patience=7, seed=1)
    assert result.study.history.since_best == 7
    assert len(result.study.history.trials) == result.best.number + 8
    assert "7 trials in a row" in result.reason
    result = xs.minimize(objective, xs.Space(x=xs.Int(1, 4)))
    assert "all 4 configurations" in result.reason
    assert len(result.study.history.trials) == 4


def test_a_limit_of_time(frozen: Time) -> None:
    passed = [5000.0]  # it counts from the call
    frozen.passed = lambda: passed[0]

    def training(trial: Any) -> float:
        passed[0] += 10
        return float(trial["x"])

    result = xs.minimize(training, SPACE, seconds=25)
    assert len(result.study.history.trials) == 3
    assert result.reason == "the time limit of 25 s is reached"


def test_watchers_see_every_change() -> None:
    seen: list[int] = []
    xs.minimize(objective, SPACE, trials=5, watch=lambda study: seen.append(study.history.over))
    assert seen == sorted(seen)
    assert seen[-1] == 5


@pytest.mark.parametrize("workers", [1, 2])
def test_code_after_the_last_yield_is_run(tmp_path: Path, workers: int) -> None:
    """Also that of the last trial, though its report was all that the search waited for."""

    def training(trial: Any) -> Iterator[float]:
        for epoch in trial.epochs():
            yield float(epoch)
        if trial.number == 1:
            appears(tmp_path / "heard")
        (tmp_path / f"{trial.number}.done").touch()

    def watch(study: xs.Study) -> None:
        if len(study.trials) == 2 and study.trials[1].budget == 2:
            (tmp_path / "heard").touch()

    xs.minimize(training, SPACE, trials=2, max_budget=2, method="random", workers=workers, watch=watch)
    assert {path.name for path in tmp_path.iterdir()} == {"0.done", "1.done", "heard"}


PROGRAM = """
import sys, pathlib
import xstar as xs
from tests.waiting import appears
folder = pathlib.Path(sys.argv[1])
def objective(trial):
    (folder / f"started-{trial.number}").touch()
    appears(folder / "go")
    return trial["x"]
space = xs.Space(x=xs.Float(0, 1))
try:
    xs.minimize(objective, space, trials=10, method="random", workers=2, study="s", storage=folder / "s.db", seed=1)
except KeyboardInterrupt as error:
    print(len(error.result.study.trials), "trials:", error.result.reason)
    raise
"""


@contextmanager
def started(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A program both of whose workers train, until there is a file ``go``."""
    with program(PROGRAM, folder) as running:
        for number in range(2):
            appears(folder / f"started-{number}")
        yield running


def test_after_ctrl_c_a_script_does_not_go_on_as_if_it_had_an_answer(tmp_path: Path) -> None:
    with started(tmp_path) as running:
        running.send_signal(signal.SIGINT)
        hear(running.stderr, "running trials end at their next report")
        (tmp_path / "go").touch()
        output, _ = running.communicate()
    assert running.returncode == -signal.SIGINT
    assert "2 trials: interrupted; the same call with the study's name goes on with it" in output
    with xs.Study.open("s", storage=tmp_path / "s.db") as study:
        assert study.history.count(xs.State.COMPLETE) == len(study.history.trials) == 2, "they report at their end"


def test_an_objective_that_is_interrupted_leaves_the_result() -> None:
    def interrupted(trial: Any) -> float:
        if trial.number == 3:
            raise KeyboardInterrupt
        return float(trial["x"])

    with pytest.raises(KeyboardInterrupt) as raised:
        xs.minimize(interrupted, SPACE, trials=10, seed=1)
    result = raised.value.result  # type: ignore[attr-defined]
    assert result.best.value == min(trial.value for trial in result.study.trials[:3])
    assert result.study.trials[3].state is xs.State.WAITING


@pytest.mark.parametrize("how", ["twice", "terminate"])
def test_ended_at_once_the_trials_wait_to_be_run_again(tmp_path: Path, how: str) -> None:
    with started(tmp_path) as running:
        if how == "twice":
            running.send_signal(signal.SIGINT)
            hear(running.stderr, "press it again")
            running.send_signal(signal.SIGINT)
        else:
            running.terminate()
        running.communicate()
    assert running.returncode in ((-signal.SIGINT, 1, 130) if how == "twice" else (143,))
    with xs.Study.open("s", storage=tmp_path / "s.db") as study:
        waiting = set(study.history.waiting)
        assert len(waiting) == 2
    result = xs.minimize(objective, SPACE, trials=4, study="s", storage=tmp_path / "s.db")
    assert result.study.history.count(xs.State.COMPLETE) == 4
    assert {trial.number for trial in result.study.history.trials if trial.attempt} == waiting
    assert all(trial.runs.lost == 0 and trial.reason is None for trial in result.study.history.trials)
    result.study.close()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_metric_that_nobody_reports_ends_the_search_at_once(workers: int) -> None:
    with pytest.raises(ObjectiveError, match="must contain the watched metric 'loss'"):
        xs.minimize(lambda trial: {"error": 1.0}, SPACE, metric="loss", trials=100, workers=workers)


def test_a_dead_program_is_noticed_at_once_on_its_own_machine(tmp_path: Path) -> None:
    with started(tmp_path) as running:
        running.kill()
    with xs.Study.open("s", storage=tmp_path / "s.db") as study:
        assert sorted(study.history.waiting) == [0, 1]
        assert "ended" in (study.history.trials[0].reason or "")
