"""Learning curves by outcome, with the rungs at which trials were compared."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from xstar.journal.trial import State, Trial
from xstar.look.plots.figure import STATE_COLOURS, Figure, axis, empty, figure, line, text, upright
from xstar.look.plots.source import Source, joined, shown_of, thinned

MOST_CURVES = 250
"""Curves in one picture; the best ones and an even choice of the others. More are a block of colour."""
BEST_CURVES = 30
MOST_POINTS = 120
"""Points of a curve; longer ones are thinned out evenly, first and last kept."""


@dataclass(frozen=True)
class Curve:
    """What one trial reported."""

    trial: int
    state: State
    budgets: list[int]
    values: list[float]


@dataclass(frozen=True)
class Curves:
    """Learning curves."""

    metric: str
    curves: list[Curve]
    trials: int
    """How many there are; not all are among ``curves`` where there are many."""
    rungs: tuple[int, ...]
    best: int | None


def compute(source: Source, *, most: int = MOST_CURVES) -> Curves:
    """The learning curves of trials that reported."""
    history = source.history
    metric = history.created.metric
    trials = [trial for trial in history.trials if trial.reports]
    best = None if history.best is None else history.best.number
    order = sorted(range(len(trials)), key=lambda place: (-trials[place].budget, _loss(trials[place])))
    places = thinned(len(trials), most, order[:BEST_CURVES])
    curves = []
    for place in places:
        trial = trials[place]
        kept = [trial.reports[at] for at in thinned(len(trial.reports), MOST_POINTS)]
        values = [reading.metrics[metric] for reading in kept]
        curves.append(Curve(trial.number, trial.state, [reading.budget for reading in kept], values))
    return Curves(metric, curves, len(trials), history.levels, best)


def _loss(trial: Trial) -> float:
    return math.inf if trial.loss is None or not math.isfinite(trial.loss) else trial.loss


def draw(data: Curves) -> Figure:
    metric = text(data.metric)
    title = f"Learning curves of {metric}"
    if not data.curves:
        return empty(title, "no trial has reported yet")
    rest = [curve for curve in data.curves if curve.trial != data.best]
    groups = [(state, [curve for curve in rest if curve.state is state]) for state in State]
    traces = [_lines(some, state) for state, some in groups if some]
    style: dict[str, Any] = {"line": {"color": "#b4540a", "width": 3}, "mode": "lines+markers", "marker": {"size": 6}}
    best = [curve for curve in data.curves if curve.trial == data.best]
    traces += [line(curve.budgets, curve.values, f"best: trial {curve.trial}", **style) for curve in best]
    shapes = [upright(rung) for rung in data.rungs]
    longest = max(curve.budgets[-1] for curve in data.curves)
    log = len(data.rungs) > 2 and longest > 20
    rungs = f"rungs at {', '.join(map(str, data.rungs))}" if len(data.rungs) > 1 else ""
    across = axis("epochs", type="log", tickvals=list(data.rungs)) if log else axis("epochs")
    subtitle = joined(rungs, shown_of(len(data.curves), data.trials))
    return figure(traces, title, subtitle, xaxis=across, yaxis=axis(metric, **_window(data)), shapes=shapes)


def _lines(curves: list[Curve], state: State) -> dict[str, object]:
    """All curves of one outcome in one trace, with gaps between them."""
    x: list[int | None] = []
    y: list[float | None] = []
    whose: list[int | None] = []
    for curve in curves:
        x += [*curve.budgets, None]
        y += [*curve.values, None]
        whose += [curve.trial] * len(curve.budgets) + [None]
    mode = "markers" if all(len(curve.budgets) == 1 for curve in curves) else "lines+markers"
    colour, hover = {"color": STATE_COLOURS[state]}, "trial %{customdata}, epoch %{x}: %{y:.6g}"
    style = {"line": {**colour, "width": 1.2}, "marker": {**colour, "size": 4}, "opacity": 0.55}
    return line(x, y, state.value, hover, mode=mode, customdata=whose, **style)


def _window(data: Curves) -> dict[str, list[float]]:
    values = np.array([value for curve in data.curves for value in curve.values if math.isfinite(value)])
    if len(values) < 20:
        return {}
    low, high = np.quantile(values, [0.01, 0.97])
    if values.max() - values.min() <= 4 * (high - low) or high <= low:
        return {}
    pad = 0.08 * (high - low)
    return {"range": [float(values.min() if values.min() > low - (high - low) else low) - pad, float(high) + pad]}
