"""Inline and process executors: the shared suite, then what only real processes can do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.clocks import Overrun, Time
from tests.waiting import gone, text_of
from xstar.core.goals import DEFAULT
from xstar.errors import ObjectiveError
from xstar.run import InlineExecutor, ProcessExecutor
from xstar.testing import check_executor

SPACE = xs.Space(x=xs.Float(0, 1))


def test_inline_conforms(tmp_path: Path) -> None:
    check_executor(lambda objective: InlineExecutor(objective, DEFAULT), tmp_path)


def test_processes_conform(tmp_path: Path) -> None:
    check_executor(lambda objective: ProcessExecutor(objective, DEFAULT, 2), tmp_path)


def test_output_of_a_trial_is_kept_beside_its_checkpoint(tmp_path: Path) -> None:
    def objective(trial: Any) -> float:
        print("to stdout", trial.number)
        print("to stderr", file=sys.stderr)
        subprocess.run(["echo", "from a child"], check=True)
        return 1.0

    result = xs.minimize(objective, SPACE, trials=2, workers=2, directory=tmp_path)
    folder = result.study.files.of(1)
    assert (folder / "stdout.txt").read_text().splitlines() == ["to stdout 1", "from a child"]
    assert (folder / "stderr.txt").read_text() == "to stderr\n"


def test_a_trial_that_overruns_is_ended_with_its_children(tmp_path: Path, frozen: Time) -> None:
    pids = tmp_path / "pids.txt"

    def objective(trial: Any) -> float:
        if trial.number == 0:
            child = subprocess.Popen(["sleep", "1000"])
            pids.write_text(f"{os.getpid()} {child.pid}\n")
            child.wait()
        return 1.0

    overrun = Overrun(frozen, pids)
    result = xs.minimize(objective, SPACE, trials=3, watch=overrun, executor=xs.Processes(timeout=500.0))
    first = result.study.history.trials[0]
    assert first.state is xs.State.FAILED
    assert first.reason == "it ran longer than the time limit of 500 s"
    assert result.study.history.count(xs.State.COMPLETE) == 2
    assert all(gone(int(pid)) for pid in text_of(pids).split())


def test_a_worker_that_dies_is_replaced_and_its_trial_run_again(tmp_path: Path) -> None:
    def objective(trial: Any) -> Iterator[float]:
        saved = trial.checkpoint / "epoch"
        done = int(saved.read_text()) if trial.resumed else 0
        for epoch in trial.epochs():
            if epoch > done:
                saved.write_text(str(epoch))
            if trial.number == 1 and epoch == 3 and trial.attempt == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            if trial.number == 2 and epoch == 2:
                print("last words", file=sys.stderr, flush=True)
                os._exit(3)
            yield float(epoch)

    result = xs.minimize(objective, SPACE, trials=4, workers=2, method="random", max_budget=4)
    trials = result.study.history.trials
    assert trials[1].state is xs.State.COMPLETE
    assert (trials[1].runs.crashes, trials[1].attempt) == (1, 1)
    assert [reading.budget for reading in trials[1].reports] == [1, 2, 3, 4]
    assert trials[2].state is xs.State.FAILED
    assert "exited with code 3" in (trials[2].reason or "")
    assert "last words" in (trials[2].reason or "")


@pytest.mark.parametrize(
    "harm",
    ["sys.stdout.close()", "sys.stdout = None", "sys.stderr.close()", "sys.stderr = open(os.devnull)", "os.close(1)"],
)
def test_an_objective_may_close_and_replace_its_streams(harm: str) -> None:
    def objective(trial: Any) -> float:
        print("before")
        exec(harm, {"sys": sys, "os": os})
        if trial.number == 2:
            raise RuntimeError("said in the file")
        return 1.0

    result = xs.minimize(objective, SPACE, trials=3, executor=xs.Processes(timeout=600.0))
    assert [trial.state.value for trial in result.study.history.trials] == ["complete", "complete", "failed"]
    assert [(result.study.files.of(number) / "stdout.txt").read_text() for number in range(3)] == ["before\n"] * 3
    assert "RuntimeError: said in the file" in (result.study.files.of(2) / "stderr.txt").read_text()


@pytest.mark.parametrize(
    "harm",
    ["sys.stdout.close(); sys.stderr.close()", "sys.stdout = sys.stderr = None", "sys.stdout = open(os.devnull)"],
)
def test_streams_that_an_objective_in_this_process_closed_or_replaced_are_given_back(harm: str) -> None:
    script = f"""
