"""The rungs as a funnel: how many trials reached each, and what became of them there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from xstar.journal.trial import State
from xstar.look.plots.figure import STATE_COLOURS, Figure, axis, bars, empty, figure
from xstar.look.plots.source import Source, joined

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
    trials: int
    brackets: int


def compute(source: Source) -> Funnel:
    """How far the trials got."""
    history = source.history
    levels = history.levels or _reached(source)
    counts: dict[str, Counter[int]] = {name: Counter() for name in COLOURS}
    brackets = set()
    for trial in history.trials:
        if trial.bracket >= 0:
            brackets.add(trial.bracket)
        for level in levels:
            if trial.budget < level:
                break
            counts["went on" if trial.budget > level else _outcome(trial.state)][level] += 1
    outcomes = {name: [found[level] for level in levels] for name, found in counts.items()}
    return Funnel(tuple(levels), outcomes, len(history.trials), len(brackets))


def _outcome(state: State) -> str:
    if state in (State.FAILED, State.INFEASIBLE):
        return "failed after it"
    return "paused" if state is State.PAUSED else "ended there" if state.over else "running"


def _reached(source: Source) -> tuple[int, ...]:
    """Where there is no ladder: the budgets at which trials stand, if they are few."""
    budgets = sorted({trial.budget for trial in source.history.trials if trial.budget})
    return tuple(budgets if len(budgets) <= 12 else budgets[:: -(-len(budgets) // 12)])


def draw(data: Funnel) -> Figure:
    title = "How far the trials got"
    if not data.rungs or not any(map(any, data.outcomes.values())):
        return empty(title, "no trial has reached a rung yet")
    names = [f"epoch {rung}" for rung in data.rungs]
    traces = [
        bars(counts, names, name, COLOURS[name], f"%{{x}} {name} at %{{y}}")
        for name, counts in data.outcomes.items()
        if any(counts)
    ]
    first = sum(counts[0] for counts in data.outcomes.values())
    last = sum(counts[-1] for counts in data.outcomes.values())
    facts = joined(
        f"{data.trials:,} started, {first:,} reached epoch {data.rungs[0]}, {last:,} reached epoch {data.rungs[-1]}",
        f"{data.brackets} brackets together" if data.brackets > 1 else "",
    )
    up = axis("", type="category", categoryorder="array", categoryarray=list(reversed(names)))
    return figure(traces, title, facts, xaxis=axis("trials"), yaxis=up, barmode="stack")
