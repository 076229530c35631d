"""A figure as plain data: what Plotly's JavaScript draws, without importing Plotly.

A figure is a dictionary of ``data`` (traces) and ``layout``, JSON throughout. The dashboard sends it to the browser as it is,
the report writes it into its page, and ``study.plot`` makes a ``plotly.graph_objects.Figure`` of it. No trace type that needs
WebGL is used: those compile code at run time, which the dashboard's content security policy forbids.

Plotly takes tags in texts (``<b>``, ``<a href=…>``) for markup, so every text that comes from a study passes :func:`text`
first.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from xstar.core.words import readable
from xstar.journal.trial import State

Figure = dict[str, Any]
Trace = dict[str, Any]

# Dark enough for thin lines on paper, and apart in brightness, too: for those who see fewer colours, and for print.
COLOURS = ("#b4540a", "#3d4db3", "#117a54", "#a3195b", "#6b6b00", "#0b7285", "#7a3ea8", "#495057")

LONGEST = 60
"""Characters of a study's words in a figure: longer ones would push the plot out of its frame."""

WIDEST = 100
"""Characters of a line below a title: what fits above a plot of 640 pixels."""

STATE_COLOURS = {
    State.COMPLETE: COLOURS[0],
    State.STOPPED: "#8a6fb0",
    State.PAUSED: "#5b8fc9",
    State.RUNNING: "#2a9d8f",
    State.WAITING: "#c9a227",
    State.FAILED: "#c8452f",
    State.INFEASIBLE: "#d98c3f",
}

RAMP = [[0.0, "#35103f"], [0.25, "#8a1f4f"], [0.5, "#cf5a2e"], [0.75, "#e7a552"], [1.0, "#e6dcb8"]]
"""From the best to the worst; brightness rises all the way, for those who see fewer colours, and for print."""

GREY = "#8a8a84"

ON_DARK = {
    "#3d4db3": "#97a4ff",
    "#b4540a": "#ff9d4d",
    "#117a54": "#3ecf94",
    "#a3195b": "#ff7ab5",
    "#1f2f86": "#dfe5ff",
    "#a9c7e6": "#3f5f9e",
    "#6b6b00": "#c8c84a",
    "#0b7285": "#4fc3d9",
    "#7a3ea8": "#c18ae8",
    "#35103f": "#f6e7a9",
    "#8a1f4f": "#f0a860",
    "#e6dcb8": "#3d1846",
    "#dedcd3": "#33342f",
}
"""What stands for a colour on a dark page: light where that one is dark."""


def text(given: object, most: int = LONGEST) -> str:
    """A study's words as words: no markup, no end of line, not without end."""
    plain = " ".join(readable(str(given)).split())
    plain = plain if len(plain) <= most else plain[: most - 1] + "…"
    return html.escape(plain, quote=False)


def number(value: float | None, digits: int = 4) -> str:
    """A number for reading."""
    return "–" if value is None or not math.isfinite(value) else f"{value:.{digits}g}"


def figure(traces: Sequence[Trace], title: str, subtitle: str = "", x: str = "", y: str = "", **layout: Any) -> Figure:
    """A figure; ``title`` and labels are already safe. ``layout`` adds to or replaces what all figures share."""
    lines = _wrapped(subtitle)
    about = {"text": title, "subtitle": {"text": "<br>".join(lines)}}
    shared: dict[str, Any] = {
        "title": {**about, "x": 0.01, "xref": "container", "yanchor": "top", "y": 0.97},
        "margin": {"l": 64, "r": 20, "t": 58 + 17 * len(lines), "b": 52 if layout.get("showlegend") is False else 84},
        "hovermode": "closest",
        "legend": {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0, "xanchor": "left"},
        "colorway": list(COLOURS),
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, sans-serif", "color": "#5c5c57"},
    }
    axes = {"xaxis": axis(x), "yaxis": axis(y)}
    made: Figure = plain({"data": list(traces), "layout": {**shared, **axes, **layout}})
    return made


def _wrapped(subtitle: str) -> list[str]:
    """Facts that are joined by dots, on as many lines as they need: Plotly does not wrap."""
    lines: list[str] = []
    for fact in subtitle.split(" · ") if subtitle else ():
        if lines and len(lines[-1]) + len(fact) < WIDEST:
            lines[-1] += f" · {fact}"
        else:
            lines.append(fact)
    return lines


