"""The median stopping rule: a trial goes on while its best value so far is no worse than the median of the others' averages.

Choose it when curves are long and smooth and nothing else about them is known; it has no ladder to set.

At budget s, a trial is stopped if the lowest loss it has reported by then is strictly above the median, over all *complete*
trials, of the mean loss each of them had reported up to s. With several objectives, if that is so for each of them. With
constraints, what is beyond a bound at s is worse than all within: it is stopped, unless most of the complete trials were
beyond a bound there, too.

Reference: Golovin et al. (2017), Google Vizier, KDD, Section 3.2.2.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from operator import add

from sortedcontainers import SortedList

from xstar.core.checks import check_counts
from xstar.journal import History
from xstar.journal.constraints import beyond
from xstar.journal.trial import New, Report, State, Trial, Verdict
from xstar.schedulers.base import SCHEDULERS

LEAST_COMPLETE = 3
"""Complete trials before anything is stopped: the median of fewer says nothing (the papers leave it open; Ray Tune takes 3)."""


@dataclass
class _Averages:
    """Running averages of the complete trials by budget, kept up to date from ``history.ended``."""

    seen: int = 0
    by_budget: dict[int, list[SortedList[float]]] = field(default_factory=dict)
    """One list for each objective."""
    beyond: Counter[int] = field(default_factory=Counter)
    """By budget, how many of them were beyond a bound there."""

    def catch_up(self, history: History) -> None:
        for number in history.ended[self.seen :]:
            trial = history.trials[number]
            if trial.state is State.COMPLETE:
                totals = [0.0] * len(history.goals)
                for count, reading in enumerate(trial.reports, 1):
                    self.beyond[reading.budget] += beyond(history.bounds, reading.metrics) is not None
                    totals = list(map(add, totals, history.goals.losses(reading.metrics)))
                    kept = self.by_budget.setdefault(reading.budget, [SortedList() for _ in totals])
                    for averages, total in zip(kept, totals, strict=True):
                        averages.add(total / count)
        self.seen = len(history.ended)


@dataclass(frozen=True)
class Median:
    """Plain search at full budget, with hopeless trials ended early."""

    max_budget: int
    grace_period: int = 1
    """Budgets up to this are never judged."""

    def __post_init__(self) -> None:
        remedies = {"max_budget": "e.g. max_budget=10", "grace_period": "e.g. grace_period=10"}
        check_counts(self, {"max_budget": 1, "grace_period": 0}, remedies=remedies)

    @property
    def rungs(self) -> tuple[int, ...]:
        return ()

    def next(self, history: History) -> New:
        return New(self.max_budget)

    def judge(self, history: History, report: Report) -> Verdict:
        if report.budget <= self.grace_period:
            return Verdict.CONTINUE
        complete = history.memo.fold(_Averages, history)
        averages = complete.by_budget.get(report.budget)
        if averages is None or len(averages[0]) < LEAST_COMPLETE:
            return Verdict.CONTINUE
        behind = beyond(history.bounds, report.metrics) is not None
        if behind is not (complete.beyond[report.budget] * 2 > len(averages[0])):
            return Verdict.STOP if behind else Verdict.CONTINUE
        losses, lowest = history.goals.losses(report.metrics), history.trials[report.trial].lowest
        best = losses if lowest is None else map(min, lowest, losses)
        worse = all(own > _middle(others) for own, others in zip(best, averages, strict=True))
        return Verdict.STOP if worse else Verdict.CONTINUE

    def retired(self, history: History, trial: Trial) -> tuple[int, ...]:
        return ()  # nothing ever pauses


def _middle(values: SortedList[float]) -> float:
    middle = len(values) // 2
    return float(values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2)


SCHEDULERS.register("median", Median)
