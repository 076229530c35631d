"""One panel per parameter: its values to the right, those of the trials upwards, coloured by when a trial was begun."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xstar.errors import InvalidArgument
from xstar.plots.figure import Figure, Trace, axis, dots, empty, figure, grid, numbered, text, ticks
from xstar.plots.source import Array, Dimension, Drawn, Source, dimensions, joined, shown_of

MOST_PANELS = 12
COLUMNS = 3
MOST_DOTS = 1500
"""Dots of one panel."""


@dataclass(frozen=True, eq=False)
class Slices:
    """Trials along each parameter."""

    metric: str
    panels: list[tuple[Dimension, Array]]
    """A parameter and the trials' positions on it; NaN where it is not active."""
    values: Array
    numbers: list[int]
    trials: int
    parameters: int
    which: str
    best: int | None
    columns: int = COLUMNS


def compute(
    source: Source,
    *,
    parameters: Sequence[str] | str | None = None,
    columns: int = COLUMNS,
    most: int = MOST_DOTS,
) -> Slices:
    """Comparable trials along some parameters (default: the first twelve that have an axis), in so many columns."""
    check_columns(columns)
    history = source.history
    known = {each.name: each for each in dimensions(history)}
    asked = [parameters] if isinstance(parameters, str) else parameters
    shown = [known_dimension(name, known) for name in (list(known)[:MOST_PANELS] if asked is None else asked)]
    drawn = Drawn.of(history, most)
    return Slices(
        history.created.metric,
        [(each, each.places(drawn.trials)) for each in shown],
        drawn.values(history),
        [trial.number for trial in drawn.trials],
        drawn.total,
        len(known),
        drawn.which,
        None if history.best is None else history.best.number,
        columns,
    )


def check_columns(columns: int) -> None:
    """At least one."""
    if columns < 1:
        raise InvalidArgument("columns", "must be at least 1", columns)


def known_dimension(name: str, known: dict[str, Dimension]) -> Dimension:
    """The parameter of a name that a user gave."""
    if name not in known:
        raise InvalidArgument("parameters", f"must be among those with an axis ({', '.join(known) or 'none'})", name)
    return known[name]


def draw(data: Slices) -> Figure:
    """The figure."""
    metric = text(data.metric)
    title = f"{metric} along each parameter"
    if not data.panels or not len(data.values):
        return empty(title, "no parameter has an axis" if not data.panels else "no trials to compare yet")
    columns = min(data.columns, len(data.panels))
    rows = -(-len(data.panels) // columns)
    layout: dict[str, Any] = {}
    traces: list[Trace] = []
    for place, ((each, places), (wide, high)) in enumerate(
        zip(data.panels, grid(len(data.panels), columns), strict=True)
    ):
        traces += _dots(data, places, place)
        layout[numbered("xaxis", place)] = across(each, domain=wide, anchor=numbered("y", place))
        show = place % columns == 0
        layout[numbered("yaxis", place)] = axis(
            metric if show else "",
            domain=high,
            anchor=numbered("x", place),
            matches="y" if place else None,
            showticklabels=show,
        )
    facts = joined(
        data.which,
        shown_of(len(data.values), data.trials),
        shown_of(len(data.panels), data.parameters, "parameters"),
        "colours from early to late",
    )
    return figure(traces, title, facts, showlegend=False, height=120 + 250 * rows, **layout)


def _dots(data: Slices, places: Array, panel: int) -> list[Trace]:
    active = np.flatnonzero(np.isfinite(places))
    on = {"xaxis": numbered("x", panel), "yaxis": numbered("y", panel)}
    numbers = np.array(data.numbers, dtype=int)
    marker = {
        "size": 5,
        "opacity": 0.75,
        "color": numbers[active],
        "colorscale": [[0, "#a9c7e6"], [1, "#1f2f86"]],
        "cmin": 0,
        "cmax": int(numbers.max()) if len(numbers) else 1,
    }
    hover = "trial %{customdata}: %{y:.6g} at %{x}<extra></extra>"
    traces = [
        dots(
            places[active],
            data.values[active],
            "trials",
            marker=marker,
            customdata=numbers[active],
            hovertemplate=hover,
            **on,
        )
    ]
    if data.best in data.numbers and np.isfinite(places[data.numbers.index(data.best)]):
        at = data.numbers.index(data.best)
        ring = {"size": 11, "symbol": "circle-open", "color": "#b4540a", "line": {"width": 2.5}}
        traces.append(dots([places[at]], [data.values[at]], "best", marker=ring, hoverinfo="skip", **on))
    return traces


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
