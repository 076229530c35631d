"""Pairs of parameters: each trial a dot, coloured by its rank, so that one diverged trial does not take all colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from xstar.errors import InvalidArgument
from xstar.look.plots.figure import RAMP, Figure, Trace, dots, empty, figure, grid, number, numbered, ring, text
from xstar.look.plots.network_data import ranks
from xstar.look.plots.slices import COLUMNS, MOST_DOTS, Scatter, across
from xstar.look.plots.source import Array, Dimension, Source, joined, shown_of

MOST_PARAMETERS = 4
"""Of which all pairs are drawn: six panels."""


@dataclass(frozen=True, eq=False)
class Ranks(Scatter):
    """Trials over pairs of parameters."""

    @property
    def panels(self) -> list[tuple[Dimension, Dimension]]:
        """All pairs."""
        return list(combinations(self.shown, 2))

    @cached_property
    def shares(self) -> Array:
        """The rank of each trial among those drawn, from 0 for the best to 1; equals share the mean of theirs."""
        return (ranks(self.losses) - 1) / max(1, len(self.losses) - 1) if len(self.losses) else self.losses


def compute(
    source: Source,
    *,
    parameters: Sequence[str] | None = None,
    columns: int = COLUMNS,
    most: int = MOST_DOTS,
) -> Ranks:
    """Comparable trials over all pairs of some parameters (default: the first four that have an axis), in so many columns."""
    if parameters is not None and (isinstance(parameters, str) or len(set(parameters)) < 2):
        raise InvalidArgument("parameters", "must be at least two different ones", parameters)
    return Ranks.of(source, parameters, MOST_PARAMETERS, columns, most)


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
    return [*traces, ring(xs[best], ys[best], 12, **on)]
