"""Trials that are copies of each other, and the records of a rung without them.

A copy is a trial with the same losses as another, all of them, up to the rung where they are compared. There are such trials
where a parameter has no effect and training is deterministic, or where curves come from a table. But a short curve may also be
equal by chance: a validation set of 100 leaves 101 losses to choose from. The history tells which. Whenever two trials had been
equal up to a budget r and both went on, their next ``AHEAD`` reports have shown whether one was a copy:

    a_r   how often they were equal again          s_r   how often they parted

Equal trials at a rung count as copies once a_r ≥ ``SURE`` · s_r + ``LEAST`` at some budget r up to there, for those that are
equal for longer are all the more likely to stay so. A curve that has never moved since its first report, at chance, is nobody's
copy.

The curves are a tree in which a report is a step and equal trials are at the same node. A report costs one look-up, and at a
rung O(log n); nothing is gone through again, but for curves that wait at a rung with one and the same loss, of which the latest
goes on.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sortedcontainers import SortedList

from xstar.core.table import Table
from xstar.journal.history import History
from xstar.trial import Trial

SURE = 9
"""Nine times in ten. Of losses with many digits next to none are equal by chance, of coarse ones two or three in ten again."""
LEAST = AHEAD = 3
"""One pair of trials will do, if it was equal three times more: of coarse losses, in one case of a hundred by chance."""


class Curve:
    """A node of the tree: the losses up to a budget, which one or more trials of a bracket reported."""

    __slots__ = ("before", "budget", "continued", "first", "key", "loss", "moved", "place", "short", "trials")

    def __init__(self, key: int, before: Curve | None, budget: int, loss: float, first: int) -> None:
        self.key = key
        self.before = before
        self.budget = budget
        self.loss = loss
        self.first = first
        """The trial that was here first."""
        self.trials = 0
        """How many came here."""
        self.place = -1
        """Its row among the curves of first rungs; -1: it has none."""
        self.short = before is None
        """Whether it is one report."""
        self.moved: bool = before is not None and (before.moved or loss != before.loss)
        """Whether its losses differ."""
        self.continued = False
        """Whether a trial is known to have gone on from here: it has reached another rung, or has ended."""

    def back(self) -> Iterator[Curve]:
        """This one, and those that lead to it."""
        curve: Curve | None = self
        while curve is not None:
            yield curve
            curve = curve.before

    @property
    def may_repeat(self) -> bool:
        """Whether trials that share it may be copies."""
        return self.short or self.moved


class Distinct:
    """The records of a rung, one for each curve: (loss, the first trial with this curve)."""

    __slots__ = ("_found", "_ranked", "_waiting")

    def __init__(self) -> None:
        self._found: list[tuple[float, int]] = []
        """Those that are not sorted in yet: while there are no copies, nobody asks."""
        self._ranked: SortedList[tuple[float, int]] = SortedList()
        self._waiting: SortedList[tuple[float, int]] = SortedList()

    def add(self, loss: float, trial: int) -> None:
        self._found.append((loss, trial))

    @property
    def ranked(self) -> SortedList[tuple[float, int]]:
        """All of them, the best first."""
        self._sort()
        return self._ranked

    @property
    def waiting(self) -> SortedList[tuple[float, int]]:
        """Those from which nobody was known to have gone on, when last looked at; whoever finds one that has takes it out."""
        self._sort()
        return self._waiting

    def _sort(self) -> None:
        if self._found:
            self._ranked.update(self._found)
            self._waiting.update(self._found)
            self._found.clear()


class Copies:
    """A fold of the history: the curves of its trials."""

    def __init__(self) -> None:
        self._taken = 0
        self._tree: dict[tuple[int, int, float], Curve] = {}
        """By the key of the curve before (of none, −1 − bracket), and the report after it."""
        self._at: dict[int, Curve] = {}
        """Where each trial is."""
        self._begun = Table(2)
        """Each trial that has come to its first rung: its number, and the row of its curve there."""
        self._first_curves = Table(2)
        """Those curves: their budget (-1: nobody can be a copy there), and how many trials came there."""
        self._equal: Counter[int] = Counter()
        self._parted: Counter[int] = Counter()
        self._told: SortedList[int] = SortedList()
        """The budgets up to which equal trials have proved to be copies."""
        self._rungs: dict[tuple[int, int], Distinct] = {}

    def told_at(self, budget: int) -> bool:
        """Whether trials that are equal up to this budget count as copies."""
        return bool(self._told) and self._told[0] <= budget

    def alike(self) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Trials that have come to their first rung, and how many had the curve of each there; of what is no copy, 1."""
        number, place = self._begun.rows.T.astype(np.intp)
        budget, trials = self._first_curves.rows[place].T
        told = self._told[0] if self._told else np.inf
        return number, np.where(budget >= told, trials, 1.0)

    def rung(self, budget: int, bracket: int) -> Distinct:
        return self._rungs.setdefault((bracket, budget), Distinct())

    def best_paused(
        self, history: History, budget: int, bracket: int, places: int, *, latest: bool = False
    ) -> int | None:
        """The best trial that pauses at a rung, among its first ``places`` curves, with one from which none has gone on.

        ``latest``: of several with equal losses, of which as many may go on as have places, the latest.
        """
        if latest:
            return self._latest_paused(history, budget, bracket, places)
        distinct, paused = self.rung(budget, bracket), history.rung(budget, bracket).paused
        ranked, waiting, at = distinct.ranked, distinct.waiting, 0
        while at < len(waiting) and waiting[at] <= ranked[min(places, len(ranked)) - 1]:
            record = waiting[at]
            if self._gone(history.trials[record[1]], budget):
                del waiting[at]  # for good: no trial comes back to a rung
            elif record in paused:
                return record[1]
            else:
                at += 1  # on its way, without a report yet
        return None

    def _latest_paused(self, history: History, budget: int, bracket: int, places: int) -> int | None:
        distinct, paused = self.rung(budget, bracket), history.rung(budget, bracket).paused
        ranked, waiting, at = distinct.ranked, distinct.waiting, 0
        while at < len(waiting) and ranked.bisect_left((waiting[at][0], -1)) < places:
            end = (math.nextafter(waiting[at][0], math.inf), -1)
            left = max(ranked.bisect_left(end) - places, 0)  # of those with this loss, as many have no place
            if (stop := waiting.bisect_left(end)) - at > left:  # else all places are taken, and nobody is looked at
                equal = list(waiting.islice(at, stop))
                for record in equal:
                    if self._gone(history.trials[record[1]], budget):
                        waiting.remove(record)  # for good: no trial comes back to a rung
                ready = [record for record in equal if record in paused and record in waiting]
                if len(ready) > left:
                    return ready[-1][1]
            at = waiting.bisect_left(end)
        return None

    def _gone(self, trial: Trial, budget: int) -> bool:
        if trial.budget > budget or trial.state.over:
            return True
        curve = self._at[trial.number]
        return curve.may_repeat and curve.continued

    def catch_up(self, history: History) -> None:
        observed = history.observed
        for place in range(self._taken, len(observed)):
            number, budget, _ = observed[place]
            trial = history.trials[number]
            if trial.bracket >= 0:
                self._follow(history, trial, budget)
        self._taken = len(observed)

    def _follow(self, history: History, trial: Trial, budget: int) -> None:
        before = curve = self._at.get(trial.number)
        known = curve.budget if curve is not None else 0
        for report in trial.reports:
            if known < report.budget <= budget:
                curve = self._step(curve, trial, report.budget, history.loss_of(report.metrics))
        if curve is None:
            return
        self._at[trial.number] = curve
        if before is None:
            self._begin(trial, curve)
        if budget in history.levels and (curve.first == trial.number or not curve.may_repeat):
            self.rung(budget, trial.bracket).add(curve.loss, trial.number)

    def _begin(self, trial: Trial, curve: Curve) -> None:
        if curve.place < 0:
            curve.place = self._first_curves.count
            budget = curve.budget if curve.may_repeat else -1
            self._first_curves.append(np.array([[budget, curve.trials]]))
        self._begun.append(np.array([[trial.number, curve.place]]))

    def _step(self, before: Curve | None, trial: Trial, budget: int, loss: float) -> Curve:
        key = (_key(before, trial), budget, loss)
        curve = self._tree.get(key)
        if curve is None:
            if before is not None and before.continued:
                self._weigh(before, self._parted)
            curve = self._tree[key] = Curve(len(self._tree), before, budget, loss, trial.number)
        elif before is not None and curve.moved:
            self._weigh(before, self._equal)
        if before is not None:
            before.continued = True
        curve.trials += 1
        if curve.place >= 0:
            self._first_curves.rows[curve.place, 1] = curve.trials
        return curve

    def _weigh(self, curve: Curve, evidence: Counter[int]) -> None:
        """Count what the next report has shown of trials that were equal up to here, and before."""
        for earlier in itertools.islice(curve.back(), AHEAD):
            if earlier.may_repeat:
                budget = earlier.budget
                evidence[budget] += 1
                self._told.discard(budget)
                if self._equal[budget] >= SURE * self._parted[budget] + LEAST:
                    self._told.add(budget)


def _key(curve: Curve | None, trial: Trial) -> int:
    return curve.key if curve is not None else -1 - trial.bracket
