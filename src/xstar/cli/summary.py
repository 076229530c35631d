"""What a search found, when it is over: the last thing on the screen and the first thing anyone reads."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from xstar.cli.text import command, config_table
from xstar.core.reasons import last_line
from xstar.core.words import number, plural, seconds
from xstar.progress import Tracker
from xstar.progress.terminal import counts_of
from xstar.study import DEFAULT_STORAGE


def print_summary(console: Console, tracker: Tracker, reason: str, storage: str) -> bool:
    """Say how the study ended; returns whether any trial has a value."""
    study, best = tracker.study, tracker.study.history.best
    console.print()
    console.print(Text(f"{study.name}: {reason}", "bold"), soft_wrap=True)
    if best is None:
        console.print(Text("no trial has a value", "red"))
        for trial in reversed(study.history.trials):
            if trial.reason:
                console.print(f"the last failure (trial {trial.number}): {last_line(trial.reason)}", soft_wrap=True)
                break
    else:
        text = Text("best ").append(f"{study.metric} {number(best.value, 8)}", "bold green")
        after = f", {plural(best.budget, 'epoch')}" if best.target is not None else ""
        console.print(text.append(f" (trial {best.number}{after}, {study.direction}d)"))
        console.print(config_table(study.history, best))
    console.print(Text("trials: ").append_text(counts_of(study.history)))
    console.print(f"this run: {plural(tracker.ended, 'trial')} ended in {seconds(tracker.elapsed)}")
    console.print(f"stored in {storage}", soft_wrap=True)
    where = () if storage == DEFAULT_STORAGE else ("--storage", storage)
    console.print(f"see it:       {command('show', study.name or '', *where)}", soft_wrap=True)
    if tracker.before and tracker.ended == 0:  # nothing was left to do: the user may have wanted more, or a new search
        if tracker.limits.trials is not None:
            console.print("go on:        the same command with a larger --trials", soft_wrap=True)
        console.print(f"start afresh: {command('delete', study.name or '', *where)}", soft_wrap=True)
    return best is not None
