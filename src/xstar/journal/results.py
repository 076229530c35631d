"""The results of trials for methods that compare the members of a generation: PBIL and CMA-ES.

A trial has a result when it ends, or pauses for the first time. Trials are ranked by the budget reached there (more is better),
then by the loss. Failed and infeasible trials come last, and ties share a rank.
"""

from __future__ import annotations

from collections.abc import Sequence

from xstar.journal.events import Reported
from xstar.journal.history import History
from xstar.journal.trial import State, Trial, Verdict


def has_result(trial: Trial) -> bool:
    """Return whether a trial has ended or paused."""
    return trial.state.over or trial.state is State.PAUSED or any(map(_paused, trial.reports))


def result(trial: Trial, history: History) -> tuple[float, ...]:
    """Return (−budget, its losses) at the first pause or at the end: lower is better."""
    for report in trial.reports:
        if _paused(report):
            return -report.budget, *history.goals.losses(report.metrics)
    if trial.losses is None or trial.state in (State.FAILED, State.INFEASIBLE):
        return float("inf"), *(float("inf") for _ in history.goals)
    return -trial.budget, *trial.losses


def ranks(results: Sequence[tuple[float, ...]], history: History) -> list[float]:
    """Return the rank of each result among the different ones: by budget, then by loss, or by the order of several losses."""
    different: list[tuple[float, ...]] = []
    for budget in sorted({each[0] for each in results}):
        alike = sorted({each for each in results if each[0] == budget})
        different += [alike[place] for place in history.goals.ordered([each[1:] for each in alike])]
    rank_of = {each: float(rank) for rank, each in enumerate(different)}
    return [rank_of[each] for each in results]


def _paused(report: object) -> bool:
    return isinstance(report, Reported) and report.verdict is Verdict.PAUSE
