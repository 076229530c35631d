"""When the main program is killed: its workers die with it, whatever they do, and no trial is run beside its own orphan."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from xstar.core.processes import machine, session_members, started
from xstar.executors.orphans import RECORD, end_orphan

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes through /proc")

SPACE = xs.Space(x=xs.Float(0, 1))

# The objective starts a process, then holds the interpreter's lock for good: no thread of the worker runs any more.
PROGRAM = """
import os, pathlib, re, subprocess, sys
import xstar as xs
folder = pathlib.Path(sys.argv[1])
def objective(trial):
    child = subprocess.Popen(["sleep", "1000"])
    (folder / "pids.new").write_text(f"{os.getpid()} {child.pid}")
    (folder / "pids.new").rename(folder / "pids.txt")
    re.match(r"(a+)+$", "a" * 60 + "b")
    return 1.0
xs.minimize(objective, xs.Space(x=xs.Float(0, 1)), trials=2, workers=1, timeout=1000, study="s", storage=folder / "s.db")
"""


def alive(pid: int) -> bool:
    return started(pid) not in (None, "zombie")


def wait_until(what: Any) -> None:
    deadline = time.monotonic() + 60
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def stuck(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], int, int]]:
    """A program, its worker which holds the interpreter's lock, and a process that the worker started."""
    program = subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path)])
    worker = 0
    try:
        wait_until((tmp_path / "pids.txt").exists)
        worker, child = map(int, (tmp_path / "pids.txt").read_text().split())
        time.sleep(0.5)  # let it reach the regular expression
        yield program, worker, child
    finally:
        program.kill()
        program.wait()
        if worker and session_members(worker):
            os.killpg(worker, signal.SIGKILL)


def test_a_worker_that_holds_the_interpreters_lock_dies_with_its_program(
    stuck: tuple[subprocess.Popen[bytes], int, int],
) -> None:
    program, worker, child = stuck
    program.kill()
    program.wait()
    wait_until(lambda: not alive(worker) and not alive(child))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_trial_is_not_run_beside_its_orphan(
    stuck: tuple[subprocess.Popen[bytes], int, int], tmp_path: Path, workers: int
) -> None:
    program, worker, child = stuck
    (guard,) = set(session_members(worker)) - {worker, child}
    os.kill(guard, signal.SIGKILL)  # now nothing can end the worker
    program.kill()
    program.wait()
    assert alive(worker)

    def objective(trial: Any) -> float:
        if trial.number == 0:
            assert not alive(worker), "the trial's earlier run still lives"
            assert not alive(child), "what it started still lives"
        return 1.0

    result = xs.minimize(objective, SPACE, trials=2, workers=workers, study="s", storage=tmp_path / "s.db")
    first, second = result.study.history.trials
    assert (first.state, first.attempt) == (xs.State.COMPLETE, 1), first.reason
    assert second.state is xs.State.COMPLETE
    assert not list(result.study.files.folder.rglob(RECORD)), "a run that is over is not on record"
    result.study.close()


def test_only_the_process_on_record_is_killed(tmp_path: Path) -> None:
    innocent = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    try:
        pid, start = innocent.pid, started(innocent.pid)
        for line in (
            f"{machine()}|{pid}|1",  # the number was given to another process since
            f"{machine()}|{pid}|",  # nobody knows when it started
            f"another machine|{pid}|{start}",
            f"{machine()}|{os.getpid()}|{started(os.getpid())}",
            f"{machine()}|{pid}",
            "",
        ):
            (tmp_path / RECORD).write_text(line)
            end_orphan(str(tmp_path))
            assert innocent.poll() is None, line
        (tmp_path / RECORD).write_text(f"{machine()}|{pid}|{start}\n")
        end_orphan(str(tmp_path))
        assert innocent.wait() == -signal.SIGKILL
    finally:
        innocent.kill()
        innocent.wait()
