"""Methods side by side: mean regret over time, with the standard error over seeds as a band."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from xstar.plots.svg import Series, line_chart

DECADES = 1000.0
"""A logarithmic axis reaches at most this far below its highest value: what is lower is below the noise of most tasks."""


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


def regret_chart(
    times: Sequence[float],
    regrets: Mapping[str, Sequence[Sequence[float]]],
    *,
    title: str,
    subtitle: str = "",
    x_label: str = "time",
    log_x: bool = True,
) -> str:
    """``regrets`` holds for each method one list per seed, one regret per time. A line begins when all seeds have reported."""
    series = []
    for name, runs in regrets.items():
        points = [mean_and_error(column) for column in zip(*runs, strict=True)]
        means = [mean for mean, _ in points]
        series.append(
            Series(
                name, times, means, [mean - error for mean, error in points], [mean + error for mean, error in points]
            )
        )
    known = [y for line in series for y in line.y if math.isfinite(y) and y > 0]
    highest = max(known, default=1.0)
    lowest = max(min(known, default=0.1), highest / DECADES)
    shown = (lowest * 0.8, highest * 1.2)
    return line_chart(series, title=title, subtitle=subtitle, x_label=x_label, log_x=log_x, log_y=True, y_range=shown)
