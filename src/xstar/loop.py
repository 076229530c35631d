"""The loop: ask, run, report, obey — the page to read first.

ASK     study.ask       scheduler: how much? → searcher: what? → the journal has it → executor.submit
TELL    executor.poll   a report → study.report: the journal has it, with its verdict → executor.obey
LOOK    watch           whoever shows progress is called after every change
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from types import FrameType

from xstar.errors import ObjectiveError
from xstar.executors import Executor, RunsInPoll
from xstar.files import DEFAULT_CHECKPOINTS, Checkpoints
from xstar.schedulers import Advises
from xstar.study import NO_LIMITS, Limits, SameFailure, Study
from xstar.trial import Failure, Finished, Noted, Outcome, Report, State, last_line

log = logging.getLogger("xstar")
trial_log = logging.getLogger("xstar.trials")
"""One line for each trial that ends. Whoever shows trials in a way of its own leaves this logger out."""

UNKNOWN_LENGTH = (
    "the objective yields, but nobody knows how long a full training is, so no trial is ended early; "
    "pass max_budget=…, the number of values a full training yields, to end bad trials early"
)
"""Said once, when the first trial reports a second time."""

Watch = Callable[[Study], None]


class End(Enum):
    """What ended a search."""

    DONE = "done"  # a limit was met, or there was nothing left to try
    INTERRUPTED = "interrupted"  # the user pressed Ctrl-C


@dataclass(frozen=True, slots=True)
class Ending:
    """How a search ended."""

    end: End
    reason: str
    """A sentence for the user."""


def run(
    study: Study,
    executor: Executor,
    limits: Limits = NO_LIMITS,
    watch: Watch | None = None,
    checkpoints: int | None = DEFAULT_CHECKPOINTS,
) -> Ending:
    """Run the study on the executor until a limit is met; returns how it ended.

    Checkpoints that are no longer needed are removed, but those of the best ``checkpoints`` trials (``None``: all) stay.

    With a study shared by several programs, this returns when *all* its trials are over: if another program dies, its
    trials are run again here. The first Ctrl-C lets running trials finish, the second ends them at once; they are then
    run again when the study is resumed.
    """
    kept: Checkpoints | None = None
    if executor.uses_files and checkpoints is not None:
        kept = Checkpoints(study.files, study.history, study.scheduler.retired, checkpoints)
    study.begin()
    alike = SameFailure(limits.max_failures)
    if limits.trials is not None and isinstance(study.scheduler, Advises):
        for line in study.scheduler.advice(limits.trials):
            log.warning("%s", line)

    def hear(outcome: Outcome) -> None:
        _record(study, executor, outcome, alike)
        if kept is not None and isinstance(outcome, Finished | Failure):
            kept.clean_up(outcome.trial)

    def hear_inside(outcome: Outcome) -> None:
        hear(outcome)
        if watch is not None:
            watch(study)

    if isinstance(executor, RunsInPoll):
        executor.listener = hear_inside
    with _interruptible() as interrupt:
        try:
            while True:
                while executor.free() and not interrupt.pressed:
                    trial = study.ask(limits)
                    if trial is None:
                        break
                    executor.submit(study.job(trial, with_files=executor.uses_files))
                if not study.running_here and executor.idle():
                    if interrupt.pressed:
                        return Ending(End.INTERRUPTED, "interrupted; running trials were allowed to finish")
                    if study.ended is not None:
                        return Ending(End.DONE, study.ended)
                for outcome in executor.poll():
                    hear(outcome)
                if watch is not None:
                    watch(study)
        except BaseException as error:
            try:
                executor.close()
            finally:
                study.release(_WHY.get(type(error)) or f"the program failed: {type(error).__name__}: {error}")
            if isinstance(error, _Terminated):
                raise SystemExit(128 + signal.SIGTERM) from None
            raise


def _record(study: Study, executor: Executor, outcome: Outcome, alike: SameFailure) -> None:
    """Into the journal first, then act on it."""
    if not isinstance(outcome, Noted) and (not isinstance(outcome, Failure) or outcome.kind != "exception"):
        alike.seen_other()
    match outcome:
        case Noted(trial, _, attrs):
            study.annotate(trial, attrs)
        case Report(trial, attempt, budget, metrics):
            verdict = study.report(trial, metrics, budget, attempt=attempt)
            known = study.history.trials[trial]
            if known.state is State.FAILED:
                trial_log.warning("trial %d: nan: %s", trial, known.reason)
            executor.obey(outcome, verdict, known.target)
            if trial == 0 and budget == 2 and study.scheduler.max_budget is None:
                log.warning("%s", UNKNOWN_LENGTH)
        case Finished(trial, attempt):
            study.complete(trial, attempt=attempt)
            trial_log.info("%r", study.history.trials[trial])
        case Failure(trial, attempt, kind, reason):
            last = last_line(reason)
            study.fail(trial, reason, "exception" if kind == "metric" else kind, attempt=attempt)
            if kind == "metric" and study.history.best is None:
                raise ObjectiveError(last)  # no trial of this search can ever have a value
            trial_log.warning("trial %d: %s: %s", trial, kind, last)
            if kind == "exception" and (same := alike.again(reason)) and study.history.best is None:
                raise ObjectiveError(
                    f"the first trials all failed in the same place: {same}. Mend it, or raise xs.Infeasible where a "
                    "configuration cannot be evaluated; max_failures=None lets such a search go on"
                )


@dataclass
class _Interrupt:
    pressed: bool = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True
        log.warning("Ctrl-C: waiting for the running trials to finish; press it again to end them now")


class _Terminated(BaseException):
    """SIGTERM arrived. Not a ``SystemExit``, which an objective that runs in this process might have raised itself."""


def _terminate(number: int, frame: FrameType | None) -> None:
    raise _Terminated


_WHY: dict[type[BaseException], str] = {KeyboardInterrupt: "interrupted by the user", _Terminated: "told to terminate"}


@contextmanager
def _interruptible() -> Iterator[_Interrupt]:
    """Count Ctrl-C instead of dying of it, and let SIGTERM give up trials before it ends us; only the main thread may."""
    interrupt = _Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    old = {
        signal.SIGINT: signal.signal(signal.SIGINT, interrupt),
        signal.SIGTERM: signal.signal(signal.SIGTERM, _terminate),
    }
    try:
        yield interrupt
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
