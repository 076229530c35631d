"""Worker processes on this machine: trials run side by side, and none can take the program down with it.

Workers are kept for many trials (importing a training library can take longer than a short trial) and replaced when they
die or overrun their time.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import tempfile
from multiprocessing.connection import Pipe, wait
from pathlib import Path
from typing import IO, Any

import cloudpickle

from xstar.core.values import unwrap
from xstar.errors import InvalidArgument, ObjectiveError
from xstar.executors.clock import monotonic_clock
from xstar.executors.contract import TICK
from xstar.executors.devices import Place, share
from xstar.executors.objective import Objective, check_objective, warn_once
from xstar.trial import Failure, Finished, Job, Noted, Outcome, Report, Verdict

log = logging.getLogger("xstar")

TAIL = 2_000
"""Characters of a dead worker's stderr that go into the reason."""

FAILED_STARTS = 3
"""Workers killed in a row before they were ready, after which something is wrong with the machine or the imports."""


START = Path(__file__).with_name("start_worker.py")
ROOT = str(Path(__file__).parents[2])
"""The folder in which this program found xstar."""


class _Worker:
    """One process and the job it has."""

    def __init__(self, payload: bytes, place: Place, environment: dict[str, str]) -> None:
        self.connection, theirs = Pipe()
        ours_life, lifeline = os.pipe()
        self._lifeline = lifeline
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in end()
        self.job: Job | None = None
        self.deadline = float("inf")
        self.stop: int | None = None
        self.ready = False
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(START), *map(str, (theirs.fileno(), ours_life, os.getpid(), ROOT))],
            pass_fds=(theirs.fileno(), ours_life),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,  # its own group, to be ended as a whole; and Ctrl-C in the terminal is ours alone
        )
        theirs.close()
        os.close(ours_life)
        self.send(("begin", payload, place))

    def send(self, message: tuple[Any, ...]) -> None:
        with contextlib.suppress(OSError):  # it died; poll() finds out and says so
            self.connection.send(message)

    def end(self) -> None:
        """Kill the worker and every process it started, also when the worker itself is already gone."""
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS says "permission" of an empty group
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.connection.close()
        os.close(self._lifeline)
        self._log.close()

    def how_it_died(self) -> str:
        code = self.process.wait()
        if code >= 0:
            how = f"the worker exited with code {code}"
        else:
            name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
            how = f"the worker was killed by signal {name}"
            if code == -signal.SIGKILL:
                how += " (often the system running out of memory)"
        last = self.last_words()
        return how + (f"; its last output:\n{last}" if last else "")

    def last_words(self) -> str:
        if self.job is not None and self.job.directory is not None:
            path = Path(self.job.directory) / "stderr.txt"
            if path.is_file():
                with path.open("rb") as file:
                    file.seek(max(0, path.stat().st_size - TAIL))
                    return file.read().decode(errors="replace").strip()
        self._log.seek(0)
        return self._log.read()[-TAIL:].decode(errors="replace").strip()


def check_workers(
    workers: int, timeout: float | None, cores: int | None = None, gpus: float | None = None
) -> list[Place]:
    """A place for each worker, if there are such as a :class:`ProcessExecutor` takes, and the time limit is one."""
    seconds = unwrap(timeout)
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0):
        raise InvalidArgument("timeout", "must be a number of seconds above 0", timeout)
    return share(workers, cores, gpus)


