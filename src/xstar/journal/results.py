"""The results of trials for methods that compare the members of a generation: PBIL and CMA-ES.

A trial has a result when it ends, or pauses for the first time. Trials are ranked by the budget reached there (more is better),
then by the loss. Failed and infeasible trials come last, and ties share a rank.
"""

from __future__ import annotations

from collections.abc import Sequence

from xstar.journal.events import Reported
from xstar.journal.history import History
from xstar.trial import State, Trial, Verdict


def has_result(trial: Trial) -> bool:
    """Return whether a trial has ended or paused."""
    return trial.state.over or trial.state is State.PAUSED or any(map(_paused, trial.reports))


def result(trial: Trial, history: History) -> tuple[float, float]:
    """Return (−budget, loss) at the first pause or at the end: lower is better."""
    for report in trial.reports:
        if _paused(report):
            return -report.budget, history.loss_of(report.metrics)
    if trial.loss is None or trial.state in (State.FAILED, State.INFEASIBLE):
        return float("inf"), float("inf")
    return -trial.budget, trial.loss


def ranks(results: Sequence[tuple[float, float]]) -> list[float]:
    """Return the rank of each result among the different ones."""
    rank_of = {each: float(rank) for rank, each in enumerate(sorted(set(results)))}
    return [rank_of[each] for each in results]


def _paused(report: object) -> bool:
    return isinstance(report, Reported) and report.verdict is Verdict.PAUSE
