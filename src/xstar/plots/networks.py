"""A map of the architectures that were tried, near where OTMANN is small (NASBOT, Figure 4), and the winner's ancestors.

Where a network was made by mutating another one, its origin names the parent; the line of parents of the best one is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

from xstar.journal import History
from xstar.plots import network_data
from xstar.plots.figure import RAMP, Figure, Trace, axis, dots, figure, line, number, text
from xstar.plots.source import Array, Source, joined, shown_of


@dataclass(frozen=True, eq=False)
class Map:
    """Networks on a plane."""

    metric: str
    parameter: str
    positions: Array
    values: Array
    shares: Array
    """The rank of each among all, from 0 for the best to 1."""
    trials: list[int]
    sizes: list[str]
    """Layers, edges and mass in words."""
    best: int
    """The place of the best one in these lists."""
    ancestors: list[int]
    """Places of the best one's parent, its parent, … as far as they are on the map."""
    found: int
    share: float
    """Of the distances, how much the two axes show."""


def compute(source: Source, *, parameter: str | None = None, most: int = network_data.MOST) -> Map:
    """Networks of complete trials, placed by classical scaling of normalised OTMANN."""
    history = source.history
    networks = network_data.collect(history, parameter, most)
    places = network_data.classical_scaling(networks.distances("normalised"))
    ranks = network_data.ranks(networks.losses) - 1
    numbers = list(networks.trials)
    return Map(
        history.created.metric,
        networks.parameter,
        places.positions,
        networks.values,
        ranks / max(1.0, float(ranks.max())),
        numbers,
        [f"{len(graph.layers)} layers, {len(graph.edges)} edges, mass {graph.mass:,.4g}" for graph in networks.graphs],
        networks.best,
        [numbers.index(number) for number in lineage(history, numbers[networks.best]) if number in numbers],
        networks.found,
        places.share,
    )


def lineage(history: History, trial: int) -> list[int]:
    """The trial's parent, that one's parent, … as the origins tell it."""
    found: list[int] = []
    while True:
        parent = history.trials[trial].origin.numbers.get("parent")
        if not isinstance(parent, int) or parent in found or not 0 <= parent < trial:
            return found
        found.append(parent)
        trial = parent


def draw(data: Map) -> Figure:
    """The figure."""
    title = f"Architectures by distance: {text(data.parameter)}"
    x, y = data.positions[:, 0], data.positions[:, 1]
    marker = {
        "size": 9,
        "color": data.shares,
        "colorscale": RAMP,
        "cmin": 0,
        "cmax": 1,
        "line": {"width": 0.5, "color": "#1d1d1b"},
        "colorbar": {
            "title": {"text": text(data.metric, 20)},
            "thickness": 10,
            "tickvals": [0, 1],
            "ticktext": ["best", "worst"],
        },
    }
    traces: list[Trace] = []
    if data.ancestors:
        way = [data.best, *data.ancestors]
        traces.append(
            line(x[way], y[way], "ancestors of the best", line={"color": "#8a8a84", "width": 1.5}, hoverinfo="skip")
        )
    traces.append(
        dots(
            x,
            y,
            "networks",
            marker=marker,
            customdata=[
                [trial, size, number(value, 6)]
                for trial, size, value in zip(data.trials, data.sizes, data.values.tolist(), strict=True)
            ],
            hovertemplate="trial %{customdata[0]}: %{customdata[2]}<br>%{customdata[1]}<extra></extra>",
        )
    )
    ring = {"size": 17, "symbol": "circle-open", "color": "#b4540a", "line": {"width": 2.5}}
    traces.append(dots([x[data.best]], [y[data.best]], "best", marker=ring, hoverinfo="skip"))
    share = f"the two axes show {data.share:.0%} of the distances"
    facts = joined("near: similar by OTMANN", share, shown_of(len(data.trials), data.found, "networks"))
    square = {"scaleanchor": "x", "scaleratio": 1}
    return figure(
        traces,
        title,
        facts,
        xaxis=axis("", showticklabels=False),
        yaxis=axis("", showticklabels=False, **square),
        showlegend=False,
        meta={"parameter": data.parameter},
    )
