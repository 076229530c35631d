"""Worker processes on this machine: trials run side by side, and none can take the program down with it.

Workers are kept for many trials (importing a training library can take longer than a short trial) and replaced when they
die or overrun their time.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from multiprocessing.connection import Pipe, wait
from pathlib import Path
from typing import IO, Any

from xstar.core.checks import as_int
from xstar.core.goals import Goals
from xstar.errors import InvalidArgument, ObjectiveError
from xstar.journal.messages import MACHINE_MEMORY
from xstar.run.devices import Place, share
from xstar.run.objective import Objective, check_objective
from xstar.run.pool import FAILED_STARTS, TAIL, Worker, WorkerPool, death, exit_code, pickled
from xstar.run.supervised import Supervised

ROOT = str(Path(__file__).parents[2])
"""The folder in which this program found xstar."""

BEGIN = "import sys; socket, starter, root = sys.argv[1:]; root in sys.path or sys.path.insert(0, root)"
BEGIN += "; from xstar.run.worker import main; main(int(socket), int(starter))"
"""The program of a worker. Without a file, so that a script in the current folder is not taken for a module (``-P``)."""


class _Process(Worker):
    """One process and the job it has."""

    def __init__(self, payload: bytes, place: Place, environment: dict[str, str]) -> None:
        super().__init__()
        self.place = place
        self._code: int | None = None
        self.connection, theirs = Pipe()
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in end()
        command = [sys.executable, "-P", "-c", BEGIN, *map(str, (theirs.fileno(), os.getpid(), ROOT))]
        try:
            self._run = Supervised(command, passed=theirs.fileno(), env=environment, stdout=self._log, stderr=self._log)
        except OSError:
            self._close()
            raise
        finally:
            theirs.close()
        self._run.begin()
        self.send(("begin", payload, place, None))

    def send(self, message: tuple[Any, ...]) -> None:
        with contextlib.suppress(OSError):  # it died; poll() finds out and says so
            self.connection.send(message)

    def messages(self) -> Iterator[Any]:
        while self.connection.poll():
            yield self.connection.recv()

    def gone(self) -> bool:
        return self._run.is_over()

    def end(self) -> None:
        self._run.kill()
        self._run.close()
        self._close()

    def _close(self) -> None:
        self.connection.close()
        self._log.close()

    def how_it_died(self) -> str:
        return death(self.code(), self.last_words())

    def code(self) -> int:
        """Its exit code, as ``subprocess`` gives it."""
        if self._code is None:
            self._code = exit_code(self._run.ended())
        return self._code

    def last_words(self) -> str:
        if self.job is not None and self.job.directory is not None:
            path = Path(self.job.directory) / "stderr.txt"
            if path.is_file():
                with path.open("rb") as file:
                    file.seek(max(0, path.stat().st_size - TAIL))
                    return file.read().decode(errors="replace").strip()
        self._log.seek(0)
        return self._log.read()[-TAIL:].decode(errors="replace").strip()


WORKER_BYTES = 20_000_000
"""No worker needs less: one that has imported numpy and nothing else has 40 MB, a part of them shared."""

WORKER_FILES = 4
"""Open files of this process for each worker: the connection, the lifeline, the status, the log."""

OTHER_FILES = 100
"""Of the program itself, its modules and databases."""


def check_workers(workers: int, cores: int | None = None, gpus: float | None = None) -> list[Place]:
    """A place for each worker, if this machine can hold them."""
    if (number := as_int(workers)) is not None:
        _check_room(number)
    return share(workers, cores, gpus)


def _check_room(workers: int) -> None:
    """Refuse more processes than this machine can hold; raise the limit of open files, within what is allowed."""
    import resource  # not on Windows, where there are no worker processes

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if workers > (most := max(1, memory // WORKER_BYTES)):
        rule = f"must be at most {most:,}: each worker is a process of at least {WORKER_BYTES / 1e6:g} MB"
        raise InvalidArgument("workers", rule, workers, f"this machine has {memory / 1e9:,.0f} GB of memory")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = workers * WORKER_FILES + OTHER_FILES
    if soft == resource.RLIM_INFINITY or needed <= soft:
        return
    if hard != resource.RLIM_INFINITY and needed > hard:
        most = max(1, (hard - OTHER_FILES) // WORKER_FILES)
        if workers > most:
            files = f"{WORKER_FILES} of the {hard:,} files that a process may open"
            rule = f"must be at most {most:,}: each worker takes {files}"
            raise InvalidArgument("workers", rule, workers, "raise that limit (ulimit -Hn)")
        needed = hard  # it may do for one
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


class ProcessExecutor(WorkerPool[_Process]):
    """``workers`` processes, each running one trial at a time, each trial for at most ``timeout`` seconds.

    Each has ``cores`` cores, by default its even share, and ``gpus`` GPUs of its own (``devices.py``).
    """

    def __init__(
        self,
        objective: Objective,
        goals: Goals,
        workers: int,
        timeout: float | None = None,
        cores: int | None = None,
        gpus: float | None = None,
    ) -> None:
        super().__init__(timeout)
        check_objective(objective)
        self._places = check_workers(workers, cores, gpus)
        self._overrule = cores is not None
        self._payload = pickled(objective, goals, list(sys.path))
        try:
            for place in self._places:
                self._workers.append(self._start(place))
        except ObjectiveError:
            self.close()
            raise

    def _start(self, place: Place) -> _Process:
        try:
            return _Process(self._payload, place, place.environment(os.environ, overrule=self._overrule))
        except OSError as error:
            raise ObjectiveError(
                f"worker process {place.worker} of {len(self._places)} cannot be started: {error}; pass fewer workers=, or "
                "raise the limit (ulimit -n: open files; ulimit -u: processes)"
            ) from error

    def _wait(self, seconds: float) -> None:
        wait([worker.connection for worker in self._workers], seconds)

    def _share(self, memory: str, one: _Process, other: _Process) -> bool:
        return one is not other and (memory == MACHINE_MEMORY or one.place.shares_gpu(other.place))

    def _replace(self, worker: _Process) -> None:
        worker.end()
        place = self._workers.index(worker)
        self._workers[place] = self._start(self._places[place])

    def _restart(self, worker: _Process) -> None:
        self._failed_starts += 1
        if self._failed_starts >= FAILED_STARTS or worker.code() >= 0:
            raise ObjectiveError(f"worker processes do not start: {worker.how_it_died()}")
        place = self._workers.index(worker)
        self._replace(worker)
        if worker.job is not None:
            self._assign(self._workers[place], worker.job)
