"""A line chart as the text of an SVG file: several series, bands around them, and their names where the lines end."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from xstar.errors import InvalidArgument
from xstar.plots.canvas import COLOURS, GREY, GRID, INK, LETTER, PALE, Axis, Canvas, Point, axis_over, number, spread

WIDTH, HEIGHT = 800, 400
LEFT, TOP, BELOW = 90, 70, 70
NAME_SIZE = 15


@dataclass(frozen=True)
class Series:
    """One line. Points with a coordinate that is not finite are left out; the line is drawn in one piece nevertheless."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    """The lower edge of a band around the line; with ``high``, or neither."""
    high: Sequence[float] | None = None
    colour: str | None = None
    """``None``: the next of the palette."""
    steps: bool = False
    """A value holds until the next one: the line goes across, then up or down, never along a slope."""

    def __post_init__(self) -> None:
        lengths = {len(values) for values in (self.x, self.y, self.low, self.high) if values is not None}
        if len(lengths) != 1 or (self.low is None) != (self.high is None):
            rule = "must have as many y as x, and a band with both edges or none"
            raise InvalidArgument("series", rule, f"{self.name!r}: {sorted(lengths)} numbers")


def line_chart(
    series: Sequence[Series],
    *,
    title: str,
    subtitle: str = "",
    x_label: str = "",
    log_x: bool = False,
    log_y: bool = False,
    x_ticks: Sequence[float] | None = None,
    y_range: tuple[float, float] | None = None,
) -> str:
    """The chart. Without ``y_range`` the axis shows all lines and the bands as far as they are near."""
    if not series:
        raise InvalidArgument("series", "must not be empty", [], "give at least one line to draw")
    canvas = Canvas(WIDTH, HEIGHT, f"{title}: {', '.join(line.name for line in series)}")
    canvas.text(LEFT, 34, title, size=17, colour=INK, bold=True)
    canvas.text(LEFT, 55, subtitle)
    right = WIDTH - 24 - max(len(line.name) for line in series) * NAME_SIZE * LETTER
    bottom = HEIGHT - BELOW
    across = axis_over((x for line in series for x in line.x), LEFT, right, log=log_x)
    if y_range is None:
        up = axis_over((y for line in series for y in line.y), bottom, TOP, log=log_y)
    else:
        up = Axis(*y_range, bottom, TOP, log_y)
    _draw_axes(canvas, across, up, x_label, across.ticks() if x_ticks is None else x_ticks)
    coloured = [(line, line.colour or COLOURS[place % len(COLOURS)]) for place, line in enumerate(series)]
    for line, colour in coloured:
        if line.low is not None and line.high is not None:
            edge = [*_points(line.x, line.high, across, up), *reversed(list(_points(line.x, line.low, across, up)))]
            if len(edge) > 2:
                canvas.area(edge, colour)
    ends: list[tuple[float, str, str]] = []
    for line, colour in coloured:
        points = list(_points(line.x, line.y, across, up))
        if points:
            canvas.polyline(_stairs(points) if line.steps else points, colour)
        ends.append((points[-1][1] if points else TOP, line.name, colour))
    ends.sort(key=lambda end: end[0])
    places = spread([end[0] + 5 for end in ends], TOP + 5, bottom + 5)
    for place, (_, name, colour) in zip(places, ends, strict=True):
        canvas.text(right + 12, place, name, size=NAME_SIZE, colour=colour, bold=True)
    return canvas.svg()


def _points(xs: Sequence[float], ys: Sequence[float], across: Axis, up: Axis) -> Iterator[Point]:
    for x, y in zip(xs, ys, strict=True):
        if math.isfinite(x) and math.isfinite(y):
            yield across.place(x), up.place(y)


def _stairs(points: Sequence[Point]) -> Iterator[Point]:
    yield points[0]
    for (_, before), (x, y) in pairwise(points):
        if y != before:
            yield x, before
        yield x, y


def _draw_axes(canvas: Canvas, across: Axis, up: Axis, x_label: str, x_ticks: Sequence[float]) -> None:
    for tick in up.ticks():
        y = up.place(tick)
        canvas.line((across.start, y), (across.end, y), GRID)
        canvas.text(across.start - 10, y + 4.5, number(tick), anchor="end")
    draw_x_axis(canvas, across, up.start, x_label, x_ticks)


def draw_x_axis(canvas: Canvas, across: Axis, bottom: float, label: str, ticks: Sequence[float]) -> None:
    """The line at the bottom with its ticks, their numbers and what they count."""
    for tick in ticks:
        x = across.place(tick)
        canvas.line((x, bottom), (x, bottom + 5), PALE)
        canvas.text(x, bottom + 21, number(tick), anchor="middle", colour=GREY)
    canvas.line((across.start, bottom), (across.end, bottom), PALE)
    canvas.text((across.start + across.end) / 2, bottom + 46, label, size=14, colour=INK, anchor="middle")
