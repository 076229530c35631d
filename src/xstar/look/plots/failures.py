"""Where trials failed, and why: the reasons, and the parameters along which failures gather."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from xstar.core.words import last_line
from xstar.journal.trial import State
from xstar.look.plots.figure import STATE_COLOURS, Figure, Trace, axis, bars, dots, empty, figure, numbered, text
from xstar.look.plots.slices import across
from xstar.look.plots.source import Array, Dimension, Source, dimensions, joined

MOST_REASONS = 8
MOST_PANELS = 3
MOST_DOTS = 1500
_DIGITS = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?")


@dataclass(frozen=True, eq=False)
class Failures:
    """Failures by reason and place."""

    trials: int
    """How many are over."""
    failed: int
    infeasible: int
    reasons: list[tuple[str, int, int]]
    """(the last line with numbers left out, how often, the last such trial), the most frequent first."""
    panels: list[tuple[Dimension, Array, Array, float]]
    """Parameters along which failures gather most: positions of failed and of other trials, and the distance of the two."""


def compute(source: Source) -> Failures:
    """What failed."""
    history = source.history
    failed = [trial for trial in history.trials if trial.state in (State.FAILED, State.INFEASIBLE)]
    others = [trial for trial in history.trials if trial.state in (State.COMPLETE, State.STOPPED, State.PAUSED)]
    counts: Counter[str] = Counter()
    last: dict[str, int] = {}
    for trial in failed:
        reason = _DIGITS.sub("…", last_line(trial.reason or "")) or trial.state.value
        counts[reason] += 1
        last[reason] = trial.number
    panels = []
    if failed and others:
        for each in dimensions(history):
            bad, good = (part[np.isfinite(part)] for part in (each.places(failed), each.places(others)))
            if len(bad) and len(good):
                panels.append((each, bad, good, _apart(bad, good)))
        panels.sort(key=lambda panel: -panel[3])
    infeasible = sum(trial.state is State.INFEASIBLE for trial in failed)
    reasons = [(reason, count, last[reason]) for reason, count in counts.most_common(MOST_REASONS)]
    return Failures(history.over, len(failed) - infeasible, infeasible, reasons, panels[:MOST_PANELS])


def _apart(a: Array, b: Array) -> float:
    """The largest difference of the two distribution functions (Kolmogorov–Smirnov): 0 alike, 1 apart."""
    at = np.unique(np.concatenate([a, b]))
    below = [np.searchsorted(np.sort(part), at, side="right") / len(part) for part in (a, b)]
    return float(np.abs(below[0] - below[1]).max())


def draw(data: Failures) -> Figure:
    title = "Where trials failed, and why"
    if not data.failed and not data.infeasible:
        return empty(title, "no trial has failed" if data.trials else "no trial is over yet")
    reasons = list(reversed(data.reasons))
    names = [text(reason, 46) for reason, _, _ in reasons]
    own = [f"{name}\u200b{place}" for place, name in enumerate(names)]  # equal words are reasons of their own
    about = [[text(reason, 200), trial] for reason, _, trial in reasons]
    hover = "%{customdata[0]}<br>%{x} times, last in trial %{customdata[1]}"
    red = STATE_COLOURS[State.FAILED]
    traces = [bars([count for _, count, _ in reasons], own, "reasons", red, hover, customdata=about)]
    ticks = {"type": "category", "tickvals": list(range(len(reasons))), "ticktext": names}
    up = axis("", domain=[0.6, 1] if data.panels else [0, 1], anchor="x", **ticks)
    layout: dict[str, Any] = {"yaxis": up, "xaxis": axis("trials", anchor="y")}
    width = 1 / max(1, len(data.panels))
    for place, (each, bad, good, _) in enumerate(data.panels, start=1):
        on = {"xaxis": numbered("x", place), "yaxis": numbered("y", place)}
        traces += _panel(bad, good, on)
        domain = [(place - 1) * width + 0.03, place * width - 0.03]
        layout[numbered("xaxis", place)] = across(each, domain=domain, anchor=numbered("y", place))
        names = ["ended well", "failed"] if place == 1 else ["", ""]
        two = {"tickvals": [0, 1], "ticktext": names, "range": [-0.6, 1.6]}
        layout[numbered("yaxis", place)] = axis("", domain=[0, 0.36], anchor=numbered("x", place), **two)
    counts = joined(
        f"{data.failed:,} failed" if data.failed else "",
        f"{data.infeasible:,} infeasible" if data.infeasible else "",
        f"of {data.trials:,} that are over",
        "below: parameters along which they gather" if data.panels else "",
    )
    return figure(traces, title, counts, showlegend=False, height=480, **layout)


def _panel(bad: Array, good: Array, on: dict[str, str]) -> list[Trace]:
    made: list[Trace] = []
    for level, (places, colour) in enumerate(((good, "#5b8fc9"), (bad, STATE_COLOURS[State.FAILED]))):
        some = places[:: -(-len(places) // MOST_DOTS)]
        # A fixed scatter, so that dots of equal values do not hide each other and a picture can be drawn again.
        up = level + 0.5 * (np.arange(len(some)) * 0.6180339887 % 1.0 - 0.5)
        marker = {"size": 4, "color": colour, "opacity": 0.55}
        made.append(dots(some, up, "", marker=marker, hoverinfo="x", **on))
    return made
