"""An objective that forks: no value goes to the wrong trial, and nobody carries on the search a second time.

A disk without room is named, with its machine and folder, and is not held against the configuration.
"""

from __future__ import annotations

import errno
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from xstar.core.goals import DEFAULT
from xstar.errors import ObjectiveError
from xstar.journal.trial import Report
from xstar.run import ProcessExecutor
from xstar.run.objective import full_disk
from xstar.study.loop import job_of

SPACE = xs.Space(x=xs.Float(0, 1))

# The forked process returns, yields, raises or exits through our code, before the objective itself goes on.
PROGRAM = """
import os, sys
import xstar as xs
def plain(trial):
    child = os.fork()
    if child == 0:
        return 1000.0
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    return trial["x"]
def stream(trial):
    for epoch in trial.epochs():
        child = os.fork()
        if child == 0:
            yield 1000.0
        os.waitpid(child, 0)
        yield trial["x"]
def raising(trial):
    child = os.fork()
    if child == 0:
        raise KeyError("from the fork") if trial.number % 2 else KeyboardInterrupt
    os.waitpid(child, 0)
    return trial["x"]
def leaving(trial):
    child = os.fork()
    if child == 0:
        sys.exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    return trial["x"]
form, workers = sys.argv[1], int(sys.argv[2])
space = xs.Space(x=xs.Float(0, 1))
result = xs.minimize(globals()[form], space, trials=6, workers=workers, method="random", max_budget=3, seed=1)
for trial in result.study.history.trials:
    assert trial.state is xs.State.COMPLETE, trial.reason
    assert all(reading.metrics["value"] == trial["x"] for reading in trial.reports), trial.reports
print("six trials", len(result.study.history.trials), flush=True)
"""


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("form", ["plain", "stream", "raising", "leaving"])
def test_a_forked_process_does_not_speak_for_the_trial(tmp_path: Path, form: str, workers: str) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, form, workers], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "six trials 6\n"


def test_a_message_about_another_run_is_ignored(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    executor = ProcessExecutor(lambda trial: trial["x"], DEFAULT, 1)
    study = xs.Study(SPACE, seed=1)
    trial: Any = study.ask()
    try:
        executor.submit(job_of(study, trial))
        found: list[Any] = []
        executor._hear(executor._workers[0], "report", [(7, 0), 1, {"value": 9.0}], found)
        executor._hear(executor._workers[0], "finished", [(trial.number, 1)], found)
        assert found == []
        assert "trial 7, which it does not run" in caplog.text
        while not found:
            found += executor.poll()
        assert found[0] == Report(trial.number, 0, 1, {"value": trial["x"]})
    finally:
        executor.close()


# ---------------------------------------------------------------- a full disk


def no_room(path: str | None = None, number: int = errno.ENOSPC) -> OSError:
    return OSError(number, os.strerror(number), path) if path else OSError(number, os.strerror(number))


def test_the_folder_that_the_error_names(tmp_path: Path) -> None:
    found = full_disk(no_room(str(tmp_path / "not" / "there")), None)
    assert found is not None
    assert f"the disk is full on {platform.node()}" in found
    assert f"MB are left in {tmp_path};" in found
    assert "quota" in str(full_disk(no_room(str(tmp_path), errno.EDQUOT), None))


def test_an_error_without_a_name_and_one_that_was_wrapped(tmp_path: Path) -> None:
    assert " MB are left in /" in str(full_disk(no_room(), str(tmp_path)))
    wrapped = RuntimeError("writing failed")
    wrapped.__cause__ = no_room(str(tmp_path))
    assert f"left in {tmp_path}" in str(full_disk(wrapped, None))
    assert full_disk(RuntimeError("anything else"), str(tmp_path)) is None
    assert full_disk(OSError(errno.EACCES, "permission denied"), str(tmp_path)) is None


@pytest.mark.parametrize("workers", [1, 2])
def test_the_trial_is_tried_again(tmp_path: Path, workers: int, caplog: pytest.LogCaptureFixture) -> None:
    def objective(trial: Any) -> float:
        if trial.number == 2 and trial.attempt == 0:
            raise OSError(28, "No space left on device", str(trial.checkpoint / "weights"))
        return float(trial["x"])

    result = xs.minimize(
        objective, SPACE, trials=5, method="random", seed=1, workers=workers, max_budget=1, directory=tmp_path
    )
    trials = result.study.history.trials
    assert [trial.state for trial in trials] == [xs.State.COMPLETE] * 5
    assert [trial.runs.crashes for trial in trials] == [0, 0, 1, 0, 0]
    assert f"trial 2 will run again: the disk is full on {platform.node()}" in caplog.text
    assert str(tmp_path) in caplog.text


def test_a_search_that_never_has_room_ends(tmp_path: Path) -> None:
    def objective(trial: Any) -> float:
        raise OSError(28, "No space left on device", str(tmp_path))

    with pytest.raises(ObjectiveError, match=f"the disk is full on {platform.node()}.*{tmp_path}"):
        xs.minimize(objective, SPACE, trials=50, method="random", seed=1)
