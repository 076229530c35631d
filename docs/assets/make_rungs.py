"""Draw sync-vs-async.svg and stop-vs-promote.svg: which trial trains when, under different schedulers.

    python docs/assets/make_rungs.py

The trials are those of simulated runs made here. Both pictures show the same problem, `curves-mlp`, whose configurations take
very different times per epoch. It takes a second.

One line per trial, as in Figure 1 of the MOBSTER paper: time runs to the right, epochs upwards on a logarithmic scale. A dot
marks a report at a rung, the smaller the better its loss. A trial that pauses at a rung is a dotted line until it goes on; the
reports do not say when that was, so it is counted back from the next report, at the pace of the trial's own fastest epoch.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from xstar.journal import History
from xstar.journal.trial import State, Trial
from xstar.schedulers import ASHA, Hyperband, StoppingASHA
from xstar.testing import problems
from xstar.testing.simulate import simulate

sys.path.insert(0, str(Path(__file__).parents[2]))

from tools.svg import COLOURS, GRID, INK, Axis, Canvas, Point, draw_x_axis, number

HERE = Path(__file__).parent
PROBLEM = problems.get("curves-mlp", max_budget=27)


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
    points: list[Point] = [(trial.runs.asked_at, 0.0), *((reading.at, float(reading.budget)) for reading in readings)]
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
    count = len(panels)
    canvas = Canvas(LEFT + count * PANEL + (count - 1) * GAP + 30, HEIGHT, title)
    canvas.text(LEFT, 34, title, size=17, colour=INK, bold=True)
    canvas.text(LEFT, 55, subtitle)
    rungs = sorted({rung for history in panels.values() for rung in history.levels})
    trials = [trial for history in panels.values() for trial in history.trials]
    tops = [reading.budget for trial in trials for reading in trial.reports] or [1]
    up = Axis((rungs or tops)[0] * 0.55, max(tops), HEIGHT - BELOW, TOP + 12, log=True)
    losses = [
        history.goals.loss(reading.metrics)
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
                share = (history.goals.loss(reading.metrics) - best) / (worst - best or 1.0)
                centre = across.place(reading.at), up.place(reading.budget)
                canvas.circle(centre, SMALLEST + (LARGEST - SMALLEST) * share, colour, opacity=opacity)


def _reached(trial: Trial, until: float) -> int:
    return max((reading.budget for reading in trial.reports if reading.at <= until), default=0)


def draw(name, panels, *, workers, seconds, seed, title):
    histories = {}
    for label, scheduler in panels.items():
        study = simulate(PROBLEM, scheduler=scheduler, workers=workers, seconds=seconds, seed=seed)
        histories[label] = study.history
        complete = study.history.count(State.COMPLETE)
        print(f"{name}: {label}: {len(study.history.trials)} trials, {complete} complete")
    on = "a single worker" if workers == 1 else f"{workers} workers"
    subtitle = f"epochs over time on {on}; small dots are low losses, dotted lines are pauses"
    picture = rungs_chart(histories, title=title, subtitle=subtitle, until=seconds, unit="simulated seconds")
    (HERE / f"{name}.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    draw(
        "sync-vs-async",
        {
            "synchronous: a rung is filled first": Hyperband(27, brackets=1),
            "asynchronous (ASHA): no one waits": ASHA(27),
        },
        workers=4,
        seconds=90.0,
        seed=1,
        title="Successive halving, synchronous and asynchronous",
    )
    draw(
        "stop-vs-promote",
        {
            "stopping: go on unless among the worse": StoppingASHA(27),
            "promotion: pause until among the best": ASHA(27),
        },
        workers=1,
        seconds=60.0,
        seed=40,  # one of few in which so short a run shows all: stops, pauses, a promotion to the top in both
        title="Asynchronous halving, stopping and promotion",
    )
