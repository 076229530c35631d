"""One run of an objective, wherever it is: what it yields, returns or reports becomes reports, and their answers are obeyed.

:func:`run_job` is what every executor has in common. It knows no pipes and no processes: a :class:`Channel` carries what the
run says to whoever started it and brings back the answers. The three forms of an objective share one step, ``Run.take``:

    yield       the generator is driven here; it is closed at its ``yield`` when it shall go no further
    report      ``trial.report`` takes the step from inside the objective and raises ``xs.Pruned`` when it shall go no further
    return      the value is one report, at the end of what the run was to train; the objective is called again if it may go on
"""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Protocol, cast

from xstar.core.goals import Goals
from xstar.errors import InvalidReport, Pruned
from xstar.journal.trial import Failure, Finished, Job
from xstar.run.devices import HERE, Place
from xstar.run.objective import Objective, describe, leave_if_forked
from xstar.run.running import RunningTrial

Warn = Callable[[str, str], None]
"""Says something to the user, once: takes a key, by which a repetition is known, and the text."""

_returning: set[int] = set()  # by their id, objectives that returned: the next time one is called we know it beforehand


@dataclass(frozen=True, slots=True)
class Answer:
    """What a run is told about a report."""

    end: bool
    """Pause or stop: go no further."""
    stop: int | None = None
    """Otherwise, where the run waits next."""


class Channel(Protocol):
    """Between a run and whoever started it. Only one thread at a time calls it."""

    def report(self, budget: int, metrics: dict[str, float]) -> None:
        """Hand on a report."""

    def answer(self, *, wait: bool) -> Answer | None:
        """What was said about this run since the last call. ``wait``: the run is at its stop and needs an answer."""

    def note(self, attrs: dict[str, Any]) -> None:
        """Hand on attributes of the trial."""

    def warn(self, key: str, text: str) -> None:
        """Say something to the user, who hears each key once."""


def run_job(objective: Objective, goals: Goals, job: Job, channel: Channel, place: Place = HERE) -> Finished | Failure:
    """Run one job to its end; returns how it ended. Its reports went through the channel.

    ``KeyboardInterrupt`` and whatever else is no ``Exception`` pass through. A process that the objective forked does not
    return from here.
    """
    owner = os.getpid()
    trial = RunningTrial(job, place)
    run = Run(trial, job, goals, channel)
    trial._reporter = run
    try:
        try:
            run.execute(objective)
        finally:
            run.close()
    except Pruned:
        leave_if_forked(owner)
    except (Exception, SystemExit) as error:  # sys.exit() in an objective ends the trial, not whoever runs it
        leave_if_forked(owner, error)
        return Failure(job.trial, job.attempt, *describe(error, job))
    except BaseException:
        leave_if_forked(owner)
        raise
    leave_if_forked(owner)
    return Finished(job.trial, job.attempt, not run.cut_short)


