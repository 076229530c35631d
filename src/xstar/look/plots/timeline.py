"""Who trained when: the runs of trials on the workers' time lines, by rung (Figure 1 of the MOBSTER paper, seen from the side).

The journal says when each run of a trial began and ended, and on which machine, not on which worker. So a run is put on
the lowest line that is free when it begins: as many lines are busy as workers were, but a line need not be one worker
throughout.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from xstar.core.environment import host_of
from xstar.core.words import seconds
from xstar.journal import Event, events as ev
from xstar.journal.trial import Verdict
from xstar.look.plots.best import UNITS
from xstar.look.plots.figure import Figure, axis, bars, empty, figure, text, upright
from xstar.look.plots.source import Source, joined

MOST_RUNS = 1500
"""Only the last runs are drawn: a browser draws so many bars in a tenth of a second."""

MOST_EVENTS = 40_000
"""Events that are read for it, the last ones; of a run that began before them nothing is drawn."""

LONG, LEFT = 0.5, 0.03
"""An idle period longer than the first share of the busy time is shortened to the second."""

SHADES = ("#9ec5e8", "#5b8fc9", "#3d4db3", "#7a3ea8", "#a3195b", "#b4540a", "#6b6b00")
ENDS = {"failed": "#c8452f", "lost": "#e0a100"}


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a trial."""

    trial: int
    attempt: int
    line: int
    start: float
    end: float
    budget: int | None
    """The epochs it was to train to."""
    ending: str
    """``done`` (reported its rung, or all), ``failed``, ``lost`` or ``running``."""
    host: str = ""
    """The machine, where the journal has it."""


@dataclass(frozen=True)
class Timeline:
    """Runs, and how busy the lines were."""

    runs: list[Run]
    total: int
    lines: int
    start: float
    until: float
    busy: float
    """Of the time of all lines, the share that trained."""
    lost: float
    """Of the time of all lines, the share whose run was lost or failed."""


def compute(source: Source, *, most: int = MOST_RUNS) -> Timeline:
    """The runs of a study, from its events."""
    history = source.history
    since = max(0, history.seen - MOST_EVENTS)
    runs, until = _runs(islice(iter(source.journal.read(since)), history.seen - since), history.environments)
    kept = runs[-most:]
    total = sum(trial.attempt + 1 for trial in history.trials) - history.added
    start = min((run.start for run in kept), default=0.0)
    lines = 1 + max((run.line for run in kept), default=-1)
    available = lines * (until - start)
    trained = sum(run.end - run.start for run in kept)
    wasted = sum(run.end - run.start for run in kept if run.ending in ENDS)
    shares = (trained / available, wasted / available) if available > 0 else (0.0, 0.0)
    return Timeline(kept, total, lines, start, until, *shares)


def _runs(events: Iterable[Event], environments: Sequence[Mapping[str, str]]) -> tuple[list[Run], float]:
    running: dict[int, Run] = {}
    free: list[int] = []
    lines, until = 0, 0.0
    runs: list[Run] = []

    def end(trial: int, at: float, ending: str) -> None:
        runs.append(replace(running.pop(trial), end=at, ending=ending))
        heapq.heappush(free, runs[-1].line)

    for event in events:
        until, trial = max(until, event.at), getattr(event, "trial", -1)
        if isinstance(event, ev.Asked | ev.Started):
            if trial in running:  # given up without a word, and taken over
                end(trial, event.at, "lost")
            line = heapq.heappop(free) if free else lines
            lines = max(lines, line + 1)
            attempt, host = getattr(event, "attempt", 0), host_of(environments, event.by)
            running[trial] = Run(trial, attempt, line, event.at, event.at, event.budget, "running", host)
        elif trial in running and getattr(event, "attempt", 0) == running[trial].attempt:
            goes_on = isinstance(event, ev.Reported) and not event.final and event.verdict is Verdict.CONTINUE
            if type(event) in ENDED_BY and not goes_on:
                end(trial, event.at, ENDED_BY[type(event)])
    for trial in list(running):
        end(trial, until, "running")
    return sorted(runs, key=lambda run: run.start), until


ENDED_BY = {ev.Reported: "done", ev.Completed: "done", ev.Failed: "failed", ev.Lost: "lost"}


def draw(data: Timeline) -> Figure:
    title = "What the workers did"
    if not data.runs:
        return empty(title, "nothing has run yet")
    budgets = sorted({run.budget for run in data.runs if run.budget is not None})
    groups: dict[tuple[int, str], tuple[str, str, list[Run]]] = {}
    for run in data.runs:
        if run.ending in ENDS:
            place, name, colour = len(budgets), run.ending, ENDS[run.ending]
        elif run.budget is None or len(budgets) < 2:
            place, name, colour = 0, "busy", SHADES[1]
        else:
            place = budgets.index(run.budget)
            name, colour = f"to epoch {run.budget}", SHADES[place % len(SHADES)]
        groups.setdefault((place, name), (name, colour, []))[2].append(run)
    cuts = spells(data)
    drawn = data.until - data.start - sum(gap for _, gap in cuts)
    _, scale, unit = next(each for each in UNITS if drawn >= each[0])
    hover = f"trial %{{customdata[0]}}, run %{{customdata[1]}}%{{customdata[3]}}: %{{customdata[2]}}, %{{x:.3g}} {unit}"
    traces = []
    for name, colour, runs in (groups[key] for key in sorted(groups)):
        about = [[run.trial, run.attempt + 1, run.ending, run.host and f" on {text(run.host)}"] for run in runs]
        starts = [(_moved(run.start, cuts) - data.start) / scale for run in runs]
        long = [(_moved(run.end, cuts) - _moved(run.start, cuts)) / scale for run in runs]
        where = {"base": starts, "width": 0.8, "customdata": about}
        traces.append(bars(long, [run.line + 1 for run in runs], name, colour, hover, **where))
    idle, lost = max(0.0, 1 - data.busy), f", lost {data.lost:.0%}" if data.lost else ""
    busy = f"{data.lines} at once; busy {data.busy:.0%}, idle {idle:.0%}{lost}"
    left_out = f"the last {len(data.runs):,} of {data.total:,} runs" if len(data.runs) < data.total else ""
    up = axis("at once", autorange="reversed", dtick=max(1, data.lines // 8))
    across = axis(f"{unit}, but for long spells of nothing (dotted)" if cuts else unit)
    marks = [((_moved(until, cuts) - data.start) / scale, seconds(gap)) for until, gap in cuts]
    above = {"y": 1, "yref": "paper", "yanchor": "bottom", "showarrow": False}
    notes = {"annotations": [{**above, "x": x, "text": gap} for x, gap in marks]}
    layout: dict[str, Any] = {"barmode": "overlay", "bargap": 0.1, "shapes": [upright(x) for x, _ in marks], **notes}
    return figure(traces, title, joined(busy, left_out), xaxis=across, yaxis=up, **layout)


def spells(data: Timeline) -> list[tuple[float, float]]:
    """Idle periods, such as nights, that would squeeze the rest: when each ended, and how many seconds are cut out of it."""
    gaps: list[tuple[float, float]] = []
    busy, end = 0.0, data.start
    for run in data.runs:  # in the order of their starts
        if run.start > end:
            gaps.append((run.start, run.start - end))
        busy += max(0.0, run.end - max(run.start, end))
        end = max(end, run.end)
    return [(until, gap - LEFT * busy) for until, gap in gaps if gap > LONG * busy]


def _moved(at: float, cuts: list[tuple[float, float]]) -> float:
    return at - sum(gap for until, gap in cuts if until <= at)
