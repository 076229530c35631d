"""Eight processes share one study and finish its trials between them."""

from __future__ import annotations

import subprocess
import sys

import pytest

import xstar as xs
from xstar.inspect.audit import audit

TRIALS = 200
PROCESSES = 8

PROGRAM = """
import sys, time
import xstar as xs
def objective(trial):
    time.sleep(0.001)
    return trial["x"]
storage, name, trials = sys.argv[1:]
space = xs.Space(x=xs.Float(0, 1))
result = xs.minimize(objective, space, trials=int(trials), method="random", study=name, storage=storage, seed=4)
result.study.close()
"""


@pytest.mark.timeout(300)
def test_eight_processes_finish_200_trials_between_them(storage: str, name: str) -> None:
    command = [sys.executable, "-W", "error", "-c", PROGRAM, storage, name, str(TRIALS)]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(PROCESSES)]
    for process in running:
        _, errors = process.communicate(timeout=240)
        assert process.returncode == 0, errors
        assert errors == ""
    with xs.Study.open(name, storage=storage) as study:
        history = study.history
        assert history.count(xs.State.COMPLETE) == len(history.trials) == TRIALS
        assert len({trial["x"] for trial in history.trials}) == TRIALS
        assert all(trial.attempt == 0 for trial in history.trials)
        assert audit(study).findings == []
