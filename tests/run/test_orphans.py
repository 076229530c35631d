"""When the main program is killed: its workers die with it, whatever they do, and no trial is run beside its own orphan."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.waiting import gone, program, text_of
from xstar.core.processes import machine, started
from xstar.run.orphans import RECORD, end_orphan

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes through /proc")

SPACE = xs.Space(x=xs.Float(0, 1))

# The objective calls C without giving up the interpreter's lock: no thread of the worker runs any more. What it calls starts a
# process, which says so: from then on the lock is held for good.
PROGRAM = """
import ctypes, os, sys
import xstar as xs
folder = sys.argv[1]
def objective(trial):
    command = f"echo {os.getpid()} $$ > {folder}/pids.txt; exec sleep 1000"
    ctypes.PyDLL(None).system(command.encode())
    return 1.0
xs.minimize(objective, xs.Space(x=xs.Float(0, 1)), trials=2, executor=xs.Processes(timeout=1000), study="s",
            storage=f"{folder}/s.db")
"""


def alive(pid: int) -> bool:
    return started(pid) not in (None, "zombie")


@pytest.fixture
def stuck(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], int, int]]:
    """A program, its worker which holds the interpreter's lock, and a process that the worker started."""
    worker = 0
    try:
        with program(PROGRAM, tmp_path, stdout=None, stderr=None) as running:
            worker, child = map(int, text_of(tmp_path / "pids.txt").split())
            yield running, worker, child
    finally:
        if worker and alive(worker):
            os.killpg(os.getsid(worker), signal.SIGKILL)


def test_a_worker_that_holds_the_interpreters_lock_dies_with_its_program(
    stuck: tuple[subprocess.Popen[str], int, int],
) -> None:
    running, worker, child = stuck
    running.kill()
    running.wait()
    assert gone(worker)
    assert gone(child)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_trial_is_not_run_beside_its_orphan(
    stuck: tuple[subprocess.Popen[str], int, int], tmp_path: Path, workers: int
) -> None:
    running, worker, child = stuck
    running.send_signal(signal.SIGSTOP)
    os.kill(os.getsid(worker), signal.SIGKILL)  # its supervisor: now nothing can end the worker
    running.kill()
    running.wait()
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
