"""A suggestion made ahead: what the next free worker will be given is decided while all of them train.

A model may take tenths of a second to suggest a configuration, and the worker that asked waits for it. If the program has
nothing else to do while all workers are busy, it makes the next decision then. The event says what it had seen
(``Asked.seen``), as any other does, so an audit makes it again from the same events; until a worker takes it, it is nowhere but
here, and whoever dies with it has lost nothing.

It is used only if the decision would be due all the same, and if little has happened since:

* the next trial has the number that it was made for, so it has seen the configurations of all trials before it;
* nothing goes before it (a trial to run again, a promotion, a configuration that a user wants tried), and the scheduler
  wants the same budget and bracket;
* there is no new best, no further trial has failed, and the space has not been widened;
* the observations have grown by a tenth at most.

Otherwise it is dropped, and made again.

It is not made at all where it would gain nothing: with a single worker, whose result is what the next decision waits for, and
unless decisions take a good part of the program's time. Random search therefore never has one.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from statistics import median

from xstar.executors.clock import processor_clock
from xstar.journal import History
from xstar.journal import events as ev
from xstar.space import Space
from xstar.study.ledger import Ledger
from xstar.study.limits import Limits
from xstar.study.policy import Policy, Start
from xstar.trial import Done, New, State, Wait

LEAST_WORKERS = 2
"""Trials that must be running, all slots taken."""

BUSY = 0.25
"""Decisions are made ahead if they take this share of the program's time, or more.

W workers lose at least this share / W of their time to decisions that are made when they ask. The price is that a suggestion
misses the result that freed its worker, as if there were one worker more. Below a quarter there is less to gain than that.
"""

RECENT = 16
"""The share is that of so many decisions; before half as many there is none."""

GROWTH = 10
"""A suggestion made ahead is dropped when the observations have grown by more than a tenth, as models are refitted then. So
the first ten observations never meet one."""

DRAWN = 8
"""If fewer than half of so many were used (another program took the number, results keep changing the best), none is made for
``REST`` trials."""
REST = 32


@dataclass(frozen=True, slots=True)
class Prepared:
    """A decision that waits for a worker, and what was known when it was made."""

    start: ev.Asked
    task: New
    best: tuple[int, float | None] | None
    failed: int
    observed: int
    space: Space

    @classmethod
    def of(cls, start: ev.Asked, task: New, history: History) -> Prepared:
        return cls(start, task, _best(history), _failed(history), len(history.observed), history.space)

    def is_due(self, history: History, task: New) -> bool:
        """Whether a worker is to be given it now."""
        return self.task == task and self.holds(history)

    def holds(self, history: History) -> bool:
        """Whether nothing has happened since that matters."""
        return (
            self.start.trial == len(history.trials)
            and not history.queue
            and self.space is history.space
            and self.best == _best(history)
            and self.failed == _failed(history)
            and (len(history.observed) - self.observed) * GROWTH <= self.observed
        )


class Ahead:
    """What to start next, decided when a worker asks or before that."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._prepared: Prepared | None = None
        self._decisions: deque[tuple[float, float]] = deque(maxlen=RECENT)
        """When a new trial was decided on, and the seconds of processor time that it took."""
        self._drawn: deque[bool] = deque(maxlen=DRAWN)
        """Whether each of the last ones was used."""
        self._rest = 0

    def start(self, history: History, now: float, moment: float, full: str | None) -> Start | Wait | Done:
        """The event that starts the next run; ``full`` says why no new trial may begin, if so."""
        due = self._policy.due(history, now)
        if not isinstance(due, New):
            return due  # a promotion takes no time, and what is prepared may be due after it
        if full is not None:
            return Done(full)
        prepared = self._take()
        if prepared is not None:
            used = prepared.is_due(history, due)
            self._draw(used)
            if used:
                return replace(prepared.start, at=now)
        self._rest = max(0, self._rest - 1)
        return self._decide(history, due, now, moment)

    def _wanted(self, history: History, moment: float) -> bool:
        """Whether one is to be made now."""
        if self._prepared is not None:
            if self._prepared.holds(history):
                return False
            self._prepared = None
            self._draw(False)
        if self._rest or len(self._decisions) < RECENT // 2:
            return False
        since = moment - self._decisions[0][0]
        return sum(seconds for _, seconds in self._decisions) >= BUSY * since

    def prepare(self, ledger: Ledger, limits: Limits, now: float, moment: float, begun: float) -> None:
        """Make the next decision, if that is worthwhile, and if it is one for the searcher."""
        history = ledger.history
        if not self._wanted(history, moment):
            return
        ledger.catch_up()
        if limits.over(history, moment - begun) is not None or limits.full(history) is not None:
            return
        due = self._policy.due(history, now)
        if isinstance(due, New) and not history.queue:
            start = self._decide(history, due, now, moment)
            if isinstance(start, ev.Asked):
                self._prepared = Prepared.of(start, due, history)

    @property
    def seconds(self) -> float | None:
        """The median of the processor time that the latest decisions on new trials took; ``None`` before the first."""
        return median(seconds for _, seconds in self._decisions) if self._decisions else None

    def _decide(self, history: History, task: New, now: float, moment: float) -> Start | Done:
        begun = processor_clock()
        made = self._policy.new(history, task, now)
        self._decisions.append((moment, processor_clock() - begun))
        return made

    def _take(self) -> Prepared | None:
        taken, self._prepared = self._prepared, None
        return taken

    def _draw(self, used: bool) -> None:
        self._drawn.append(used)
        if len(self._drawn) == DRAWN and 2 * sum(self._drawn) < DRAWN:
            self._drawn.clear()
            self._rest = REST


def _best(history: History) -> tuple[int, float | None] | None:
    best = history.best
    return None if best is None else (best.number, best.loss)


def _failed(history: History) -> int:
    return history.count(State.FAILED, State.INFEASIBLE)
