"""No trial is run beside its own orphan: a run that outlived the program that started it.

A worker that runs a trial says so in the trial's folder (``worker.txt``: machine, process, start of the process) and takes the
file away when the run is over. Whoever runs the trial next finds the file of a run that was not over, kills its process group
and waits until it is gone. Before it calls the objective, a worker makes sure that its main program still lives. The next
run looks at the file after that program's death; so either the file was there to be seen, or the worker looks for its program
later than that, and does not begin.

This is about one machine. A run on another machine is known by its lease alone: a program that was stopped, or cut off from the
database, loses its trials after the lease, and when it goes on it writes to its directory as if nothing had happened. So the
next attempt trains in another one (:func:`take_over`), which begins with a copy of what was saved so far: a link would show
what is written to the old file later. Which directories a trial has had, and which one counts, follows from the journal
(``Runs.homes``); the others are never read again.
"""

from __future__ import annotations

import functools
import os
import platform
import shutil
import signal
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from xstar.core.clock import monotonic_clock
from xstar.core.processes import ZOMBIE, machine, session_members, started
from xstar.errors import ObjectiveError
from xstar.journal.trial import Job, folder_name

RECORD = "worker.txt"
PROGRAM_RECORD = "program.txt"
"""The same for a program that a worker started (``programs/session.py``), which has a session of its own."""
RECORDS = (RECORD, PROGRAM_RECORD)

END_WITHIN = 60.0
"""Seconds for which a killed process may take to die: one that waits for a disk or a GPU's driver does not die at once."""


Process = tuple[int, str | None]
"""The number of a process and when it started (``core/processes.py``)."""


@contextmanager
def on_record(directory: str | None, program: Process) -> Iterator[None]:
    """Run a trial in this worker of a program: alone, and known to be running."""
    if directory is None:
        yield
        return
    end_orphan(directory)
    path, own = Path(directory) / RECORD, os.getpid()
    put_on_record(path, os.getsid(0))
    try:
        if started(program[0]) != program[1]:
            os._exit(1)  # an orphan itself; the file is as good as any other of the dead
        yield
    finally:
        if os.getpid() == own:  # not in a process that the objective forked
            path.unlink(missing_ok=True)


def put_on_record(path: Path, leader: int) -> None:
    """Say which process leads the session in which a trial runs."""
    path.write_text(f"{_here()}|{leader}|{started(leader) or ''}\n")


_here = functools.cache(machine)


def end_orphan(directory: str | None, record: str = RECORD) -> None:
    """Kill what still runs a trial on this machine, and wait until it is dead."""
    if directory is None:
        return
    path = Path(directory) / record
    try:
        where, pid, start = path.read_text().strip().split("|")
        group = int(pid)
    except (
        OSError,
        ValueError,
    ):  # no such file; or its writer was killed before the line was whole, so before it began
        return
    if where != _here() or group == os.getsid(0):
        return
    deadline = monotonic_clock() + END_WITHIN
    while _alive(group, start):
        for member in session_members(group):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(member, signal.SIGKILL)
        if monotonic_clock() > deadline:
            raise ObjectiveError(
                f"an earlier run of this trial, process {group}, was killed but does not die; end it first"
            )
        time.sleep(0.01)
    path.unlink(missing_ok=True)


def _alive(group: int, start: str) -> bool:
    """Whether a process lives in the session whose leader has this number and start."""
    now = started(group)
    if now is not None and now not in (ZOMBIE, start):
        return False  # the number of a group is not given to a new process while the group lives: this one is gone
    return bool(start and session_members(group))  # without a start (not Linux) nobody could say whom we would kill


NOTE = "taken-over.txt"
TRIES = 10
"""Files may come and go while they are copied, if the other one is at it; not ten times in a row."""


def take_over(job: Job) -> None:
    """End what still runs the trial on this machine, and make the directory of this attempt, unless an earlier one has."""
    if job.directory is None or len(job.homes) == 1:
        return
    own = Path(job.directory)
    earlier = [own.with_name(folder_name(job.trial, home)) for home in reversed(job.homes[:-1])]
    for folder in earlier:
        for record in RECORDS:
            if (folder / record).exists():
                (folder / NOTE).write_text(f"process {os.getpid()} on {platform.node()}")
            end_orphan(str(folder), record)
    source = next((folder for folder in earlier if folder.is_dir()), None)
    if own.is_dir() or source is None:
        return
    part = own.with_name(f".{own.name}-{uuid.uuid4().hex[:12]}")
    try:
        for left in range(TRIES, 0, -1):
            try:
                _copy(source, part)
                break
            except FileNotFoundError:
                shutil.rmtree(part)
                if left == 1:
                    raise
        with suppress(OSError):  # someone else was first: then it is as good as ours
            part.rename(own)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def taken_over(directory: str | None) -> str | None:
    """Who has ended the run in this directory, to take its trial over."""
    try:
        by = None if directory is None else (Path(directory) / NOTE).read_text()
    except OSError:
        return None
    return by and f"the worker was ended by {by}, which took the trial over: its program had been silent for too long"


def _copy(source: Path, target: Path) -> None:
    """Links as links, and nothing that is neither file nor folder."""
    target.mkdir()
    with os.scandir(source) as entries:
        for entry in entries:
            to = target / entry.name
            if entry.is_symlink():
                to.symlink_to(os.readlink(entry.path))
            elif entry.is_dir():
                _copy(Path(entry.path), to)
            elif entry.is_file() and entry.name not in (*RECORDS, NOTE):
                shutil.copy2(entry.path, to)
                with to.open("rb") as file:
                    os.fsync(file.fileno())