class Run:
    """One run of a trial: counts its reports, hands them on and remembers when it was told to end."""

    def __init__(self, trial: RunningTrial, job: Job, goals: Goals, channel: Channel) -> None:
        self.ended = False
        """It was told to end, or is over."""
        self.cut_short = False
        """The objective noticed that: at a ``yield`` or in ``trial.report``, or it would have been called again."""
        self._trial, self._job, self._goals, self._channel = trial, job, goals, channel
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._count = 0
        self._last: dict[str, float] | None = None
        self._notes: dict[str, Any] = {}

    @property
    def budget(self) -> int:
        """The budget of the last report by ``yield`` or ``trial.report``."""
        return self._trial.start + self._count

    # ------------------------------------------------------------ the three forms

    def execute(self, objective: Objective) -> None:
        """Call the objective, once or until it shall go no further."""
        trial, job = self._trial, self._job
        repeats = job.start if not trial.resumed else 0
        if repeats and id(objective) in _returning:
            _warn_of_return(job.trial, repeats, self._channel.warn)
        result: Any = objective(trial)
        leave_if_forked(self._owner)
        if inspect.isgenerator(result):
            trial._streams = True  # before its first line runs
            self._drive(cast("Generator[Any, Any, Any]", result))
            return
        if self._last is not None or self.ended:
            self._check_returned(result)
            return
        _returning.add(id(objective))
        if repeats:
            _warn_of_return(job.trial, repeats, self._channel.warn)
        budget = trial.stop or job.start + 1
        self._take_returned(budget, result)
        while not self.ended and trial.stop is not None and trial.stop > budget:
            done, budget = budget, trial.go_on(budget)
            if not trial.resumed:
                _warn_of_return(job.trial, done, self._channel.warn)
            self._take_returned(budget, objective(trial))
        self.cut_short = self.ended and trial.stop is not None and budget < (job.full or trial.stop)

    def _drive(self, steps: Generator[Any, Any, Any]) -> None:
        try:
            for given in steps:
                leave_if_forked(self._owner)
                if not self.take(given):
                    return
        finally:
            steps.close()
        if self._count == 0 and self._job.start == 0:
            raise InvalidReport(
                "objective", "a generator must yield at least one value", "no value", "yield once per epoch"
            )

    def _take_returned(self, budget: int, result: Any) -> None:
        leave_if_forked(self._owner)
        metrics = self._goals.parse(result)
        with self._lock:
            self._send(budget, metrics)

    def _check_returned(self, result: Any) -> None:
        """What an objective that reported may return: nothing, or what it reported last.

        Another value cannot be told apart from a report too many, at a budget that the trial may not have, or from a
        summary (the best epoch, a test error) that would replace the last report without saying so. So it is refused.
        """
        if result is None or self.ended or self._last is None:
            return
        returned, last = self._goals.parse(result), self._last
        for name in self._goals.reported:
            own, reported = returned[name], last[name]
            if own != reported and not (own != own and reported != reported):
                rule = f"an objective that calls trial.report returns nothing, or the {name} that it reported last"
                remedy = "report what counts; if that is the best report, return nothing and pass trial_value='best'"
                raise InvalidReport("objective", rule, f"returned={own:g}, reported={reported:g}", remedy)

    # ------------------------------------------------------------ what trial.report and trial.note call

    def report(self, given: Any, budget: int | None) -> bool:
        """A report from inside the objective; False: it shall end."""
        leave_if_forked(self._owner)
        if self._trial._streams:
            remedy = "yield the metrics, or call trial.report in a function without yield"
            raise InvalidReport("trial.report", "an objective yields or reports, not both", "a generator", remedy)
        return self.take(given, budget)

    def note(self, attrs: dict[str, Any]) -> None:
        leave_if_forked(self._owner)
        with self._lock:
            self._notes.update(attrs)

    # ------------------------------------------------------------ the one step

    def take(self, given: Any, budget: int | None = None) -> bool:
        """One unit of budget was trained; False: the objective shall end here."""
        trial = self._trial
        with self._lock:
            if self.ended:
                self.cut_short = True
                return False
            budget = self._next(budget)
            if trial.stop is not None and budget > trial.stop:
                self.ended = self.cut_short = True  # the objective trains longer than it was asked to
                return False
            metrics = self._goals.parse(given)
            if self._count == 0 and budget <= self._job.start and not trial.resumed:
                again = f"trial {trial.number} has no checkpoint, so {_epochs(self._job.start)} trained again"
                remedy = "save to trial.checkpoint, or choose a method that pauses no trial, such as mobster-stop"
                self._channel.warn("checkpoint", f"{again}; {remedy}")
            self._count, self._last = budget - trial.start, metrics
            if budget > self._job.start:  # else it is on record, from an earlier run
                self._send(budget, metrics)
            self.cut_short = self.ended
            return not self.ended

    def _next(self, given: int | None) -> int:
        """The budget of the next report; one that was given must be this one."""
        following = self.budget + 1  # the objective has settled where it begins by now
        if given is None or given == following:
            return following
        if self._count == 0 and isinstance(given, int) and 1 <= given <= self._job.start + 1:
            self._trial.start = given - 1  # where its checkpoint was
            return given
        rule = (
            f"must be one more than the last, {self.budget}"
            if self.budget
            else "must be 1 in the first report: epochs count from 1"
        )
        remedy = "report once per epoch; leave budget out and the reports are counted"
        raise InvalidReport("budget", rule, given, remedy)

    def _send(self, budget: int, metrics: dict[str, float]) -> None:
        self._send_notes()
        self._channel.report(budget, metrics)
        answer = self._channel.answer(wait=budget == self._trial.stop)
        if answer is None:
            return
        if answer.end:
            self.ended = True
        else:
            self._trial.stop = answer.stop

    def _send_notes(self) -> None:
        if self._notes:
            notes, self._notes = self._notes, {}
            self._channel.note(notes)

    def close(self) -> None:
        """The objective is left: threads of it that still report hear that it is over."""
        if os.getpid() != self._owner:
            return
        with self._lock:
            self.ended = True
            self._send_notes()


def _warn_of_return(trial: int, done: int, warn: Warn) -> None:
    """A trial shall go on, its objective returns, and there is no checkpoint to go on from."""
    warn(
        "returns",
        f"trial {trial} shall train on, but its objective returns instead of yielding and saved no checkpoint, so it is called "
        f"again and {_epochs(done)} trained again. Yield once per epoch of trial.epochs(), or call trial.report; or save to "
        "trial.checkpoint, and load that when trial.resumed is true; or choose a method that trains each trial once, such as "
        "method='gp'",
    )


def _epochs(count: int) -> str:
    return "1 finished epoch is" if count == 1 else f"its {count} finished epochs are"
