"""Objectives that close what is not theirs, or leave nothing to open; and more workers than a machine can hold."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from xstar.core.goals import DEFAULT
from xstar.errors import InvalidArgument, ObjectiveError
from xstar.journal.trial import Job
from xstar.run.processes import ProcessExecutor, check_workers
from xstar.testing.executors import MOST_POLLS

SPACE = xs.Space(x=xs.Float(0, 1))

PROGRAM = """
import os, resource
import xstar as xs

resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
kept = []

def closes(trial):
    os.closerange(3, 256)
    return trial["x"]

def leaves_none(trial):
    try:
        while True:
            kept.append(open(os.devnull))
    except OSError:
        return trial["x"]

try:
    xs.minimize({}, xs.Space(x=xs.Float(0, 1)), trials=3, seed=1, study="s")
except xs.errors.ObjectiveError as error:
    print("refused:", error)
"""


@pytest.mark.parametrize(
    ("objective", "said"),
    [
        ("closes", "refused: the objective of trial 0 closed file descriptors of this process"),
        ("leaves_none", "refused: the objective of trial 0 has left this process no file to open"),
    ],
)
def test_in_this_process_the_search_ends_with_an_error_that_says_so(objective: str, said: str, tmp_path: Path) -> None:
    text = PROGRAM.replace("{}", objective)
    ended = subprocess.run([sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.stdout.startswith(said), ended.stderr
    assert (ended.returncode, "Traceback" in ended.stderr) == (0, False), ended.stderr


def closes(trial: Any) -> float:
    if trial.attempt == 0:
        os.closerange(3, 256)
        kept = [os.open(os.devnull, os.O_RDONLY) for _ in range(20)]  # the numbers are those of other files now
        assert kept
    return float(trial["x"])


def test_a_worker_whose_connection_was_closed_says_so_and_the_trial_runs_again() -> None:
    study = xs.minimize(closes, SPACE, trials=1, executor=xs.Processes(2, retries=0), max_failures=None, seed=1).study
    (trial,) = study.trials
    assert trial.state is xs.State.FAILED
    assert "closed file descriptors of the worker" in str(trial.reason)
    again = xs.minimize(closes, SPACE, trials=1, workers=2, seed=1).best
    assert (again.attempt, again.runs.crashes) == (1, 1)


def test_more_workers_than_the_machine_can_hold() -> None:
    with pytest.raises(InvalidArgument, match=r"workers: must be at most [\d,]+: .*, but got 100000000"):
        xs.minimize(closes, SPACE, trials=1, workers=100_000_000)


def test_more_workers_than_files_may_be_open(monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    given: list[Any] = []
    limits = iter([(50, 200), (50, 400)])
    monkeypatch.setattr(resource, "getrlimit", lambda _: next(limits))
    monkeypatch.setattr(resource, "setrlimit", lambda _, both: given.append(both))
    with pytest.raises(InvalidArgument, match=r"workers: must be at most 25: .*200 files.*ulimit -Hn"):
        check_workers(40)
    assert len(check_workers(40)) == 40
    assert given == [(260, 400)]


def test_one_worker_is_never_one_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    set_to: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (40, 60))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: set_to.append(limits))
    check_workers(1)
    assert set_to == [(60, 60)]
    with pytest.raises(InvalidArgument, match=r"workers: must be at most 1: .*60 files.*got 2"):
        check_workers(2)


def refuse(*_: Any, **__: Any) -> None:
    raise OSError(24, "Too many open files")


def test_a_worker_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", refuse)
    with pytest.raises(ObjectiveError, match=r"worker process 0 of 2 cannot be started: .*Too many open files.*ulimit"):
        ProcessExecutor(closes, DEFAULT, 2)


def test_a_worker_that_cannot_be_replaced_ends_the_search_and_all_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(trial: Any) -> float:
        os._exit(3)

    executor = ProcessExecutor(dies, DEFAULT, 2)
    started = [worker._run for worker in executor._workers]
    try:
        executor.submit(Job(0, {}, 0, 0, None, None, None))
        monkeypatch.setattr(subprocess, "Popen", refuse)
        with pytest.raises(ObjectiveError, match="cannot be started"):
            any(executor.poll() and False for _ in range(MOST_POLLS))
    finally:
        executor.close()
    assert all(run.is_over() for run in started)
