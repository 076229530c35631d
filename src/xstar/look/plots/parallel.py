"""Parallel coordinates: each trial a line across the axes of its parameters, coloured by its value."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from xstar.journal import History
from xstar.journal.trial import State, losses_of
from xstar.look.plots.figure import Figure, Trace, axis, dots, empty, figure, line, number, text, upright
from xstar.look.plots.source import Array, Dimension, Drawn, Source, dimensions, joined, shown_of, thinned

MOST_LINES = 600
BEST_LINES = 60
MOST_AXES = 12
SHADES = 8
"""Groups of values with a colour each: one trace per group is quick to draw, one per trial is not."""
TONES = ("#d9660d", "#5b8fc9", "#9fb0c0")
"""From the best to the worst, to be seen on light and on dark."""
OFF = -0.12
"""Where a line passes an axis whose parameter is not active: below it."""


@dataclass(frozen=True, eq=False)
class Parallel:
    """Trials as positions on axes."""

    metric: str
    axes: list[Dimension]
    left_out: int
    """Parameters without an axis: too many, or without positions (architectures)."""
    places: Array
    """From 0 to 1; NaN where a parameter is not active: (trials, axes)."""
    values: Array
    """(trials,), in the user's own direction."""
    losses: Array
    numbers: list[int]
    trials: int
    which: str
    leading: set[int] | None = None
    """The trials of the front, where there are several objectives; these have axes behind those of the parameters."""


def compute(source: Source, *, most: int = MOST_LINES) -> Parallel:
    """Comparable trials, the best ones among them where there are many."""
    history = source.history
    if history.goals.several:
        return _several(history, most)
    drawn, axes = Drawn.of(history, most, BEST_LINES), dimensions(history)[:MOST_AXES]
    columns = [each.share(each.places(drawn.trials)) for each in axes]
    places = np.column_stack(columns) if columns and drawn.trials else np.empty((len(drawn.trials), len(axes)))
    numbers, left_out = [trial.number for trial in drawn.trials], len(history.space.parameters) - len(axes)
    about = drawn.values(history), drawn.losses, numbers, drawn.total, drawn.which
    return Parallel(history.created.metric, axes, left_out, places, *about)


def _several(history: History, most: int) -> Parallel:
    """Complete trials; losses are their places in the order of trials."""
    goals = history.goals
    complete = [trial for trial in history.trials if trial.state is State.COMPLETE]
    order = goals.ordered([losses_of(trial) for trial in complete]) if complete else np.empty(0, dtype=np.intp)
    ranks = np.argsort(order).astype(float)
    kept = thinned(len(complete), most, order[:BEST_LINES].tolist())
    some = [complete[place] for place in kept]
    axes = dimensions(history)[: MOST_AXES - len(goals)]
    values = np.array([list(trial.values.values()) for trial in some]).reshape(-1, len(goals))
    ends = [
        Dimension(name, False, None, float(column.min(initial=math.inf)), float(column.max(initial=-math.inf)))
        for name, column in zip(goals.metrics, values.T, strict=True)
    ]
    columns = [each.share(each.places(some)) for each in axes]
    columns += [each.share(column) for each, column in zip(ends, values.T, strict=True)]
    numbers, left_out = [trial.number for trial in some], len(history.space.parameters) - len(axes)
    about = numbers, len(complete), "complete trials", {trial.number for trial in history.front}
    places = np.column_stack(columns)
    return Parallel(history.created.metric, [*axes, *ends], left_out, places, ranks[kept], ranks[kept], *about)


