"""A study on one page: an HTML file that needs nothing else, to keep, to mail, to print.

In words what was searched and found, how far ahead it is, what mattered and what failed; the plots; the best configurations as
a table and as code; how to do it again; what to cite. The plots need Plotly's JavaScript, which is written into the file
(5 MB); where Plotly is not installed the page says so and has everything else.
"""

from __future__ import annotations

import pprint
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from heapq import nsmallest
from typing import Any

from xstar import nets, space
from xstar.core.goals import Goals
from xstar.core.markup import escaped, table, value as shown
from xstar.errors import MissingExtra
from xstar.journal import History
from xstar.journal.rules import TRIAL_VALUES
from xstar.journal.trial import State, Trial
from xstar.look.describe import TrialRow, describe, trial_row
from xstar.look.findings import goal, sentences
from xstar.look.papers import cited
from xstar.look.plots.figure import ON_DARK
from xstar.look.plots.kinds import KINDS
from xstar.look.plots.networks import graph_of, net_parameters
from xstar.look.plots.output import in_script, javascript
from xstar.look.plots.source import Source, valued
from xstar.look.view import StudyView
from xstar.models.linalg import single_threaded
from xstar.nets import Graph
from xstar.space.conditions import Threshold
from xstar.study.settings import DEFAULT_RETRIES, LONGEST_NAME

BEST = 20
"""Rows of the table of trials: a report is read, not searched; `xstar export` has them all."""

FAILURES = 5

STYLE = """
:root { color-scheme: light dark; --ink: #1d1d1b; --quiet: #5c5c57; --paper: #fff; --sheet: #f4f3ee; --line: #d5d3cb }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e9e7e1; --quiet: #a5a39c; --paper: #17181a; --sheet: #222427; --line: #3c3f43 }
}
body { font: 16px/1.55 system-ui, sans-serif; max-width: 900px; margin: 2em auto; padding: 0 1em;
  color: var(--ink); background: var(--paper) }
h1 { margin-bottom: 0 } h2 { margin-top: 2em } .quiet, figcaption { color: var(--quiet) }
table { border-collapse: collapse; margin: 1em 0 } th { border-bottom: 1px solid var(--line) }
td, th { text-align: left; padding: .25em 1em .25em 0; vertical-align: top } td { font-variant-numeric: tabular-nums }
.wide { overflow-x: auto } svg { max-width: 100%; height: auto } figure { margin: 2em 0 } .plot { min-height: 400px }
figcaption b { color: var(--ink); font-size: 1.15em; display: block }
dt { font-weight: 600; margin-top: .8em } dd { margin: 0 } .drawing { background: #fff; display: inline-block; padding: .5em }
pre { background: var(--sheet); padding: .75em; overflow-x: auto; white-space: pre-wrap }
@media print { .plot { break-inside: avoid } }
"""

DRAW = """
const ink = getComputedStyle(document.body).color, dark = matchMedia("(prefers-color-scheme: dark)").matches;
for (const place of document.querySelectorAll(".plot")) {
  let text = document.getElementById(place.id + "-data").textContent;
  if (dark) text = text.replace(/"#[0-9a-f]{6}"/g, (word) => `"${ON_DARK[word.slice(1, -1)] ?? word.slice(1, -1)}"`);
  const figure = JSON.parse(text);
  Object.assign(figure.layout, { font: { ...figure.layout.font, color: ink } });
  Plotly.newPlot(place, figure.data, figure.layout, { responsive: true, displaylogo: false });
}
"""


