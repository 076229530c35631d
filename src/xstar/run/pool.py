"""What executors with worker processes have in common, wherever the processes are.

A pool has workers, gives each one job at a time, hears what they say about it, and ends those that overrun their time. Which
messages there are stands in ``worker.py``, the program that runs in each of them.
"""

from __future__ import annotations

import logging
import signal
from abc import ABC, abstractmethod
from collections.abc import Iterator, MutableSequence
from typing import Any, Generic, TypeVar, cast

import cloudpickle

from xstar.core.clock import monotonic_clock
from xstar.core.goals import Goals
from xstar.core.hints import warn_once
from xstar.core.words import BY_WHOM
from xstar.errors import ObjectiveError
from xstar.journal.messages import MEMORIES
from xstar.journal.trial import Failure, Finished, Job, Noted, Outcome, Report, Verdict
from xstar.run.contract import TICK
from xstar.run.objective import Objective
from xstar.run.orphans import taken_over

log = logging.getLogger("xstar")

TAIL = 2_000
"""Characters of a dead worker's stderr that go into the reason."""

FAILED_STARTS = 3
"""Workers killed in a row before they were ready, after which something is wrong with the machine or the imports."""


CLOSED = 199
"""The exit code of a worker whose connection the objective closed: it has no other way left to say so."""


def pickled(objective: Objective, goals: Goals, path: list[str] | None) -> bytes:
    """What a worker is sent at its start; ``path``: the ``sys.path`` in the place of its own."""
    try:
        # sys.path goes first: the objective's modules may only be found with it.
        return cast("bytes", cloudpickle.dumps((path, cloudpickle.dumps((objective, goals)))))
    except Exception as error:
        raise ObjectiveError(
            f"the objective cannot be sent to worker processes ({type(error).__name__}: {error}); "
            "open files, connections and locks inside the function instead of around it"
        ) from error


def exit_code(ended: str) -> int:
    """The exit code, as ``subprocess`` gives it, of what a supervisor says of an end."""
    how, _, what = ended.partition(" ")
    return int(what) if how == "exit" else -int(what) if how == "signal" else 1


def death(code: int, last_words: str) -> str:
    """How a worker process died, by its exit code as ``subprocess`` gives it."""
    if code == CLOSED:
        return (
            "the objective closed file descriptors of the worker that are not its own (os.closerange, say), its connection "
            "among them; have it close what it opened"
        )
    if code >= 0:
        how = f"the worker exited with code {code}"
    else:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        how = f"the worker was killed by signal {name}"
        if code == -signal.SIGKILL:
            how += BY_WHOM
    return how + (f"; its last output:\n{last_words}" if last_words else "")


class Worker(ABC):
    """One process and the job it has."""

    def __init__(self) -> None:
        self.job: Job | None = None
        self.deadline = float("inf")
        self.stop: int | None = None
        self.ready = False
        self.begun = False
        """Its job was sent: one that has to be alone may have to wait for that."""
        self.shared: set[str] = set()
        """Memories of which other runs had a part while its job ran."""

    @abstractmethod
    def send(self, message: tuple[Any, ...]) -> None:
        """Send a message. If the worker is gone, nothing happens: the pool finds out and says so."""

    @abstractmethod
    def messages(self) -> Iterator[Any]:
        """Those that have arrived. Raises ``EOFError`` or ``OSError`` behind the last one of a worker that is gone."""

    @abstractmethod
    def gone(self) -> bool:
        """Whether the process has ended."""

    @abstractmethod
    def how_it_died(self) -> str:
        """For the reason of a failure."""

    def may_live(self) -> bool:
        """Whether it is out of reach rather than dead."""
        return False

    @abstractmethod
    def end(self) -> None:
        """Kill the worker and every process it started, also when the worker itself is already gone."""


W = TypeVar("W", bound=Worker)


