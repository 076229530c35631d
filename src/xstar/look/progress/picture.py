"""What a progress display shows, in words: the terminal and the notebook differ in how they draw it, not in what."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xstar.core.reasons import last_line
from xstar.core.words import plural, seconds, short_config
from xstar.journal import History
from xstar.journal.constraints import beyond
from xstar.journal.trial import State, Trial
from xstar.look.progress.tracker import BROKEN, Tracker
from xstar.study.loop import went_wrong
from xstar.study.naming import headline

MOST_ROWS = 12
"""Running trials that are listed; with a hundred workers they would not fit the screen."""

CURVE = 12
"""Characters of a learning curve: beside it there is room for a configuration on 80 columns."""

BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Row:
    """A running trial."""

    number: str
    epochs: str
    value: str
    curve: str
    elapsed: str
    config: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A search at a glance."""

    study: str | None
    choice: str
    """The method and why it was chosen; empty where the user chose it."""
    done: int
    total: int | None
    """``limits.trials``."""
    metric: str
    pace: str
    counts: list[tuple[State, int]]
    rungs: str
    """How many trials have reached each of them; empty where there is but one."""
    best: str
    """The best value; empty as long as there is none."""
    best_trial: str
    failure: str
    """The last one; empty: none in this session."""
    running: list[Row]
    more: int
    """How many trials run that are not listed."""
    ending: str | None
    """Why the search ended; ``None``: it has not."""

    @property
    def has_curves(self) -> bool:
        """Whether any listed trial has a curve to show."""
        return any(row.curve for row in self.running)


def take(tracker: Tracker, ending: str | None = None) -> Picture:
    """The picture of the study as it stands."""
    study, history = tracker.study, tracker.study.history
    best, failure = tracker.best, tracker.failure
    running = list(history.running.values())
    return Picture(
        study=study.name,
        choice=choice_of(history),
        done=tracker.done(),
        total=tracker.limits.trials,
        metric=study.metric,
        pace=_pace(tracker, ending is not None),
        counts=[(state, history.count(state)) for state in State if history.count(state)],
        rungs=_rungs(tracker.rungs),
        best=headline(history, 5),
        best_trial="" if best is None else f"{trial_and_state(best)}  {short_config(best.config)}",
        failure="" if failure is None else f"trial {failure.number}: {last_line(failure.reason or '')}",
        running=[_row(tracker, trial) for trial in running[:MOST_ROWS]],
        more=max(0, len(running) - MOST_ROWS),
        ending=ending,
    )


def choice_of(history: History) -> str:
    """The method and why it was chosen, where that was not the user's choice: what a display begins with."""
    created = history.created
    return f"method {created.method}: {created.why}" if created.why else ""


def trial_and_state(trial: Trial) -> str:
    """Which trial, and how far it got unless it is complete: ``trial 7``, ``trial 7, paused after 9 epochs``."""
    if trial.state is State.COMPLETE:
        return f"trial {trial.number}"
    return f"trial {trial.number}, {trial.state.value} after {plural(trial.budget, 'epoch')}"


def in_a_line(tracker: Tracker, trial: Trial) -> str:
    """How a trial ended or paused: ``trial 12 complete error=0.031 (best 0.028, trial 7), 3.2 s, about 5 min left``."""
    if trial.state in (*BROKEN, State.WAITING):
        return went_wrong(trial)
    upto = "" if trial.state is State.COMPLETE else f" after {plural(trial.budget, 'epoch')}"
    text = f"trial {trial.number} {trial.state.value}{upto} {tracker.study.history.goals.words(trial.metrics, 5)}"
    if words := beyond(tracker.study.history.bounds, trial.metrics):
        text += f", {words}"
    if tracker.best is not None:
        text += f" (best {tracker.best.shown()}, trial {tracker.best.number})"
    elif front := tracker.study.history.front:
        text += f" ({plural(len(front), 'trial')} in the front)"
    took, left = trial.seconds if trial.state.over else tracker.running_for(trial), tracker.remaining()
    return f"{text}, {seconds(took)}" + (f", about {seconds(left)} left" if left else "")


def sparkline(values: Sequence[float], width: int = CURVE) -> str:
    """A curve in at most ``width`` characters, from its lowest to its highest value; a blank where it is not finite.

    >>> sparkline([8.0, 4.0, 2.0, 1.0])
    '█▄▂▁'
    """
    if len(values) > width:  # evenly spaced ones, first and last among them
        values = [values[round(place * (len(values) - 1) / (width - 1))] for place in range(width)]
    known = [value for value in values if math.isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    return "".join(_bar(value, low, high) for value in values)


def _bar(value: float, low: float, high: float) -> str:
    if not math.isfinite(value):
        return " "
    # Halved, because the difference of two finite numbers need not be finite.
    share = (value / 2 - low / 2) / (high / 2 - low / 2) if high > low else 0.0
    return BARS[min(len(BARS) - 1, int(share * len(BARS)))]


def _row(tracker: Tracker, trial: Trial) -> Row:
    metric = tracker.study.history.goals.metrics[0]
    reports = list(trial.reports)
    return Row(
        str(trial.number),
        f"{trial.budget}/{trial.target}" if trial.target else str(trial.budget),
        trial.shown(),
        sparkline([reading.metrics[metric] for reading in reports]) if len(reports) > 1 else "",
        seconds(tracker.running_for(trial)),
        short_config(trial.config),
    )


def _rungs(reached: Sequence[tuple[int, int]]) -> str:
    """``9 at epoch 1, 3 at 3, 1 at 9``."""
    return ", ".join(f"{count} at {'' if place else 'epoch '}{budget}" for place, (budget, count) in enumerate(reached))


def _pace(tracker: Tracker, over: bool) -> str:
    text = f"{seconds(tracker.elapsed)} elapsed"
    if (rate := tracker.rate()) is not None:
        text += f", {rate * 60:.3g} trials/min"
    if not over and (left := tracker.remaining()) is not None:
        text += f", about {seconds(left)} left"
    return text
