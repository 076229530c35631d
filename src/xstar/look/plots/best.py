"""The best so far over trials, time or the budget spent; of several objectives, the hypervolume of the front.

Values are compared at equal budgets (``journal/incumbent.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from xstar.core.goals import Goals
from xstar.core.pareto import hypervolume
from xstar.errors import InvalidArgument
from xstar.journal import History, Step
from xstar.journal.incumbent import Joined
from xstar.journal.trial import State, Trial, losses_of
from xstar.look.plots.figure import GREY, STATE_COLOURS, Figure, Trace, axis, dots, empty, figure, line, number, text
from xstar.look.plots.source import MOST_DOTS, Array, Source, joined, shown_of, thinned, valued

ENOUGH = 5
"""Complete trials whose values alone decide what is in sight: after one epoch of many values are of another size."""
MOST_FRONTS = 200
"""Fronts whose volume is computed: with five objectives each takes some milliseconds."""
OVER = {
    "trials": "trials started",
    "time": "time since the study began",
    "budget": "epochs trained, all trials together",
}
UNITS = ((2 * 86400.0, 86400.0, "days"), (2 * 3600.0, 3600.0, "hours"), (120.0, 60.0, "minutes"), (0.0, 1.0, "seconds"))


@dataclass(frozen=True, eq=False)
class Stairs:
    """A value that holds until the next one."""

    x: Array
    y: Array


NO_STAIRS = Stairs(np.empty(0), np.empty(0))


@dataclass(frozen=True, eq=False)
class Best:
    """The values of trials and the best of them so far."""

    goals: Goals
    over: str
    unit: str
    """The unit of x where that is a time."""
    best: Stairs
    """The best of the complete trials; of several objectives the hypervolume of the front."""
    trials: int = 0
    values: dict[State, tuple[Array, Array, list[int]]] = field(default_factory=dict)
    """By state: x, value and number of trials; thinned out where there are many. Empty with several objectives."""
    shown: int = 0
    early: Stairs = NO_STAIRS
    """The best before any trial was complete: of smaller budgets, at the highest that any had reached."""
    answer: tuple[int, float] | None = None
    """Number and value of the best trial."""
    reference: dict[str, float] = field(default_factory=dict)
    """With several objectives: up to where the hypervolume is measured, in the user's own directions."""
    numbers: list[int] = field(default_factory=list)
    """With several objectives: the trial that came to the front at each step."""


def compute(source: Source, *, over: str = "trials", most: int = MOST_DOTS) -> Best:
    """The best so far over ``trials`` started, ``time`` or ``budget`` spent."""
    if over not in OVER:
        raise InvalidArgument("over", f"must be one of {', '.join(OVER)}", over)
    history = source.history
    clock = Clock(history, over)
    if history.goals.several:
        return _volume(history, clock)
    trials = valued(history)
    steps = [step for step in history.best_over_time if step.trial is not None]
    winners = {step.trial.number for step in steps[-200:] if step.trial is not None}
    places = thinned(len(trials), most, [place for place, trial in enumerate(trials) if trial.number in winners])
    kept = [trials[place] for place in places]
    values: dict[State, tuple[Array, Array, list[int]]] = {}
    for state in State:
        some = [trial for trial in kept if trial.state is state]
        if some:
            values[state] = clock.of_trials(some), np.array([trial.value for trial in some]), [t.number for t in some]
    done = [step for step in steps if step.complete]
    early = steps[: len(steps) - len(done)]
    best = history.best
    answer = None if best is None or best.value is None else (best.number, best.value)
    dotted = _stairs(clock, early, clock.of_steps(done[:1])[0] if done else clock.end)
    stairs = _stairs(clock, done, clock.end)
    return Best(history.goals, over, clock.unit, stairs, len(trials), values, len(kept), dotted, answer)


def _volume(history: History, clock: Clock) -> Best:
    goals, steps = history.goals, history.fronts.steps
    if not steps:
        return Best(goals, clock.over, clock.unit, NO_STAIRS)
    r = goals.reference([row[2:] for row in history.observed])
    kept = thinned(len(steps), MOST_FRONTS, [len(steps) - 1])
    Y = np.array([losses_of(step.trial) for step in steps])
    # What left the front is dominated by what came, and covers nothing more.
    volumes = np.array([hypervolume(Y[: place + 1], r) for place in kept])
    x = clock.of_steps([steps[place] for place in kept])
    stairs = Stairs(np.append(x, max(clock.end, x[-1])), np.append(volumes, volumes[-1]))
    upto = {name: sign * value for name, sign, value in zip(goals.metrics, goals.signs, r.tolist(), strict=True)}
    numbers = [steps[place].trial.number for place in kept]
    return Best(goals, clock.over, clock.unit, stairs, len(steps), reference=upto, numbers=[*numbers, numbers[-1]])


