"""A line for each trial that ends or pauses, through ``logging``: what a search shows where there is neither a terminal nor a
notebook. Before them the method, if xstar chose it.

The lines go to the logger ``xstar.trials``, at level INFO; what went wrong is logged there by the loop, as a warning. Who has
set up logging for that level gets them there. Otherwise they are written to standard error while the search runs, unless a
level was set on the logger on purpose.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import Any

from xstar.core.clock import wall_clock
from xstar.core.words import numbers, plural, seconds
from xstar.journal import History
from xstar.journal.constraints import beyond, how_many_beyond
from xstar.journal.trial import State, Trial
from xstar.look.progress.tracker import BROKEN, Progress, Tracker
from xstar.study import Study
from xstar.study.loop import log, trial_log, went_wrong

BURST = 50
"""Lines that may come at once; after them there is one per second, which says how many trials it stands for."""


def choice_of(history: History) -> str:
    """The method and why it was chosen, where that was not the user's choice: what a display begins with."""
    created = history.created
    return f"method {created.method}: {created.why}" if created.why else ""


def in_a_line(tracker: Tracker, trial: Trial) -> str:
    """How a trial ended or paused: ``trial 12 complete error=0.031 (best 0.028, trial 7), 3.2 s, about 5 min left``."""
    if trial.state in (*BROKEN, State.WAITING):
        return went_wrong(trial)
    history = tracker.study.history
    upto = "" if trial.state is State.COMPLETE else f" after {plural(trial.budget, 'epoch')}"
    text = f"trial {trial.number} {trial.state.value}{upto} {history.goals.words(trial.metrics, 5)}"
    if words := beyond(history.bounds, trial.metrics):
        text += f", {words}"
    if tracker.best is not None:
        text += f" (best {numbers(tracker.best.values.values())}, trial {tracker.best.number})"
    elif front := history.front:
        text += f" ({plural(len(front), 'trial')} in the front)"
    took, left = trial.seconds if trial.state.over else tracker.running_for(trial), tracker.remaining()
    return f"{text}, {seconds(took)}" + (f", about {seconds(left)} left" if left else "")


def logged() -> bool:
    """Whether somebody has set up logging so that lines arrive."""
    return trial_log.isEnabledFor(logging.INFO) and trial_log.hasHandlers()


class LogProgress(Progress):
    """A line per trial of this program that ended or paused; where there are more than anyone reads, a line per second."""

    def __init__(self, tracker: Tracker, write: Callable[[str], None] | None = None) -> None:
        """``write``: takes the lines instead of the log."""
        super().__init__(tracker)
        self._given = write
        self._write = write or _to_log
        self._allowed = float(BURST)
        self._asked = tracker.started
        self._left_out = 0
        self._taken = ExitStack()

    def __call__(self, study: Study) -> None:
        if self._allowed >= 1 or self.tracker.due():
            self.look()

    def look(self) -> None:
        now = self.tracker.stopwatch()
        self._allowed = min(BURST, self._allowed + max(0.0, now - self._asked))
        self._asked = now
        for trial in self.tracker.advance():
            if not self._concerns_us(trial):
                continue
            if self._allowed < 1:
                self._left_out += 1
                continue
            self._allowed -= 1
            self._say_left_out()
            self._write(in_a_line(self.tracker, trial))

    def _concerns_us(self, trial: Trial) -> bool:
        """The loop speaks of failures here, and other programs of theirs; but not of what those left behind when they died."""
        if trial.state is State.WAITING:
            return not self.tracker.ran(trial)
        # Infeasible by what it reported: nothing went wrong, so the loop does not speak of it.
        bounds = trial.state is State.INFEASIBLE and trial.reason == self.tracker.study.history.violation(trial)
        return (trial.state not in BROKEN or bounds) and self.tracker.ran(trial)

    def _say_left_out(self) -> None:
        if self._left_out:
            self._write(f"… and {plural(self._left_out, 'more trial')}")
            self._left_out = 0

    def message(self, text: str) -> None:
        self._write(text)

    def finish(self, reason: str) -> None:
        self.look()
        self._say_left_out()
        history = self.tracker.study.history
        beyond = "" if history.has_value else how_many_beyond(history.bounds, history.trials)
        paused = history.count(State.PAUSED)
        more = f"; {beyond}" if beyond else ""
        more += f"; {paused} paused (with a larger trials= the best of them train on)" if paused else ""
        self._write(reason + more)

    def __enter__(self) -> LogProgress:
        set_up = self._given is None and trial_log.hasHandlers()
        against = self._given is None and (trial_log.level or log.level) and not trial_log.isEnabledFor(logging.INFO)
        said_already = set_up and logged()  # the choice, when the study was made
        if self._given is None and not said_already:
            self._write = _to_nobody if against else _to_stderr
        if not set_up and not against:  # what the loop says of failures goes where the lines go
            self._taken.enter_context(messages_to(self._write, trial_log))
        if (choice := choice_of(self.tracker.study.history)) and not said_already:
            self._write(choice)
        return self

    def __exit__(self, *error: object) -> None:
        with self._taken:
            self.look()
            self._say_left_out()


def _to_log(text: str) -> None:
    trial_log.info("%s", text)


def _to_nobody(text: str) -> None:
    """Somebody has set a level on the logger so as to hear nothing."""


def _to_stderr(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"{datetime.fromtimestamp(wall_clock()):%Y-%m-%d %H:%M:%S} {text}\n")
        sys.stderr.flush()


@contextmanager
def messages_to(show: Callable[[str], Any], logger: logging.Logger = log) -> Iterator[None]:
    """Have the warnings of a logger shown where they do not tear a display; those about trials only if it is theirs."""

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if logger is trial_log or record.name != trial_log.name:  # a display shows trials in its own way
                show(record.getMessage())

    handler = Handler(logging.WARNING)
    propagate, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagate
