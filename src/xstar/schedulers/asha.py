"""Asynchronous successive halving: promotion (ASHA) and stopping, and asynchronous Hyperband over both.

Choose it whenever an objective reports while it trains: most configurations are dropped after a fraction of the budget, and no
worker ever waits for another. Promotion pauses every trial at each rung until it has earned the next one; stopping lets a
trial run on unless it is among the worse. In the paper stopping is ahead early and promotion later; on the problems of
``benchmarks/multifidelity.py`` the two are equal within a standard error. The lowest rung matters more: where the first epoch
says nothing about the last one, raise ``min_budget`` or use several brackets.

Section 2 of the MOBSTER paper: ``continue(x, r, y)`` is true iff y is in the top 1/η of the records at rung r, y itself
included. Among n records that are the best ⌊n/η⌋; ties go to the earlier trial. With several brackets (asynchronous
Hyperband) each bracket has rungs of its own and begins at a higher one.

The last step of a ladder may be shorter than the others: of 1, 3, 9, 27, 52 it is 27 → 52. Dropping two thirds of the trials
there would save little, and the first full training would come late; ⌊n · r_(K−1)/r_K⌋ go on instead.

References: Li et al. (2020), A system for massively parallel hyperparameter tuning, MLSys; Liaw et al. (2018), Tune.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xstar.core.checks import check_names
from xstar.journal import History
from xstar.schedulers.base import SCHEDULERS
from xstar.schedulers.ladder import OnLadder
from xstar.trial import New, Promote, Report, Trial, Verdict

LAST_RUNGS = ("ratio", "eta")


@dataclass(frozen=True)
class Asynchronous(OnLadder):
    """The settings of asynchronous halving (abstract)."""

    last_rung: str = "ratio"
    """How many trials of the last rung but one get the full budget: the ``ratio`` of the two budgets where that is more than
    1/η, or 1/``eta`` as at the other rungs."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_names(self, {"last_rung": LAST_RUNGS})

    def kept(self, count: int, place: int) -> int:
        """How many of ``count`` records at the rung of this place go on to the next."""
        if place == len(self.rungs) - 2 and self.last_rung == "ratio":
            return max(count // self.eta, count * self.rungs[place] // self.rungs[place + 1])
        return count // self.eta


def _of_earlier_releases(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Before there was a choice, 1/η went on from every rung; asking for the method of today is not asking for another."""
    return [data] if "last_rung" in data else [{**data, "last_rung": "eta"}, {**data, "last_rung": "ratio"}]


@dataclass(frozen=True)
class ASHA(Asynchronous):
    """The promotion variant: pause at every rung, promote the best of each."""

    def next(self, history: History) -> New | Promote:
        # From the top rung down: what is nearest to a result goes first.
        for place in range(len(self.rungs) - 2, -1, -1):
            budget = self.rungs[place]
            for bracket in range(min(len(self.sizes), place + 1)):
                rung = history.rung(budget, bracket)
                places = self.kept(len(rung.records), place)
                if places and rung.paused and rung.paused[0] <= rung.records[places - 1]:
                    return Promote(rung.paused[0][1], self.rungs[place + 1])
        bracket = self.bracket_of(history.seed, len(history.trials))
        return New(self.rungs[bracket], bracket)

    def judge(self, history: History, report: Report) -> Verdict:
        trial = history.trials[report.trial]
        return Verdict.PAUSE if self.at_rung(trial, report.budget) else Verdict.CONTINUE

    def retired(self, history: History, trial: Trial) -> tuple[int, ...]:
        return ()  # as records come in, any paused trial may still rise into the top 1/η


@dataclass(frozen=True)
class StoppingASHA(Asynchronous):
    """The stopping variant: go on while among the best of the rung, or while fewer than η trials reached it."""

    def next(self, history: History) -> New:
        bracket = self.bracket_of(history.seed, len(history.trials))
        return New(self.rungs[bracket], bracket)

    def judge(self, history: History, report: Report) -> Verdict:
        trial = history.trials[report.trial]
        if not self.at_rung(trial, report.budget):
            return Verdict.CONTINUE
        records = history.rung(report.budget, trial.bracket).records
        count = len(records) + 1  # this one included, which the history does not hold yet
        if count < self.eta:
            return Verdict.CONTINUE
        # In the top k of them all iff better than the k-th of the others. One look-up and one comparison: finding its rank
        # compares it with twenty records, each a miss of the cache among a million (87,000 against 359,000 verdicts/s).
        last = records[self.kept(count, self.rungs.index(report.budget)) - 1]
        return Verdict.CONTINUE if (history.loss_of(report.metrics), report.trial) < last else Verdict.STOP

    def retired(self, history: History, trial: Trial) -> tuple[int, ...]:
        return ()  # nothing ever pauses


SCHEDULERS.register("asha", ASHA, readings=_of_earlier_releases)
SCHEDULERS.register("asha-stop", StoppingASHA, readings=_of_earlier_releases)
