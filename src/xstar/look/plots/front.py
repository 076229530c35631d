"""The best trade-offs of a study with several objectives, among all complete trials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from xstar.core.goals import Goals
from xstar.core.words import plural, short_config
from xstar.journal.trial import State
from xstar.look.plots.figure import GREY, RAMP, Figure, axis, dots, empty, figure, line, text
from xstar.look.plots.source import MOST_DOTS, Array, Source, joined, shown_of, thinned

LEADING = "#b4540a"
MOST_WORDS = 90
"""Characters of a configuration beside the pointer."""


@dataclass(frozen=True, eq=False)
class Front:
    """Complete, feasible trials by their objectives."""

    goals: Goals
    values: Array
    """(trials, objectives), in the user's own directions."""
    leading: np.ndarray[Any, np.dtype[np.bool_]]
    """Whether a trial is in the front."""
    numbers: list[int]
    configs: list[str]
    trials: int


def compute(source: Source, *, most: int = MOST_DOTS) -> Front:
    """The objectives of complete trials, and which trials no other dominates."""
    history = source.history
    leading = {trial.number for trial in history.front}
    complete = [trial for trial in history.trials if trial.state is State.COMPLETE]
    kept = thinned(len(complete), most, [place for place, each in enumerate(complete) if each.number in leading])
    some = [complete[place] for place in kept]
    values = np.array([list(trial.values.values()) for trial in some]).reshape(-1, len(history.goals))
    ahead, numbers = np.array([trial.number in leading for trial in some], dtype=bool), [each.number for each in some]
    return Front(history.goals, values, ahead, numbers, [short_config(each.config) for each in some], len(complete))


def draw(data: Front) -> Figure:
    """The first two objectives as axes, and the third one as a colour."""
    names = [text(name) for name in data.goals.metrics]
    title = f"Trade-offs of {' and '.join(names)}" if len(names) == 2 else f"Trade-offs of {', '.join(names)}"
    if not len(data.values):
        return empty(title, "no trial is complete yet")
    rest = np.flatnonzero(~data.leading)
    # In the order of the first objective, the best one first: the line is the edge of what the front dominates.
    front = np.flatnonzero(data.leading)
    front = front[np.argsort(np.array(data.goals.signs)[0] * data.values[front, 0], kind="stable")]
    faint: dict[str, Any] = {"size": 6, "color": GREY, "opacity": 0.4}
    strong: dict[str, Any] = {"size": 9, "color": LEADING}
    if len(names) > 2:
        strong |= _coloured(data, names[2], front)
    traces = [_dots(data, rest, "dominated", faint)]
    if len(names) == 2 and len(front):
        x, y = data.values[front].T
        steps = {"shape": "hv", "width": 2, "color": LEADING}
        traces.append(line(x, y, "the edge", line=steps, hoverinfo="skip", showlegend=False))
    traces.append(_dots(data, front, "in the front", strong))
    facts = joined(
        f"{plural(len(front), 'trial')} of {data.trials:,} complete in the front",
        f"colour: {names[2]}" if len(names) > 2 else "",
        f"not drawn, but named beside the pointer: {', '.join(names[3:])}" if len(names) > 3 else "",
        shown_of(len(data.values), data.trials),
    )
    across, up = (axis(_titled(data.goals, place)) for place in (0, 1))
    return figure(traces, title, facts, xaxis=across, yaxis=up, shapes=_limits(data.goals))


def _titled(goals: Goals, place: int) -> str:
    better = "higher" if goals[place].direction == "maximize" else "lower"
    return f"{text(goals.metrics[place])} ({better} is better)"


def _coloured(data: Front, name: str, front: Any) -> dict[str, Any]:
    """A third objective; the darkest is the best."""
    scale = RAMP if data.goals.signs[2] > 0 else [[1 - float(at), colour] for at, colour in reversed(RAMP)]  # type: ignore[arg-type]
    bar = {"title": {"text": name, "side": "right"}, "thickness": 10, "len": 0.9}
    return {"color": data.values[front, 2], "colorscale": scale, "colorbar": bar, "line": {"width": 1, "color": GREY}}


def _dots(data: Front, places: Any, name: str, marker: dict[str, Any]) -> dict[str, Any]:
    words = []
    for place, row in zip(places, data.values[places].tolist(), strict=True):
        values = [f"{text(metric)} {value:.6g}" for metric, value in zip(data.goals.metrics, row, strict=True)]
        words.append("<br>".join([*values, text(data.configs[place], MOST_WORDS)]))
    x, y = data.values[places, 0], data.values[places, 1]
    numbers, hover = [data.numbers[place] for place in places], "trial %{customdata}<br>%{hovertext}"
    return dots(x, y, name, hover, marker=marker, customdata=numbers, hovertext=words)


def _limits(goals: Goals) -> list[dict[str, Any]]:
    """Thresholds of the axes as lines."""
    shared = {"type": "line", "layer": "below", "line": {"width": 1, "dash": "dot", "color": GREY}}
    made = []
    for place, (own, other) in enumerate((("x", "y"), ("y", "x"))):
        at = goals[place].threshold
        if at is not None:
            ends = {f"{own}0": at, f"{own}1": at, f"{other}0": 0, f"{other}1": 1, f"{other}ref": "paper"}
            made.append({**shared, **ends})
    return made
