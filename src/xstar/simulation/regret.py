"""How far the best report was from a problem's optimum at any time: the *immediate regret* of the MOBSTER paper, Section 4."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from xstar.journal import History
from xstar.problems import Problem
from xstar.study import Study


def improvements(history: History) -> list[tuple[float, float]]:
    """(time, loss) of every report that was lower than all reports before it, at whatever budget; in order of time."""
    reports = sorted((report.at, history.goals.loss(report.metrics)) for t in history.trials for report in t.reports)
    steps: list[tuple[float, float]] = []
    lowest = math.inf
    for at, loss in reports:
        if loss < lowest:
            lowest = loss
            steps.append((at, loss))
    return steps


def regret_over_time(study: Study, problem: Problem, times: Iterable[float]) -> list[float]:
    """At each of ``times``: the lowest loss reported by then, at any budget, less the problem's optimum.

    Never below 0: one noisy report may lie under the expected loss of the best configuration. ``inf`` before the first report.
    """
    return regret_at(improvements(study.history), problem.optimum, times)


def regret_at(steps: Sequence[tuple[float, float]], optimum: float, times: Iterable[float]) -> list[float]:
    """``regret_over_time`` from the improvements of a run, which are few: a comparison need not keep its studies."""
    places = (bisect_right(steps, time, key=lambda step: step[0]) for time in times)
    return [max(0.0, steps[place - 1][1] - optimum) if place else math.inf for place in places]


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """The mean and its standard error, s / √n; an error of 0 for a single value, of ``nan`` where the mean is infinite.

    >>> mean_and_error([1.0, 3.0])
    (2.0, 1.0)
    """
    count = len(values)
    mean = sum(values) / count
    if not math.isfinite(mean):
        return mean, math.nan
    if count == 1:
        return mean, 0.0
    return mean, math.sqrt(sum((value - mean) ** 2 for value in values) / (count - 1) / count)
