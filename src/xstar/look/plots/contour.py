"""Two parameters and what a Gaussian process believes between the trials: its mean and its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from xstar.errors import InvalidArgument, NoValue
from xstar.look.plots.figure import RAMP, Figure, dots, figure, grid, numbered, text
from xstar.look.plots.models import Learned
from xstar.look.plots.slices import across, axis_of, check_columns
from xstar.look.plots.source import Array, Dimension, Source, dimensions, joined

STEPS = 32
"""Points of the grid along each axis."""
MOST_DOTS = 500


@dataclass(frozen=True, eq=False)
class Contour:
    """The surrogate over two parameters; all others are as in the best trial."""

    metric: str
    x: Dimension
    y: Dimension
    across: Array
    up: Array
    mean: Array
    """(up, across), in the user's own direction."""
    deviation: Array
    """Of the function, without noise."""
    dots: tuple[Array, Array, list[int]]
    best: tuple[float, float]
    minimise: bool
    fitted: int
    which: str
    columns: int = 2


def compute(source: Source, *, x: str | None = None, y: str | None = None, columns: int = 2) -> Contour:
    """The Gaussian process over two parameters; without names, over the two it finds most relevant."""
    check_columns(columns)
    history = source.history
    metric, known = history.created.metric, {each.name: each for each in dimensions(history)}
    for argument, name in (("x", x), ("y", y)):
        if name is not None:
            axis_of(known, argument, name)
    if x is not None and x == y:
        raise InvalidArgument("y", "must be another parameter than x", y)
    learned, best = Learned.required(history), history.best
    if best is None:
        raise NoValue("no trial has a value yet")
    active = [name for name in known if name in best.config]
    if len({*active, *(name for name in (x, y) if name)}) < 2:
        raise NoValue("needs two parameters with an axis that are active in the best trial")
    for name in (x, y):
        if name is not None and name not in active:
            raise NoValue(f"{name} is not active in the best trial")
    first, second = _two(learned, active, x, y)
    return replace(_surface(learned, known[first], known[second], metric, best.number), columns=columns)


def _two(learned: Learned, active: list[str], x: str | None, y: str | None) -> tuple[str, str]:
    """The parameters asked for, filled up with those of the shortest length scales."""
    lengths = learned.gp.theta[1 : 1 + len(learned.parameters)]
    ranked = [learned.parameters[place][0] for place in np.argsort(lengths, kind="stable")]
    rest = [name for name in ranked if name in active and name not in (x, y)]
    first = x if x is not None else rest.pop(0)
    return first, y if y is not None else rest.pop(0)


def _surface(learned: Learned, x: Dimension, y: Dimension, metric: str, best: int) -> Contour:
    places = learned.cube.encoder.places
    own_place = (place for place, trial in enumerate(learned.trials) if trial.number == best)
    home = next(own_place, int(learned.loss.argmin()))
    xs, ys = _line(x), _line(y)
    rows = np.tile(learned.X[home], (len(xs) * len(ys), 1))
    rows[:, places[x.name]] = np.tile(_encoded(learned, x, xs), (len(ys), 1))
    rows[:, places[y.name]] = np.repeat(_encoded(learned, y, ys), len(xs), axis=0)
    at = learned.gp.predict(rows)
    mean, deviation = learned.values(at.mean[:, 0]), np.sqrt(at.variance) * learned.scale
    trials = [learned.trials[place] for place in learned.gp_rows][-MOST_DOTS:]
    dots = x.places(trials), y.places(trials), [trial.number for trial in trials]
    own = [learned.trials[home]]
    star, shape = (float(x.places(own)[0]), float(y.places(own)[0])), (len(ys), len(xs))
    about = dots, star, learned.sign > 0, len(learned.gp_rows), learned.which
    return Contour(metric, x, y, xs, ys, mean.reshape(shape), deviation.reshape(shape), *about)


def _line(each: Dimension) -> Array:
    """The values of a parameter that the grid visits."""
    if each.options is not None:
        return np.arange(len(each.options), dtype=np.float64)
    if each.log:
        return np.exp(np.linspace(np.log(each.low), np.log(each.high), STEPS))
    return np.linspace(each.low, each.high, STEPS)


def _encoded(learned: Learned, each: Dimension, line: Array) -> Array:
    given: Any = learned.cube.space[each.name]
    if each.column is not None:
        values: list[Any] = list(each.column)
        return np.asarray(given.encode_column(values)).reshape(len(values), -1)
    return each.share(line).reshape(-1, 1)  # also between whole numbers: the model does not know that they are whole


def draw(data: Contour) -> Figure:
    title = f"{text(data.metric)} as a Gaussian process sees it"
    traces: list[dict[str, Any]] = []
    scale = RAMP if data.minimise else [[1 - at, colour] for at, colour in reversed(RAMP)]  # type: ignore[operator]
    panels = (("mean", data.mean, scale), ("standard deviation", data.deviation, "Blues"))
    columns = min(data.columns, len(panels))
    layout: dict[str, Any] = {"height": 420 if columns > 1 else 720}
    places = grid(len(panels), columns, 0.14)
    for place, ((name, table, colours), ((left, right), high)) in enumerate(zip(panels, places, strict=True)):
        on = {"xaxis": numbered("x", place), "yaxis": numbered("y", place)}
        end = 0.98 * right if columns > 1 else 0.86
        layout[numbered("xaxis", place)] = across(data.x, domain=[0.98 * left, end], anchor=on["yaxis"])
        layout[numbered("yaxis", place)] = across(data.y, domain=high, anchor=on["xaxis"])
        if place and columns > 1:
            layout[numbered("yaxis", place)]["title"] = {"text": ""}
        discrete = data.x.options is not None or data.y.options is not None
        smooth = {"type": "contour", "contours": {"coloring": "heatmap"}, "line": {"width": 0.5}}
        kind: dict[str, Any] = {"type": "heatmap"} if discrete else smooth
        bar = {"x": end + 0.02, "y": sum(high) / 2, "len": 0.9 * (high[1] - high[0]), "thickness": 10}
        kind |= {"x": data.across, "y": data.up, "z": table, "hovertemplate": f"{name} %{{z:.4g}}<extra></extra>"}
        traces.append(
            {**kind, "colorscale": colours, "colorbar": {**bar, "title": {"text": name, "side": "right"}}, **on}
        )
        xs, ys, numbers = data.dots
        edge = {"line": {"width": 1, "color": "#1d1d1b"}}
        marker, star = {"size": 4, "color": "white", **edge}, {"size": 13, "symbol": "star", "color": "#ffd43b", **edge}
        traces.append(dots(xs, ys, "trials", "trial %{customdata}", marker=marker, customdata=numbers, **on))
        traces.append(dots([data.best[0]], [data.best[1]], "best", marker=star, hoverinfo="skip", **on))
    facts = joined(f"fitted to {data.fitted:,} {data.which}", "other parameters as in the best trial (star)")
    return figure(traces, title, facts, showlegend=False, **layout)
