"""Pictures of the networks of a study: a map of them by OTMANN, and distance against difference in value.

The paper's Figures 4 and 6. What is shown is computed in ``network_data.py``; here it is drawn.

>>> import xstar as xs
>>> from xstar.nets.synthetic import f3
>>> study = xs.Study(xs.Space(net=xs.nets.MLP(inputs=8)), direction="maximize", seed=1)
>>> for _ in range(6):
...     trial = study.ask()
...     study.tell(trial, f3(trial["net"]))
>>> network_map(study)[:4], distance_against_value(study.history)[:4]
('<svg', '<svg')
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xstar.plots.canvas import GREY, GRID, INK, LETTER, PAPER, Axis, Canvas, Point, axis_over, number
from xstar.plots.network_data import Array, Networks, Pairs, Places, collect, pairs, place, ranks
from xstar.plots.svg import draw_x_axis

WIDTH, HEIGHT = 800, 470
LEFT, TOP, RIGHT, BELOW = 90, 76, 590, 70
LEGEND = RIGHT + 34

# From the best to the worst. Brightness rises all the way: for those who see fewer colours, and for print.
RAMP = ("#35103f", "#8a1f4f", "#cf5a2e", "#e7a552", "#e6dcb8")
RADIUS, BEST_RADIUS = 4.0, 6.5
BAR, STEPS = 180.0, 36
"""The height of the legend's bar in pixels, and the strips it is made of."""

SCATTER = 1000
"""Pairs that are drawn one by one: some 60 kB. More become a histogram, which does not grow with them."""
COLUMNS, ROWS = 48, 28
"""Cells of that histogram."""
BANDS, FEWEST = 12, 10
"""Groups of pairs, equally wide in the logarithm of the distance, for the lines; and how many pairs a group needs for its
quantiles to mean anything."""
TICK_SIZE = 13
HIGHEST = 0.99
"""The share of pairs that the vertical axis shows in full, so that one network that learned nothing does not flatten the
rest. Those above are drawn at its top."""

NAMES = {"normalised": "normalised OTMANN", "plain": "OTMANN"}


def network_map(
    history: Any,
    parameter: str | None = None,
    distance: str = "normalised",
    method: str = "mds",
    structure: float = 0.5,
) -> str:
    """The networks of a study (or of its history) on a plane, near where OTMANN is small, coloured by value: an SVG.

    ``parameter`` has to be given where several hold networks. ``distance`` is ``"normalised"`` (d̄) or ``"plain"`` (d).
    ``method="tsne"`` is the paper's; it needs scikit-learn. ``structure`` is ν_str. Only complete trials are shown, and at most
    300 networks.
    """
    networks = collect(history, parameter, structure)
    return draw_map(networks, place(networks, distance, method), distance, method)


def distance_against_value(
    history: Any, parameter: str | None = None, distance: str = "plain", structure: float = 0.5
) -> str:
    """All pairs of networks of a study: their distance to the right, the difference of their values upwards: an SVG.

    Where OTMANN suits the objective, near networks have similar values: the lines rise from the left to the right. Arguments
    are those of ``network_map``.
    """
    networks = collect(history, parameter, structure)
    return draw_pairs(pairs(networks, distance), networks, distance)


# ---------------------------------------------------------------- the map


def draw_map(networks: Networks, places: Places, distance: str, method: str) -> str:
    """A map as SVG."""
    title = f"{networks.parameter}: networks by {NAMES[distance]}"
    canvas = _sheet(title, _about_map(networks, places, method))
    points, pixels = fitted(places.positions)
    share = shares(networks.losses)
    for one in np.argsort(-networks.losses, kind="stable").tolist():  # the best ones last, so that they lie on top
        canvas.circle(points[one], RADIUS, colour_of(share[one]), opacity=0.9)
    _ring(canvas, points[networks.best])
    if places.share is not None:
        _scale(canvas, pixels)
    _legend(canvas, networks)
    return canvas.svg()


