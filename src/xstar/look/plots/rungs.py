"""The rungs as a funnel: how many trials reached each, and what became of them there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from xstar.journal.trial import State
from xstar.look.plots.figure import STATE_COLOURS, Figure, axis, empty, figure
from xstar.look.plots.source import Source, joined

OUTCOMES = ("went on", "paused", "ended there", "failed after it", "running")
COLOURS = {
    "went on": "#117a54",
    "paused": STATE_COLOURS[State.PAUSED],
    "ended there": "#8a6fb0",
    "failed after it": STATE_COLOURS[State.FAILED],
    "running": STATE_COLOURS[State.RUNNING],
}


@dataclass(frozen=True)
class Funnel:
    """What became of the trials that reached each rung."""

    rungs: tuple[int, ...]
    outcomes: dict[str, list[int]]
    """By outcome, one count per rung."""
    begun: int
    brackets: int


def compute(source: Source) -> Funnel:
    """How far the trials got."""
    history = source.history
    levels = history.levels or _reached(source)
    counts: dict[str, Counter[int]] = {name: Counter() for name in OUTCOMES}
    brackets = set()
    for trial in history.trials:
        if trial.bracket >= 0:
            brackets.add(trial.bracket)
        for level in levels:
            if trial.budget < level:
                break
            if trial.budget > level:
                counts["went on"][level] += 1
            elif trial.state in (State.FAILED, State.INFEASIBLE):
                counts["failed after it"][level] += 1
            elif trial.state is State.PAUSED:
                counts["paused"][level] += 1
            elif trial.state.over:
                counts["ended there"][level] += 1
            else:
                counts["running"][level] += 1
    outcomes = {name: [found[level] for level in levels] for name, found in counts.items()}
    return Funnel(tuple(levels), outcomes, len(history.trials), len(brackets))


def _reached(source: Source) -> tuple[int, ...]:
    """Where there is no ladder: the budgets at which trials stand, if they are few."""
    budgets = sorted({trial.budget for trial in source.history.trials if trial.budget})
    return tuple(budgets if len(budgets) <= 12 else budgets[:: -(-len(budgets) // 12)])


def draw(data: Funnel) -> Figure:
    """The figure."""
    title = "How far the trials got"
    if not data.rungs or not any(map(any, data.outcomes.values())):
        return empty(title, "no trial has reached a rung yet")
    names = [f"epoch {rung}" for rung in data.rungs]
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "y": names,
            "x": data.outcomes[name],
            "name": name,
            "marker": {"color": COLOURS[name]},
            "hovertemplate": f"%{{x}} {name} at %{{y}}<extra></extra>",
        }
        for name in OUTCOMES
        if any(data.outcomes[name])
    ]
    first = sum(counts[0] for counts in data.outcomes.values())
    last = sum(counts[-1] for counts in data.outcomes.values())
    facts = joined(
        f"{data.begun:,} begun, {first:,} reached epoch {data.rungs[0]}, {last:,} reached epoch {data.rungs[-1]}",
        f"{data.brackets} brackets together" if data.brackets > 1 else "",
    )
    up = axis("", type="category", categoryorder="array", categoryarray=list(reversed(names)))
    return figure(traces, title, facts, xaxis=axis("trials"), yaxis=up, barmode="stack")
