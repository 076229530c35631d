"""The loop: ask, run, report, obey — the page to read first.

ASK     study.ask       scheduler: how much? → searcher: what? → the journal has it → executor.submit
TELL    executor.poll   a report → study.report: the journal has it, with its verdict → executor.obey
LOOK    watch           called after every change, to show progress
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from xstar.core.words import last_line
from xstar.errors import ObjectiveError, StorageError
from xstar.journal.messages import MEMORIES
from xstar.journal.trial import Failure, Finished, Job, Noted, Outcome, Report, State, Trial, Verdict
from xstar.run import Executor, RunsInPoll
from xstar.schedulers import Advises
from xstar.storage.files import DEFAULT_CHECKPOINTS, Checkpoints
from xstar.study import NO_LIMITS, Fuse, Limits, Study

log = logging.getLogger("xstar")
trial_log = logging.getLogger("xstar.trials")
"""One line for each trial that ends: of what went wrong, by the loop; all else by ``progress/lines.py``."""

UNKNOWN_LENGTH = (
    "the objective yields or reports, but the length of a full training is not known, so no trial is ended early; "
    "pass max_budget=…, the number of values that a full training yields or reports, to end bad trials early"
)
"""Said once, when the first trial reports a second time."""

PAUSED = "the study pauses, and no trial is started; `xstar resume STUDY` or study.resume() lets it go on"

RECORDED_AS = {"report": "exception", "disk": "killed"}
"""A full disk is like a worker that died: the trial is tried again, and no model learns from it."""

Watch = Callable[[Study], None]


def both(first: Watch | None, second: Watch | None) -> Watch | None:
    """A watcher that calls the two, one after the other."""
    if first is None or second is None:
        return first or second

    def watch(study: Study) -> None:
        first(study)
        second(study)

    return watch


def run(
    study: Study,
    executor: Executor,
    limits: Limits = NO_LIMITS,
    watch: Watch | None = None,
    checkpoints: int | None = DEFAULT_CHECKPOINTS,
    grace: float = 0.0,
) -> str:
    """Run the study on the executor until a limit is met; returns why it ended, in a sentence.

    Checkpoints that are no longer needed are removed, but those of the best ``checkpoints`` trials (``None``: all) stay.

    With a study shared by several programs, this returns when *all* its trials are over: if another program dies, its
    trials are run again here.

    Ctrl-C ends the search with ``KeyboardInterrupt``: each running trial is handed back at its next report, having saved what
    it trained, for any program to go on with; one that reports only at its end finishes. A second Ctrl-C ends them at once.

    SIGTERM ends the program: a cluster takes the machine away. Running trials have ``grace`` seconds to report once more, and
    are handed back likewise.
    """
    kept: Checkpoints | None = None
    if executor.uses_files and checkpoints is not None:
        kept = Checkpoints(study.files, study.history, study.scheduler.retired, checkpoints)
    study._begin()
    fuse = Fuse(limits.max_failures)
    if limits.trials is not None and isinstance(study.scheduler, Advises):
        for line in study.scheduler.advice(limits.trials):
            log.warning("%s", line)

    bounded = bool(study.history.bounds)

    def hear(outcome: Outcome) -> None:
        nonlocal bounded
        if not interrupt.pressed or not _hand_back(study, executor, outcome, interrupt):
            _record(study, executor, outcome, fuse)
        if bounded and isinstance(outcome, Finished):
            bounded = not _checked_bounds(study, study.history.trials[outcome.trial])
        if kept is not None and isinstance(outcome, Finished | Failure):
            kept.clean_up(outcome.trial)

    def hear_inside(outcome: Outcome) -> None:
        hear(outcome)
        if watch is not None:
            watch(study)

    if isinstance(executor, RunsInPoll):
        executor.listener = hear_inside
    paused = False
    with _interruptible(grace) as interrupt:
        try:
            while True:
                while executor.free() and not interrupt.pressed:
                    trial = study.ask(limits)
                    if trial is None:
                        break
                    executor.submit(job_of(study, trial, with_files=executor.uses_files))
                if paused is not (study.history.hold == "pause"):
                    paused = not paused
                    log.warning("%s", PAUSED if paused else "the study goes on")
                if not study.leases.attempts and executor.idle():
                    if interrupt.pressed:
                        raise interrupt.ends_with
                    if study.ended is not None:
                        return study.ended
                for outcome in executor.poll():
                    hear(outcome)
                if watch is not None:
                    watch(study)
        except BaseException as error:
            try:
                executor.close()
            finally:
                try:
                    study.leases.release(
                        _WHY.get(type(error)) or f"the program failed: {type(error).__name__}: {error}"
                    )
                except (StorageError, OSError) as failed:  # of no more interest than what ends the search
                    log.warning("running trials were not given up: %s", failed)
            if isinstance(error, _Terminated):
                raise SystemExit(128 + signal.SIGTERM) from None
            raise


def job_of(study: Study, trial: Trial, *, with_files: bool = True) -> Job:
    """What an executor needs to run a trial that was just asked for."""
    directory = str(study.files.of(trial)) if with_files else None
    budgets = (trial.budget, trial.target, study.scheduler.max_budget)
    return Job(trial.number, trial.config, trial.attempt, *budgets, directory, trial.runs.homes, trial.runs.alone)


def _record(study: Study, executor: Executor, outcome: Outcome, fuse: Fuse) -> None:
    """Into the journal first, then act on it."""
    match outcome:
        case Noted(trial, _, attrs):
            study.annotate(trial, attrs)
        case Report(trial, attempt, budget, metrics):
            verdict = study.report(trial, metrics, budget, attempt=attempt)
            known = study.history.trials[trial]
            if known.state is State.FAILED:
                trial_log.warning("%s", went_wrong(known))
                _count_failure(study, known, fuse)
            executor.obey(outcome, verdict, known.target)
            if trial == 0 and budget == 2 and study.scheduler.max_budget is None:
                log.warning("%s", UNKNOWN_LENGTH)
        case Finished(trial, attempt, whole):
            fuse.seen_whole |= whole
            known = study.history.trials[trial]
            was_failed = known.state is State.FAILED
            study.complete(trial, attempt=attempt)
            if known.state is not State.FAILED:
                fuse.succeeded()
            elif not was_failed:
                _count_failure(study, known, fuse)
        case Failure(trial, attempt, kind, reason, may_live, beside):
            last, known = last_line(reason), study.history.trials[trial]
            is_over = known.state is not State.RUNNING  # its last report was at full budget, say
            recorded = RECORDED_AS.get(kind, kind)
            if kind in MEMORIES and not beside:
                recorded = "infeasible"
            study.fail(trial, reason, recorded, attempt=attempt, may_live=may_live)
            if known.attempt != attempt:  # it was taken from us; this is not how the trial ended
                log.info("trial %d: the run that was given up ended: %s", trial, last)
                return
            if kind == "report" and (not study.history.has_value or (is_over and not fuse.seen_whole)):
                raise ObjectiveError(last)  # so it will be with every trial
            if is_over:
                trial_log.warning("trial %d %s: its last report stands, but then: %s", trial, known.state.value, last)
            else:
                trial_log.warning("%s", went_wrong(known))
            unexpected = known.state is State.FAILED or (known.state is State.INFEASIBLE and kind in MEMORIES)
            if unexpected and not is_over:
                _count_failure(study, known, fuse)


def _count_failure(study: Study, trial: Trial, fuse: Fuse) -> None:
    """Raise an error if this failure is one too many."""
    why = fuse.failed(trial.reason or "")
    history = study.history
    if why is None or history.has_value or any(running.reports for running in history.running.values()):
        return
    raise ObjectiveError(
        f"{why}. Mend it, or raise xs.Infeasible (a program: exit with infeasible_exit) where a configuration cannot be "
        "evaluated; max_failures=None lets such a search go on"
    )


def _checked_bounds(study: Study, trial: Trial) -> bool:
    """Whether a trial has run to its end; says so if it has not reported what a constraint bounds, which may be misspelt."""
    if trial.state not in (State.COMPLETE, State.INFEASIBLE) or not trial.metrics:
        return False
    missing = sorted({bound.metric for bound in study.history.bounds} - set(trial.metrics))
    if missing:
        log.warning(
            "constraints: trial %d did not report %s; it reported %s. A trial without it is infeasible",
            trial.number, ", ".join(missing), ", ".join(trial.metrics),
        )  # fmt: skip
    return True


def went_wrong(trial: Trial) -> str:
    """A trial that failed, is infeasible or has to be run again, in a line."""
    what = trial.state.value
    if trial.state is State.WAITING:
        what = "will run again" if trial.runs.alone is None else "will run again, alone"
    return f"trial {trial.number} {what}: {last_line(trial.reason or '')}"


def _hand_back(study: Study, executor: Executor, outcome: Outcome, interrupt: _Interrupt) -> bool:
    """End a run at its report, and give up its trial once the run is over; False if there is nothing to give up.

    Not before: a program that takes the trial up would read a checkpoint that is still being written.
    """
    run = (outcome.trial, outcome.attempt)
    if isinstance(outcome, Report):
        verdict = study.report(outcome.trial, outcome.metrics, outcome.budget, attempt=outcome.attempt)
        if verdict is Verdict.CONTINUE:
            interrupt.stopped.add(run)
            verdict = Verdict.PAUSE
        executor.obey(outcome, verdict, None)
        return True
    if run in interrupt.stopped and not (isinstance(outcome, Finished) and outcome.whole):
        study.leases.release(_WHY[interrupt.ends_with], outcome.trial)
        return True
    return False


@dataclass
class _Interrupt:
    """What signals asked for."""

    grace: float
    pressed: bool = False
    """No new trials are started, and running ones end at their next report."""
    ends_with: type[BaseException] = KeyboardInterrupt
    """What is raised once all have ended."""
    stopped: set[tuple[int, int]] = field(default_factory=set)
    """Trials and attempts that were ended so."""
    timer: threading.Timer | None = None

    def press(self, number: int, frame: FrameType | None) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True
        log.warning("Ctrl-C: running trials end at their next report; press it again to end them now")

    def terminate(self, number: int, frame: FrameType | None) -> None:
        if self.ends_with is _Terminated or not self.grace:
            raise _Terminated
        self.pressed, self.ends_with = True, _Terminated
        log.warning("told to terminate: running trials have %g s to report once more", self.grace)
        # A signal again, rather than a look at the time: an objective in this process may not come back to us.
        self.timer = threading.Timer(self.grace, os.kill, (os.getpid(), signal.SIGTERM))
        self.timer.daemon = True
        self.timer.start()


class _Terminated(BaseException):
    """SIGTERM arrived. Not a ``SystemExit``, which an objective that runs in this process might have raised itself."""


_WHY: dict[type[BaseException], str] = {KeyboardInterrupt: "interrupted by the user", _Terminated: "told to terminate"}


@contextmanager
def _interruptible(grace: float) -> Iterator[_Interrupt]:
    """Count Ctrl-C instead of dying of it, and let SIGTERM give up trials before it ends us; only the main thread may."""
    interrupt = _Interrupt(grace)
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    old = {
        signal.SIGINT: signal.signal(signal.SIGINT, interrupt.press),
        signal.SIGTERM: signal.signal(signal.SIGTERM, interrupt.terminate),
    }
    try:
        yield interrupt
    finally:
        if interrupt.timer is not None:
            interrupt.timer.cancel()
        for number, handler in old.items():
            signal.signal(number, handler)
