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
from xstar.inspect.audit import audit
from xstar.journal import events as ev

PROGRAM = Path(__file__).with_name("program.py")
KILLS = {"random": 50, "asha": 25}
ENDLESS = 1_000_000
"""Trials that the programs to be killed are told to run: they never come to an end by themselves."""

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


def some_workers(programs: list[subprocess.Popen[bytes]]) -> list[int]:
    """Workers of these programs, as soon as there are any: on a busy machine a program needs seconds to start them."""
    deadline = time.monotonic() + 60
    while not (found := [pid for program in programs for pid in children(program.pid)]):
        assert time.monotonic() < deadline
        time.sleep(0.05)
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
            if marked and b"start_worker.py" in words:
                found.append(int(entry.name))
    return found


@pytest.mark.timeout(600)
@pytest.mark.parametrize("method", ["random", "asha"])
def test_nothing_is_lost_when_anything_is_killed(tmp_path: Path, method: str) -> None:
    database, acknowledged = tmp_path / "crash.db", tmp_path / "acknowledged.txt"
    dice = random.Random(11)
    errors = tmp_path / "errors.txt"

    def start(trials: int) -> subprocess.Popen[bytes]:
        with errors.open("ab") as file:
            return subprocess.Popen(
                [sys.executable, str(PROGRAM), str(database), str(acknowledged), str(trials), "2", method],
                stderr=file,
                env={**os.environ, "XSTAR_TEST": str(database)},
            )

    programs: list[subprocess.Popen[bytes]] = []
    killed = {"worker": 0, "program": 0}
    try:
        for _ in range(KILLS[method]):
            programs = [program for program in programs if program.poll() is None]
            while len(programs) < 2:
                programs.append(start(ENDLESS))
            time.sleep(dice.uniform(0.0, 1.0))
            if dice.random() < 0.4:
                os.kill(dice.choice(some_workers(programs)), signal.SIGKILL)
                killed["worker"] += 1
            else:
                victim = dice.choice(programs)
                victim.kill()
                victim.wait()
                killed["program"] += 1
        for program in programs:
            program.kill()
            program.wait()
        with xs.Study.open("crash", storage=database) as study:
            # However few trials a busy machine began between the kills, there are enough to count.
            total = max(len(study.history.trials) + 20, 200)
        programs = [start(total), start(total)]
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
        assert len(history.trials) == total
        assert history.count(xs.State.RUNNING, xs.State.WAITING) == 0
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
            if trial.state in (xs.State.COMPLETE, xs.State.PAUSED):
                last = 4 if trial.state is xs.State.COMPLETE else trial.budget
                assert [reading.budget for reading in trial.reports] == list(range(1, last + 1))
                assert last in (1, 3, 4), "a trial pauses at rungs only"
            else:
                assert trial.crashes == 2 or trial.times_lost > 5, trial.reason
        result = audit(study)
        assert result.findings == []
        assert result.decisions > total > 50
        assert history.count(xs.State.COMPLETE, xs.State.PAUSED) > 0.9 * total
        assert bool(history.paused) == (method == "asha")

    deadline = time.monotonic() + 10
    while workers_of_study(database) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert workers_of_study(database) == []