def draw(data: Parallel) -> Figure:
    title = f"Configurations and {text(data.metric)}"
    if not len(data.values) or not data.axes:
        return empty(title, "no parameter has an axis" if not data.axes else "no trials to compare yet")
    traces = _lines(data)
    if data.leading is None:
        traces.append(_scale(data))
    left = f"{data.left_out} parameters without an axis" if data.left_out else ""
    gaps = "below an axis: not active" if np.isnan(data.places).any() else ""
    facts = joined(data.which, shown_of(len(data.values), data.trials), left, gaps)
    ticks = axis("", tickvals=list(range(len(data.axes))), ticktext=[text(each.name, 18) for each in data.axes])
    across = {**ticks, "showgrid": False, "showline": False, "range": [-0.3, len(data.axes) - 0.5]}
    up = {"visible": False, "range": [OFF - 0.06, 1.08]}
    shapes = [{**upright(place, dash="solid"), "yref": "y"} for place in range(len(data.axes))]
    beside = {"showarrow": False, "xanchor": "left", "xshift": 4, "font": {"size": 11}}
    marks = [(place, at, words) for place, each in enumerate(data.axes) for at, words in _ticks(each)]
    notes = [{**beside, "x": place, "y": at, "text": words} for place, at, words in marks]
    return figure(traces, title, facts, xaxis=across, yaxis=up, shapes=shapes, annotations=notes)


def _lines(data: Parallel) -> list[Trace]:
    order = np.argsort(-data.losses, kind="stable")  # the best ones last, on top
    groups = np.array_split(order, min(SHADES, len(order)))
    if data.leading is not None:
        ahead = np.isin(np.array(data.numbers)[order], list(data.leading))
        groups = [order[~ahead], order[ahead]]
    traces: list[Trace] = []
    for place, group in enumerate(groups):
        if not len(group):
            continue
        share = 1 - (place + 0.5) / len(groups)  # 0: the best
        x: list[float | None] = []
        y: list[float | None] = []
        whose: list[int | None] = []
        for one in group.tolist():
            heights = np.where(np.isnan(data.places[one]), OFF, data.places[one]).tolist()
            x += [*map(float, range(len(heights))), None]
            y += [*heights, None]
            whose += [data.numbers[one]] * len(heights) + [None]
        low, high = sorted((float(data.values[group[0]]), float(data.values[group[-1]])))
        name = number(low) if low == high else f"{number(low)} to {number(high)}"
        if data.leading is not None:
            name, share = ("dominated", "in the front")[place], 1.0 - place
        last, legend = place == len(groups) - 1, data.leading is not None
        style = {"line": {"color": colour_of(share), "width": 2 if last else 1}, "opacity": 0.85 if last else 0.4}
        traces.append(line(x, y, name, "trial %{customdata}", showlegend=legend, customdata=whose, **style))
    return traces


def _scale(data: Parallel) -> Trace:
    """The colours beside the values they stand for; colours are by rank, so the values are quantiles."""
    ranked = data.values[np.argsort(data.losses, kind="stable")]
    shares = [0.0, 0.25, 0.5, 0.75, 1.0]
    words = [number(float(ranked[round(share * (len(ranked) - 1))])) for share in shares]
    bar = {"tickvals": shares, "ticktext": words, "thickness": 10, "len": 0.9}
    tones = [[place / (len(TONES) - 1), tone] for place, tone in enumerate(TONES)]
    titled = {**bar, "title": {"text": text(data.metric), "side": "right"}}
    marker = {"color": [0.0], "cmin": 0, "cmax": 1, "colorscale": tones, "showscale": True, "colorbar": titled}
    return dots([None], [None], "scale", marker=marker, showlegend=False, hoverinfo="skip")


def colour_of(share: float) -> str:
    """The tone at a share from 0 (best) to 1."""
    at = share * (len(TONES) - 1)
    low = min(int(at), len(TONES) - 2)
    one, two = (tuple(int(TONES[place][i : i + 2], 16) for i in (1, 3, 5)) for place in (low, low + 1))
    mixed = (round(a + (b - a) * (at - low)) for a, b in zip(one, two, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _ticks(each: Dimension) -> list[tuple[float, str]]:
    if each.options is not None:
        last = max(1, len(each.options) - 1)
        step = -(-len(each.options) // 8)
        at = [(place / last if len(each.options) > 1 else 0.5, place) for place in range(0, len(each.options), step)]
        return [(share, text(each.options[place], 14)) for share, place in at]
    middle = math.sqrt(each.low * each.high) if each.log else (each.low + each.high) / 2
    return [(0.0, number(each.low, 3)), (0.5, number(middle, 3)), (1.0, number(each.high, 3))]
