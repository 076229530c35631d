"""A study on one page: an HTML file without scripts or links, to keep, to mail, to print.

What was found, how it got there (the best so far, compared at equal budgets), how the best trials learned, and what failed.
Where architectures were searched: the best one, a map of all, and whether those that are near each other have similar values.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from heapq import nsmallest

from xstar.core.markup import escaped, table
from xstar.core.markup import value as shown
from xstar.errors import InvalidArgument
from xstar.journal import History, Step
from xstar.nets import Graph
from xstar.plots import network_data
from xstar.plots.architectures import draw_map, draw_pairs
from xstar.plots.canvas import GREY
from xstar.plots.svg import Series, line_chart
from xstar.study.naming import described
from xstar.trial import State, Trial

BEST = 20
"""Rows of the table of trials: a report is read, not searched; `xstar export` has them all."""

CURVES = 6
"""Learning curves in one picture; more cannot be told apart."""

FAILURES = 10

NETWORKS = 150
"""Networks on the map of a report: their 11,000 distances take a second or two."""

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 860px; margin: 2em auto; padding: 0 1em; color: #1d1d1b }
h1 { margin-bottom: 0 } h2 { margin-top: 2em } .quiet { color: #5c5c57 }
table { border-collapse: collapse; margin: 1em 0 } td, th { text-align: left; padding: .25em 1em .25em 0; vertical-align: top }
th { border-bottom: 1px solid #8a8a84 } td { font-variant-numeric: tabular-nums } svg { max-width: 100%; height: auto }
pre { background: #f4f3ee; padding: .75em; overflow-x: auto; white-space: pre-wrap }
"""


def report(name: str, history: History) -> str:
    """The page."""
    created, best = history.created, history.best
    begun = datetime.fromtimestamp(created.at, UTC)
    counts = ", ".join(f"{history.count(state)} {state.value}" for state in State if history.count(state))
    parts = [
        f"<h1>{escaped(name)}</h1>",
        f'<p class="quiet">{escaped(created.direction)} {escaped(created.metric)} · {escaped(described(created))} · '
        f"seed {created.seed} · "
        f"begun {begun:%Y-%m-%d %H:%M} UTC · {counts or 'no trials yet'}</p>",
    ]
    if best is None:
        parts.append("<p>No trial has a value yet.</p>")
    else:
        parts.append(f"<h2>Best: {escaped(created.metric)} {best.value:.8g}</h2>")
        stand = (
            "" if best.state is State.COMPLETE else f", {best.state.value} at epoch {best.budget}: none is complete yet"
        )
        parts.append(f'<p class="quiet">trial {best.number}{stand}, suggested by {escaped(best.origin)}</p>')
        parts.append(table(("parameter", "value"), ((key, shown(value)) for key, value in best.config.items())))
        parts += _charts(history)
        parts += _architectures(history, best)
        parts.append(f"<h2>The best {min(BEST, len(_ranked(history, BEST)))} trials</h2>")
        parts.append(
            table(("trial", created.metric, "state", "epochs", "configuration"), map(_row, _ranked(history, BEST)))
        )
    parts += _failures(history)
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escaped(name)}</title>'
        f"<style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _charts(history: History) -> list[str]:
    metric = history.created.metric
    charts = ["<h2>How it went</h2>", best_chart(history)]
    learned = [trial for trial in _ranked(history, CURVES) if len(trial.reports) > 1]
    if learned:
        series = [
            Series(
                f"trial {trial.number}",
                [float(reading.budget) for reading in trial.reports],
                [reading.metrics[metric] for reading in trial.reports],
            )
            for trial in learned
        ]
        charts.append(line_chart(series, title=f"{metric} of the best trials", x_label="epochs"))
    return charts


def best_chart(history: History) -> str:
    """The best so far over the number of trials, in steps that end at the best of the headline.

    What was best before any trial was complete has a line of its own: its values are of smaller budgets.
    """
    steps, end = history.best_over_time, float(len(history.trials))
    done = [step for step in steps if step.complete]
    early = steps[: len(steps) - len(done)]
    lines = []
    if early:
        until = float(done[0].begun) if done else end
        lines.append(_stairs(early, until, "incomplete", GREY if done else None))
    if done:
        lines.append(_stairs(done, end, "best", None))
    if not done:
        subtitle = "no trial is complete: at the highest budget that any had reached"
    elif early:
        subtitle = "of complete trials; before there was one, at the highest budget that any had reached"
    else:
        subtitle = "of complete trials"
    title = f"Best {history.created.metric} so far"
    return line_chart(lines, title=title, subtitle=subtitle, x_label="trials begun")


def _stairs(steps: Sequence[Step], end: float, name: str, colour: str | None) -> Series:
    """A line that holds the last step's value up to ``end``."""
    x, y = [float(step.begun) for step in steps], [step.value for step in steps]
    return Series(name, [*x, end], [*y, y[-1]], colour=colour, steps=True)


def _architectures(history: History, best: Trial) -> list[str]:
    parts: list[str] = []
    for name in network_data.net_parameters(history):
        graph = network_data.graph_of(best.config.get(name))
        parts.append(f"<h2>Networks: {escaped(name)}</h2>")
        if graph is None:  # a parameter with a condition
            parts.append(f"<p>The best trial has no {escaped(name)}.</p>")
        else:
            # The same name twice on a page is not HTML.
            arrow = f"arrow-{len(parts)}"
            drawing = graph.draw().replace('id="arrow"', f'id="{arrow}"').replace("url(#arrow)", f"url(#{arrow})")
            parts += [f'<p class="quiet">of the best trial: {escaped(_size(graph))}</p>', drawing]
        try:
            networks = network_data.collect(history, name, most=NETWORKS)
            table = network_data.pairs(networks)
        except InvalidArgument as error:  # too few yet, or of families without a common distance
            parts.append(f'<p class="quiet">No map: {escaped(str(error))}.</p>')
            continue
        parts.append(draw_map(networks, network_data.place(networks), "normalised", "mds"))
        parts.append(draw_pairs(table, networks, "plain"))
    return parts


def _size(graph: Graph) -> str:
    return f"{len(graph.layers)} layers, {len(graph.edges)} edges, mass {graph.mass:,.6g}"


def _ranked(history: History, count: int) -> list[Trial]:
    """Complete trials first, then those that got further: values are compared at equal budgets only."""
    seen = (
        trial
        for trial in history.trials
        if trial.loss is not None and trial.state not in (State.FAILED, State.INFEASIBLE)
    )

    def place(trial: Trial) -> tuple[bool, int, float, int]:
        complete = trial.state is State.COMPLETE
        return not complete, 0 if complete else -trial.budget, trial.score, trial.number

    return nsmallest(count, seen, key=place)


def _row(trial: Trial) -> Sequence[str]:
    config = ", ".join(f"{name}={shown(value)}" for name, value in trial.config.items())
    return str(trial.number), f"{trial.value:.6g}", trial.state.value, str(trial.budget), config


def _failures(history: History) -> list[str]:
    failed = [trial for trial in history.trials if trial.state in (State.FAILED, State.INFEASIBLE)]
    if not failed:
        return []
    rows = [
        f"<p>trial {trial.number}, {trial.state.value}</p><pre>{escaped(trial.reason or '')}</pre>"
        for trial in failed[-FAILURES:]
    ]
    return [f"<h2>{len(failed)} without a value, the last {len(rows)}</h2>", *rows]
