"""Asynchronous successive halving: promotion (ASHA) and stopping, and asynchronous Hyperband over both.

Choose it whenever an objective reports while it trains: most configurations are dropped after a fraction of the budget, and no
worker ever waits for another. Promotion pauses every trial at each rung until it has earned the next one; stopping lets a
trial run on unless it is among the worse. Stopping is ahead early and promotion later. Where the first epoch says nothing about
the last one, raise ``min_budget`` or use several brackets.

Section 2 of the MOBSTER paper, with the records of a rung R sorted, y_(1) ≤ … ≤ y_(n):

    continue(x, r, y)    y is in the top 1/η of the records at rung r, itself included:    y ≤ y_(⌊n/η⌋)
    promotion            rungs from the top down: the first paused x for which continue is true; else a new trial
    stopping             at a rung, go on if continue is true, or if n < η

The predicate is one of y, so equal losses are treated alike: at a rung where all are equal (accuracy at chance), all go on.
With constraints y is a pair, whether the report is beyond a bound and the loss, so whatever is beyond ranks behind all within.
With several brackets (asynchronous Hyperband) each bracket has rungs of its own and begins at a higher one.

References: Li et al. (2020), A system for massively parallel hyperparameter tuning, MLSys; Liaw et al. (2018), Tune.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xstar.journal import History
from xstar.journal.trial import New, Promote, Report, Trial, Verdict
from xstar.schedulers.base import SCHEDULERS
from xstar.schedulers.rungs import OnRungs

FULL_SHARE = 24
"""The n-th full-budget trial begins when the trials along the rungs have had the epochs of √(24 n) trainings. So their share
of the epochs rises: a quarter after five trainings, a half after 18, three quarters after 90. The rungs are the faster way to a
good region; within it they tell less and less, as all that a model suggests there is good after a few epochs."""


@dataclass(frozen=True)
class ASHA(OnRungs):
    """The promotion variant: pause at every rung, promote the best of each."""

    full_share: bool = False
    """Whether a rising share of the epochs (``FULL_SHARE``) goes to full-budget trials, which are compared at no rung
    (``mobster``)."""

    def next(self, history: History) -> New | Promote:
        for step, bracket in self._from_the_top():
            rung = history.rung(self.rungs[step], bracket)
            number = rung.promotable(len(rung.records) // self.eta)
            if number is not None:
                return Promote(number, self.rungs[step + 1])
        if self.full_share and self._is_full_due(history):
            return New(self.max_budget, len(self.rungs) - 1)
        bracket = self.bracket_of(history.seed, len(history.trials))
        return New(self.rungs[bracket], bracket)

    def _from_the_top(self) -> Iterator[tuple[int, int]]:
        """The rungs at which trials pause, by their index on the ladder, and their brackets."""
        for step in range(len(self.rungs) - 2, -1, -1):
            for bracket in range(min(len(self.sizes), step + 1)):
                yield step, bracket

    def _is_full_due(self, history: History) -> bool:
        """Whether the next full-budget trial is due: the n-th, with the epochs C at rungs, if C² ≥ ``FULL_SHARE`` n r_max²."""
        top = len(self.rungs) - 1
        compared = history.memo.fold(ComparedEpochs, history).count
        return top > 0 and FULL_SHARE * (history.started[top] + 1) * self.max_budget**2 <= compared**2

    def judge(self, history: History, report: Report) -> Verdict:
        trial = history.trials[report.trial]
        return Verdict.PAUSE if self.at_rung(trial, report.budget) else Verdict.CONTINUE

    def retired(self, history: History, trial: Trial) -> tuple[int, ...]:
        return ()  # as records come in, any paused trial may still rise into the top 1/η


class ComparedEpochs:
    """A fold of the history: the epochs of trials that are compared at rungs."""

    def __init__(self) -> None:
        self.count = 0
        self._taken = 0
        self._reached: dict[int, int] = {}

    def catch_up(self, history: History) -> None:
        observed, top = history.observed, len(history.levels) - 1
        for number, budget, *_ in observed[self._taken :]:
            if 0 <= history.trials[number].bracket < top:
                self.count += budget - self._reached.get(number, 0)
                self._reached[number] = budget
        self._taken = len(observed)


@dataclass(frozen=True)
class StoppingASHA(OnRungs):
    """The stopping variant: go on while among the best of the rung, or while fewer than η trials reached it."""

    def next(self, history: History) -> New:
        bracket = self.bracket_of(history.seed, len(history.trials))
        return New(self.rungs[bracket], bracket)

    def judge(self, history: History, report: Report) -> Verdict:
        trial = history.trials[report.trial]
        if not self.at_rung(trial, report.budget):
            return Verdict.CONTINUE
        rung = history.rung(report.budget, trial.bracket)
        count = len(rung.records) + 1  # this one included, which the history does not hold yet
        if count < self.eta or rung.would_rank_within(history.standing(report.metrics), count // self.eta):
            return Verdict.CONTINUE
        return Verdict.STOP

    def retired(self, history: History, trial: Trial) -> tuple[int, ...]:
        return ()  # nothing ever pauses


SCHEDULERS.register("asha", ASHA)
SCHEDULERS.register("asha-stop", StoppingASHA)
