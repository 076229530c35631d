"""The searcher chooses the budget of each trial, which trains that far and ends: the scheduler of BOCA.

Choose it together with a searcher that weighs cost against knowledge, as ``BOCA`` does. With one that does not, every trial
trains to the end. Nothing is compared and nothing is resumed: a configuration that deserves more is tried again, nearby, at a
larger budget.

Reports at the rungs on the way are on record for the model, as under other schedulers. A budget may lie between two rungs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xstar.core.checks import check_counts
from xstar.errors import InvalidArgument
from xstar.journal import History
from xstar.schedulers.base import SCHEDULERS
from xstar.schedulers.ladder import DEFAULT_ETA, geometric_rungs
from xstar.trial import New, Report, Trial, Verdict


@dataclass(frozen=True)
class Chosen:
    """Every trial trains as far as the searcher says."""

    max_budget: int
    min_budget: int = 1
    """The smallest budget that may be chosen."""
    eta: int = DEFAULT_ETA
    """The ratio of two rungs at which reports are kept for the model."""
    rungs: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_counts(self, {"max_budget": 1, "min_budget": 1, "eta": 2})
        if self.min_budget > self.max_budget:
            found = f"min_budget={self.min_budget}, max_budget={self.max_budget}"
            raise InvalidArgument("min_budget", "must not be above max_budget", found)
        object.__setattr__(self, "rungs", geometric_rungs(self.min_budget, self.max_budget, self.eta))

    def next(self, history: History) -> New:
        return New(self.max_budget, at_most=True)

    def judge(self, history: History, report: Report) -> Verdict:
        target = history.trials[report.trial].target
        return Verdict.STOP if target is not None and report.budget >= target else Verdict.CONTINUE

    def retired(self, history: History, trial: Trial) -> tuple[int, ...]:
        return ()  # nothing ever pauses


SCHEDULERS.register("chosen", Chosen)
