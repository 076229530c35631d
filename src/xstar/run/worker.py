"""The program of one worker process (``processes.py`` starts it).

It is started as a program of its own rather than through ``multiprocessing``, so a user's script needs no
``if __name__ == "__main__"`` and is not imported a second time. Its supervisor ends it together with every process that the
objective started, also when the main program dies.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import sys
import traceback
from multiprocessing.connection import Connection
from typing import Any

import cloudpickle

from xstar.core.goals import Goals
from xstar.core.hints import warn_once
from xstar.core.processes import started
from xstar.journal.trial import Failure, Job
from xstar.run.carrying import Carrier
from xstar.run.descriptors import identity
from xstar.run.devices import Place
from xstar.run.memory import give_back
from xstar.run.objective import Objective, describe, leave_if_forked
from xstar.run.orphans import Process, on_record, take_over
from xstar.run.output import output_to
from xstar.run.pool import CLOSED
from xstar.run.run import Answer, run_job

# to a worker     ("begin", pickle of (sys.path or None, pickle of (objective, goals)), Place, Carrier or None)
#                 ("job", pickle of a Job, its packed checkpoint or None)
#                 ("stop", (trial, attempt), None) · ("continue", (trial, attempt), new stop): the answer at a run's stop
# from a worker   ("ready",) · ("unloadable", traceback) · and, all with the (trial, attempt) they speak of:
#                 ("report", run, budget, metrics) · ("finished", run, whole) · ("failed", run, kind, reason)
#                 ("note", run, attrs) · ("warning", run, key, text): for the user, who hears each key once
#                 with a carrier also ("checkpoint", run, packed) before a report · ("output", run, {name: bytes}) at the end


class Link:
    """The connection to the main program. Only the process that was started as the worker may speak."""

    def __init__(self, connection: Connection[Any, Any]) -> None:
        self._connection = connection
        self._identity = identity(connection.fileno())
        self.owner = os.getpid()
        self.receive = connection.recv
        self.waiting = connection.poll

    def send(self, *message: Any) -> None:
        leave_if_forked(self.owner)
        self.check()
        self._connection.send(message)

    def check(self) -> None:
        """End the process if the objective closed the connection: under its number may be a file of the objective's now."""
        if identity(self._connection.fileno()) != self._identity:
            os._exit(CLOSED)


def main(socket: int, starter: int) -> None:
    """Serve jobs until the main program, process ``starter``, closes the connection."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)  # type: ignore[union-attr]
    os.set_inheritable(socket, False)
    link = Link(Connection(socket))
    program = (starter, started(starter))
    faulthandler.enable()
    try:
        _, payload, place, carrier = link.receive()
        path, rest = cloudpickle.loads(payload)
        if path is not None:
            sys.path[:] = path
        objective, goals = cloudpickle.loads(rest)
    except Exception:
        link.send("unloadable", traceback.format_exc())
        return
    link.send("ready")
    while True:
        try:
            kind, *rest = link.receive()
        except EOFError:
            return
        if kind == "job":
            job, brought = cloudpickle.loads(rest[0]), rest[1]
            run = (job.trial, job.attempt)
            try:
                if carrier is None:
                    take_over(job)
                else:
                    job = carrier.bring(job, brought)
            except Exception as error:
                link.send("failed", run, *describe(error, job))
            else:
                _run(link, objective, goals, job, place, program, carrier)


def _run(
    link: Link, objective: Objective, goals: Goals, job: Job, place: Place, program: Process, carrier: Carrier | None
) -> None:
    channel = _LinkChannel(link, job, carrier)
    run = (job.trial, job.attempt)
    with output_to(job.directory), on_record(job.directory, program):
        outcome = run_job(objective, goals, job, channel, place)
        link.check()
        try:
            channel.keep()
        except Exception as error:
            if not isinstance(outcome, Failure):
                outcome = Failure(*run, *describe(error, job))
        if isinstance(outcome, Failure):
            with contextlib.suppress(OSError):  # into the trial's own file
                os.write(2, f"{outcome.reason}\n".encode("utf-8", "backslashreplace"))
    give_back()
    # Sent after the output is closed: who hears of the end may read the files.
    if carrier is not None:
        link.send("output", run, carrier.output(job))
    if isinstance(outcome, Failure):
        link.send("failed", run, outcome.kind, outcome.reason)
    else:
        link.send("finished", run, outcome.whole)


class _LinkChannel:
    """What one run says over the link, and hears."""

    def __init__(self, link: Link, job: Job, carrier: Carrier | None) -> None:
        self._link = link
        self._job, self._carrier = job, carrier
        self._run = (job.trial, job.attempt)
        self._budget = 0

    def keep(self) -> None:
        """Bring the checkpoint to safety, if it is not kept where the objective saves it."""
        if self._carrier is not None and (data := self._carrier.keep(self._job)) is not None:
            self._link.send("checkpoint", self._run, data)

    def report(self, budget: int, metrics: dict[str, float]) -> None:
        self.keep()
        self._budget = budget
        self._link.send("report", self._run, budget, metrics)

    def note(self, attrs: dict[str, Any]) -> None:
        self._link.send("note", self._run, attrs)

    def warn(self, key: str, text: str) -> None:
        warn_once(key, text)  # into the trial's own stderr, and to the main program's log
        self._link.send("warning", self._run, key, text)

    def answer(self, *, wait: bool) -> Answer | None:
        found: Answer | None = None
        wait = wait and self._budget != self._job.full  # there it ends in any case
        while (wait and found is None) or self._link.waiting():
            kind, run, stop = self._link.receive()
            if run == self._run:  # not about an earlier job
                found = Answer(kind == "stop", stop)
                if found.end:
                    break
        return found
