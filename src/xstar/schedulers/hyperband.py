"""Synchronous successive halving and Hyperband: a rung is filled completely before any of its trials is promoted.

Choose it to compare with the literature, or for its brackets. Idle workers start the next bracket's lowest rung rather than
wait (MOBSTER paper, A.3 and Figure 8), so it loses little to asynchronous halving; only promotions wait, for the slowest
trial of their rung.

Bracket instances are numbered 0, 1, 2, …; instance b starts at rung s = b mod ``brackets`` with ``sizes[s]`` trials, and the
i-th rung above that keeps ⌊sizes[s] / ηⁱ⌋ of them. A trial that fails gives up its place.

References: Jamieson & Talwalkar (2016), AISTATS; Li et al. (2017), Hyperband, ICLR.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field

from xstar.journal import History, Rung
from xstar.journal.trial import New, Promote, Report, Trial, Verdict
from xstar.schedulers.base import SCHEDULERS
from xstar.schedulers.rungs import OnRungs


@dataclass
class _Ready:
    """Which bracket instances have a trial to promote, kept up to date from ``history.touched``."""

    seen: int = 0
    heap: list[int] = field(default_factory=list)
    queued: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Hyperband(OnRungs):
    """Synchronous Hyperband; with ``brackets=1`` it is successive halving."""

    brackets: int | None = None

    def next(self, history: History) -> New | Promote:
        ready = history.memo.get(_Ready, self) or history.memo.put(_Ready(), self)
        for instance in history.touched[ready.seen :]:
            if instance not in ready.queued and self._promotion(history, instance) is not None:
                ready.queued.add(instance)
                heapq.heappush(ready.heap, instance)
        ready.seen = len(history.touched)
        while ready.heap:
            promotion = self._promotion(history, ready.heap[0])
            if promotion is not None:
                return promotion
            ready.queued.discard(heapq.heappop(ready.heap))
        filling = max(0, len(history.started) - 1)
        if history.started[filling] >= self.sizes[filling % len(self.sizes)]:
            filling += 1
        return New(self.rungs[filling % len(self.sizes)], filling)

    def judge(self, history: History, report: Report) -> Verdict:
        trial = history.trials[report.trial]
        return Verdict.PAUSE if self.at_rung(trial, report.budget) else Verdict.CONTINUE

    def retired(self, history: History, trial: Trial) -> tuple[int, ...]:
        for budget, rung, quota in self._full_rungs(history, trial.bracket):
            if budget == trial.budget:
                return tuple(rung.paused_best_first()[max(0, quota - _promoted(rung)) :])
        return ()

    def advice(self, trials: int) -> tuple[str, ...]:
        first = self.sizes[0]
        if trials >= first:
            return ()
        return (f"no trial is promoted before the first bracket is full, at {first} trials; trials={trials}",)

    def _promotion(self, history: History, instance: int) -> Promote | None:
        for budget, rung, quota in self._full_rungs(history, instance):
            number = rung.promotable(len(rung.records))
            if number is not None and _promoted(rung) < quota:
                return Promote(number, self.rungs[self.rungs.index(budget) + 1])
        return None

    def _full_rungs(self, history: History, instance: int) -> Iterator[tuple[int, Rung, int]]:
        """The completely filled rungs of an instance below the top: (budget, rung, how many go on to the next)."""
        start = instance % len(self.sizes)
        expected = size = self.sizes[start]
        for budget in self.rungs[start:-1]:
            rung = history.rung(budget, instance)
            if len(rung.records) + rung.dropped < expected:
                return
            size //= self.eta
            expected = min(size, len(rung.records) - rung.closed)
            yield budget, rung, expected


def _promoted(rung: Rung) -> int:
    """How many trials have gone on from a rung; always the best of it, since they go in that order."""
    return len(rung.records) - rung.closed - len(rung.paused)


SCHEDULERS.register("hyperband", Hyperband)
