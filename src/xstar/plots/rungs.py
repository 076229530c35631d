"""Who trained when, and how far: one line per trial, as in Figure 1 of the MOBSTER paper.

Time runs to the right, epochs upwards on a logarithmic scale. A dot marks a report at a rung, the smaller the better its loss.
A trial that pauses at a rung is a dotted line until it goes on. Trials that reach the full budget are drawn in full strength.

All of this comes from the reports. They do not say when a paused trial went on, so that is counted back from the next
report, at the pace of the trial's own fastest epoch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from xstar.errors import InvalidArgument
from xstar.journal import History
from xstar.plots.canvas import COLOURS, GRID, INK, Axis, Canvas, Point, number
from xstar.plots.svg import draw_x_axis
from xstar.trial import Trial

PANEL, GAP, HEIGHT = 440, 50, 400
LEFT, TOP, BELOW = 60, 90, 70
SMALLEST, LARGEST = 1.5, 5.0
"""Radius of a dot, in pixels: that of the lowest loss in the picture, and that of the highest."""

PAUSE = 0.5
"""A gap counts as a pause when it is this much of an epoch longer than the epoch itself: below, it is noise."""


@dataclass(frozen=True)
class Line:
    """What one trial did."""

    trained: list[list[Point]]
    """(time, budget) along each of its runs."""
    paused: list[tuple[Point, Point]]
    """From where to where it waited."""


def trace(trial: Trial, until: float) -> Line:
    """The runs and the pauses of a trial, up to a point in time."""
    readings = [reading for reading in trial.reports if reading.at <= until]
    points: list[Point] = [(trial.asked_at, 0.0), *((reading.at, float(reading.budget)) for reading in readings)]
    steps = [
        (after[0] - before[0]) / (after[1] - before[1]) for before, after in pairwise(points) if after[1] > before[1]
    ]
    pace = min(steps, default=0.0)
    runs: list[list[Point]] = [points[:1]]
    pauses: list[tuple[Point, Point]] = []
    for before, after in pairwise(points):
        begun = after[0] - pace * (after[1] - before[1])
        if before[1] and begun - before[0] > PAUSE * pace:
            pauses.append((before, (begun, before[1])))
            runs.append([(begun, before[1])])
        runs[-1].append(after)
    return Line([run for run in runs if len(run) > 1], pauses)


def rungs_chart(panels: Mapping[str, History], *, title: str, until: float, subtitle: str = "", unit: str = "s") -> str:
    """One panel per history, side by side on the same axes, from time 0 to ``until``."""
    if not panels:
        raise InvalidArgument("panels", "must not be empty", {}, "give at least one history")
    count = len(panels)
    canvas = Canvas(LEFT + count * PANEL + (count - 1) * GAP + 30, HEIGHT, title)
    canvas.text(LEFT, 34, title, size=17, colour=INK, bold=True)
    canvas.text(LEFT, 55, subtitle)
    rungs = sorted({rung for history in panels.values() for rung in history.levels})
    trials = [trial for history in panels.values() for trial in history.trials]
    tops = [reading.budget for trial in trials for reading in trial.reports] or [1]
    up = Axis((rungs or tops)[0] * 0.55, max(tops), HEIGHT - BELOW, TOP + 12, log=True)
    losses = [
        history.loss_of(reading.metrics)
        for history in panels.values()
        for trial in history.trials
        for reading in trial.reports
        if reading.budget in rungs and reading.at <= until
    ]
    for place, (name, history) in enumerate(panels.items()):
        left = LEFT + place * (PANEL + GAP)
        across = Axis(0.0, until, left, left + PANEL)
        canvas.text(left, TOP - 8, name, size=14, colour=INK, bold=True)
        for rung in rungs:
            y = up.place(rung)
            canvas.line((left, y), (left + PANEL, y), GRID)
            canvas.text(left - 8, y + 4.5, number(rung), anchor="end")
        draw_x_axis(canvas, across, HEIGHT - BELOW, unit, across.ticks())
        _draw_trials(canvas, history, rungs, across, up, until, (min(losses, default=0.0), max(losses, default=1.0)))
    return canvas.svg()


def _draw_trials(
    canvas: Canvas,
    history: History,
    rungs: Sequence[int],
    across: Axis,
    up: Axis,
    until: float,
    losses: tuple[float, float],
) -> None:
    best, worst = losses
    # The ones that came far last, so that they lie on top.
    for trial in sorted(history.trials, key=lambda trial: _reached(trial, until)):
        readings = [reading for reading in trial.reports if reading.at <= until]
        if not readings:
            continue
        colour = COLOURS[trial.number % len(COLOURS)]
        full = readings[-1].budget == up.high
        opacity, width = (1.0, 2.0) if full else (0.5, 1.1)
        line = trace(trial, until)
        for (start, budget), (end, _) in line.paused:
            y = up.place(budget)
            canvas.line(
                (across.place(start), y), (across.place(end), y), colour, width=1.2, dash="1.5 3.5", opacity=opacity
            )
        for run in line.trained:
            canvas.polyline(
                [(across.place(at), up.place(budget)) for at, budget in run], colour, width=width, opacity=opacity
            )
        for reading in readings:
            if reading.budget in rungs:
                share = (history.loss_of(reading.metrics) - best) / (worst - best or 1.0)
                centre = across.place(reading.at), up.place(reading.budget)
                canvas.circle(centre, SMALLEST + (LARGEST - SMALLEST) * share, colour, opacity=opacity)


def _reached(trial: Trial, until: float) -> int:
    return max((reading.budget for reading in trial.reports if reading.at <= until), default=0)
