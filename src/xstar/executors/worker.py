"""The program of one worker process, which ``start_worker.py`` begins.

It is started as a program of its own rather than through ``multiprocessing``, so a user's script needs no
``if __name__ == "__main__"`` and is not imported a second time. It leads a session and a process group, so that it can be
ended together with every process the objective started. When the main program dies, its guard ends that group; should the
guard be gone, a thread does, which notices on the lifeline (a pipe whose other end only the main program holds).
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import cloudpickle

from xstar.executors.objective import Objective, RunningTrial, describe, drive, leave_if_forked, warn_once
from xstar.executors.orphans import on_record
from xstar.trial import Job

# to a worker     ("begin", pickle of (sys.path, pickle of (objective, metric))) · ("job", pickle of a Job)
#                 ("stop", (trial, attempt), None) · ("continue", (trial, attempt), new stop): the answer at a run's stop
# from a worker   ("ready",) · ("broken", traceback) · and, all with the (trial, attempt) they speak of:
#                 ("report", run, budget, metrics) · ("finished", run) · ("failed", run, kind, reason)
#                 ("warning", run, key, text): for the user, who hears each key once


class Link:
    """The connection to the main program. Only the process that was started as the worker may speak."""

    def __init__(self, connection: Connection[Any, Any]) -> None:
        self._connection = connection
        self.owner = os.getpid()
        self.receive = connection.recv
        self.waiting = connection.poll

    def send(self, *message: Any) -> None:
        leave_if_forked(self.owner)
        self._connection.send(message)


def main(socket: int, lifeline: int, parent: int) -> None:
    """Serve jobs until the main program, process ``parent``, closes the connection."""
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    for file in (socket, lifeline):
        os.set_inheritable(file, False)
    link = Link(Connection(socket))
    threading.Thread(target=_die_with, args=(lifeline,), daemon=True).start()
    faulthandler.enable()
    try:
        _, payload = link.receive()
        path, rest = cloudpickle.loads(payload)
        sys.path[:] = path
        objective, metric = cloudpickle.loads(rest)
    except Exception:
        link.send("broken", traceback.format_exc())
        return
    link.send("ready")
    while True:
        try:
            kind, *rest = link.receive()
        except EOFError:
            return
        if kind == "job":
            _run(link, objective, metric, cloudpickle.loads(rest[0]), parent)


def _run(link: Link, objective: Objective, metric: str, job: Job, parent: int) -> None:
    run, failure = (job.trial, job.attempt), None
    with _output_to(job.directory), on_record(job.directory, parent):
        trial = RunningTrial(job)

        def warn(key: str, text: str) -> None:
            warn_once(key, text)  # into the trial's own stderr, and to the main program's log
            link.send("warning", run, key, text)

        steps = drive(objective, trial, job, metric, warn)
        try:
            for budget, metrics in steps:
                link.send("report", run, budget, metrics)
                if _told_to_stop(link, trial, waiting=budget == trial.stop):
                    break
            steps.close()
            leave_if_forked(link.owner)
        except (Exception, SystemExit) as error:  # sys.exit() in an objective ends the trial, not the worker
            leave_if_forked(link.owner, error)
            traceback.print_exc()
            failure = describe(error)
    # Sent after the output is closed: who hears of the end may read the files.
    if failure is None:
        link.send("finished", run)
    else:
        link.send("failed", run, *failure)


def _told_to_stop(link: Link, trial: RunningTrial, *, waiting: bool) -> bool:
    """Hear what the main program says: at the run's stop wait for it, elsewhere only look whether it said something."""
    while waiting or link.waiting():
        kind, run, stop = link.receive()
        if run != (trial.number, trial.attempt):
            continue  # about an earlier job
        if kind == "stop":
            return True
        trial.stop, waiting = stop, False
    return False


@contextlib.contextmanager
def _output_to(directory: str | None) -> Iterator[None]:
    """Send file descriptors 1 and 2 (so C code and child processes too) to the trial's own files."""
    if directory is None:
        yield
        return
    Path(directory).mkdir(parents=True, exist_ok=True)
    kept = [(number, os.dup(number)) for number in (1, 2)]
    for number, name in ((1, "stdout.txt"), (2, "stderr.txt")):
        file = os.open(os.path.join(directory, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(file, number)
        os.close(file)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, old in kept:
            os.dup2(old, number)
            os.close(old)


def _die_with(lifeline: int) -> None:
    """Block until the main program is gone, then end this process and all its children."""
    with contextlib.suppress(OSError):
        os.read(lifeline, 1)
    os.killpg(os.getpgrp(), signal.SIGKILL)
