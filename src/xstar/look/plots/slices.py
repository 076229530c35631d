"""One panel per parameter: its values to the right, those of the trials upwards, coloured by when a trial was begun."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from xstar.errors import InvalidArgument
from xstar.look.plots.figure import Figure, Trace, axis, dots, empty, figure, grid, numbered, ring, text, ticks
from xstar.look.plots.source import Array, Dimension, Drawn, Source, dimensions, joined, shown_of

MOST_PANELS = 12
COLUMNS = 3
MOST_DOTS = 1500
"""Dots of one panel."""


@dataclass(frozen=True, eq=False)
class Scatter:
    """Comparable trials as dots in panels of parameters (abstract)."""

    metric: str
    shown: list[Dimension]
    places: dict[str, Array]
    """By parameter: the positions of the trials on it; NaN where it is not active."""
    losses: Array
    values: Array
    """Losses in the user's own direction."""
    numbers: list[int]
    trials: int
    parameters: int
    which: str
    best: int | None
    columns: int

    @classmethod
    def of(cls, source: Source, parameters: Sequence[str] | None, default: int, columns: int, most: int) -> Self:
        """With the parameters asked for, or the first ones that have an axis, in so many columns of panels."""
        check_columns(columns)
        history = source.history
        known = {each.name: each for each in dimensions(history)}
        shown = []
        for name in list(known)[:default] if parameters is None else parameters:
            if name not in known:
                rule = f"must be among those with an axis ({', '.join(known) or 'none'})"
                raise InvalidArgument("parameters", rule, name)
            shown.append(known[name])
        drawn, best = Drawn.of(history, most), history.best
        return cls(
            history.created.metric,
            shown,
            {each.name: each.places(drawn.trials) for each in shown},
            drawn.losses,
            drawn.values(history),
            [trial.number for trial in drawn.trials],
            drawn.total,
            len(known),
            drawn.which,
            None if best is None else best.number,
            columns,
        )


class Slices(Scatter):
    """Trials along each parameter."""


def compute(
    source: Source,
    *,
    parameters: Sequence[str] | str | None = None,
    columns: int = COLUMNS,
    most: int = MOST_DOTS,
) -> Slices:
    """Comparable trials along some parameters (default: the first twelve that have an axis), in so many columns."""
    asked = [parameters] if isinstance(parameters, str) else parameters
    return Slices.of(source, asked, MOST_PANELS, columns, most)


def check_columns(columns: int) -> None:
    """At least one."""
    if columns < 1:
        raise InvalidArgument("columns", "must be at least 1", columns)


def draw(data: Slices) -> Figure:
    """The figure."""
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
        shown_of(len(data.shown), data.parameters, "parameters"),
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
        traces.append(ring([places[at]], [data.values[at]], 11, **on))
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
