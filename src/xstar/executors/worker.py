"""The program of one worker process: ``python -m xstar.executors.worker SOCKET LIFELINE``.

It is started as a program of its own rather than through ``multiprocessing``, so a user's script needs no
``if __name__ == "__main__"`` and is not imported a second time. It leads a session and a process group, so that it can be
ended together with every process the objective started; and it ends that group itself when the main program dies, which it
notices on the lifeline (a pipe whose other end only the main program holds).
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

from xstar.executors.objective import Objective, RunningTrial, describe, drive
from xstar.trial import Job

# to a worker     ("begin", pickle of (sys.path, pickle of (objective, metric))) · ("job", pickle of a Job)
#                 ("stop", (trial, attempt), None) · ("continue", (trial, attempt), new stop): the answer at a run's stop
# from a worker   ("ready",) · ("broken", traceback) · ("report", budget, metrics) · ("finished",) · ("failed", kind, reason)


def main() -> None:
    """Serve jobs until the main program closes the connection."""
    connection: Connection[Any, Any] = Connection(int(sys.argv[1]))
    os.set_inheritable(connection.fileno(), False)
    threading.Thread(target=_die_with, args=(int(sys.argv[2]),), daemon=True).start()
    faulthandler.enable()
    try:
        _, payload = connection.recv()
        path, rest = cloudpickle.loads(payload)
        sys.path[:] = path
        objective, metric = cloudpickle.loads(rest)
    except Exception:
        connection.send(("broken", traceback.format_exc()))
        return
    connection.send(("ready",))
    while True:
        try:
            kind, *rest = connection.recv()
        except EOFError:
            return
        if kind == "job":
            _run(connection, objective, metric, cloudpickle.loads(rest[0]))


def _run(connection: Connection[Any, Any], objective: Objective, metric: str, job: Job) -> None:
    with _output_to(job.directory):
        trial = RunningTrial(job)
        steps = drive(objective, trial, job, metric)
        try:
            for budget, metrics in steps:
                connection.send(("report", budget, metrics))
                if _told_to_stop(connection, trial, waiting=budget == trial.stop):
                    break
            steps.close()
            message: tuple[Any, ...] = ("finished",)
        except (Exception, SystemExit) as error:  # sys.exit() in an objective ends the trial, not the worker
            traceback.print_exc()
            message = ("failed", *describe(error))
    # Sent after the output is closed: who hears of the end may read the files.
    connection.send(message)


def _told_to_stop(connection: Connection[Any, Any], trial: RunningTrial, *, waiting: bool) -> bool:
    """Hear what the main program says: at the run's stop wait for it, elsewhere only look whether it said something."""
    while waiting or connection.poll():
        kind, run, stop = connection.recv()
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


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    main()
