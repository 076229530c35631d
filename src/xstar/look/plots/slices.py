"""One panel per parameter: its values to the right, those of the trials upwards, coloured by when a trial started."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xstar.errors import InvalidArgument
from xstar.look.plots.figure import Figure, Trace, axis, dots, empty, figure, grid, numbered, ring, text, ticks
from xstar.look.plots.source import Array, Dimension, Drawn, Source, dimensions, joined, shown_of

MOST_PANELS = 12
COLUMNS = 3
MOST_DOTS = 1500
"""Dots of one panel."""


@dataclass(frozen=True, eq=False)
class Slices:
    """Comparable trials along each parameter."""

    metric: str
    shown: list[Dimension]
    places: dict[str, Array]
    """By parameter: the positions of the trials on it; NaN where it is not active."""
    values: Array
    numbers: list[int]
    trials: int
    parameters: int
    which: str
    best: int | None
    columns: int


def compute(
    source: Source, *, parameters: Sequence[str] | str | None = None, columns: int = COLUMNS, most: int = MOST_DOTS
) -> Slices:
    """Comparable trials along some parameters (default: the first twelve that have an axis), in so many columns."""
    check_columns(columns)
    history = source.history
    known = {each.name: each for each in dimensions(history)}
    asked = [parameters] if isinstance(parameters, str) else parameters
    shown = [axis_of(known, "parameters", name) for name in (list(known)[:MOST_PANELS] if asked is None else asked)]
    drawn, best = Drawn.of(history, most), history.best
    places = {each.name: each.places(drawn.trials) for each in shown}
    numbers = [trial.number for trial in drawn.trials]
    about = drawn.total, len(known), drawn.which, None if best is None else best.number, columns
    return Slices(history.created.metric, shown, places, drawn.values(history), numbers, *about)


def axis_of(known: dict[str, Dimension], argument: str, name: str) -> Dimension:
    """The axis of a parameter that a user names."""
    if name not in known:
        raise InvalidArgument(argument, f"must be among those with an axis ({', '.join(known) or 'none'})", name)
    return known[name]


def check_columns(columns: int) -> None:
    """At least one."""
    if columns < 1:
        raise InvalidArgument("columns", "must be at least 1", columns)


def draw(data: Slices) -> Figure:
    metric = text(data.metric)
    title = f"{metric} along each parameter"
    if not data.shown or not len(data.values):
        return empty(title, "no parameter has an axis" if not data.shown else "no trials to compare yet")
    columns = min(data.columns, len(data.shown))
    rows = -(-len(data.shown) // columns)
    layout: dict[str, Any] = {}
    traces: list[Trace] = []
    for place, (each, (wide, high)) in enumerate(zip(data.shown, grid(len(data.shown), columns), strict=True)):
        traces += _dots(data, data.places[each.name], place)
        layout[numbered("xaxis", place)] = across(each, domain=wide, anchor=numbered("y", place))
        named, shared = place % columns == 0, "y" if place else None
        up = axis(metric if named else "", domain=high, anchor=numbered("x", place), matches=shared)
        layout[numbered("yaxis", place)] = {**up, "showticklabels": named}
    left_out = shown_of(len(data.shown), data.parameters, "parameters")
    facts = joined(data.which, shown_of(len(data.values), data.trials), left_out, "colours from early to late")
    return figure(traces, title, facts, showlegend=False, height=120 + 250 * rows, **layout)


def _dots(data: Slices, places: Array, panel: int) -> list[Trace]:
    active, numbers = np.flatnonzero(np.isfinite(places)), np.array(data.numbers, dtype=int)
    on = {"xaxis": numbered("x", panel), "yaxis": numbered("y", panel)}
    colours = {"color": numbers[active], "colorscale": [[0, "#a9c7e6"], [1, "#1f2f86"]]}
    marker = {"size": 5, "opacity": 0.75, **colours, "cmin": 0, "cmax": int(numbers.max(initial=1))}
    hover = "trial %{customdata}: %{y:.6g} at %{x}"
    x, y = places[active], data.values[active]
    traces = [dots(x, y, "trials", hover, marker=marker, customdata=numbers[active], **on)]
    best = [at for at in active if data.numbers[at] == data.best]
    return [*traces, ring(places[best], data.values[best], 11, **on)] if best else traces


def across(each: Dimension, **more: Any) -> dict[str, Any]:
    """The axis of a parameter."""
    if each.options is not None:
        names = [text(option, 14) for option in each.options]
        places = {"tickvals": list(range(len(names))), "ticktext": names, "range": [-0.5, len(names) - 0.5]}
        return axis(text(each.name, 30), **places, **more)
    if not each.log:
        pad = 0.03 * (each.high - each.low)
        return axis(text(each.name, 30), range=[each.low - pad, each.high + pad], **more)
    low, high = math.log10(each.low), math.log10(each.high)
    pad = 0.03 * (high - low)
    return axis(text(each.name, 30), type="log", range=[low - pad, high + pad], **ticks(each.low, each.high), **more)
