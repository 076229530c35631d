"""How many trials are at least how good: the empirical distribution of their values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xstar.look.plots.figure import Figure, axis, empty, figure, line, number, text
from xstar.look.plots.source import MOST_DOTS, Array, Source, comparable, joined, shown_of, thinned


@dataclass(frozen=True, eq=False)
class Distribution:
    """Values of comparable trials, the best first."""

    metric: str
    values: Array
    shares: Array
    """The share of trials that are as good or better."""
    numbers: list[int]
    median: float | None
    trials: int
    which: str


def compute(source: Source, *, most: int = MOST_DOTS) -> Distribution:
    """The values of comparable trials, and the share of trials that are as good."""
    history = source.history
    found = comparable(history)
    order = np.argsort(found.losses, kind="stable")
    losses = found.losses[order]
    shares = np.searchsorted(losses, losses, side="right") / max(1, len(losses))
    kept = thinned(len(order), most)
    sign = history.goals.only.sign
    median = sign * float(np.median(losses)) if len(losses) else None
    numbers = [found.trials[order[place]].number for place in kept]
    return Distribution(
        history.created.metric, sign * losses[kept], shares[kept], numbers, median, len(order), found.which
    )


def draw(data: Distribution) -> Figure:
    """The figure."""
    metric = text(data.metric)
    title = f"Distribution of {metric}"
    if not len(data.values):
        return empty(title, "no trials to compare yet")
    hover = "%{y:.1%} reach %{x:.6g}, trial %{customdata} for one<extra></extra>"
    steps = {"shape": "hv", "width": 2, "color": "#3d4db3"}
    curve = line(data.values, data.shares, "trials", line=steps, customdata=data.numbers, hovertemplate=hover)
    facts = joined(data.which, f"median {number(data.median)}", shown_of(len(data.values), data.trials))
    up = axis("share of trials as good or better", tickformat=".0%", range=[0, 1.02])
    return figure([curve], title, facts, xaxis=axis(metric), yaxis=up, showlegend=False)
