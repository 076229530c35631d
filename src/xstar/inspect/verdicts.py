"""Why a scheduler promoted, paused or stopped a trial: its place among the records of a rung, or the median of the others."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from xstar.core.words import number
from xstar.inspect.explanation import Turn
from xstar.journal import History
from xstar.journal import events as ev
from xstar.schedulers import Hyperband, Scheduler
from xstar.schedulers.asha import ASHA, Asynchronous
from xstar.trial import State, Trial, Verdict


def started(history: History, scheduler: Scheduler, event: ev.Started, place: int) -> Turn:
    """Why a trial runs again."""
    trial = history.trials[event.trial]
    upto = f" to epoch {event.budget}" if event.budget else ""
    if trial.state is State.PAUSED:
        standing = _standing(history, trial, trial.known_loss, trial.budget, scheduler)
        if isinstance(scheduler, ASHA) and scheduler.first_up(history) is trial:
            standing = f"the best of those that train quickly, as none is complete yet; {standing}"
        return Turn(place, f"promoted{upto}", standing)
    return Turn(place, f"run again{upto}", trial.reason or "its run was lost")


def reported(history: History, scheduler: Scheduler, event: ev.Reported, place: int) -> list[Turn]:
    """Why a trial went on, was paused or ended with a report; nothing between two rungs."""
    value = f"{history.created.metric} {number(event.metrics.get(history.created.metric), 5)} at epoch {event.budget}"
    if event.final:
        full = event.budget == scheduler.max_budget
        return [Turn(place, f"complete: {value}", "it has its full budget" if full else "told so")]
    at_rung = event.budget in history.levels
    if event.verdict is Verdict.CONTINUE and not at_rung:
        return []
    trial, loss = history.trials[event.trial], history.loss_of(event.metrics)
    words = {Verdict.CONTINUE: "went on", Verdict.PAUSE: "paused", Verdict.STOP: "stopped"}[event.verdict]
    reason = _standing(history, trial, loss, event.budget, scheduler) if at_rung else _median(history, event)
    halving = scheduler if isinstance(scheduler, Asynchronous) and scheduler.at_rung(trial, event.budget) else None
    if halving is not None and not halving.is_compared(history, trial, event.budget):
        reason = "losses at this epoch differ by little more than noise, and trials pass without a comparison"
    return [Turn(place, f"{words}: {value}", reason)]


def _standing(history: History, trial: Trial, loss: float, budget: int, scheduler: Scheduler) -> str:
    """The place of a loss among the records of a rung."""
    halving = scheduler if isinstance(scheduler, Asynchronous) else None
    rung = history.rung(budget, trial.bracket)
    records = rung.records if halving is None else halving.records(history, budget, trial.bracket)
    curves = scheduler.distinct(history, budget, trial.bracket) if isinstance(scheduler, ASHA) else None
    others = [record for record in (records if curves is None else curves) if record[1] != trial.number]
    rank, among = bisect_left(others, (loss, trial.number)) + 1, len(others) + 1
    what, value = "" if curves is None else " different curves", number(history.sign * loss, 5)
    text = f"its {history.created.metric} of {value} was number {rank} of {among}{what} at epoch {budget}"
    if halving is not None and halving.ties == "latest":
        if halving.says_nothing(records) and records[0][0] == loss:
            return f"{text}, where all are equal and go on"
        if equal := sum(other == loss for other, _ in others):
            text += f" ({equal} like it, of which the latest go on)"
    return text + _quota(scheduler, len(records) + ((loss, trial.number) not in records), budget)


def _quota(scheduler: Scheduler, count: int, budget: int) -> str:
    """How many of a rung's records go on, in words; nothing for schedulers that we do not know."""
    if isinstance(scheduler, Asynchronous) and budget in scheduler.rungs[:-1]:
        place = scheduler.rungs.index(budget)
        kept = scheduler.kept(count, place)
        if not kept and place and scheduler.last_rung == "soon":
            return ", where the best goes on as long as no trial is complete"
        return f", where the best {kept} of them go on"
    if isinstance(scheduler, Hyperband):
        return f", where one in {scheduler.eta} goes on once the rung is full"
    return ""


def _median(history: History, event: ev.Reported) -> str:
    """The rule of median stopping in figures."""
    means = [
        np.mean([history.loss_of(reading.metrics) for reading in trial.reports if reading.budget <= event.budget])
        for trial in history.trials
        if trial.state is State.COMPLETE and any(reading.budget == event.budget for reading in trial.reports)
    ]
    if not means:
        return ""
    middle = number(history.sign * float(np.median(means)), 5)
    return f"the median of the averages of {len(means)} complete trials up to that epoch was {middle}"
