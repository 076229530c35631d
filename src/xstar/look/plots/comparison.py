"""Studies side by side: the best so far of each; of those that differ only in the seed, the mean and its confidence band."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.stats import t as student

from xstar.errors import InvalidArgument
from xstar.journal.events import Created
from xstar.look.plots import best as best_plot
from xstar.look.plots.figure import COLOURS, Figure, Trace, axis, empty, figure, line, text
from xstar.look.plots.source import Array, Source, joined

POINTS = 200
CONFIDENCE = 0.95
SECONDS = {unit: scale for _, scale, unit in best_plot.UNITS}


@dataclass(frozen=True, eq=False)
class Group:
    """Studies that differ only in the seed, or one study."""

    name: str
    studies: list[str]
    x: Array
    mean: Array
    """The best so far, averaged; NaN before all of them have one."""
    low: Array
    high: Array
    """The confidence band of the mean (Student's t); equal to the mean for a single study."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Groups of studies on one axis."""

    metric: str
    over: str
    unit: str
    groups: list[Group]


def compute(source: Source, *, others: Sequence[Source] = (), over: str = "trials") -> Comparison:
    """This study and ``others``, over ``trials`` started, ``time`` or ``budget`` spent."""
    sources = [source, *others]
    metrics = {(each.history.created.metric, each.history.created.direction) for each in sources}
    if len(metrics) > 1:
        found = ", ".join(f"{direction} {metric}" for metric, direction in sorted(metrics))
        raise InvalidArgument("others", "must be studies of the same metric and direction", found)
    alike: dict[str, list[Source]] = {}
    for each in sources:
        alike.setdefault(_settings(each.history.created), []).append(each)
    groups = []
    for some in alike.values():
        curves = [best_plot.compute(each, over=over, most=0) for each in some]
        stairs = [(each.best.x * SECONDS.get(each.unit, 1.0), each.best.y) for each in curves if len(each.best.x)]
        names = [each.name or "study" for each in some]
        name = some[0].history.created.method or names[0] if len(some) > 1 else names[0]
        groups.append(_group(f"{name} ({len(some)} seeds)" if len(some) > 1 else name, names, stairs))
    return Comparison(source.history.created.metric, over, "seconds" if over == "time" else "", groups)


def _settings(created: Created) -> str:
    """All that makes a study but its seed and when and where it was made."""
    own = {"seed", "files", "at", "version", "why", "program"}
    settings = {f.name: getattr(created, f.name) for f in fields(created) if f.name not in own}
    return json.dumps(settings, sort_keys=True, default=str)


def _group(name: str, names: list[str], stairs: list[tuple[Array, Array]]) -> Group:
    if len(stairs) < len(names) or not stairs:  # one of them has no complete trial yet
        return Group(name, names, *[np.empty(0)] * 4)
    first, end = max(x[0] for x, _ in stairs), min(x[-1] for x, _ in stairs)
    if len(stairs) == 1:
        x, y = stairs[0]
        return Group(name, names, x, y, y, y)
    grid = np.linspace(first, max(end, first), POINTS)
    table = np.array([y[np.maximum(0, np.searchsorted(x, grid, side="right") - 1)] for x, y in stairs])
    mean, error = table.mean(axis=0), table.std(axis=0, ddof=1) / np.sqrt(len(table))
    wide = float(student.ppf(0.5 + CONFIDENCE / 2, len(table) - 1)) * error
    return Group(name, names, grid, mean, mean - wide, mean + wide)


def draw(data: Comparison) -> Figure:
    metric = text(data.metric)
    title = f"Best {metric} so far, studies side by side"
    known = [group for group in data.groups if len(group.x)]
    if not known:
        return empty(title, "no trial is complete yet")
    traces: list[Trace] = []
    for place, group in enumerate(known):
        colour = COLOURS[place % len(COLOURS)]
        name = text(group.name, 40)
        if len(group.studies) > 1:
            x, y = np.concatenate([group.x, group.x[::-1]]), np.concatenate([group.high, group.low[::-1]])
            area: dict[str, Any] = {
                "fill": "toself",
                "fillcolor": _faint(colour),
                "hoverinfo": "skip",
                "showlegend": False,
            }
            traces.append(line(x, y, name, line={"width": 0}, legendgroup=str(place), **area))
        style = {"shape": "hv", "color": colour, "width": 2.5}
        traces.append(line(group.x, group.mean, name, line=style, legendgroup=str(place)))
    bands = f"bands: {CONFIDENCE:.0%} confidence of the mean" if any(len(group.studies) > 1 for group in known) else ""
    missing = f"{len(data.groups) - len(known)} without a complete trial" if len(known) < len(data.groups) else ""
    across = axis(best_plot.labelled(data.over, data.unit))
    return figure(traces, title, joined("of complete trials", bands, missing), xaxis=across, yaxis=axis(metric))


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.16)"