def fitted(positions: Array) -> tuple[list[Point], float]:
    """Places on the sheet, at one scale for both axes, and that scale: pixels to a unit of distance."""
    room = np.array([RIGHT - LEFT, HEIGHT - BELOW - TOP], dtype=np.float64) - 2 * BEST_RADIUS
    low, high = positions.min(axis=0), positions.max(axis=0)
    span = high - low
    scale = float(np.divide(room, span, out=np.full(2, np.inf), where=span > 0).min())
    scale = scale if math.isfinite(scale) else 1.0
    centre = np.array([(LEFT + RIGHT) / 2, (TOP + HEIGHT - BELOW) / 2])
    moved = centre + scale * (positions - (low + high) / 2) * np.array([1.0, -1.0])  # y grows downwards
    return [(x, y) for x, y in moved.tolist()], scale


def shares(losses: Array) -> Array:
    """The place of each loss among all, from 0 for the lowest to 1: colours that follow it can be told apart, whatever the
    scale of the losses; the legend has the figures."""
    order = ranks(losses) - 1.0
    top = float(order.max())
    return (order - float(order.min())) / (top - float(order.min())) if top > order.min() else np.zeros_like(order)


def colour_of(share: float) -> str:
    """The colour at a share of the ramp, 0 for the best.

    >>> colour_of(0.0), colour_of(1.0)
    ('#35103f', '#e6dcb8')
    """
    place = min(max(share, 0.0), 1.0) * (len(RAMP) - 1)
    before = min(int(place), len(RAMP) - 2)
    parts = [[int(RAMP[step][at : at + 2], 16) for at in (1, 3, 5)] for step in (before, before + 1)]
    mixed = (round(a + (b - a) * (place - before)) for a, b in zip(*parts, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _about_map(networks: Networks, places: Places, method: str) -> str:
    count = _count(networks)
    if method == "tsne":
        return f"{count}, t-SNE: only neighbourhoods can be read"
    assert places.share is not None
    return f"{count}, classical scaling: two axes show {places.share:.0%} of the spread"


def _count(networks: Networks) -> str:
    shown = f"{len(networks):,} networks"
    return shown if networks.found == len(networks) else f"{shown} of {networks.found:,}"


def _ring(canvas: Canvas, centre: Point) -> None:
    canvas.circle(centre, BEST_RADIUS + 2.5, INK)
    canvas.circle(centre, BEST_RADIUS + 0.5, PAPER)
    canvas.circle(centre, RADIUS, RAMP[0])


def _scale(canvas: Canvas, pixels: float) -> None:
    """A bar of a round length of distance, a tenth to a quarter of the width."""
    length = 0.25 * (RIGHT - LEFT) / pixels
    size = 10.0 ** math.floor(math.log10(length))
    length = next(size * factor for factor in (5, 2, 1) if size * factor <= length * (1 + 1e-9))
    y = HEIGHT - 36.0
    canvas.line((LEFT, y), (LEFT + length * pixels, y), INK, width=2)
    canvas.text(LEFT + length * pixels + 10, y + 4.5, f"a distance of {number(length)}")


def _legend(canvas: Canvas, networks: Networks) -> None:
    x, top = LEGEND + 8.0, TOP + 78.0
    _ring(canvas, (x, TOP + 14.0))
    value = float(networks.values[networks.best])
    canvas.text(x + 20, TOP + 12, "the best", size=14, colour=INK, bold=True)
    canvas.text(x + 20, TOP + 30, f"{value:.4g}, trial {networks.trials[networks.best]}")
    canvas.text(LEGEND, top - 14, networks.metric, size=14, colour=INK)
    for step in range(STEPS):
        y = top + BAR * step / STEPS
        canvas.line((x, y), (x, y + BAR / STEPS + 0.3), colour_of((step + 0.5) / STEPS), width=16)
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        value = networks.sign * float(np.quantile(networks.losses, share))
        canvas.text(x + 20, top + BAR * share + 4.5, f"{value:.4g}")


# ---------------------------------------------------------------- distance against value


def draw_pairs(found: Pairs, networks: Networks, distance: str) -> str:
    """Distances and differences as SVG."""
    title = f"{networks.parameter}: distance and difference in {networks.metric}"
    canvas = _sheet(title, _about_pairs(found, networks))
    bottom = float(HEIGHT - BELOW)
    across = axis_over(found.distance.tolist(), LEFT, RIGHT, log=True)
    top = float(np.quantile(found.difference, HIGHEST)) or float(found.difference.max())
    up = axis_over((0.0, top), bottom, TOP)
    for tick in up.ticks():
        canvas.line((LEFT, up.place(tick)), (RIGHT, up.place(tick)), GRID)
        canvas.text(LEFT - 10, up.place(tick) + 4.5, number(tick), anchor="end")
    draw_x_axis(canvas, across, bottom, f"{NAMES[distance]} distance", _apart(across))
    for centre, radius, opacity in _dots(found, across, up):
        canvas.circle(centre, radius, RAMP[2], opacity=opacity)
    _draw_lines(canvas, bands(found), across, up)
    return canvas.svg()


def _draw_lines(canvas: Canvas, groups: Array, across: Axis, up: Axis) -> None:
    if not len(groups):
        return
    heights = []
    for column, colour in ((1, INK), (2, GREY)):
        line = [(across.place(x), up.place(y)) for x, y in groups[:, [0, column]].tolist()]
        canvas.polyline(line, colour, width=2.2)
        heights.append(line[-1][1])
    upper = min(max(heights[1], up.end + 10), up.start - 24)
    lower = min(max(heights[0], upper + 20), up.start)
    canvas.text(RIGHT + 12, upper + 4.5, "nine tenths are below", colour=GREY, bold=True)
    canvas.text(RIGHT + 12, lower + 4.5, "half of them are below", colour=INK, bold=True)


def _apart(across: Axis) -> list[float]:
    """Ticks whose numbers do not touch, from the left."""
    kept: list[float] = []
    end = -math.inf
    for tick in across.ticks():
        half = len(number(tick)) * TICK_SIZE * LETTER / 2
        if across.place(tick) - half > end:
            kept.append(tick)
            end = across.place(tick) + half + 6
    return kept


def bands(found: Pairs) -> Array:
    """Median distance, median difference and 90 % quantile of the differences of each group of pairs, (groups, 3).

    Pairs at a distance of 0 belong to the first group. Groups of few pairs are left out.
    """
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


def histogram(
    x: Array, y: Array, x_range: tuple[float, float], y_range: tuple[float, float]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Cells (column, row) that hold any of the points, (cells, 2), and how many, (cells,). All points lie in the ranges."""

    def cells(values: Array, low: float, high: float, count: int) -> NDArray[np.intp]:
        share = (values - low) / (high - low)
        return np.minimum((share * count).astype(np.intp), count - 1)

    number = cells(x, *x_range, COLUMNS) * ROWS + cells(y, *y_range, ROWS)
    places, counts = np.unique(number, return_counts=True)
    return np.stack(np.divmod(places, ROWS), axis=1), counts


def _dots(found: Pairs, across: Axis, up: Axis) -> Iterator[tuple[Point, float, float]]:
    """(centre, radius, opacity): of every pair, or of every cell of the histogram, whose area follows the root of the count."""
    x = np.array([across.place(value) for value in found.distance.tolist()])
    y = np.array([up.place(value) for value in found.difference.tolist()])
    if len(x) <= SCATTER:
        yield from (((a, b), 2.2, 0.45) for a, b in zip(x.tolist(), y.tolist(), strict=True))
        return
    cells, counts = histogram(x, y, (LEFT, RIGHT), (TOP, HEIGHT - BELOW))
    width, height = (RIGHT - LEFT) / COLUMNS, (HEIGHT - BELOW - TOP) / ROWS
    strength = np.sqrt(counts / counts.max())
    for (column, row), share in zip(cells.tolist(), strength.tolist(), strict=True):
        centre = LEFT + (column + 0.5) * width, TOP + (row + 0.5) * height
        yield centre, max(0.6, 0.5 * min(width, height) * math.sqrt(share)), 0.75


def _about_pairs(found: Pairs, networks: Networks) -> str:
    parts = [f"{len(found.distance):,} pairs of {_count(networks)}"]
    if not math.isnan(found.correlation):
        parts.append(f"rank correlation {found.correlation:.2f}")
    if zeros := int((found.distance == 0).sum()):
        parts.append(f"{zeros:,} pairs at a distance of 0 at the left edge")
    return ", ".join(parts)


def _sheet(title: str, subtitle: str) -> Canvas:
    canvas = Canvas(WIDTH, HEIGHT, title)
    canvas.text(LEFT, 34, title, size=17, colour=INK, bold=True)
    canvas.text(LEFT, 55, subtitle)
    return canvas
