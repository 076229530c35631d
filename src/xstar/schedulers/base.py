"""How much? The contract of schedulers."""

from __future__ import annotations

from typing import Protocol

from xstar.journal import History
from xstar.registry import Registry
from xstar.trial import Done, New, Promote, Report, Verdict, Wait


class Scheduler(Protocol):
    """Decides how long each trial trains. A pure function of the history it is handed."""

    @property
    def max_budget(self) -> int | None:
        """A trial that reports at this budget is complete; ``None``: when the objective returns."""
        ...

    @property
    def rungs(self) -> tuple[int, ...]:
        """The budgets at which records are compared; the history keeps an ordered index of each."""
        ...

    def next(self, history: History) -> New | Promote | Wait | Done:
        """What a free worker should do."""
        ...

    def judge(self, history: History, report: Report) -> Verdict:
        """What the trial should do after ``report``; ``history`` is everything *before* that report."""
        ...


SCHEDULERS: Registry[Scheduler] = Registry("scheduler")
