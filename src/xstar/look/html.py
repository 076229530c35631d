"""A study as a small table for notebooks."""

from __future__ import annotations

import numpy as np

from xstar.core.markup import escaped, table, value
from xstar.core.words import number, plural, seconds
from xstar.journal import History
from xstar.look.describe import describe, hypervolume, list_facts, say_counts, say_value, trial_row
from xstar.look.view import StudyView

LATEST = 5
"""Trials that a notebook shows of a study: the last ones. A data frame has them all."""
MOST_FRONT = 12
"""Trials of a front that it shows."""


def study_as_html(view: StudyView, stored: str) -> str:
    """What the study is, how far it got, its best and its last trials."""
    made = describe(view, LATEST)

    def written(config: dict[str, object]) -> str:
        return ", ".join(f"{name}={value(given)}" for name, given in config.items())

    rows = [*list_facts(made), ("stored", stored), ("trials", say_counts(made["counts"]))]
    if (best := made["best"]) is not None:
        rows.append(("best", f"{number(best['value'], 6)} (trial {best['number']}): {written(best['config'])}"))
    parts = [f"<b>Study {escaped(made['name'] or '')}</b>", table((), rows)]
    if made["front"]["count"]:
        parts.append(front_as_html(view.history))
    if made["latest"]:
        head = ("trial", "state", made["metric"], "epochs", "time", "configuration")
        last = []
        for each in made["latest"]:
            took = seconds(each["seconds"])
            last.append(
                (each["number"], each["state"], say_value(each, 6), each["budget"], took, written(each["config"]))
            )
        parts.append(table(head, last))
    return f"<div>{''.join(parts)}</div>"


def front_as_html(history: History) -> str:
    """The front of several objectives, or trials that are spread over it, and the volume that it covers."""
    front, names = history.front, list(history.space)
    kept = sorted({round(place) for place in np.linspace(0, len(front) - 1, min(len(front), MOST_FRONT))})
    shown = [trial_row(history, front[place]) for place in kept]
    rows = [
        (each["number"], *map(value, each["values"].values()), *(value(each["config"].get(name, "")) for name in names))
        for each in shown
    ]
    found = hypervolume(history)
    some = f", {len(kept)} of them" if len(kept) < len(front) else ""
    upto = ", ".join(f"{name}={number(each, 6)}" for name, each in found["up_to"].items())
    volume = f"hypervolume {number(found['hypervolume'], 6)} up to {escaped(upto)}"
    head = f"<p>The front, {plural(len(front), 'trial')}{some}; {volume}:</p>"
    return head + table(("trial", *history.goals.metrics, *names), rows)