class ProcessExecutor:
    """``workers`` processes, each running one trial at a time, each trial for at most ``timeout`` seconds.

    Each has ``cores`` cores, by default its even share, and ``gpus`` GPUs of its own (``devices.py``).
    """

    def __init__(
        self,
        objective: Objective,
        metric: str,
        workers: int,
        timeout: float | None = None,
        cores: int | None = None,
        gpus: float | None = None,
    ) -> None:
        check_objective(objective)
        self._places = check_workers(workers, timeout, cores, gpus)
        self._overrule = cores is not None
        try:
            # sys.path goes first: the objective's modules may only be found with it.
            self._payload = cloudpickle.dumps((list(sys.path), cloudpickle.dumps((objective, metric))))
        except Exception as error:
            raise ObjectiveError(
                f"the objective cannot be sent to worker processes ({type(error).__name__}: {error}); "
                "open files, connections and locks inside the function instead of around it"
            ) from error
        self._timeout = timeout
        self._failed_starts = 0
        self._later: list[Job] = []
        self._workers = [self._start(place) for place in self._places]

    def _start(self, place: Place) -> _Worker:
        return _Worker(self._payload, place, place.environment(os.environ, overrule=self._overrule))

    @property
    def uses_files(self) -> bool:
        return True

    def free(self) -> int:
        return sum(worker.job is None for worker in self._workers) - len(self._later)

    def idle(self) -> bool:
        return not self._later and all(worker.job is None for worker in self._workers)

    def submit(self, job: Job) -> None:
        if any(worker.job is not None and worker.job.trial == job.trial for worker in self._workers):
            self._later.append(
                job
            )  # promoted at once: its last run is still closing, and may be writing its checkpoint
        else:
            self._assign(next(worker for worker in self._workers if worker.job is None), job)

    def _assign(self, worker: _Worker, job: Job) -> None:
        worker.job, worker.stop = job, job.stop
        if self._timeout is not None and worker.ready:
            worker.deadline = monotonic_clock() + self._timeout
        worker.send(("job", cloudpickle.dumps(job)))

    def obey(self, report: Report, verdict: Verdict, stop: int | None) -> None:
        run = (
            report.trial,
            report.attempt,
        )  # a trial promoted at once may run here while its last run is still closing
        for worker in self._workers:
            if worker.job is None or (worker.job.trial, worker.job.attempt) != run:
                continue
            if verdict is not Verdict.CONTINUE:
                worker.send(("stop", run, None))
            elif report.budget == worker.stop:  # it waits there to be told how to go on
                worker.stop = stop
                worker.send(("continue", run, stop))

    def poll(self) -> list[Outcome]:
        nearest = min(worker.deadline for worker in self._workers)
        pause = max(0.0, min(TICK, nearest - monotonic_clock()))
        ready = set(map(id, wait([worker.connection for worker in self._workers], pause)))
        found: list[Outcome] = []
        for place, worker in enumerate(self._workers):
            dead = worker.process.poll() is not None
            if id(worker.connection) in ready or dead:
                dead = not self._listen(worker, found) or dead
            job = worker.job
            if dead and not worker.ready:
                self._restart(place)
                continue
            if dead:
                if job is not None:
                    found.append(Failure(job.trial, job.attempt, "killed", worker.how_it_died()))
            elif job is not None and monotonic_clock() >= worker.deadline:
                reason = f"it ran longer than the time limit of {self._timeout:g} s"
                found.append(Failure(job.trial, job.attempt, "timeout", reason))
            else:
                continue
            worker.end()
            self._workers[place] = self._start(self._places[place])
        later, self._later = self._later, []
        for job in later:
            self.submit(job)
        return found

    def _restart(self, place: int) -> None:
        """Replace a worker that died before it was ready; its job, never begun, goes to the new one."""
        worker = self._workers[place]
        self._failed_starts += 1
        if self._failed_starts >= FAILED_STARTS or worker.process.wait() >= 0:
            raise ObjectiveError(f"worker processes do not start: {worker.how_it_died()}")
        worker.end()
        self._workers[place] = self._start(self._places[place])
        if worker.job is not None:
            self._assign(self._workers[place], worker.job)

    def _listen(self, worker: _Worker, found: list[Outcome]) -> bool:
        """Take all messages of a worker; False if it is gone."""
        try:
            while worker.connection.poll():
                kind, *rest = worker.connection.recv()
                if kind == "ready":
                    worker.ready = True
                    if self._timeout is not None and worker.job is not None:
                        worker.deadline = monotonic_clock() + self._timeout  # importing is not the trial's time
                    self._failed_starts = 0
                elif kind == "broken":
                    raise ObjectiveError(f"the objective cannot be loaded in a worker process:\n{rest[0]}")
                else:
                    self._hear(worker, kind, rest, found)
        except (EOFError, OSError):
            return False
        return True

    def _hear(self, worker: _Worker, kind: str, rest: list[Any], found: list[Outcome]) -> None:
        """What a worker says about a run: only about the one it was given."""
        (trial, attempt), *words = rest
        if worker.job is None or (worker.job.trial, worker.job.attempt) != (trial, attempt):
            log.warning("a worker spoke of trial %d, which it does not run; the message is ignored", trial)
            return
        if kind == "warning":
            warn_once(*words)
            return
        if kind == "report":
            found.append(Report(trial, attempt, *words))
            return
        if kind == "note":
            found.append(Noted(trial, attempt, *words))
            return
        worker.job, worker.deadline = None, float("inf")
        found.append(Finished(trial, attempt) if kind == "finished" else Failure(trial, attempt, *words))

    def close(self) -> None:
        for worker in self._workers:
            worker.end()
        self._workers = []
