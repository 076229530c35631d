"""Where trials run, as a user says it: what every executor has, worker processes, and executors of other packages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from xstar.core import entry_points
from xstar.core.checks import as_float, unwrap, whole_number
from xstar.core.goals import Goals
from xstar.errors import InvalidArgument
from xstar.journal.rules import checked_retries
from xstar.run.contract import Executor
from xstar.run.devices import share
from xstar.run.inline import InlineExecutor
from xstar.run.objective import Objective
from xstar.run.processes import ProcessExecutor, check_workers

EXECUTORS = "xstar.executors"
"""The entry points of packages that offer executors: functions of the objective, the goals and the number of workers."""


@dataclass(frozen=True, kw_only=True)
class ExecutorSettings(ABC):
    """What holds wherever trials run; :class:`Processes` says what each means."""

    timeout: float | None = None
    retries: int | None = None
    grace: float = 0.0

    def __post_init__(self) -> None:
        seconds = unwrap(self.timeout)
        if seconds is not None and (
            isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0
        ):
            raise InvalidArgument("timeout", "must be a number of seconds above 0", self.timeout)
        if self.retries is not None:
            object.__setattr__(self, "retries", checked_retries(self.retries))
        grace = as_float(self.grace)
        if grace is None or grace < 0:
            raise InvalidArgument("grace", "must be a number of seconds, 0 or more", self.grace, "e.g. grace=20")
        object.__setattr__(self, "grace", grace)

    @abstractmethod
    def check(self) -> None:
        """Refuse what this machine cannot run, before a study is made."""

    @abstractmethod
    def make(self, objective: Objective, goals: Goals, folder: Path) -> Executor:
        """The executor; ``folder`` is the study's, where checkpoints and output are kept."""


@dataclass(frozen=True)
class Processes(ExecutorSettings):
    """Run trials in worker processes on this machine: ``xs.minimize(…, executor=xs.Processes(4, gpus=1, timeout=600))``.

    ``workers=4`` of ``xs.minimize`` is short for ``executor=xs.Processes(4)``. One worker with neither ``cores`` nor
    ``timeout`` needs no process of its own: it is this one.

    Parameters
    ----------
    workers
        Trials at a time.
    cores
        Cores of each worker: how many threads its numerical libraries start.

        By default, the workers share the cores of the machine evenly, unless ``OMP_NUM_THREADS`` and its like say otherwise.
    gpus
        GPUs of each worker: 1, 2, …, or a fraction, as 0.5 for two workers on one; 0 for none.

        Each worker process then sees only its own, and ``trial.device`` names the first. By default, every worker sees all.
    timeout
        Seconds that one run of a trial may take.
    retries
        How often a trial whose worker died is run again.

        By default, once.
    grace
        Seconds that running trials have to report once more when the program is told to terminate (SIGTERM).

        A trial is handed back as soon as it has reported, with what it saved, and another program that shares the study may go
        on with it at once. A trial that does not report in time is ended, and run again from its last checkpoint. By default,
        and when the signal comes again, all are ended at once.
    """

    workers: int = 1
    _: KW_ONLY
    cores: int | None = None
    gpus: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        workers = whole_number("workers", self.workers, least=1, remedy="e.g. workers=2 for two trials at a time")
        object.__setattr__(self, "workers", workers)

    def check(self) -> None:
        check_workers(self.workers, self.cores, self.gpus)

    def make(self, objective: Objective, goals: Goals, folder: Path) -> Executor:
        if self.workers == 1 and self.timeout is None and self.cores is None:
            return InlineExecutor(objective, goals, *share(1, None, self.gpus))
        return ProcessExecutor(objective, goals, self.workers, self.timeout, self.cores, self.gpus)


@dataclass(frozen=True)
class Offered(ExecutorSettings):
    """An executor of an installed package, by the name of its entry point."""

    name: str
    workers: int = 1

    def check(self) -> None:
        Processes(self.workers)

    def make(self, objective: Objective, goals: Goals, folder: Path) -> Executor:
        function = entry_points.load(EXECUTORS, self.name)
        assert function is not None, "it was there when it was named"
        made: Executor = function(objective, goals, self.workers)
        return made
