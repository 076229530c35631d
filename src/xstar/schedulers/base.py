"""How much? The contract of schedulers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from xstar.core.registry import Registry
from xstar.journal import History
from xstar.journal.trial import Done, New, Promote, Report, Trial, Verdict, Wait


class Scheduler(Protocol):
    """Decides how long each trial trains. A pure function of the history it is handed."""

    @property
    def max_budget(self) -> int | None:
        """A trial that reports at this budget is complete; ``None``: when the objective returns."""
        ...

    @property
    def rungs(self) -> tuple[int, ...]:
        """The budgets at which records are compared, ascending; the history keeps an ordered index of each."""
        ...

    def next(self, history: History) -> New | Promote | Wait | Done:
        """What a free worker should do."""
        ...

    def judge(self, history: History, report: Report) -> Verdict:
        """What the trial should do after ``report``; ``history`` is everything *before* that report."""
        ...

    def retired(self, history: History, trial: Trial) -> Iterable[int]:
        """Paused trials that can no longer be promoted since ``trial`` reported; their checkpoints are not needed."""
        ...


@runtime_checkable
class Advises(Protocol):
    """A scheduler (optionally) that has something to say about a search before it begins."""

    def advice(self, trials: int) -> Iterable[str]:
        """Sentences for a user who limits the study to so many trials."""
        ...


SCHEDULERS: Registry[Scheduler] = Registry("scheduler")
