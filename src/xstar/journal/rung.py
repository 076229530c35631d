"""What a history keeps of the rungs of a scheduler's ladder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sortedcontainers import SortedList

from xstar.core.goals import DEFAULT, Goal, Goals
from xstar.core.pareto import Array, spread_order
from xstar.journal.constraints import Bound, beyond
from xstar.journal.fronts import Fronts
from xstar.journal.trial import Trial

Standing = tuple[Any, ...]
"""By what a report is compared with others, lower is better (``standing``): of one objective a single item, of several
one for each, and a last one, 1 beyond a bound and else 0, where there are constraints."""


def standing(goals: Goals, bounds: Sequence[Bound], metrics: Mapping[str, float]) -> Standing:
    """By what a report ranks at a rung: its losses; with constraints, what is beyond a bound ranks behind all others."""
    losses = goals.losses(metrics)
    if not bounds:
        return losses
    behind = float(beyond(bounds, metrics) is not None)
    return (*losses, behind) if goals.several else ((behind, losses[0]),)


def ranking(goals: Goals, *, bounded: bool) -> Goals:
    """What orders the standings of several objectives: what is beyond a bound stands as if beyond a threshold."""
    return Goals([*goals, Goal("", threshold=0.0)]) if bounded and goals.several else goals  # no metric is called ""


class Rung:
    """The records at one budget, kept in order: (standing, trial number), so ties go to the earlier trial."""

    __slots__ = ("closed", "dropped", "paused", "records")

    def __init__(self) -> None:
        self.closed = 0
        """Trials that ended at this very budget, and so cannot go on from it."""
        self.dropped = 0
        """Trials on their way here that ended before: they failed, or their objective had nothing more to train."""
        self.records: SortedList[tuple[Any, int]] = SortedList()
        """Every trial that reported at this budget."""
        self.paused: SortedList[tuple[Any, int]] = SortedList()
        """Those of them that pause here."""

    def record(self, standing: Standing, trial: int) -> None:
        """A trial reported here."""
        self.records.add((standing[0], trial))

    def pause(self, standing: Standing, trial: int) -> None:
        """A trial pauses here."""
        self.paused.add((standing[0], trial))

    def resume(self, standing: Standing, trial: int) -> None:
        """A trial that paused here runs again."""
        self.paused.discard((standing[0], trial))

    def promotable(self, places: int) -> int | None:
        """The best trial that pauses here, if it is among the best ``places`` records or equal to one of them."""
        if not self.paused or not places:
            return None
        standing, number = self.paused[0]
        return number if standing <= self.records[places - 1][0] else None

    def would_rank_within(self, standing: Standing, places: int) -> bool:
        """Whether a trial with this standing, which is no record yet, would be among the first ``places`` with itself."""
        # One look-up and one comparison: finding its rank compares it with twenty records, each a miss of the cache among a
        # million (87,000 against 359,000 verdicts/s).
        return bool(standing[0] <= self.records[places - 1][0])

    def paused_best_first(self) -> list[int]:
        """The trials that pause here, best first."""
        return [number for _, number in self.paused]


class RungOfFronts(Rung):
    """The same for several objectives. Records stand by fronts (``core/pareto.py``): an order that changes with every record.
    Who asks about one of them needs the order within its own front alone; the others are counted."""

    __slots__ = ("_answers", "_fronts", "_goals", "_pausing", "_rows", "_thresholds", "_trials")

    def __init__(self, goals: Goals) -> None:
        super().__init__()
        self._goals = goals
        self._thresholds = np.array(goals.thresholds)
        self._fronts = Fronts(len(goals))
        self._trials: list[int] = []
        """The trial of each row of the fronts."""
        self._rows: dict[int, int] = {}
        self._pausing: set[int] = set()
        """The rows of trials that pause here."""
        self._answers: dict[int, int | None] = {}
        """What was promotable, by places, until something changes."""

    def record(self, standing: Standing, trial: int) -> None:
        self.records.add((standing, trial))
        self._rows[trial] = len(self._trials)
        self._trials.append(trial)
        self._fronts.add(np.array(standing))
        self._answers.clear()

    def pause(self, standing: Standing, trial: int) -> None:
        self.paused.add((standing, trial))
        if trial in self._rows:
            self._pausing.add(self._rows[trial])
            self._answers.clear()

    def resume(self, standing: Standing, trial: int) -> None:
        self.paused.discard((standing, trial))
        self._pausing.discard(self._rows.get(trial, -1))
        self._answers.clear()

    def promotable(self, places: int) -> int | None:
        if places not in self._answers:
            self._answers[places] = self._promotable_of(places)
        return self._answers[places]

    def _promotable_of(self, places: int) -> int | None:
        if not self._pausing or not places:
            return None
        pausing = np.fromiter(self._pausing, dtype=np.intp)
        beyond = self._are_beyond(self._fronts.Y)
        only = pausing[beyond[pausing] == beyond[pausing].min()]
        front = int(self._fronts.numbers[only].min())
        first = self._before(front, bool(beyond[only[0]]))
        if first >= places:
            return None
        members = self._members(front, bool(beyond[only[0]]))[: places - first]
        found = (self._trials[row] for row in members if row in self._pausing)
        return next(found, None)

    def would_rank_within(self, standing: Standing, places: int) -> bool:
        row = np.array(standing)
        front, beyond = self._fronts.front_of(row), bool(self._are_beyond(row))
        first = self._before(front, beyond)
        if first >= places:
            return False
        if first + np.count_nonzero(self._fronts.numbers == front) < places:
            return True  # wherever it stands in its front
        return -1 in self._members(front, beyond, row)[: places - first]

    def paused_best_first(self) -> list[int]:
        records = list(self.records)
        order = self._goals.ordered([standing for standing, _ in records])
        return [records[place][1] for place in order.tolist() if records[place] in self.paused]

    def _are_beyond(self, Y: Array) -> NDArray[np.bool_]:
        """Which of the columns are beyond a threshold, and so stand behind all others."""
        return np.asarray((self._thresholds < Y.T).any(axis=-1))

    def _before(self, front: int, beyond: bool) -> int:
        """How many records stand before a front, and before those of it that are beyond a threshold if ``beyond``."""
        others = self._are_beyond(self._fronts.Y)
        earlier = self._fronts.numbers < front
        return int(((earlier & others) | ~others).sum() if beyond else (earlier & ~others).sum())

    def _members(self, front: int, beyond: bool, new: Array | None = None) -> list[int]:
        """The rows of a front, best first: those beyond a threshold or those that are not. A ``new`` one, -1, drives the rows
        that it dominates out of it."""
        Y = self._fronts.Y
        rows = np.flatnonzero(self._fronts.numbers == front)
        rows = rows[np.lexsort(([self._trials[row] for row in rows.tolist()], *Y[::-1, rows]))]
        found = Y[:, rows].T
        if new is not None:
            stays = (found < new).any(axis=1) | (found == new).all(axis=1)
            rows, found = np.append(rows[stays], -1), np.vstack([found[stays], new])
        order = spread_order(found)
        return [int(row) for row in rows[order][self._are_beyond(found[order].T) == beyond]]


class Rungs:
    """All rungs, of every bracket. A trial of no bracket (one that was added) is compared with none."""

    __slots__ = ("_above", "by_place", "goals", "levels", "touched")

    def __init__(self, levels: tuple[int, ...]) -> None:
        self.levels = levels
        self.goals = DEFAULT
        self.by_place: dict[tuple[int, int], Rung] = {}
        """By bracket and budget, those that a trial has reached or was on its way to."""
        self.touched: list[int] = []
        """The bracket of every trial that reached a rung or ended, in that order."""
        self._above = dict(pairwise(levels))

    def at(self, budget: int, bracket: int) -> Rung:
        """The rung of a budget in a bracket, to look at."""
        return self.by_place.get((bracket, budget), _EMPTY)

    def above(self, trial: Trial) -> int | None:
        """Where a trial that goes on at its target trains to next."""
        return None if trial.target is None else self._above.get(trial.target, trial.target)

    def record(self, trial: Trial, budget: int, standing: Standing) -> None:
        """A trial reported at a rung."""
        if trial.bracket >= 0:
            self._of(trial, budget).record(standing, trial.number)
            self.touched.append(trial.bracket)

    def pause(self, trial: Trial, standing: Standing) -> None:
        """A trial pauses where it reported last."""
        self._of(trial, trial.budget).pause(standing, trial.number)

    def resume(self, trial: Trial, standing: Standing) -> None:
        """A trial that paused runs again."""
        self.at(trial.budget, trial.bracket).resume(standing, trial.number)

    def end(self, trial: Trial) -> None:
        """A trial is over: at its target, or on its way there."""
        if self.levels and trial.target is not None and trial.bracket >= 0:
            rung = self._of(trial, trial.target)
            if trial.budget < trial.target:
                rung.dropped += 1
            else:
                rung.closed += 1
            self.touched.append(trial.bracket)

    def _of(self, trial: Trial, budget: int) -> Rung:
        rung = self.by_place.get((trial.bracket, budget))
        if rung is None:
            rung = RungOfFronts(self.goals) if self.goals.several else Rung()
            self.by_place[trial.bracket, budget] = rung
        return rung


_EMPTY = Rung()