class WorkerPool(ABC, Generic[W]):
    """Workers, each running one trial at a time, each trial for at most ``timeout`` seconds."""

    uses_files = True

    def __init__(self, timeout: float | None) -> None:
        self._timeout = timeout
        self._failed_starts = 0
        self._later: list[Job] = []
        self._workers: MutableSequence[W] = []

    # ------------------------------------------------------------ where they differ

    @abstractmethod
    def _wait(self, seconds: float) -> None:
        """Block until a worker has something to say, at most so long."""

    @abstractmethod
    def _replace(self, worker: W) -> None:
        """End a worker that died or overran its time, and put another in its place, if there may be one."""

    @abstractmethod
    def _restart(self, worker: W) -> None:
        """Replace a worker that died before it was ready; its job, never begun, goes to another one."""

    def _where(self, worker: W) -> str:
        """In the message that an objective cannot be loaded: where, and what to do about it."""
        return "in a worker process"

    def _hear_more(self, worker: W, kind: str, words: list[Any]) -> None:
        """A message that only workers of this pool send."""
        raise AssertionError(f"a worker sent {kind!r}")

    def _pack(self, job: Job) -> tuple[Any, ...]:
        """The message that gives a worker its job."""
        return ("job", cloudpickle.dumps(job), None)

    @abstractmethod
    def _share(self, memory: str, one: W, other: W) -> bool:
        """Whether two workers have the same memory: that of a GPU, or of a machine."""

    # ------------------------------------------------------------ the contract of executors

    def free(self) -> int:
        return max(0, len(self._open()) - len(self._later))

    def _open(self) -> list[W]:
        """The workers that may take a job: they have none, and beside none of them is one that has to be alone."""
        alone = [(worker, worker.job.alone) for worker in self._workers if worker.job is not None and worker.job.alone]
        return [
            worker
            for worker in self._workers
            if worker.job is None and not any(self._share(memory, other, worker) for other, memory in alone)
        ]

    def idle(self) -> bool:
        return not self._later and all(worker.job is None for worker in self._workers)

    def submit(self, job: Job) -> None:
        if any(worker.job is not None and worker.job.trial == job.trial for worker in self._workers):
            # Promoted at once: its last run is still closing, and may be writing its checkpoint.
            self._later.append(job)
            return
        free = self._open()
        if free:
            self._assign(free[0], job)
        else:  # a worker was lost meanwhile
            self._later.append(job)

    def _assign(self, worker: W, job: Job) -> None:
        worker.job, worker.stop, worker.begun, worker.shared = job, job.stop, False, set()
        self._send_job(worker, job)

    def _send_job(self, worker: W, job: Job) -> None:
        """Have a worker run its job; one that has to be alone waits until no other run shares its memory."""
        for memory in MEMORIES:
            beside = [other for other in self._workers if other.begun and self._share(memory, other, worker)]
            if beside and job.alone == memory:
                return
            for each in (worker, *beside) if beside else ():
                each.shared.add(memory)
        worker.begun = True
        if self._timeout is not None and worker.ready:
            worker.deadline = monotonic_clock() + self._timeout
        worker.send(self._pack(job))

    def obey(self, report: Report, verdict: Verdict, stop: int | None) -> None:
        # By trial and attempt: one promoted at once may run here while its last run is still closing.
        run = (report.trial, report.attempt)
        for worker in self._workers:
            if worker.job is None or (worker.job.trial, worker.job.attempt) != run:
                continue
            if verdict is not Verdict.CONTINUE:
                worker.send(("stop", run, None))
            elif report.budget == worker.stop:  # it waits there to be told how to go on
                worker.stop = stop
                worker.send(("continue", run, stop))

    def poll(self) -> list[Outcome]:
        nearest = min((worker.deadline for worker in self._workers), default=float("inf"))
        self._wait(max(0.0, min(TICK, nearest - monotonic_clock())))
        found: list[Outcome] = []
        for worker in list(self._workers):
            dead = worker.gone()
            dead = not self._listen(worker, found) or dead
            job = worker.job
            if dead and not worker.ready:
                self._restart(worker)
                continue
            if dead:
                if job is not None and not worker.begun:
                    self._later.append(job)
                elif job is not None:
                    why = taken_over(job.directory) or worker.how_it_died()
                    found.append(Failure(job.trial, job.attempt, "killed", why, worker.may_live()))
            elif job is not None and monotonic_clock() >= worker.deadline:
                reason = f"it ran longer than the time limit of {self._timeout:g} s"
                found.append(Failure(job.trial, job.attempt, "timeout", reason))
            else:
                continue
            self._replace(worker)
        for worker in self._workers:
            if worker.job is not None and not worker.begun:
                self._send_job(worker, worker.job)
        later, self._later = self._later, []
        for job in later:
            self.submit(job)
        return found

    def close(self) -> None:
        for worker in self._workers:
            worker.end()
        self._workers = []

    def _free(self, worker: W) -> None:
        worker.job, worker.begun, worker.deadline = None, False, float("inf")

    # ------------------------------------------------------------ what workers say

    def _listen(self, worker: W, found: list[Outcome]) -> bool:
        """Take all messages of a worker; False if it is gone."""
        try:
            for kind, *rest in worker.messages():
                if kind == "ready":
                    worker.ready = True
                    if self._timeout is not None and worker.begun:
                        worker.deadline = monotonic_clock() + self._timeout  # importing is not the trial's time
                    self._failed_starts = 0
                elif kind == "unloadable":
                    raise ObjectiveError(f"the objective cannot be loaded {self._where(worker)}:\n{rest[0]}")
                else:
                    self._hear(worker, kind, rest, found)
        except (EOFError, OSError):
            return False
        return True

    def _hear(self, worker: W, kind: str, rest: list[Any], found: list[Outcome]) -> None:
        """What a worker says about a run: only about the one it was given."""
        (trial, attempt), *words = rest
        if worker.job is None or (worker.job.trial, worker.job.attempt) != (trial, attempt):
            log.warning("a worker spoke of trial %d, which it does not run; the message is ignored", trial)
        elif kind == "warning":
            warn_once(*words)
        elif kind == "report":
            found.append(Report(trial, attempt, *words))
        elif kind == "note":
            found.append(Noted(trial, attempt, *words))
        elif kind == "finished":
            self._free(worker)
            found.append(Finished(trial, attempt, *words))
        elif kind == "failed":
            beside = worker.job.alone is None and words[0] in worker.shared
            self._free(worker)
            found.append(Failure(trial, attempt, words[0], words[1], beside=beside))
        else:
            self._hear_more(worker, kind, words)
