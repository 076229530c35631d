"""θ of IGO over time: what PBIL's distribution has settled on, and how decided it is.

From the top: how undecided it still is; every bit as a row of a heat map (many bits: how their probabilities are distributed);
the probability of each option of a parameter; mean and standard deviation of each number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xstar.plots.figure import COLOURS, QUIET, Figure, Trace, axis, empty, figure, grid, line, numbered, text
from xstar.plots.source import Source, joined, shown_of
from xstar.plots.theta_data import Choosing, NoTheta, Spread, Theta, theta_of

MOST_ROWS = 120
"""Bits that have a row each; of more, the distribution of their probabilities is drawn."""
BINS = 20
MOST_PANELS = 6
"""Parameters other than bits that have a panel each."""
MOST_OPTIONS = 7
"""Options that have a line each; the rest is one line."""
NAMES = {"samples": "PBIL-λ", "step": "PBIL-ε", "none": "fixed λ and ε"}
EITHER = [[0.0, "#3d4db3"], [0.5, "#dedcd3"], [1.0, "#b4540a"]]
"""Blue: surely 0; grey: undecided; orange: surely 1. The two ends differ in hue for every common colour blindness."""
TITLE = "θ over time: what the distribution has settled on"


def compute(source: Source, *, parameters: Sequence[str] | str | None = None) -> Theta | NoTheta:
    """The distribution of PBIL and its relatives after every generation, recomputed from the journal.

    ``parameters``: only these (default: all bits, and the first six others).
    """
    return theta_of(source, parameters)


def draw(data: Theta | NoTheta) -> Figure:
    """The figure."""
    if isinstance(data, NoTheta):
        return empty(TITLE, text(data.reason, 140))
    names, _ = data.bits
    others: list[Choosing | Spread] = [*data.choices, *data.numbers]
    panels: list[Any] = ["undecided", *(["bits"] if names else []), *others[:MOST_PANELS]]
    layout: dict[str, Any] = {}
    traces: list[Trace] = []
    places = grid(len(panels), 1, gap=0.16 / len(panels))
    for place, (panel, (_, high)) in enumerate(zip(panels, places, strict=True)):
        drawn, up = _panel(data, panel, high)
        on = {"xaxis": numbered("x", place), "yaxis": numbered("y", place)}
        legend = numbered("legend", place)
        traces += [{**trace, **on, **({} if trace["type"] == "heatmap" else {"legend": legend})} for trace in drawn]
        last = place == len(panels) - 1
        layout[numbered("xaxis", place)] = axis(
            "trial" if last else "",
            anchor=numbered("y", place),
            showticklabels=last,
            range=[0, max(float(data.trials[-1]), 1.0)],
            **({"matches": "x"} if place else {}),
        )
        layout[numbered("yaxis", place)] = {**up, "domain": high, "anchor": numbered("x", place)}
        above = {"orientation": "h", "x": 0, "xanchor": "left", "y": high[1], "yanchor": "bottom"}
        within = {"x": 1, "xanchor": "right", "y": high[1], "yanchor": "top"}  # where nothing is undecided any more
        layout[legend] = {**(above if place else within), "font": {"size": 11}}
    height = 130 + 150 * len(panels) + 2 * min(len(names), MOST_ROWS)
    made = figure(traces, TITLE, _facts(data, len(others)), height=height, showlegend=True, **layout)
    margin = made["layout"]["margin"]
    margin.update(
        r=64, b=52, t=margin["t"] + 24
    )  # each legend stands above its panel, the first one below the subtitle
    return made


def _panel(data: Theta, panel: Any, high: list[float]) -> tuple[list[Trace], dict[str, Any]]:
    """The traces of a panel and its axis upwards."""
    if panel == "undecided":
        return _undecided(data), axis("undecided", range=[0, 1.04])
    if panel == "bits":
        return _bits(data, high)
    if isinstance(panel, Choosing):
        return _options(data, panel), axis(text(panel.name, 24), range=[0, 1])
    return _numbers(data, panel), _scale(panel)


def _facts(data: Theta, others: int) -> str:
    names, _ = data.bits
    left = ", ".join(f"{kind} {values[-1]:.2f}" for kind, values in data.undecided.items())
    return joined(
        f"{NAMES[data.adapt]}, {data.generations:,} generations, λ = {data.samples[-1]:.0f} now",
        f"undecided: {left}" if left else "",
        f"{data.drawn:,} of {data.asked:,} trials were drawn from it" if data.drawn < data.asked else "",
        shown_of(len(data.trials), data.generations, "generations"),
        shown_of(min(others, MOST_PANELS), others, "parameters"),
        f"of {len(names):,} bits the distribution of their probabilities" if len(names) > MOST_ROWS else "",
    )


def _undecided(data: Theta) -> list[Trace]:
    return [
        line(
            data.trials,
            values.round(4),
            kind,
            line={"color": COLOURS[place], "width": 2, "shape": "hv"},
            hovertemplate=f"{kind}: %{{y:.3f}} of its start, from trial %{{x}} on<extra></extra>",
        )
        for place, (kind, values) in enumerate(data.undecided.items())
    ]


def _bits(data: Theta, high: list[float]) -> tuple[list[Trace], dict[str, Any]]:
    names, table = data.bits
    bar = {"len": high[1] - high[0], "y": (high[0] + high[1]) / 2, "thickness": 10, "x": 1.01}
    shared = {"type": "heatmap", "x": data.trials, "zmin": 0.0}
    if len(names) <= MOST_ROWS:
        rows = [text(name, 24) for name in names]
        trace = {
            **shared,
            "y": list(range(len(rows))),
            "z": table.T.round(3),
            "zmax": 1.0,
            "colorscale": EITHER,
            "hovertemplate": "row %{y}: 1 with probability %{z}, from trial %{x} on<extra></extra>",
            "colorbar": {**bar, "title": {"text": "P(1)"}, "tickvals": [0, 0.5, 1]},
        }
        every = range(0, len(rows), -(-len(rows) // 12))
        ticks = {"tickvals": list(every), "ticktext": [rows[at] for at in every]}
        return [trace], axis("bits", range=[len(rows) - 0.5, -0.5], **ticks)
    edges = np.linspace(0.0, 1.0, BINS + 1)
    shares = np.stack([np.histogram(row, edges)[0] for row in table]) / len(names)
    trace = {
        **shared,
        "y": ((edges[1:] + edges[:-1]) / 2).round(4),
        "z": shares.T.round(4),
        "colorscale": [[0, "rgba(61,77,179,0)"], [0.05, "rgba(61,77,179,0.35)"], [1, "#1f2f86"]],
        "hovertemplate": "%{z:.1%} of the bits are 1 with a probability near %{y}, from trial %{x} on<extra></extra>",
        "colorbar": {**bar, "title": {"text": "share"}, "tickformat": ".0%"},
    }
    return [trace], axis("P(1) of the bits", range=[0, 1])


def _options(data: Theta, panel: Choosing) -> list[Trace]:
    order = np.argsort(-panel.shares[-1], kind="stable")
    some, rest = (order, order[:0]) if len(order) <= MOST_OPTIONS + 1 else (order[:MOST_OPTIONS], order[MOST_OPTIONS:])
    lines = [(text(panel.options[at], 20), panel.shares[:, at], COLOURS[rank]) for rank, at in enumerate(some)]
    if len(rest):
        lines.append((f"{len(rest)} others", panel.shares[:, rest].sum(axis=1), QUIET))
    return [
        line(
            data.trials,
            shares.round(4),
            name,
            line={"color": colour, "width": 2, "shape": "hv"},
            hovertemplate=f"{name}: probability %{{y:.3f}}, from trial %{{x}} on<extra></extra>",
        )
        for name, shares, colour in lines
    ]


def _numbers(data: Theta, panel: Spread) -> list[Trace]:
    low, high = ((panel.mean + sign * panel.deviation).clip(0, 1).round(4) for sign in (-1, 1))
    name, thin = text(panel.name, 20), {"width": 0, "shape": "hv"}
    return [
        line(data.trials, low, name, line=thin, hoverinfo="skip", showlegend=False),
        line(data.trials, high, "± σ", line=thin, fill="tonexty", fillcolor="rgba(17,122,84,0.22)", hoverinfo="skip"),
        line(
            data.trials,
            panel.mean.round(4),
            "mean",
            line={"color": COLOURS[2], "width": 2, "shape": "hv"},
            customdata=panel.deviation.round(4),
            hovertemplate=f"{name}: mean at %{{y}} of its range, σ %{{customdata}}, from trial %{{x}} on<extra></extra>",
        ),
    ]


def _scale(panel: Spread) -> dict[str, Any]:
    places = [place for place, _ in panel.ticks]
    words = [text(word, 12) for _, word in panel.ticks]
    return axis(text(panel.name, 24), range=[0, 1], tickvals=places, ticktext=words)
