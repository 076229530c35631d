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
from types import FrameType

from xstar.executors import Executor
from xstar.limits import NO_LIMITS, Limits
from xstar.study import Study
from xstar.trial import Failure, Finished, Outcome, Report

log = logging.getLogger("xstar")

Watch = Callable[[Study], None]


def run(study: Study, executor: Executor, limits: Limits = NO_LIMITS, watch: Watch | None = None) -> str:
    """Run the study on the executor until a limit is met; returns why it ended.

    With a study shared by several programs, this returns when *all* its trials are over: if another program dies, its
    trials are run again here. The first Ctrl-C lets running trials finish, the second ends them at once; they are then
    run again when the study is resumed.
    """
    with _interruptible() as interrupt:
        try:
            while True:
                while executor.free() and not interrupt.pressed:
                    trial = study.ask(limits)
                    if trial is None:
                        break
                    executor.submit(study.job(trial))
                if not study.running_here and executor.idle():
                    if interrupt.pressed:
                        return "interrupted; running trials were allowed to finish"
                    if study.ended is not None:
                        return study.ended
                for outcome in executor.poll():
                    _settle(study, executor, outcome)
                if watch is not None:
                    watch(study)
        except BaseException as error:
            executor.close()
            study.release("interrupted" if isinstance(error, KeyboardInterrupt) else f"the program failed: {error}")
            raise


def _settle(study: Study, executor: Executor, outcome: Outcome) -> None:
    """Into the journal first, then act on it."""
    match outcome:
        case Report(trial, attempt, budget, metrics, _):
            verdict = study.report(trial, metrics, budget, attempt=attempt)
            executor.obey(trial, verdict, study.history.trials[trial].target)
        case Finished(trial, attempt, _):
            study.complete(trial, attempt=attempt)
            log.info("%r", study.history.trials[trial])
        case Failure(trial, attempt, kind, reason, _):
            study.fail(trial, reason, kind, attempt=attempt)
            log.warning("trial %d: %s: %s", trial, kind, reason.strip().splitlines()[-1])


@dataclass
class _Interrupt:
    pressed: bool = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True
        log.warning("Ctrl-C: waiting for the running trials to finish; press it again to end them now")


def _terminate(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


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
