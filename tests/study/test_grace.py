"""Ctrl-C, and SIGTERM with a grace period: running trials report once more, save, and are handed back for others."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import xstar as xs
from tests.waiting import appears, hear, program
from xstar.look.audit import audit

# A worker waits at a rung, here the third epoch, to be told whether to go on; elsewhere it would train on until it heard.
PROGRAM = """
import sys
from pathlib import Path
import xstar as xs
from tests.waiting import appears
folder, workers, grace = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])

def train(trial):
    state = trial.checkpoint / "epoch"
    done = int(state.read_text()) if state.exists() else 0
    for epoch in range(done + 1, 10):
        with (folder / f"epochs-{trial.number}").open("a") as file:
            print(epoch, file=file)
        if epoch == 3:
            (folder / f"begun-{trial.number}").touch()
            appears(folder / "go")
        state.write_text(str(epoch))
        yield trial["x"] / epoch

def silent(trial):
    (folder / f"begun-{trial.number}").touch()
    appears(folder / "never")

space = xs.Space(x=xs.Float(0, 1))
xs.minimize(globals()[sys.argv[4]], space, trials=2, method="asha-stop", max_budget=9,
            executor=xs.Processes(workers, grace=grace), study="s", storage=folder / "s.db", seed=1, max_failures=None)
"""


@contextmanager
def started(folder: Path, workers: int, grace: float, objective: str) -> Iterator[subprocess.Popen[str]]:
    """A program each of whose workers waits in the middle of an epoch."""
    with program(PROGRAM, folder, workers, grace, objective) as running:
        for number in range(workers):
            appears(folder / f"begun-{number}")
        yield running


@pytest.mark.parametrize(
    ("sent", "heard", "reason", "code"),
    [
        (signal.SIGTERM, "running trials have 600 s to report once more", "told to terminate", 128 + signal.SIGTERM),
        (signal.SIGINT, "running trials end at their next report", "interrupted by the user", -signal.SIGINT),
    ],
)
@pytest.mark.parametrize("workers", [1, 2])
def test_trials_are_handed_back_with_all_that_they_trained(
    tmp_path: Path, workers: int, sent: signal.Signals, heard: str, reason: str, code: int
) -> None:
    with started(tmp_path, workers, 600, "train") as running:
        running.send_signal(sent)
        hear(running.stderr, heard)
        (tmp_path / "go").touch()
        running.communicate()
    assert running.returncode == code
    with xs.Study.open("s", tmp_path / "s.db") as study:
        trials = study.history.trials
        assert [trial.state for trial in trials] == [xs.State.WAITING] * workers
        for trial in trials:
            assert trial.reason == reason
            assert trial.budget == 3, "what was begun was reported"
            assert (tmp_path / f"epochs-{trial.number}").read_text().split() == ["1", "2", "3"]
        assert audit(study).findings == []
    with program(PROGRAM, tmp_path, workers, 600, "train") as other:
        other.communicate()
    assert other.returncode == 0
    for number in range(2):
        epochs = (tmp_path / f"epochs-{number}").read_text().split()
        assert epochs == [str(epoch + 1) for epoch in range(9)], "no epoch is trained twice"


@pytest.mark.parametrize(("workers", "again"), [(1, False), (1, True), (2, False)])
def test_trials_that_do_not_report_are_ended(tmp_path: Path, workers: int, again: bool) -> None:
    with started(tmp_path, workers, 600 if again else 0.1, "silent") as running:
        running.send_signal(signal.SIGTERM)
        if again:
            hear(running.stderr, "told to terminate")
            running.send_signal(signal.SIGTERM)
        running.communicate()
    assert running.returncode == 128 + signal.SIGTERM
    with xs.Study.open("s", tmp_path / "s.db") as study:
        assert [trial.state for trial in study.history.trials] == [xs.State.WAITING] * workers
