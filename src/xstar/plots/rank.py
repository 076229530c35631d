"""Pairs of parameters: each trial a dot, coloured by its rank, so that one diverged trial does not take all colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from xstar.errors import InvalidArgument
from xstar.plots.figure import RAMP, Figure, Trace, dots, empty, figure, grid, number, numbered, text
from xstar.plots.network_data import ranks
from xstar.plots.slices import across, check_columns, known_dimension
from xstar.plots.source import Array, Dimension, Drawn, Source, dimensions, joined, shown_of

MOST_PARAMETERS = 4
"""Of which all pairs are drawn: six panels."""
COLUMNS = 3
MOST_DOTS = 1500
"""Dots of one panel."""


@dataclass(frozen=True, eq=False)
class Ranks:
    """Trials over pairs of parameters."""

    metric: str
    panels: list[tuple[Dimension, Dimension]]
    places: dict[str, Array]
    """By parameter: the positions of the trials on it; NaN where it is not active."""
    values: Array
    shares: Array
    """The rank of each trial among those drawn, from 0 for the best to 1; equals share the mean of theirs."""
    numbers: list[int]
    trials: int
    parameters: int
    which: str
    best: int | None
    columns: int = COLUMNS


def compute(
    source: Source,
    *,
    parameters: Sequence[str] | None = None,
    columns: int = COLUMNS,
    most: int = MOST_DOTS,
) -> Ranks:
    """Comparable trials over all pairs of some parameters (default: the first four that have an axis), in so many columns."""
    check_columns(columns)
    history = source.history
    known = {each.name: each for each in dimensions(history)}
    asked = list(known)[:MOST_PARAMETERS] if parameters is None else parameters
    if parameters is not None and (isinstance(parameters, str) or len(set(parameters)) < 2):
        raise InvalidArgument("parameters", "must be at least two different ones", parameters)
    shown = [known_dimension(name, known) for name in asked]
    drawn = Drawn.of(history, most)
    shares = (ranks(drawn.losses) - 1) / max(1, len(drawn.losses) - 1) if len(drawn.losses) else drawn.losses
    return Ranks(
        history.created.metric,
        list(combinations(shown, 2)),
        {each.name: each.places(drawn.trials) for each in shown},
        drawn.values(history),
        shares,
        [trial.number for trial in drawn.trials],
        drawn.total,
        len(known),
        drawn.which,
        None if history.best is None else history.best.number,
        columns,
    )


def draw(data: Ranks) -> Figure:
    """The figure."""
    title = f"Rank of {text(data.metric)} over pairs of parameters"
    if not data.panels or not len(data.values):
        return empty(title, "needs two parameters with an axis" if not data.panels else "no trials to compare yet")
    columns = min(data.columns, len(data.panels))
    rows = -(-len(data.panels) // columns)
    layout: dict[str, Any] = {}
    traces: list[Trace] = []
    for place, ((x, y), (wide, high)) in enumerate(zip(data.panels, grid(len(data.panels), columns, 0.1), strict=True)):
        traces += _panel(data, x, y, place)
        layout[numbered("xaxis", place)] = across(x, domain=wide, anchor=numbered("y", place))
        layout[numbered("yaxis", place)] = across(y, domain=high, anchor=numbered("x", place))
    left_out = shown_of(len(data.places), data.parameters, "parameters")
    facts = joined(data.which, shown_of(len(data.values), data.trials), left_out, "ring: the best")
    return figure(traces, title, facts, showlegend=False, height=120 + 270 * rows, **layout)


def _panel(data: Ranks, x: Dimension, y: Dimension, panel: int) -> list[Trace]:
    xs, ys = data.places[x.name], data.places[y.name]
    active = np.flatnonzero(np.isfinite(xs) & np.isfinite(ys))
    active = active[np.argsort(-data.shares[active], kind="stable")]  # the best ones last, on top
    on = {"xaxis": numbered("x", panel), "yaxis": numbered("y", panel)}
    marker: dict[str, Any] = {"size": 6, "color": data.shares[active], "colorscale": RAMP, "cmin": 0, "cmax": 1}
    if panel == 0:
        words = {"tickvals": [0, 0.5, 1], "ticktext": ["best", "median", "worst"]}
        marker["colorbar"] = {**words, "thickness": 10}
    about = [[data.numbers[place], number(float(data.values[place]), 6)] for place in active]
    hover = "trial %{customdata[0]}: %{customdata[1]}<extra></extra>"
    traces = [dots(xs[active], ys[active], "trials", marker=marker, customdata=about, hovertemplate=hover, **on)]
    best = [place for place in active if data.numbers[place] == data.best]
    ring = {"size": 12, "symbol": "circle-open", "color": "#b4540a", "line": {"width": 2.5}}
    return [*traces, dots(xs[best], ys[best], "best", marker=ring, hoverinfo="skip", **on)]
