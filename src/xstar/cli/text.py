"""How things are put into words: numbers, durations, configurations, states; and the consoles they are printed on."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from xstar.journal import History
from xstar.trial import State, Trial

STYLES = {
    State.RUNNING: "cyan",
    State.PAUSED: "blue",
    State.WAITING: "yellow",
    State.COMPLETE: "green",
    State.STOPPED: "magenta",
    State.FAILED: "red",
    State.INFEASIBLE: "yellow",
}

PIPED_WIDTH = 160
"""Columns when the output goes to a file or a pipe, which have no width: wide enough that tables need not be squeezed."""


def console(*, stderr: bool = False) -> Console:
    """A console that prints what it is given: a study's words may contain ``[brackets]`` or ``:colons:`` of their own."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PIPED_WIDTH
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False, width=width)


def number(value: float | None, digits: int = 5) -> str:
    """A metric's value for reading, not for computing."""
    return "-" if value is None else f"{value:.{digits}g}"


def seconds(value: float | None) -> str:
    """A duration: ``0.31 s``, ``12.3 s``, ``4 min 05 s``, ``3 h 12 min``."""
    if value is None:
        return "-"
    if value < 60:
        return f"{value:.2f} s" if value < 1 else f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def short(value: Any) -> str:
    """A parameter's value in a few characters."""
    if isinstance(value, float):
        return f"{value:.3g}"
    return value if isinstance(value, str) else str(value)


def short_config(config: Mapping[str, Any]) -> str:
    """A configuration on one line."""
    return " ".join(f"{name}={short(value)}" for name, value in config.items())


def counts(history: History) -> Text:
    """How many trials are in each state that has any, in the states' own order."""
    found = [(state, history.count(state)) for state in State if history.count(state)]
    parts = [Text(f"{count} {state.value}", STYLES[state]) for state, count in found]
    return Text(", ").join(parts) if parts else Text("no trials yet")


def config_table(history: History, trial: Trial) -> Table:
    """Every parameter of the trial with its exact value."""
    table = Table("parameter", "value", title_justify="left")
    for name, value in history.space.dump(trial.config).items():
        table.add_row(name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    return table


def attrs_table(trial: Trial) -> Table:
    """What was noted about the trial."""
    table = Table("attribute", "value", title_justify="left")
    for name, value in trial.attrs.items():
        table.add_row(name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    return table


def command(*words: str) -> str:
    """A command of ours that can be pasted into the shell this program was started from."""
    own = Path(sys.argv[0])
    # A virtual environment that is not activated: the name alone would not be found, or would be someone else's.
    name = sys.argv[0] if own.name == "xstar" and shutil.which("xstar") is None else "xstar"
    return shlex.join([name, *words])
