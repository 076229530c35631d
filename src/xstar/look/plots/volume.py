"""How much the front covers, over trials, time or the budget spent: the hypervolume up to a reference point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xstar.core.goals import Goals
from xstar.core.pareto import hypervolume
from xstar.errors import InvalidArgument
from xstar.look.plots.best import LABELS, OVER, Clock, Stairs
from xstar.look.plots.figure import Figure, axis, empty, figure, line, number, text
from xstar.look.plots.source import Source, joined, thinned

MOST_STEPS = 200
"""Fronts whose volume is computed: with five objectives each takes some milliseconds."""


@dataclass(frozen=True, eq=False)
class Volume:
    """The hypervolume of the front so far."""

    goals: Goals
    over: str
    unit: str
    covered: Stairs
    reference: dict[str, float]
    """In the user's own directions; empty before there is a front."""
    numbers: list[int]
    """The trial that came to the front at each step."""


def compute(source: Source, *, over: str = "trials", most: int = MOST_STEPS) -> Volume:
    """The hypervolume over ``trials`` begun, ``time`` or ``budget`` spent."""
    if over not in OVER:
        raise InvalidArgument("over", f"must be one of {', '.join(OVER)}", over)
    history = source.history
    goals, clock, steps = history.goals, Clock(history, over), history.fronts.steps
    if not steps:
        return Volume(goals, over, clock.unit, Stairs(np.empty(0), np.empty(0)), {}, [])
    r = goals.reference([row[2:] for row in history.observed])
    kept = thinned(len(steps), most, [len(steps) - 1])
    Y = np.array([step.trial.known_losses for step in steps])
    # What left the front is dominated by what came, and covers nothing more.
    volumes = np.array([hypervolume(Y[: place + 1], r) for place in kept])
    x = clock.of_steps([steps[place] for place in kept])
    stairs = Stairs(np.append(x, max(clock.end, x[-1])), np.append(volumes, volumes[-1]))
    named = zip(goals.metrics, goals.signs, r.tolist(), strict=True)
    numbers = [steps[place].trial.number for place in kept]
    return Volume(
        goals, over, clock.unit, stairs, {name: sign * value for name, sign, value in named}, [*numbers, numbers[-1]]
    )


def draw(data: Volume) -> Figure:
    """The figure."""
    title = "Hypervolume of the front so far"
    if not len(data.covered.x):
        return empty(title, "no trial is in the front yet")
    steps = {"shape": "hv", "width": 2.5, "color": "#b4540a"}
    hover = "%{y:.6g}, since trial %{customdata}<extra></extra>"
    curve = line(data.covered.x, data.covered.y, "covered", line=steps, customdata=data.numbers, hovertemplate=hover)
    upto = ", ".join(f"{text(name, 24)}={number(value)}" for name, value in data.reference.items())
    label = f"{LABELS[data.over]} ({data.unit})" if data.unit else LABELS[data.over]
    facts = joined(f"{number(float(data.covered.y[-1]), 6)} now", "higher is better")
    up = axis(f"hypervolume up to<br>{upto}", rangemode="tozero")
    return figure([curve], title, facts, xaxis=axis(label), yaxis=up, showlegend=False)
