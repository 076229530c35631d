"""Recompute every decision of a study from the events before it.

A decision is a function of the events it had seen and of (seed, trial number). So anyone with the journal can make it again
and compare: which trial was started with which configuration and budget, and what each report was answered.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from xstar.core.randomness import Streams
from xstar.errors import InvalidConfig, InvalidReport
from xstar.journal import History
from xstar.journal import events as ev
from xstar.schedulers import Scheduler
from xstar.searchers import Searcher
from xstar.space import Space
from xstar.study import Study
from xstar.study.decisions import Policy, Start
from xstar.trial import Done, Wait

Decision = Start | ev.Reported
DECISIONS = (ev.Asked, ev.Started, ev.Reported)


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found."""

    decisions: int
    """How many decisions were recomputed."""
    findings: list[str]
    """A sentence for each that came out differently; empty when all is well."""


def audit(study: Study) -> Audit:
    """Make every decision of ``study`` again."""
    return audit_events(list(study.journal.read(0)), study.scheduler, study.searcher)


def audit_events(events: Sequence[ev.Event], scheduler: Scheduler, searcher: Searcher) -> Audit:
    """Make every decision of a journal again, in one pass over it."""
    first = events[0]
    assert isinstance(first, ev.Created)
    policy = Policy(scheduler, searcher, Streams(first.seed))
    history = History(scheduler.rungs)
    decisions: dict[int, list[tuple[int, Decision]]] = defaultdict(list)  # events seen → decisions made there
    for place, event in enumerate(events):
        if isinstance(event, DECISIONS):
            decisions[event.seen].append((place, event))
    count, findings = 0, []
    for number, event in enumerate(events, start=1):
        history.fold(event)
        for place, made in decisions.pop(number, ()):
            count += 1
            if number > place:
                findings.append(f"{_name(made, place)} claims to have seen {number} events, but {place} came before it")
            elif isinstance(made, ev.Reported):
                findings += _check_report(policy, history, made, place)
            else:
                findings += _check_start(policy, history, made, place)
    for place, made in (pair for pairs in decisions.values() for pair in pairs):
        findings.append(f"{_name(made, place)} claims to have seen {made.seen} events, which is impossible")
    return Audit(count, findings)


def _name(made: Decision, place: int) -> str:
    if isinstance(made, ev.Reported):
        return f"event {place}: the report of trial {made.trial} at budget {made.budget}"
    return f"event {place}: trial {made.trial}"


def _check_start(policy: Policy, history: History, made: Start, place: int) -> list[str]:
    what = _name(made, place)
    findings = _check_config(history.space, made, what) if isinstance(made, ev.Asked) else []
    due = policy.start(history, made.at)
    if isinstance(due, Wait | Done):
        return [*findings, f"{what} was started, but after {made.seen} events the answer is {due}"]
    for field in ("trial", "attempt", "config", "origin", "budget", "bracket", "queued"):
        told, expected = getattr(made, field, None), getattr(due, field, None)
        if told != expected:
            findings.append(
                f"{what}: {field} is {told!r}, recomputed from the first {made.seen} events it is {expected!r}"
            )
    return findings


def _check_config(space: Space, made: ev.Asked, what: str) -> list[str]:
    try:
        space.parse(space.load(made.config))
    except InvalidConfig as error:
        return [f"{what} has a configuration outside its space: {error}"]
    return []


def _check_report(policy: Policy, history: History, made: ev.Reported, place: int) -> list[str]:
    what = _name(made, place)
    if made.trial >= len(history.trials):
        return [f"{what} is for a trial that was never asked for"]
    trial, full = history.trials[made.trial], policy.scheduler.max_budget
    told = made.final and (full is None or made.budget < full)  # by the user; nothing to recompute
    try:
        due = policy.answer(history, trial, made.attempt, made.metrics, made.budget, made.at, final=told)
    except InvalidReport as error:
        return [f"{what} should have been refused: {error}"]
    if isinstance(due, ev.Reported):
        due = replace(due, by=made.by)
    if due != made:
        return [f"{what} was recorded as {made}, recomputed it is {due}"]
    return []
