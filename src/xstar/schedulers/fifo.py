"""Every trial trains to the end, one after the other: the scheduler for objectives that return one number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from xstar.core.checks import check_counts
from xstar.journal import History
from xstar.journal.trial import New, Report, Trial, Verdict
from xstar.schedulers.base import SCHEDULERS


@dataclass(frozen=True, slots=True)
class FIFO:
    """Plain search at full budget."""

    max_budget: int | None = None
    """Every trial trains up to this budget; ``None``: as long as the objective likes."""

    def __post_init__(self) -> None:
        check_counts(self, {"max_budget": 1}, ("max_budget",), {"max_budget": "e.g. the number of epochs"})

    @property
    def rungs(self) -> tuple[int, ...]:
        return ()

    def next(self, history: History) -> New:
        return _whole(self.max_budget)

    def judge(self, history: History, report: Report) -> Verdict:
        return Verdict.CONTINUE

    def retired(self, history: History, trial: Trial) -> tuple[int, ...]:
        return ()


@lru_cache(maxsize=8)
def _whole(budget: int | None) -> New:
    return New(budget)


SCHEDULERS.register("fifo", FIFO)
