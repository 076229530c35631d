"""SIGTERM with a grace period: running trials report once more, save, and are handed back for others to go on with."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import xstar as xs
from xstar.errors import InvalidArgument
from xstar.inspect.audit import audit

PROGRAM = """
import sys, time
from pathlib import Path
import xstar as xs
folder, workers, grace = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])

def train(trial):
    state = trial.checkpoint / "epoch"
    done = int(state.read_text()) if state.exists() else 0
    for epoch in range(done + 1, 121):
        with (folder / f"epochs-{trial.number}").open("a") as file:
            print(epoch, file=file)
        time.sleep(0.02)
        state.with_suffix(".new").write_text(str(epoch))
        state.with_suffix(".new").replace(state)
        yield trial["x"] / epoch

def silent(trial):
    (folder / "begun").touch()
    time.sleep(600)
    return 1.0

space = xs.Space(x=xs.Float(0, 1))
xs.minimize(globals()[sys.argv[4]], space, trials=2, method="random", max_budget=120, workers=workers, grace=grace,
            study="s", storage=folder / "s.db", seed=1, max_failures=None)
"""


def started(folder: Path, workers: int, grace: float, objective: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", PROGRAM, str(folder), str(workers), str(grace), objective]
    return subprocess.Popen(words, stderr=subprocess.PIPE, text=True)


def wait_for(path: Path) -> None:
    end = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("workers", [1, 2])
def test_trials_are_handed_back_with_all_that_they_trained(tmp_path: Path, workers: int) -> None:
    program = started(tmp_path, workers, 60, "train")
    wait_for(tmp_path / f"epochs-{workers - 1}")
    time.sleep(0.2)
    program.send_signal(signal.SIGTERM)
    _, words = program.communicate(timeout=60)
    assert program.returncode == 128 + signal.SIGTERM
    assert "told to terminate: running trials have 60 s to report once more" in words
    with xs.Study.open("s", tmp_path / "s.db") as study:
        trials = study.history.trials
        assert [trial.state for trial in trials] == [xs.State.WAITING] * workers
        reached = [trial.budget for trial in trials]
        assert min(reached) > 0
        for trial in trials:
            assert trial.reason == "told to terminate"
            epochs = (tmp_path / f"epochs-{trial.number}").read_text().split()
            assert epochs == [str(epoch + 1) for epoch in range(trial.budget)], "what was begun was reported"
        assert audit(study).findings == []
    other = started(tmp_path, workers, 60, "train")
    other.communicate(timeout=120)
    assert other.returncode == 0
    for number in range(2):
        epochs = (tmp_path / f"epochs-{number}").read_text().split()
        assert epochs == [str(epoch + 1) for epoch in range(120)], "no epoch is trained twice"


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("again", [False, True])
def test_trials_that_do_not_report_are_ended(tmp_path: Path, workers: int, again: bool) -> None:
    program = started(tmp_path, workers, 600 if again else 0.3, "silent")
    wait_for(tmp_path / "begun")
    program.send_signal(signal.SIGTERM)
    if again:
        assert program.stderr is not None
        assert "told to terminate" in program.stderr.readline()
        program.send_signal(signal.SIGTERM)
    program.communicate(timeout=60)
    assert program.returncode == 128 + signal.SIGTERM
    with xs.Study.open("s", tmp_path / "s.db") as study:
        assert [trial.state for trial in study.history.trials] == [xs.State.WAITING] * workers


@pytest.mark.parametrize("grace", [-1, float("nan"), "soon", None])
def test_a_wrong_grace_is_refused(grace: float) -> None:
    with pytest.raises(InvalidArgument, match="grace"):
        xs.minimize(lambda trial: 1.0, xs.Space(x=xs.Float(0, 1)), trials=1, grace=grace)
