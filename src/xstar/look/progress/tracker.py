"""What is new since the last look, how fast it goes, and how long it may still take; and what all displays share.

A look does not cost more as the study grows: a :class:`Tracker` reads the events since the last one.
"""

from __future__ import annotations

import abc
from collections import deque
from typing import TYPE_CHECKING, Self

from xstar.core.clock import stopwatch, wall_clock
from xstar.journal import events as ev
from xstar.journal.trial import State, Trial
from xstar.study import Limits, Study

if TYPE_CHECKING:  # which loads what audits need
    from xstar.look.view import StudyView

WINDOW = 50
"""Ended trials that the rate is measured over: it follows a change of pace, and does not jump with every trial."""

LOOK = 0.1
"""Seconds between two looks of a display that is redrawn anyway: a look is a query to the database of a stored study."""

BROKEN = (State.FAILED, State.INFEASIBLE)


class Tracker:
    """Follows a study between two steps of the loop.

    Displays draw from a thread of their own. So what takes several steps to find, such as the best trial, is found by
    ``advance`` and kept; all else that they read of the history is a single value or copied in one step.
    """

    def __init__(self, study: Study | StudyView, limits: Limits) -> None:
        self.study = study
        self.limits = limits
        mine = study if isinstance(study, Study) else None  # a view has no clock
        self._leases = None if mine is None else mine.leases
        self._clock = wall_clock if mine is None else mine.clock
        self.stopwatch = stopwatch(wall_clock) if mine is None else mine.stopwatch
        self.started = self.stopwatch()
        self.before = len(study.history.trials)
        """Trials of earlier sessions."""
        self.ended = 0
        """Trials that this program ran and that are over."""
        self.best: Trial | None = study.history.best
        self.failure: Trial | None = None
        """The last trial that failed or has to be run again, of this session."""
        self.rungs: list[tuple[int, int]] = []
        """(budget, how many trials have reached it), ascending."""
        self._starts: dict[int, tuple[int, float]] = {}  # running trials → (attempt, when it began)
        self._cursor = study.history.seen
        self._announced: set[int] = set()
        self._done = self.done()
        self._ends: deque[float] = deque([self.started], maxlen=WINDOW)
        self._looked: float | None = None
        self._count_rungs()

    @property
    def takes_part(self) -> bool:
        """Whether this program runs trials, and does not only look on."""
        return self._leases is not None

    def ran(self, trial: Trial) -> bool:
        """Whether this program ran a trial; of a study that is only looked at, all are of interest."""
        return self._leases is None or bool(self._leases.ran(trial))

    @property
    def elapsed(self) -> float:
        """Seconds since the search began."""
        return self.stopwatch() - self.started

    def due(self) -> bool:
        """Whether enough time has passed since this last said so to look again."""
        now = self.stopwatch()
        if self._looked is not None and 0 <= now - self._looked < LOOK:
            return False
        self._looked = now
        return True

    def advance(self) -> list[Trial]:
        """The trials that ended, paused or have to be run again, since the last call."""
        history = self.study.history
        found: list[Trial] = []
        if self._cursor == history.seen:
            return found
        for event in self.study.journal.read(self._cursor):
            if self._cursor == history.seen:
                break  # others appended more; the study has not folded it yet
            self._cursor += 1
            if isinstance(event, ev.Started):
                self._starts[event.trial] = (event.attempt, event.at)
            number = getattr(event, "trial", None)
            if number is None or number in self._announced:
                continue
            trial = history.trials[number]
            paused = trial.state is State.PAUSED and isinstance(event, ev.Reported) and event.budget == trial.budget
            if trial.state.over:
                self._announced.add(number)
                self._starts.pop(number, None)
                self.ended += self.ran(trial)
                found.append(trial)
            elif trial not in found and (trial.state is State.WAITING or paused):
                found.append(trial)
        self.best = history.best
        broken = [trial for trial in found if trial.state in (*BROKEN, State.WAITING)]
        self.failure = broken[-1] if broken else self.failure
        self._count_rungs()
        # Trials that pause count as well: most of them never run again, and the end is near when all have been tried.
        self._ends.extend([self.stopwatch()] * min(WINDOW, self.done() - self._done))
        self._done = max(self._done, self.done())
        return found

    def _count_rungs(self) -> None:
        history = self.study.history
        if len(history.levels) > 1:
            reached = dict.fromkeys(history.levels, 0)
            for (_, budget), rung in history.all_rungs.items():
                reached[budget] = reached.get(budget, 0) + len(rung.records)
            self.rungs = sorted(reached.items())

    def running_for(self, trial: Trial) -> float | None:
        """Seconds since the present run of the trial began: a resumed or promoted one was asked for long ago."""
        attempt, began = self._starts.get(trial.number, (0, trial.runs.asked_at))
        return self._clock() - began if attempt == trial.attempt else None

    def rate(self) -> float | None:
        """Trials per second that ended or paused, over the last ``WINDOW`` of them."""
        if len(self._ends) < 2:
            return None
        # Up to now, not up to the last end: while nothing ends, the rate sinks.
        return (len(self._ends) - 1) / max(self.stopwatch() - self._ends[0], 1e-6)

    def done(self) -> int:
        """How many of ``limits.trials`` are behind us."""
        history = self.study.history
        return len(history.trials) - history.added - len(history.running) - len(history.waiting)

    def remaining(self) -> float | None:
        """Seconds until a limit is met, as far as can be foreseen."""
        rate, guesses = self.rate(), []
        if self.limits.trials is not None and rate is not None:
            guesses.append(max(0, self.limits.trials - self.done()) / rate)
        if self.limits.seconds is not None:
            guesses.append(max(0.0, self.limits.seconds - self.elapsed))
        return min(guesses, default=None)


class Progress(abc.ABC):
    """A ``watch`` for the loop, and the place where messages go while it runs."""

    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker
        self.ending: str | None = None

    def __call__(self, study: Study) -> None:
        if self.tracker.due():
            self.look()

    @abc.abstractmethod
    def look(self) -> None:
        """Show what is new."""

    @abc.abstractmethod
    def message(self, text: str) -> None:
        """Show something else."""

    def finish(self, reason: str) -> None:
        """Say why the search ended."""
        self.ending = reason

    @abc.abstractmethod
    def __enter__(self) -> Self: ...

    @abc.abstractmethod
    def __exit__(self, *error: object) -> None: ...
