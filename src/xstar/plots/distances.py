"""How far apart two architectures are by OTMANN, and how much their values differ (NASBOT, Figure 6).

Where the lines rise from the left, near networks have similar values, and a model over OTMANN can learn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from xstar.plots import network_data
from xstar.plots.figure import COLOURS, QUIET, Figure, axis, dots, figure, line, text
from xstar.plots.network_data import Pairs
from xstar.plots.source import Array, Source, joined, shown_of, thinned

MOST_PAIRS = 2000
"""Pairs that are drawn; the lines are those of all."""
BANDS, FEWEST = 12, 10
"""Groups of pairs, equally wide in the logarithm of the distance, for the lines; and how many pairs a group needs for its
quantiles to mean anything."""


@dataclass(frozen=True, eq=False)
class Apart:
    """Pairs of networks."""

    metric: str
    pairs: Pairs
    bands: Array
    """Median distance, median difference, 90 % quantile of the differences of each group, (groups, 3)."""


def compute(source: Source, *, parameter: str | None = None, distance: str = "plain") -> Apart:
    """All pairs of networks of complete trials. ``distance``: ``plain`` (d) or ``normalised`` (d̄)."""
    network_data.check_distance(distance)
    found = network_data.pairs(network_data.collect(source.history, parameter), distance)
    return Apart(source.history.created.metric, found, bands(found))


def bands(found: Pairs) -> Array:
    """The quantiles of groups of pairs; those at a distance of 0 belong to the first, and groups of few are left out."""
    above = found.distance[found.distance > 0]
    if not len(above):
        return np.empty((0, 3))
    edges = np.geomspace(above.min(), above.max(), BANDS + 1)[1:-1]
    group = np.searchsorted(edges, found.distance, side="right")
    rows = []
    for one in range(BANDS):
        inside = group == one
        if inside.sum() >= FEWEST:
            differences = found.difference[inside]
            rows.append((np.median(found.distance[inside]), np.median(differences), np.quantile(differences, 0.9)))
    return np.array(rows).reshape(-1, 3)


def draw(data: Apart) -> Figure:
    """The figure."""
    title = f"Distance of architectures and difference in {text(data.metric)}"
    distance, difference = data.pairs.distance, data.pairs.difference
    count = len(distance)
    kept = thinned(count, MOST_PAIRS)
    kept = kept[distance[kept] > 0]  # a logarithmic axis has no 0
    marker = {"size": 4, "color": COLOURS[0], "opacity": 0.4}
    traces = [dots(distance[kept], difference[kept], "pairs", marker=marker, hoverinfo="skip")]
    for column, name, colour in ((1, "half of them are below", COLOURS[1]), (2, "nine tenths are below", QUIET)):
        traces.append(line(data.bands[:, 0], data.bands[:, column], name, line={"color": colour, "width": 2}))
    correlation = data.pairs.correlation
    zeros = int((distance == 0).sum())
    facts = joined(
        "" if math.isnan(correlation) else f"rank correlation {correlation:.2f}",
        shown_of(len(kept), count, "pairs"),
        f"{zeros:,} pairs at a distance of 0" if zeros else "",
    )
    return figure(traces, title, facts, xaxis=axis("OTMANN", type="log"), yaxis=axis("difference"))