def axis(title: str = "", **more: Any) -> dict[str, Any]:
    """An axis with a thin grid that stays visible on light and on dark."""
    faint = "rgba(138,138,132,0.22)"
    return {
        "title": {"text": title},
        "gridcolor": faint,
        "zeroline": False,
        "linecolor": "rgba(138,138,132,0.6)",
        "automargin": True,
        "exponentformat": "e",  # 1e-4 and not 100µ
        **more,
    }


def ticks(low: float, high: float) -> dict[str, Any]:
    """Whole numbers to stand at an axis of logarithms: powers of ten, and 2 and 5 times these where few are in sight."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = -(-(last - first) // 6) or 1
    for steps in ((1,), (1, 2, 5), tuple(range(1, 10))):
        at = [step * 10.0**power for power in range(first, last + 1, every) for step in steps]
        inside = [value for value in at if low * 0.999 <= value <= high * 1.001]
        if len(inside) > 2:
            break
    return {"tickvals": inside, "ticktext": [f"{value:.6g}" for value in inside]}


def empty(title: str, why: str) -> Figure:
    """A figure that says why there is nothing to see."""
    note = {"text": why, "showarrow": False, "xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5, "font": {"size": 15}}
    hidden = {"visible": False}
    return figure([], title, annotations=[note], xaxis=hidden, yaxis=hidden)


def line(x: Iterable[Any], y: Iterable[Any], name: str, hover: str = "", **more: Any) -> Trace:
    """A line; ``name`` and ``hover``, what stands beside the pointer, are already safe."""
    return {"type": "scatter", "mode": "lines", "x": list(x), "y": list(y), "name": name, **_hover(hover), **more}


def dots(x: Iterable[Any], y: Iterable[Any], name: str, hover: str = "", **more: Any) -> Trace:
    """Dots, like :func:`line`."""
    return line(x, y, name, hover, **{"mode": "markers", **more})


def bars(x: Iterable[Any], y: Iterable[Any], name: str, colour: str, hover: str, **more: Any) -> Trace:
    """Horizontal bars, like :func:`line`."""
    made = {"x": list(x), "y": list(y), "name": name, **_hover(hover), **more}
    return {"type": "bar", "orientation": "h", "marker": {"color": colour}, **made}


def _hover(words: str) -> dict[str, str]:
    return {"hovertemplate": f"{words}<extra></extra>"} if words else {}


def spread(up: Any, down: Any, **more: Any) -> dict[str, Any]:
    """Error bars of unequal sides."""
    return {"type": "data", "symmetric": False, "array": up, "arrayminus": down, **more}


def upright(x: float, colour: str = GREY, dash: str = "dot") -> dict[str, Any]:
    """A vertical line from the bottom to the top, as a shape of the layout."""
    style = {"width": 1, "dash": dash, "color": colour}
    return {"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper", "layer": "below", "line": style}


def ring(x: Iterable[Any], y: Iterable[Any], size: int, **more: Any) -> Trace:
    """A ring around the best."""
    marker = {"size": size, "symbol": "circle-open", "color": COLOURS[0], "line": {"width": 2.5}}
    return dots(x, y, "best", marker=marker, hoverinfo="skip", **more)


def grid(panels: int, columns: int, gap: float = 0.08) -> list[tuple[list[float], list[float]]]:
    """Where ``panels`` panels lie: (domain of x, domain of y) of each, row by row from the top.

    ``gap`` is a share of the whole width; between rows is half a panel, however many there are.
    """
    rows = max(1, -(-panels // columns))
    wide, high = (1 - gap * (columns - 1)) / columns, 1 / (1.5 * rows - 0.5)
    places = []
    for panel in range(panels):
        row, column = divmod(panel, columns)
        left, top = column * (wide + gap), 1 - 1.5 * row * high
        places.append(([left, min(1.0, left + wide)], [max(0.0, top - high), top]))
    return places


def numbered(name: str, place: int) -> str:
    """The layout's name of the axis of a panel: ``xaxis``, ``xaxis2``, …"""
    return name if place == 0 else f"{name}{place + 1}"


def plain(value: Any) -> Any:
    """JSON: arrays become lists, and what is not finite becomes null."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value
