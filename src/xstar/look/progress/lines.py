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

from xstar.core.words import numbers, plural, seconds
from xstar.journal import History
from xstar.journal.constraints import beyond, how_many_beyond
from xstar.journal.trial import State, Trial
from xstar.look.progress.tracker import BROKEN, Progress, Tracker
from xstar.study import Study
from xstar.study.loop import log, trial_log, went_wrong

BURST = 50
"""Lines that may come at once; after them there is one per second, which says how many trials it stands for."""

FORMAT = logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S")
"""Of lines where logging is not set up; with the time, for those who read them later."""


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
        self._write = write
        self._allowed = float(BURST)
        self._asked = tracker.started
        self._left_out = 0
        self._shown = ExitStack()

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
            trial_log.info("%s", in_a_line(self.tracker, trial))

    def _concerns_us(self, trial: Trial) -> bool:
        """The loop speaks of failures here, and other programs of theirs; but not of what those left behind when they died."""
        if trial.state is State.WAITING:
            return not self.tracker.ran(trial)
        # Infeasible by what it reported: nothing went wrong, so the loop does not speak of it.
        bounds = trial.state is State.INFEASIBLE and trial.reason == self.tracker.study.history.violation(trial)
        return (trial.state not in BROKEN or bounds) and self.tracker.ran(trial)

    def _say_left_out(self) -> None:
        if self._left_out:
            trial_log.info("… and %s", plural(self._left_out, "more trial"))
            self._left_out = 0

    def message(self, text: str) -> None:
        trial_log.warning("%s", text)

    def finish(self, reason: str) -> None:
        self.look()
        self._say_left_out()
        history = self.tracker.study.history
        beyond = "" if history.has_value else how_many_beyond(history.bounds, history.trials)
        paused = history.count(State.PAUSED)
        more = f"; {beyond}" if beyond else ""
        more += f"; {paused} paused (with a larger trials= the best of them train on)" if paused else ""
        trial_log.info("%s%s", reason, more)

    def __enter__(self) -> LogProgress:
        said_already = self._write is None and logged()  # when the study was made
        self._shown.enter_context(_shown(self._write))
        if (choice := choice_of(self.tracker.study.history)) and not said_already:
            trial_log.info("%s", choice)
        return self

    def __exit__(self, *error: object) -> None:
        with self._shown:
            self.look()
            self._say_left_out()


@contextmanager
def _shown(write: Callable[[str], None] | None) -> Iterator[None]:
    """Have the lines written somewhere, unless logging is set up for them, or against them."""
    against = (trial_log.level or log.level) and not trial_log.isEnabledFor(logging.INFO)
    if write is None and (against or logged()):
        yield
        return
    theirs = write is None and trial_log.hasHandlers()  # for warnings only

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if theirs and record.levelno >= logging.WARNING:
                log.handle(record)
            elif write is not None:
                write(record.getMessage())
            elif sys.stderr is not None:
                sys.stderr.write(FORMAT.format(record) + "\n")
                sys.stderr.flush()

    handler, before = Handler(), (trial_log.level, trial_log.propagate)
    trial_log.addHandler(handler)
    trial_log.setLevel(logging.INFO)
    trial_log.propagate = False
    try:
        yield
    finally:
        trial_log.removeHandler(handler)
        trial_log.setLevel(before[0])
        trial_log.propagate = before[1]
