"""A study on one page: an HTML file without scripts or links, to keep, to mail, to print.

What was found, how it got there (the best value after each trial), how the best trials learned, and what failed. Where
architectures were searched: the best one, a map of all, and whether those that are near each other have similar values.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from heapq import nsmallest

from xstar.errors import InvalidArgument
from xstar.journal import History
from xstar.nets import Graph
from xstar.plots import network_data
from xstar.plots.architectures import draw_map, draw_pairs
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
th { border-bottom: 1px solid #8a8a84 } td.number { font-variant-numeric: tabular-nums } svg { max-width: 100%; height: auto }
pre { background: #f4f3ee; padding: .75em; overflow-x: auto; white-space: pre-wrap }
"""


def report(name: str, history: History) -> str:
    """The page."""
    created, best = history.created, history.best
    begun = datetime.fromtimestamp(created.at, UTC)
    counts = ", ".join(f"{history.count(state)} {state.value}" for state in State if history.count(state))
    parts = [
        f"<h1>{_text(name)}</h1>",
        f'<p class="quiet">{_text(created.direction)} {_text(created.metric)} · {_text(described(created))} · '
        f"seed {created.seed} · "
        f"begun {begun:%Y-%m-%d %H:%M} UTC · {counts or 'no trials yet'}</p>",
    ]
    if best is None:
        parts.append("<p>No trial has a value yet.</p>")
    else:
        parts.append(f"<h2>Best: {_text(created.metric)} {best.value:.8g}</h2>")
        parts.append(f'<p class="quiet">trial {best.number}, suggested by {_text(best.origin)}</p>')
        parts.append(_table(("parameter", "value"), ((key, _value(value)) for key, value in best.config.items())))
        parts += _charts(history)
        parts += _architectures(history, best)
        parts.append(f"<h2>The best {min(BEST, len(_ranked(history, BEST)))} trials</h2>")
        parts.append(
            _table(("trial", created.metric, "state", "epochs", "configuration"), map(_row, _ranked(history, BEST)))
        )
    parts += _failures(history)
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{_text(name)}</title>'
        f"<style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _charts(history: History) -> list[str]:
    metric = history.created.metric
    lowest, line = float("inf"), []
    for trial in history.trials:  # in the order in which they were asked for
        if trial.loss is not None and trial.state not in (State.FAILED, State.INFEASIBLE):
            lowest = min(lowest, trial.loss)
        line.append(history.sign * lowest)
    numbers = [float(count) for count in range(1, len(line) + 1)]
    title = f"Best {metric} so far"
    charts = [
        "<h2>How it went</h2>",
        line_chart([Series("best", numbers, line)], title=title, x_label="trials", log_x=len(line) > 20),
    ]
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


def _architectures(history: History, best: Trial) -> list[str]:
    parts: list[str] = []
    for name in network_data.net_parameters(history):
        graph = network_data.graph_of(best.config.get(name))
        parts.append(f"<h2>Networks: {_text(name)}</h2>")
        if graph is None:  # a parameter with a condition
            parts.append(f"<p>The best trial has no {_text(name)}.</p>")
        else:
            # The same name twice on a page is not HTML.
            arrow = f"arrow-{len(parts)}"
            drawing = graph.draw().replace('id="arrow"', f'id="{arrow}"').replace("url(#arrow)", f"url(#{arrow})")
            parts += [f'<p class="quiet">of the best trial: {_text(_size(graph))}</p>', drawing]
        try:
            networks = network_data.collect(history, name, most=NETWORKS)
            table = network_data.pairs(networks)
        except InvalidArgument as error:  # too few yet, or of families without a common distance
            parts.append(f'<p class="quiet">No map: {_text(str(error))}.</p>')
            continue
        parts.append(draw_map(networks, network_data.place(networks), "normalised", "mds"))
        parts.append(draw_pairs(table, networks, "plain"))
    return parts


def _size(graph: Graph) -> str:
    return f"{len(graph.layers)} layers, {len(graph.edges)} edges, mass {graph.mass:,.6g}"


def _ranked(history: History, count: int) -> list[Trial]:
    """Complete trials first, each by its last loss."""
    seen = (
        trial
        for trial in history.trials
        if trial.loss is not None and trial.state not in (State.FAILED, State.INFEASIBLE)
    )
    return nsmallest(count, seen, key=lambda trial: (trial.state is not State.COMPLETE, trial.known_loss, trial.number))


def _row(trial: Trial) -> Sequence[str]:
    config = ", ".join(f"{name}={_value(value)}" for name, value in trial.config.items())
    return str(trial.number), f"{trial.value:.6g}", trial.state.value, str(trial.budget), config


def _failures(history: History) -> list[str]:
    failed = [trial for trial in history.trials if trial.state in (State.FAILED, State.INFEASIBLE)]
    if not failed:
        return []
    rows = [
        f"<p>trial {trial.number}, {trial.state.value}</p><pre>{_text(trial.reason or '')}</pre>"
        for trial in failed[-FAILURES:]
    ]
    return [f"<h2>{len(failed)} without a value, the last {len(rows)}</h2>", *rows]


def _value(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    top = "".join(f"<th>{_text(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f'<td class="number">{_text(cell)}</td>' for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _text(text: str) -> str:
    return html.escape(text)
