"""What the commands print: consoles, tables of configurations, commands to paste, and what a search found."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from xstar.core.words import TERMINAL_COMMANDS, last_line, number, plural, seconds
from xstar.errors import InvalidArgument
from xstar.look.progress import Tracker
from xstar.look.progress.terminal import colour_counts, console_on
from xstar.study import DEFAULT_STORAGE
from xstar.study.naming import counts_of, headline


def json_text(value: Any) -> str:
    """JSON to read and to parse: letters as they are, but for what a terminal would obey or cannot write."""
    text = json.dumps(value, ensure_ascii=False)  # which escapes all below a space itself
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value)
    return "".join(f"\\u{ord(c):04x}" if ord(c) in TERMINAL_COMMANDS else c for c in text)


def console(*, stderr: bool = False) -> Console:
    """A console on standard output or standard error."""
    return console_on(sys.stderr if stderr else sys.stdout)


def warn(out: Console) -> Callable[[str], None]:
    """Print messages on a console, as warnings."""
    return lambda text: out.print(Text(text, "yellow"), soft_wrap=True)


def table_of(head: tuple[str, str], values: Mapping[str, Any]) -> Table:
    """Names with their exact values."""
    table = Table(*head, title_justify="left")
    for name, value in values.items():
        table.add_row(name, value if isinstance(value, str) else json_text(value))
    return table


def pairs(argument: str, texts: Iterable[str], example: str) -> dict[str, str]:
    """``["momentum=0.9"]`` → ``{"momentum": "0.9"}``."""
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise InvalidArgument(argument, "must be NAME=VALUE", f"text={text!r}", example)
        found[name] = value
    return found


def command(*words: str) -> str:
    """A command of ours that can be pasted into the shell this program was started from."""
    own = Path(sys.argv[0])
    # A virtual environment that is not activated: the name alone would not be found, or would be someone else's.
    name = sys.argv[0] if own.name == "xstar" and shutil.which("xstar") is None else "xstar"
    return shlex.join([name, *words])


def print_summary(console: Console, tracker: Tracker, reason: str, storage: str) -> bool:
    """Say how the study ended; returns whether any trial has a value."""
    study, best = tracker.study, tracker.study.history.best
    console.print()
    console.print(Text(f"{study.name}: {reason}", "bold"), soft_wrap=True)
    if study.history.front and best is None:
        console.print(Text(headline(study.history), "bold green").append(f" ({study.history.goals.goal})", ""))
    elif best is None:
        console.print(Text("no trial is complete" if study.history.paused else "no trial has a value", "red"))
        for trial in reversed(study.history.trials):
            if trial.reason:
                console.print(f"the last failure (trial {trial.number}): {last_line(trial.reason)}", soft_wrap=True)
                break
    else:
        text = Text("best ").append(f"{study.history.created.metric} {number(best.value, 8)}", "bold green")
        after = f", {plural(best.budget, 'epoch')}" if best.target is not None else ""
        console.print(text.append(f" (trial {best.number}{after}, {study.history.created.direction}d)"))
        console.print(table_of(("parameter", "value"), study.history.space.dump(best.config)))
    console.print(Text("trials: ").append_text(colour_counts(counts_of(study.history))))
    if study.history.paused:
        budgets = ", ".join(map(str, sorted({trial.budget for trial in study.history.paused.values()})))
        rungs = (
            f"paused: they wait at a rung (epoch {budgets}) for more trials to be compared with; with a larger --trials"
        )
        console.print(f"{rungs} the best of them train on", soft_wrap=True)
    console.print(f"this run: {plural(tracker.ended, 'trial')} ended in {seconds(tracker.elapsed)}")
    console.print(f"stored in {storage}", soft_wrap=True)
    where = () if storage == DEFAULT_STORAGE else ("--storage", storage)
    console.print(f"see it:       {command('show', study.name or '', *where)}", soft_wrap=True)
    if tracker.before and tracker.ended == 0:  # nothing was left to do: the user may have wanted more, or a new search
        if tracker.limits.trials is not None:
            console.print("go on:        the same command with a larger --trials", soft_wrap=True)
        console.print(f"start afresh: {command('delete', study.name or '', *where)}", soft_wrap=True)
    return study.history.has_value or bool(study.history.paused)
