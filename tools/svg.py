"""A line chart as the text of an SVG file: several series, bands around them, and their names where the lines end. It is drawn
on a sheet that collects SVG elements, with axes that turn numbers into places on it.

Written by hand, because Plotly, which draws for users, cannot write an SVG without a browser. The documentation's pictures and
those of benchmarks are drawn here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from xml.sax.saxutils import escape, quoteattr

from xstar.errors import InvalidArgument
from xstar.look.plots.figure import COLOURS

INK, GREY, PALE, GRID, PAPER, BORDER = "#1d1d1b", "#5c5c57", "#8a8a84", "#e4e2da", "#fdfdfb", "#d5d3cb"
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"

LETTER = 0.7
"""The width of a letter as a share of the font size: what bold system fonts need for names in lower case."""

LINE = 19.0
"""The least distance between two names that stand above each other."""

Point = tuple[float, float]


class Canvas:
    """A sheet of ``width`` × ``height`` with a rounded border."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height = width, height
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" font-family="{FONT}">',
            f"<title>{escape(title)}</title>",
            f'<rect x="1" y="1" width="{width - 2}" height="{height - 2}" rx="14" fill="{PAPER}" stroke="{BORDER}"/>',
        ]

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: int = 13,
        colour: str = GREY,
        anchor: str = "",
        bold: bool = False,
    ) -> None:
        style = (f' text-anchor="{anchor}"' if anchor else "") + (' font-weight="700"' if bold else "")
        self._add(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}"{style} fill="{colour}">{escape(words)}</text>')

    def line(
        self, start: Point, end: Point, colour: str, *, width: float = 1, dash: str = "", opacity: float = 1
    ) -> None:
        style = _stroke(colour, width, dash, opacity)
        self._add(f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"{style}/>')

    def polyline(self, points: Iterable[Point], colour: str, *, width: float = 2.5, opacity: float = 1) -> None:
        self._add(f'<polyline points="{_places(points)}" fill="none"{_stroke(colour, width, "", opacity)}/>')

    def area(self, points: Iterable[Point], colour: str) -> None:
        self._add(f'<polygon points="{_places(points)}" fill="{colour}" fill-opacity="0.13"/>')

    def circle(self, centre: Point, radius: float, colour: str, *, opacity: float = 1) -> None:
        shown = "" if opacity == 1 else f' fill-opacity="{opacity:g}"'
        self._add(
            f'<circle cx="{centre[0]:.1f}" cy="{centre[1]:.1f}" r="{radius:.1f}" fill={quoteattr(colour)}{shown}/>'
        )

    def svg(self) -> str:
        return "\n".join([*self._parts, "</svg>"]) + "\n"

    def _add(self, part: str) -> None:
        self._parts.append(part)


@dataclass(frozen=True)
class Axis:
    """Numbers from ``low`` to ``high`` at places from ``start`` to ``end``; numbers beyond are put at the edge.

    On a logarithmic axis zero and everything below stands at the lower edge, too: a regret of 0 is a result, not a mistake.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def place(self, value: float) -> float:
        low, high = self.low, self.high
        value = min(max(value, low), high)
        if self.log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + (self.end - self.start) * share

    def ticks(self) -> list[float]:
        """Round numbers within the range: about six of them."""
        return _powers(self.low, self.high) if self.log else _steps(self.low, self.high)


def axis_over(values: Iterable[float], start: float, end: float, *, log: bool = False) -> Axis:
    """An axis that shows all finite values; on a logarithmic one, all that are above 0."""
    known = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
    low, high = (min(known), max(known)) if known else (1.0, 10.0)
    if low == high:
        low, high = (low / 2, high * 2) if log else (low - 0.5, high + 0.5)
    return Axis(low, high, start, end, log)


def spread(places: Sequence[float], lowest: float, highest: float, gap: float = LINE) -> list[float]:
    """Places as near to those wanted as names that must not touch can be, in the same order; ``places`` ascend."""
    result: list[float] = []
    for place in places:
        result.append(max(place, result[-1] + gap) if result else max(place, lowest))
    limit = highest
    for index in range(len(result) - 1, -1, -1):
        result[index] = min(result[index], limit)
        limit = result[index] - gap
    return result


def number(value: float) -> str:
    """A tick's label: 0.001, 25, 1,000, 1e-05."""
    if value and not 1e-4 <= abs(value) < 1e7:
        return f"{value:g}"
    return f"{round(value, 10):,.10g}"


def _steps(low: float, high: float) -> list[float]:
    raw = (high - low) / 6
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [index * step for index in range(first, math.floor(high / step + 1e-9) + 1)]


def _powers(low: float, high: float) -> list[float]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    # One decade is too short for powers of ten alone: 2 and 5 are shown with them.
    factors = (1, 2, 5) if math.log10(high / low) < 3 else (1,)
    ticks = [factor * 10.0**power for power in range(first, last + 1) for factor in factors]
    ticks = [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
    return ticks[:: -(-len(ticks) // 9)] if ticks else [low, high]


def _places(points: Iterable[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _stroke(colour: str, width: float, dash: str, opacity: float) -> str:
    style = f" stroke={quoteattr(colour)}" + (f' stroke-width="{width:g}"' if width != 1 else "")
    return (
        style
        + (f' stroke-dasharray="{dash}"' if dash else "")
        + (f' stroke-opacity="{opacity:g}"' if opacity != 1 else "")
    )


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
