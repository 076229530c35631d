"""The searcher chooses the budget of each trial, which trains that far and ends: the scheduler of BOCA.

Choose it together with a searcher that weighs cost against knowledge, as ``BOCA`` does. With one that does not, every trial
trains to the end. Nothing is compared and nothing is resumed: a configuration that deserves more is tried again, nearby, at a
larger budget.

Reports at the rungs on the way are on record for the model, as under other schedulers. A budget may lie between two rungs,
unless the rungs are given one by one (``rung_levels``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xstar.journal import History
from xstar.journal.trial import New, Report, Trial, Verdict
from xstar.schedulers.base import SCHEDULERS
from xstar.schedulers.rungs import DEFAULT_ETA, OnRungs

MOST_BUDGETS = 200
"""A searcher predicts at every budget that it may choose."""


@dataclass(frozen=True)
class SearcherBudget:
    """Every trial trains as far as the searcher says."""

    max_budget: int
    min_budget: int | None = None
    """The smallest budget that may be chosen; ``None``: one epoch."""
    eta: int = DEFAULT_ETA
    """The ratio of two rungs at which reports are kept for the model."""
    rung_levels: Sequence[int] | None = None
    """The budgets to choose from, one by one, where reports do not come after every epoch; the last is ``max_budget``."""
    rungs: tuple[int, ...] = field(init=False, repr=False, compare=False)
    choices: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ladder = OnRungs(self.max_budget, self.min_budget, self.eta, self.rung_levels)  # which checks them
        rungs = ladder.rungs
        choices = budgets_between(rungs[0], self.max_budget) if self.rung_levels is None else rungs
        for name, value in (("rung_levels", ladder.rung_levels), ("rungs", rungs), ("choices", choices)):
            object.__setattr__(self, name, value)

    def next(self, history: History) -> New:
        return New(self.max_budget, choices=self.choices)

    def judge(self, history: History, report: Report) -> Verdict:
        target = history.trials[report.trial].target
        return Verdict.STOP if target is not None and report.budget >= target else Verdict.CONTINUE

    def retired(self, history: History, trial: Trial) -> tuple[int, ...]:
        return ()  # nothing ever pauses


def budgets_between(least: int, most: int) -> tuple[int, ...]:
    """All budgets from ``least`` to ``most``; from ``MOST_BUDGETS`` of them on, so many in nearly equal ratios."""
    if most - least < MOST_BUDGETS:
        return tuple(range(least, most + 1))
    ratio = (most / least) ** (1.0 / (MOST_BUDGETS - 1))
    return tuple(sorted({*(round(least * ratio**step) for step in range(MOST_BUDGETS - 1)), most}))


SCHEDULERS.register("searcher-budget", SearcherBudget)