import os, sys
import xstar as xs
def objective(trial):
    for epoch in range(2):
        {harm}
        yield 1.0
xs.minimize(objective, xs.Space(x=xs.Float(0, 1)), trials=2, method="random", progress=True)
print("printed")
print("complained", file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout) == (0, "printed\n"), done.stderr
    assert "trial 1 complete" in done.stderr
    assert done.stderr.endswith("complained\n")


def test_a_run_without_a_checkpoint_starts_over_and_repeats_are_ignored() -> None:
    def objective(trial: Any) -> Iterator[float]:
        assert not trial.resumed
        for epoch in trial.epochs():
            if epoch == 3 and trial.attempt == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            yield float(epoch)

    result = xs.minimize(objective, SPACE, trials=1, workers=2, method="random", max_budget=4)
    trial = result.study.history.trials[0]
    assert [reading.budget for reading in trial.reports] == [1, 2, 3, 4]
    assert "no checkpoint, so its 2 finished epochs" in (result.study.files.of(0) / "stderr.txt").read_text()


def test_a_checkpoint_behind_the_reports_is_trained_up_again(tmp_path: Path) -> None:
    def objective(trial: Any) -> Iterator[float]:
        saved = trial.checkpoint / "epoch"
        done = trained = int(saved.read_text()) if trial.resumed else 0
        for epoch in trial.epochs(done):
            if epoch > done:
                trained += 1
            if epoch % 3 == 0:
                saved.write_text(str(epoch))
            if epoch == 6 and trial.attempt == 0:
                saved.write_text("3")
                os.kill(os.getpid(), signal.SIGKILL)
            assert trained == epoch
            yield float(epoch)

    result = xs.minimize(objective, SPACE, trials=1, workers=2, method="random", max_budget=8)
    trial = result.study.history.trials[0]
    assert trial.state is xs.State.COMPLETE, trial.reason
    assert [reading.metrics["value"] for reading in trial.reports] == [float(e) for e in range(1, 9)]


@pytest.mark.parametrize("workers", [1, 2])
def test_outcomes_that_are_no_values(workers: int, tmp_path: Path) -> None:
    def objective(trial: Any) -> Any:
        match trial.number:
            case 1:
                raise KeyError("missing")
            case 2:
                return float("nan")
            case 3:
                raise xs.Infeasible("does not fit")
            case 4:
                sys.exit(5)
            case 5:
                return None
            case 6:
                return iter_nothing()
        return 1.0

    def iter_nothing() -> Iterator[float]:
        yield from ()

    named: dict[str, Any] = {"study": "ends", "storage": tmp_path / "ends.db"}
    xs.minimize(objective, SPACE, trials=1, **named)  # has a value: what no trial can report would end the search
    result = xs.minimize(objective, SPACE, trials=7, workers=workers, **named)
    ends = [(trial.state.value, (trial.reason or "").splitlines()[-1:]) for trial in result.study.history.trials]
    no_number = "value: must be a number, but got None; return or yield a number, or a dictionary of numbers"
    no_yield = "objective: a generator must yield at least one value, but got 'no value'; yield once per epoch"
    assert ends == [
        ("complete", []),
        ("failed", ["KeyError: 'missing'"]),
        ("failed", ["value is nan at budget 1"]),
        ("infeasible", ["does not fit"]),
        ("failed", ["SystemExit: 5"]),
        ("failed", [no_number]),
        ("failed", [no_yield]),
    ]


def test_an_objective_that_cannot_travel_is_refused_at_once() -> None:
    lock = threading.Lock()

    def objective(trial: Any) -> float:
        with lock:
            return 1.0

    with pytest.raises(ObjectiveError, match="cannot be sent to worker processes"):
        xs.minimize(objective, SPACE, trials=1, workers=2)


def test_an_objective_that_does_not_load_is_an_error_not_a_failed_trial() -> None:
    class Poison:
        def __reduce__(self) -> Any:
            return (exec, ("raise RuntimeError('no such thing here')",))

        def __call__(self, trial: Any) -> float:
            return 1.0

    with pytest.raises(ObjectiveError, match="no such thing here"):
        xs.minimize(Poison(), SPACE, trials=1, workers=2)


def test_what_is_no_objective_is_refused() -> None:
    async def later(trial: Any) -> float:
        return 1.0

    for objective, word in ((3, "must be a function"), (later, "is async")):
        with pytest.raises(ObjectiveError, match=word):
            xs.minimize(objective, SPACE, trials=1)  # type: ignore[arg-type]
