"""Leases are renewed while trials run, and outlive a busy interpreter, not a stopped or a dead program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.waiting import PATIENCE, until
from xstar.core.clock import wall_clock
from xstar.journal import events as ev
from xstar.look.audit import audit
from xstar.run.orphans import taken_over
from xstar.storage import SqlStorage, connections, leases, sql
from xstar.storage.connections import Statements
from xstar.storage.leases import Heartbeat


class Running:
    """How many trials run; it counts how often it was asked, once in each beat."""

    def __init__(self) -> None:
        self.trials = self.asked = 0

    def __len__(self) -> int:
        self.asked += 1
        return self.trials


class Leases:
    lease_seconds = 60.0

    def __init__(self) -> None:
        self.renewed = 0

    def renew(self, now: float) -> None:
        self.renewed += 1


def test_leases_are_renewed_only_while_a_trial_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "BEATS_PER_LEASE", 6000)  # every hundredth of a second
    running, held = Running(), Leases()
    beats = Heartbeat(held, running, wall_clock, wall_clock)  # type: ignore[arg-type]

    def beat(times: int) -> int:
        """How many leases are renewed by then. The last beat asked may not have renewed yet."""
        last = running.asked + times
        until(lambda: running.asked >= last)
        return held.renewed

    beats.start()
    try:
        for trials in (0, 2, 0, 1):
            running.trials = trials
            before = beat(2)  # one that asked before may be renewing
            after = beat(4)
            assert after - before >= 3 if trials else after == before
    finally:
        beats.stop()


# ---------------------------------------------------------------- a busy, a stopped and a dead program


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes through /proc")

LEASE = 1.0

# Functions of a PyDLL keep the interpreter while they run, and the switch interval keeps it between them.
PROGRAM = """
import ctypes, os, pathlib, sys, time
import xstar as xs
from xstar.storage import sql

storage, name, folder, how = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), sys.argv[4]
sql.LEASE_SECONDS = float(sys.argv[5])
limit = 1000.0 if how == "worker" else None  # with a time limit the objective runs in a process of its own
go = os.fsencode(folder / "go")

def objective(trial):
    library = ctypes.PyDLL(None)
    saved = trial.checkpoint / "saved"
    saved.write_text(f"attempt {trial.attempt}")
    if how == "busy":
        sys.setswitchinterval(1e6)
    (folder / "began").touch()
    while library.access(go, 0):
        library.usleep(1000)
    sys.setswitchinterval(0.005)
    saved.write_text(f"attempt {trial.attempt}, to the end")
    return 1.0

space = xs.Space(x=xs.Float(0, 1))
xs.minimize(objective, space, trials=1, study=name, storage=storage, directory=folder / "files",
            method="random", executor=xs.Processes(timeout=limit))
"""


Start = Callable[[str], "subprocess.Popen[bytes]"]


@pytest.fixture
def start(storage: str, name: str, tmp_path: Path) -> Iterator[Start]:
    """Start a program, in whose objective something has happened when this returns."""
    made: list[subprocess.Popen[bytes]] = []

    def start(how: str) -> subprocess.Popen[bytes]:
        made.append(subprocess.Popen([sys.executable, "-c", PROGRAM, storage, name, str(tmp_path), how, str(LEASE)]))
        until((tmp_path / "began").exists)
        return made[-1]

    yield start
    for program in made:
        program.kill()
        program.wait()


def renewers(program: int) -> list[list[str]]:
    """The command lines of the processes that renew the leases of a program."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_text(errors="replace").split("\0")[:-1]
        except OSError:
            continue
        if words[3:4] and words[3].endswith("renewer.py") and words[-1] == str(program):
            found.append(words)
    return found


@needs_proc
def test_who_holds_the_interpreter_keeps_the_trial(storage: str, name: str, tmp_path: Path, start: Start) -> None:
    program = start("busy")
    place = SqlStorage(storage)
    journal = place.open(name)
    query = "SELECT expires FROM xstar_leases WHERE study = ?"
    seen: list[float] = []

    def renewed() -> bool:
        expires = place.database.read(lambda database: database.value(query, (journal.study,)))
        if expires is not None and expires not in seen:
            seen.append(expires)
        return len(seen) > 3  # the thread may have begun a renewal before it lost the interpreter, not three

    until(renewed)
    assert [words[4:] for words in renewers(program.pid)] == [[str(LEASE), str(program.pid)]], "no URL, no password"
    (tmp_path / "go").touch()
    assert program.wait() == 0
    assert not [event for event in journal.read(0) if isinstance(event, ev.Lost)]
    until(lambda: not renewers(program.pid))
    place.close()


@needs_proc
@pytest.mark.parametrize("how", ["inline", "worker"])
def test_who_is_stopped_loses_the_trial(
    storage: str, name: str, tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    program = start(how)
    monkeypatch.setattr(sql, "LEASE_SECONDS", LEASE)
    program.send_signal(signal.SIGSTOP)
    found: list[str] = []

    def objective(trial: Any) -> float:
        found.append((trial.checkpoint / "saved").read_text())
        (trial.checkpoint / "saved").write_text("mine")
        return 0.5

    with xs.Study.open(name, storage) as study:
        space = study.space
    result = xs.minimize(
        objective, space, trials=1, study=name, storage=storage, directory=tmp_path / "files", method="random"
    )
    program.send_signal(signal.SIGCONT)
    (tmp_path / "go").touch()
    assert program.wait() == 0, "a late report of a lost trial ends nothing"
    (trial,) = result.study.trials
    assert (trial.attempt, trial.runs.homes, trial.value, found) == (1, (0, 1), 0.5, ["attempt 0"])
    assert result.checkpoint is not None
    assert (result.checkpoint / "saved").read_text() == "mine"
    first = result.study.files.of(0)
    if how == "inline":
        assert (first / "checkpoint" / "saved").read_text() == "attempt 0, to the end", "it went on, elsewhere"
    else:
        assert taken_over(str(first)), "its worker was ended"
    assert audit(result.study).findings == []
    result.study.close()


@needs_proc
def test_the_renewer_of_a_killed_program_ends(name: str, tmp_path: Path, start: Start) -> None:
    program = start("busy")
    until(lambda: renewers(program.pid))
    os.kill(program.pid, signal.SIGKILL)
    program.wait()
    until(lambda: not renewers(program.pid))


def test_who_is_stopped_in_a_transaction_locks_nobody_out(
    postgres: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "IDLE_SECONDS", 1)
    space = xs.Space(x=xs.Float(0, 1))
    one, two = (xs.Study(space, study=name, storage=postgres, method="random", seed=1) for _ in range(2))
    trial = one.ask()
    assert trial is not None
    held, go, tries = threading.Event(), threading.Event(), []

    def renew(database: Statements) -> None:
        tries.append(True)
        database.execute("UPDATE xstar_leases SET expires = expires + 1")
        held.set()
        go.wait(PATIENCE)

    assert one.storage is not None
    stopped = threading.Thread(target=one.storage.database.write, args=(renew,))
    stopped.start()
    assert held.wait(PATIENCE)
    two.tell(two.refresh().trials[0], 0.5)  # which ends the lease
    go.set()
    stopped.join()
    assert len(tries) > 1, "what was cut off is tried again"
    assert one.refresh().trials[0].value == 0.5
    one.close()
    two.close()
