"""Where? The contract of executors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from xstar.journal.trial import Job, Outcome, Report, Verdict

TICK = 0.5
"""Seconds after which ``poll`` returns even if nothing happened, so that the loop can look at limits and other processes."""


class Executor(Protocol):
    """Runs jobs somewhere. At most ``free()`` jobs may be submitted at a time."""

    @property
    def uses_files(self) -> bool:
        """Whether runs need a folder for checkpoints and output."""

    def free(self) -> int:
        """How many more jobs can be submitted."""

    def idle(self) -> bool:
        """Whether nothing runs."""

    def submit(self, job: Job) -> None:
        """Begin to run a job."""

    def poll(self) -> list[Outcome]:
        """What happened since the last call; blocks until something does, or a tick has passed.

        Every submitted job gives any number of reports and notes, and then exactly one ``Finished`` or ``Failure``.
        """

    def obey(self, report: Report, verdict: Verdict, stop: int | None) -> None:
        """Carry out the verdict on a report that ``poll`` gave.

        A run that has reached its ``stop`` waits for this: it trains on to the new ``stop``, or, if that is no higher, runs
        its last lines and is finished. ``PAUSE`` and ``STOP`` end it at its ``yield``, or by ``xs.Pruned`` in ``trial.report``.
        """

    def close(self) -> None:
        """End everything that still runs, at once."""


@runtime_checkable
class RunsInPoll(Protocol):
    """An executor whose objectives run within ``poll`` itself, so that a report needs its answer before ``poll`` returns.

    Such an executor hands reports and notes to ``listener``, which records them and calls ``obey``, and not to the caller of
    ``poll``. The alternative, a thread for the objective, would take it from the main thread, where breakpoints, signals, plots
    and Ctrl-C work, and could not be ended.
    """

    listener: Callable[[Outcome], None]