@single_threaded()
def report(source: Source) -> str:
    """The page."""
    history, name = source.history, source.name or "study"
    view = StudyView(source.name, history, source.journal)
    made, best = describe(view), history.best
    begun = f"begun {datetime.fromtimestamp(made['created'], UTC):%Y-%m-%d %H:%M} UTC"
    about = " · ".join([goal(made), made["settings"], f"seed {made['seed']}", begun])
    answers = sentences(view, made).items()
    parts = [f"<h1>{escaped(name)}</h1>", f'<p class="quiet">{escaped(about)}</p>', "<dl>"]
    parts += [*(f"<dt>{escaped(question)}</dt><dd>{escaped(answer)}</dd>" for question, answer in answers), "</dl>"]
    if best is not None:
        parts.append(f"<h2>Best: {escaped(made['metric'])} {best.value:.8g}</h2>")
        parts.append(table(("parameter", "value"), ((key, shown(value)) for key, value in best.config.items())))
        parts += ["<p>As code:</p>", f"<pre>{escaped(_code(history, best))}</pre>"]
        parts += _drawings(history, best)
    plots, script = _plots(view)
    parts += plots
    if history.has_value:
        ranked = [trial_row(history, trial) for trial in (history.front if history.goals.several else _ranked(history))]
        parts.append("<h2>The front</h2>" if history.goals.several else f"<h2>The best {len(ranked)} trials</h2>")
        rows = table(("trial", *made["objectives"], "state", "epochs", "configuration"), map(_row, ranked))
        parts.append(f'<div class="wide">{rows}</div>')
    parts += _failures(history)
    parts += ["<h2>Do it again</h2>", f"<pre>{escaped(_again(history, name))}</pre>"]
    parts += ["<h2>Cite</h2>", "<ul>", *(f"<li>{escaped(paper)}</li>" for paper in cited(view.created)), "</ul>"]
    body = "\n".join([*parts, script])
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escaped(name)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>\n'
        f"<body>\n{body}\n</body></html>\n"
    )


# ---------------------------------------------------------------- plots


def _plots(source: Source) -> tuple[list[str], str]:
    """The figures and the script that draws them."""
    try:
        code = javascript()
    except MissingExtra as error:
        return [f'<p class="quiet">The plots are left out: {escaped(error)}.</p>'], ""
    figures = {kind.name: kind.figure(source) for kind in KINDS.values() if kind.suits(source.history)}
    parts = [embedded(figure, f"plot-{name}") for name, figure in figures.items() if figure["data"]]
    return [
        "<h2>Plots</h2>",
        *parts,
    ], f"<script>{code}</script>\n<script>const ON_DARK = {in_script(ON_DARK)};{DRAW}</script>"


def embedded(figure: dict[str, Any], name: str) -> str:
    """A figure with its title and facts as text around it, where they wrap and can be read aloud."""
    layout = dict(figure["layout"])
    title = layout.pop("title")
    layout["margin"] = {**layout["margin"], "t": 24}
    facts = title["subtitle"]["text"].replace("<br>", " · ")
    # Titles are safe as markup: ``plots.figure.text`` escaped what came from the study.
    data = in_script({"data": figure["data"], "layout": layout})
    height = int(layout.get("height", 400))
    return (
        f"<figure><figcaption><b>{title['text']}</b>{facts}</figcaption>"
        f'<div class="plot" id="{name}" style="height:{height}px"></div>'
        f'<script type="application/json" id="{name}-data">{data}</script></figure>'
    )


def _drawings(history: History, best: Trial) -> list[str]:
    parts: list[str] = []
    for name in net_parameters(history):
        graph = graph_of(best.config.get(name))
        parts.append(f"<h2>Network: {escaped(name)}</h2>")
        if graph is None:  # a parameter with a condition
            parts.append(f"<p>The best trial has no {escaped(name)}.</p>")
            continue
        # The same name twice on a page is not HTML.
        arrow = f"arrow-{len(parts)}"
        drawing = graph.draw().replace('id="arrow"', f'id="{arrow}"').replace("url(#arrow)", f"url(#{arrow})")
        parts += [
            f'<p class="quiet">of the best trial: {escaped(_size(graph))}</p>',
            f'<div class="drawing">{drawing}</div>',
        ]
    return parts


def _size(graph: Graph) -> str:
    return f"{len(graph.layers)} layers, {len(graph.edges)} edges, mass {graph.mass:,.6g}"


# ---------------------------------------------------------------- code to paste


def _code(history: History, best: Trial) -> str:
    networks = [name for name in net_parameters(history) if name in best.config]
    plain = {name: value for name, value in history.space.dump(best.config).items() if name not in networks}
    text = f"best = {pprint.pformat(plain, sort_dicts=False, width=100)}"
    if networks:
        text += f"\n# and the architecture{'s' if len(networks) > 1 else ''}, from the storage:\n"
        text += "\n".join(f'best["{name}"] = study.trials[{best.number}]["{name}"]' for name in networks)
    return text


