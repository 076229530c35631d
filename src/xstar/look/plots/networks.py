"""A map of the architectures that were tried, near where OTMANN is small (NASBOT, Figure 4), and the winner's ancestors.

Where a network was made by mutating another one, its origin names the parent; the line of parents of the best one is drawn.
The best one and some that lie apart from each other have their drawing beside them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import numpy as np

from xstar.journal import History
from xstar.look.plots import network_data
from xstar.look.plots.figure import RAMP, Figure, Trace, axis, dots, figure, line, number, ring, text
from xstar.look.plots.source import Array, Source, joined, shown_of
from xstar.nets.draw import thumbnail

PICTURES = 7
"""Drawings on the map, at most."""
APART = 0.3
SIZE = 0.27
"""How far drawn networks are from each other at least, and how large a drawing is, as shares of the map's width."""


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
    pictures: dict[int, tuple[str, float]]
    """By their places in these lists, some networks as SVG text, and its width over its height."""
    found: int
    share: float
    """Of the distances, how much the two axes show."""
    correlation: float
    """Spearman's, of distance and difference in value over all pairs: a model over OTMANN learns from it (NASBOT, Figure 6)."""


def compute(source: Source, *, parameter: str | None = None, most: int = network_data.MOST) -> Map:
    """Networks of complete trials, placed by classical scaling of normalised OTMANN."""
    history = source.history
    networks = network_data.collect(history, parameter, most)
    places = network_data.classical_scaling(networks.distances)
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
        {place: thumbnail(networks.graphs[place]) for place in well_spread(places.positions, networks.best)},
        networks.found,
        places.share,
        networks.correlation,
    )


def well_spread(positions: Array, first: int) -> list[int]:
    """The first place, then each time the one farthest from all before, until those left are too near."""
    chosen, least = [first], APART * float(np.ptp(positions, axis=0).max())
    while len(chosen) < PICTURES:
        away = np.linalg.norm(positions[:, None] - positions[chosen], axis=2).min(axis=1)
        if not away.max() > least:
            break
        chosen.append(int(away.argmax()))
    return chosen


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
    traces.append(ring([x[data.best]], [y[data.best]], 17))
    low, high = data.positions.min(axis=0), data.positions.max(axis=0)
    pad = 0.6 * SIZE * float((high - low).max())  # pictures end within the plot
    share = f"the two axes show {data.share:.0%} of the distances"
    known = "" if math.isnan(data.correlation) else f"rank correlation with differences in value {data.correlation:.2f}"
    facts = joined("near: similar by OTMANN", known, share, shown_of(len(data.trials), data.found, "networks"))
    square = {"scaleanchor": "x", "scaleratio": 1}
    return figure(
        traces,
        title,
        facts,
        xaxis=axis("", showticklabels=False, range=[low[0] - pad / 2, high[0] + 2 * pad]),
        yaxis=axis("", showticklabels=False, range=[low[1] - pad, high[1] + pad], **square),
        showlegend=False,
        height=600,
        images=_images(data),
        meta={"parameter": data.parameter},
    )


def _images(data: Map) -> list[dict[str, Any]]:
    """Drawings beside their dots, which a browser keeps as images: nothing in them is run."""
    size = SIZE * float(np.ptp(data.positions, axis=0).max())
    about = {"xref": "x", "yref": "y", "xanchor": "left", "yanchor": "middle", "layer": "below"}
    return [
        {
            **about,
            "source": f"data:image/svg+xml,{quote(picture)}",
            "x": data.positions[place, 0] + 0.08 * size,
            "y": data.positions[place, 1],
            "sizex": size * min(1.0, ratio),
            "sizey": size * min(1.0, 1.0 / ratio),
        }
        for place, (picture, ratio) in data.pictures.items()
    ]
