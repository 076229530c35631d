"""Kill -9 at random moments: no acknowledged report is missing, no trial is stuck, every decision can be recomputed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import xstar as xs
from xstar.audit import audit
from xstar.journal import events as ev

PROGRAM = Path(__file__).with_name("program.py")
KILLS = 50
TRIALS = 400

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes through /proc")


def children(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == pid:
                found.append(int(entry.name))
    return found


def workers_of_study(database: Path) -> list[int]:
    """Worker processes of any program on this database, found by a mark that programs hand down in the environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
                marked = f"XSTAR_TEST={database}".encode() in (entry / "environ").read_bytes()
            except OSError:
                continue
            if marked and b"xstar.executors.worker" in words:
                found.append(int(entry.name))
    return found


@pytest.mark.timeout(600)
def test_nothing_is_lost_when_anything_is_killed(tmp_path: Path) -> None:
    database, acknowledged = tmp_path / "crash.db", tmp_path / "acknowledged.txt"
    dice = random.Random(11)
    errors = tmp_path / "errors.txt"

    def start(trials: int) -> subprocess.Popen[bytes]:
        with errors.open("ab") as file:
            return subprocess.Popen(
                [sys.executable, str(PROGRAM), str(database), str(acknowledged), str(trials), "2"],
                stderr=file,
                env={**os.environ, "XSTAR_TEST": str(database)},
            )

    programs: list[subprocess.Popen[bytes]] = []
    killed = {"worker": 0, "program": 0}
    try:
        for _ in range(KILLS):
            programs = [program for program in programs if program.poll() is None]
            while len(programs) < 2:
                programs.append(start(TRIALS))
            time.sleep(dice.uniform(0.0, 1.2))
            victim = dice.choice(programs)
            workers = children(victim.pid)
            if workers and dice.random() < 0.4:
                os.kill(dice.choice(workers), signal.SIGKILL)
                killed["worker"] += 1
            else:
                victim.kill()
                victim.wait()
                killed["program"] += 1
        programs = [program for program in programs if program.poll() is None] or [start(TRIALS)]
        for program in programs:
            assert program.wait(timeout=240) == 0, errors.read_text()[-3000:]
    finally:
        for program in programs:
            program.kill()
            program.wait()
    assert killed["worker"] > 5
    assert killed["program"] > 5

    with xs.Study.open("crash", storage=database) as study:
        history = study.history
        assert len(history.trials) == TRIALS
        assert history.count(xs.State.RUNNING, xs.State.WAITING, xs.State.PAUSED) == 0
        told = {
            (event.trial, event.attempt, event.budget, event.metrics["value"])
            for event in study.journal.read(0)
            if isinstance(event, ev.Reported)
        }
        for line in acknowledged.read_text().splitlines():
            trial, attempt, budget, value = json.loads(line)
            # A resumed run without a checkpoint repeats epochs that are on record; those repeats are not recorded again.
            assert any((trial, earlier, budget, value) in told for earlier in range(attempt + 1)), line
        for trial in history.trials:
            if trial.state is xs.State.COMPLETE:
                assert [reading.budget for reading in trial.reports] == [1, 2, 3, 4]
            else:
                assert trial.crashes == 2 or trial.losses > 5, trial.reason
        result = audit(study)
        assert result.findings == []
        assert result.decisions > TRIALS
        assert history.count(xs.State.COMPLETE) > 0.9 * TRIALS

    deadline = time.monotonic() + 10
    while workers_of_study(database) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert workers_of_study(database) == []
