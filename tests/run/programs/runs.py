"""Runs of commands, one job at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from xstar import Command, Verdict
from xstar.core.goals import read_goals
from xstar.journal.trial import Failure, Job, Outcome, Report
from xstar.run import InlineExecutor


def job(folder: Path, *, stop: int | None = None, start: int = 0, attempt: int = 0, **config: Any) -> Job:
    return Job(0, config or {"x": 1}, attempt, start, stop, None if stop is None else max(stop, 9), str(folder))


def run(command: Command, given: Job, metric: str = "loss", stop_at: int | None = None) -> list[Outcome]:
    """All that comes of a job; it is stopped at the report with this budget."""
    executor = InlineExecutor(command, read_goals(metric, None))
    found: list[Outcome] = []

    def hear(outcome: Outcome) -> None:
        found.append(outcome)
        if isinstance(outcome, Report):
            verdict = Verdict.STOP if outcome.budget == stop_at else Verdict.CONTINUE
            executor.obey(outcome, verdict, given.stop)

    executor.listener = hear
    executor.submit(given)
    found += executor.poll()
    executor.close()
    return found


def values(outcomes: list[Outcome], metric: str = "loss") -> list[float]:
    return [outcome.metrics[metric] for outcome in outcomes if isinstance(outcome, Report)]


def failure(outcomes: list[Outcome]) -> Failure:
    last = outcomes[-1]
    assert isinstance(last, Failure), outcomes
    return last


def script(folder: Path, text: str, name: str = "train.sh") -> str:
    """A shell script; returns the command that runs it."""
    (folder / name).write_text(text)
    return f"/bin/sh {folder / name}"