def _again(history: History, name: str) -> str:
    created = history.stored
    call = "maximize" if created.direction == "maximize" and not created.goals.several else "minimize"
    by_hand = [each for each in ("added", "enqueued") if any(trial.origin.method == each for trial in history.trials)]
    by_hand += ["changed in its space"] if history.reshaped else []
    but = f", but for what was {' or '.join(by_hand)} by hand" if by_hand else ""
    anew = f"{name[: LONGEST_NAME - 6]}-again"  # under its own name the stored study would go on
    settings = ", ".join(f"{key}={value}" for key, value in _settings(history, anew).items())
    lines = [
        f"# xstar {created.version}; the same trials with one worker, or any number in the same order of reports{but}",
        "import xstar as xs",
        *_imports(history),
        "",
        f"space = {history.space!r}",
        f"xs.{call}(objective, space, {settings}, trials={len(history.trials) - history.added})",
    ]
    if not created.method:
        lines.insert(-1, f"# searcher={created.searcher!r}, scheduler={created.scheduler!r}")
    if created.program and (file := created.program.get("file")):
        lines.append(f"# it was begun by: xstar run {file}; with --study {anew} that runs it again, too")
    return "\n".join(lines)


def _settings(history: History, name: str) -> dict[str, str]:
    """The keywords of the call, as code: those that are not their defaults."""
    created = history.stored
    given: dict[str, Any] = {
        "method": created.method or None,
        "max_budget": created.scheduler.get("max_budget"),
        "metric": _metric(created.goals),
        "seed": created.seed,
        "study": name,
        "trial_value": created.trial_value if created.trial_value != TRIAL_VALUES[0] else None,
        "warm_start": history.sources or None,
    }
    made = {key: repr(value) for key, value in given.items() if value is not None}
    if created.retries != DEFAULT_RETRIES:
        made["executor"] = f"xs.Processes(retries={created.retries})"
    if created.constraints:
        bounds = (f"{metric!r}: {_bound(bound)}" for metric, bound in created.constraints.items())
        made["constraints"] = f"{{{', '.join(bounds)}}}"
    return made


def _metric(goals: Goals) -> str | dict[str, Any]:
    """The objectives as ``metric=`` takes them."""
    if not goals.several:
        return goals.metrics[0]
    limits = {each.metric: (each.direction, each.threshold) for each in goals}
    return {name: direction if limit is None else (direction, limit) for name, (direction, limit) in limits.items()}


def _bound(stored: Any) -> str:
    """A bound of the journal as code."""
    if not isinstance(stored, Mapping):
        return repr(stored)
    return f"xs.{Threshold(stored.get('at_least'), stored.get('at_most'))!r}"


def _imports(history: History) -> list[str]:
    """The lines that make the space's own text run; a class of the user's own is theirs to import."""
    names = {"Space", *(type(given).__name__ for given in history.space.parameters.values())}
    names |= {name for name in ("at_least", "at_most", "between", "Normal") if f"{name}(" in repr(history.space)}
    homes = {"xstar": space, "xstar.nets": nets}
    lines = []
    for home, module in homes.items():
        own = sorted(name for name in names if hasattr(module, name))
        names -= set(own)
        lines += [f"from {home} import {', '.join(own)}"] if own else []
    return lines + [f"# and {name}, which is not xstar's" for name in sorted(names)]


# ---------------------------------------------------------------- tables


def _ranked(history: History) -> list[Trial]:
    """Complete trials first, then those that got further: values are compared at equal budgets only."""

    def place(trial: Trial) -> tuple[bool, int, float, int]:
        complete = trial.state is State.COMPLETE
        return not complete, 0 if complete else -trial.budget, trial.scores[0], trial.number

    return nsmallest(BEST, valued(history), key=place)


def _row(trial: TrialRow) -> Sequence[object]:
    config = ", ".join(f"{name}={shown(value)}" for name, value in trial["config"].items())
    values = (shown(value) for value in trial["values"].values())
    return trial["number"], *values, trial["state"], trial["budget"], config


def _failures(history: History) -> list[str]:
    failed = [trial for trial in history.trials if trial.state in (State.FAILED, State.INFEASIBLE)]
    last = failed[-FAILURES:]
    head = [f"<h2>{len(failed)} without a value, the last {len(last)}</h2>"] if failed else []
    return head + [
        f"<p>trial {each.number}, {each.state.value}</p><pre>{escaped(each.reason or '')}</pre>" for each in last
    ]