class Clock:
    """The horizontal place of moments of a study."""

    def __init__(self, history: History, over: str) -> None:
        self.over, self.start = over, history.created.at
        self.unit, self._scale = "", 1.0
        if over == "budget":
            self._times, self._spent = spent(history)
            self.end = float(self._spent[-1]) if len(self._spent) else 0.0
        elif over == "time":
            last = max((trial.reports[-1].at for trial in history.trials if trial.reports), default=self.start)
            _, self._scale, self.unit = next(unit for unit in UNITS if last - self.start >= unit[0])
            self.end = (last - self.start) / self._scale
        else:
            self.end = float(len(history.trials))

    def at(self, moments: Sequence[float]) -> Array:
        times = np.asarray(moments, dtype=np.float64)
        if self.over == "time":
            return (times - self.start) / self._scale
        return np.concatenate([[0.0], self._spent])[np.searchsorted(self._times, times, side="right")]

    def of_steps(self, steps: Sequence[Step] | Sequence[Joined]) -> Array:
        if self.over == "trials":
            return np.array([float(step.begun) for step in steps])
        return self.at([step.at for step in steps])

    def of_trials(self, trials: Sequence[Trial]) -> Array:
        if self.over == "trials":
            return np.array([trial.number + 1.0 for trial in trials])
        return self.at([trial.reports[-1].at for trial in trials])


def spent(history: History) -> tuple[Array, Array]:
    """The times of all reports, ascending, and the epochs that all trials together had trained by then."""
    times: list[float] = []
    epochs: list[int] = []
    for trial in history.trials:
        before = 0
        for reading in trial.reports:
            times.append(reading.at)
            epochs.append(reading.budget - before)
            before = reading.budget
    order = np.argsort(np.array(times), kind="stable")
    return np.array(times)[order], np.cumsum(np.array(epochs, dtype=np.float64)[order])


def _stairs(clock: Clock, steps: Sequence[Step], end: float) -> Stairs:
    if not steps:
        return NO_STAIRS
    x, y = clock.of_steps(steps), np.array([step.value for step in steps])
    return Stairs(np.append(x, max(end, x[-1])), np.append(y, y[-1]))


def labelled(over: str, unit: str) -> str:
    """The words of the horizontal axis."""
    return f"{OVER[over]} ({unit})" if unit else OVER[over]


def draw(data: Best) -> Figure:
    metric = text(data.goals.metrics[0])
    title = "Hypervolume of the front so far" if data.goals.several else f"Best {metric} so far"
    if not data.trials:
        return empty(title, "no trial is in the front yet" if data.goals.several else "no trial has a value yet")
    traces: list[Trace] = []
    for state, (x, y, numbers) in data.values.items():
        whole = state is State.COMPLETE
        marker = {"color": STATE_COLOURS[state], "size": 6 if whole else 4, "opacity": 0.75 if whole else 0.3}
        hover = "trial %{customdata}: %{y:.6g}"
        traces.append(dots(x, y, state.value, hover, marker=marker, customdata=numbers))
    steps = {"shape": "hv", "width": 2.5}
    if len(data.early.x):
        dashed = {**steps, "dash": "dot", "color": GREY}
        traces.append(line(data.early.x, data.early.y, "best, incomplete", line=dashed, hoverinfo="y"))
    across, steps = axis(labelled(data.over, data.unit)), {**steps, "color": "#b4540a"}
    if data.goals.several:
        hover = "%{y:.6g}, since trial %{customdata}"
        traces.append(line(data.best.x, data.best.y, "covered", hover, line=steps, customdata=data.numbers))
        upto = ", ".join(f"{text(name, 24)}={number(value)}" for name, value in data.reference.items())
        up = axis(f"hypervolume up to<br>{upto}", rangemode="tozero")
        facts = joined(f"{number(float(data.best.y[-1]), 6)} now", "higher is better")
        return figure(traces, title, facts, xaxis=across, yaxis=up, showlegend=False)
    if len(data.best.x):
        traces.append(line(data.best.x, data.best.y, "best", line=steps, hoverinfo="y"))
    known = "" if data.answer is None else f"{number(data.answer[1], 6)} in trial {data.answer[0]}"
    early = "" if not len(data.early.x) else "dotted: before any trial was complete"
    facts = joined(known, early, shown_of(data.shown, data.trials))
    return figure(traces, title, facts, xaxis=across, yaxis=axis(metric, **_window(data)))


def _window(data: Best) -> dict[str, list[float]]:
    """The range of values that is shown: one diverged trial must not flatten all others."""
    complete = data.values.get(State.COMPLETE)
    every = np.concatenate([y for _, y, _ in data.values.values()])
    ys = complete[1] if complete is not None and len(complete[1]) >= ENOUGH else every
    lines = np.concatenate([data.early.y, data.best.y])
    low, high = np.quantile(ys, [0.02, 0.98]) if len(ys) > 20 else (ys.min(), ys.max())
    low, high = min(low, *lines) if len(lines) else low, max(high, *lines) if len(lines) else high
    if every.min() >= low - (high - low) and every.max() <= high + (high - low):
        return {}
    pad = 0.06 * (high - low)
    return {"range": [float(low - pad), float(high + pad)]}
