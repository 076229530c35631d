"""The explanation of a trial: what was known, what was compared, what was decided; as text and as JSON.

At its end: what the scheduler made of a trial, in words, from the records that it had seen.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from xstar.core.goals import Losses
from xstar.core.words import number, short_config
from xstar.journal import History, constraints, events as ev
from xstar.journal.rung import ranking
from xstar.journal.trial import State, Trial, Verdict
from xstar.look.plots.figure import plain
from xstar.schedulers import ASHA, Hyperband, Scheduler, StoppingASHA
from xstar.schedulers.rungs import OnRungs


@dataclass(frozen=True)
class Candidate:
    """A configuration that was compared with others."""

    config: dict[str, Any]
    acquisition: float | None
    mean: float | None
    """What the surrogate expected there, in the user's own direction."""
    low: float | None
    high: float | None
    """The range in which the model expected its value; measured, about three in four values lie in it."""
    chosen: bool = False
    feasible: float | None = None
    """The factor by which the model weighted it: how probably it has a value and is within all bounds."""


@dataclass(frozen=True)
class LaterEvent:
    """What was decided about a trial at some moment."""

    event: int
    """The number of the event that records it."""
    what: str
    why: str


@dataclass
class Why:
    """The explanation of one trial."""

    trial: int
    origin: str
    seen: int
    known: str
    """What the searcher knew, in words."""
    choice: str = ""
    """How it chose, in words."""
    acquisition: str = ""
    """The name of the acquisition function; empty where there was none."""
    candidates: list[Candidate] = field(default_factory=list)
    """The chosen configuration and the runners-up."""
    later: list[LaterEvent] = field(default_factory=list)
    recomputed: str = ""
    """Whether the decision came out alike when it was made again."""

    def to_json(self) -> dict[str, Any]:
        """For the dashboard."""
        made: dict[str, Any] = plain(asdict(self))
        return made

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """For a terminal."""
        made = [f"trial {self.trial}: {self.origin}", "", self.known, *([self.choice] if self.choice else [])]
        if self.recomputed:
            made.append(self.recomputed)
        for each in self.candidates:
            mark = "chosen   " if each.chosen else "runner-up"
            value = f"{self.acquisition} {number(each.acquisition, 4)}" if each.acquisition is not None else ""
            ends = f"({number(each.low, 4)} to {number(each.high, 4)} by the model)"
            mean = f"expected {number(each.mean, 4)} {ends}" if each.mean is not None else ""
            holds = f"p(feasible) {number(each.feasible, 2)} by the model" if each.feasible is not None else ""
            made.append(
                "  ".join(part for part in (f"  {mark}", value, mean, holds, short_config(each.config)) if part)
            )
        if self.later:
            made.append("")
        return made + [f"event {each.event}: " + "; ".join(filter(None, (each.what, each.why))) for each in self.later]


def started(history: History, scheduler: Scheduler, event: ev.Started, place: int) -> LaterEvent:
    """Why a trial runs again."""
    trial = history.trials[event.trial]
    upto = f" to epoch {event.budget}" if event.budget else ""
    if trial.state is State.PAUSED:
        return LaterEvent(
            place, f"promoted{upto}", _rank_at_rung(history, trial, trial.metrics, trial.budget, scheduler)
        )
    return LaterEvent(place, f"run again{upto}", trial.reason or "its run was lost")


def reported(history: History, scheduler: Scheduler, event: ev.Reported, place: int) -> list[LaterEvent]:
    """Why a trial went on, was paused or ended with a report; nothing between two rungs."""
    value = f"{_said(history, history.goals.losses(event.metrics))} at epoch {event.budget}"
    if event.final:
        full = event.budget == scheduler.max_budget
        words = "it has its full budget" if full else "told so"
        return [completed(history, place, event.metrics, value, words)]
    at_rung = event.budget in history.levels
    if event.verdict is Verdict.CONTINUE and not at_rung:
        return []
    trial = history.trials[event.trial]
    words = {Verdict.CONTINUE: "went on", Verdict.PAUSE: "paused", Verdict.STOP: "stopped"}[event.verdict]
    reason = (
        _rank_at_rung(history, trial, event.metrics, event.budget, scheduler) if at_rung else _median(history, event)
    )
    if isinstance(scheduler, OnRungs) and at_rung and not scheduler.at_rung(trial, event.budget):
        reason = _not_compared(scheduler, trial)
    return [LaterEvent(place, f"{words}: {value}", reason)]


def completed(
    history: History, place: int, metrics: Mapping[str, float], value: str = "", words: str = "the objective returned"
) -> LaterEvent:
    """The end of a trial with these metrics, which may be beyond a bound."""
    if broken := constraints.broken(history.bounds, metrics):
        return LaterEvent(place, f"infeasible: {broken}", value)
    return LaterEvent(place, f"complete: {value}" if value else "complete", words)


def _not_compared(scheduler: OnRungs, trial: Trial) -> str:
    """Why a report at a rung is not compared there."""
    if trial.target == scheduler.max_budget:
        return "it trains to the full budget at once, and is compared at no rung"
    return f"it is not compared before epoch {trial.target}, where its bracket begins"


def _said(history: History, losses: Losses) -> str:
    """Losses as values, each with its name."""
    each = zip(history.goals.metrics, history.goals.signs, losses, strict=True)
    return ", ".join(f"{name} {number(sign * loss, 5)}" for name, sign, loss in each)


def _rank_at_rung(
    history: History, trial: Trial, metrics: Mapping[str, float], budget: int, scheduler: Scheduler
) -> str:
    """The rank of a report among the records of a rung."""
    losses, standing = history.goals.losses(metrics), history.standing(metrics)
    others = [record for record in history.rung(budget, trial.bracket).records if record[1] != trial.number]
    count = len(others) + 1
    if history.goals.several:
        order = ranking(history.goals, bounded=bool(history.bounds)).ordered(
            [*(record[0] for record in others), standing]
        )
        rank = order.tolist().index(len(others)) + 1
    else:
        rank = bisect_left(others, (standing[0], -1)) + 1
    own = (
        _said(history, losses)
        if history.goals.several
        else (f"{history.created.metric} of {number(history.goals.only.sign * losses[0], 5)}")
    )
    text = f"its {own} was number {rank} of {count} at epoch {budget}"
    if isinstance(scheduler, ASHA | StoppingASHA) and budget in scheduler.rungs[:-1]:
        text += f", where the best {count // scheduler.eta} of them go on"
    if isinstance(scheduler, Hyperband):
        text += f", where one in {scheduler.eta} goes on once the rung is full"
    return text + _behind(history, metrics)


def _behind(history: History, metrics: Mapping[str, float]) -> str:
    """Which bound a report is beyond: it ranks behind all that are within."""
    words = constraints.beyond(history.bounds, metrics)
    return f"; {words}, so it ranks behind all that are within" if words else ""


def _median(history: History, event: ev.Reported) -> str:
    """The rule of median stopping in figures."""
    means = [
        np.mean(
            [history.goals.losses(reading.metrics) for reading in trial.reports if reading.budget <= event.budget],
            axis=0,
        )
        for trial in history.trials
        if trial.state is State.COMPLETE and any(reading.budget == event.budget for reading in trial.reports)
    ]
    if not means:
        return ""
    middle = tuple(np.median(means, axis=0).tolist())
    words = _said(history, middle) if history.goals.several else number(history.goals.only.sign * middle[0], 5)
    text = f"the median of the averages of {len(means)} complete trials up to that epoch was {words}"
    return text + _behind(history, event.metrics)
