"""Recompute every decision of a study from the events before it.

A decision is a function of the events it had seen and of (seed, trial number). So anyone with the journal can make it again
and compare: which trial was started with which configuration and budget, and what each report was answered.

Made with the same versions and kernels, decisions are compared to the last bit. Those made elsewhere (``likeness.py``) are
compared in what is the same on every machine; how alike the configurations are is counted, and no finding. Decisions of another
release of xstar are not made again.
"""

from __future__ import annotations

import math
import multiprocessing
import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from xstar.core.clock import monotonic_clock
from xstar.core.environment import environment, without_host
from xstar.core.randomness import Streams
from xstar.errors import InvalidConfig, InvalidReport
from xstar.journal import History, events as ev
from xstar.journal.known import KnownObjectives
from xstar.journal.trial import Done, New, Origin, Wait
from xstar.look.likeness import Likeness, OtherEnvironment, different_numbers, likeness
from xstar.schedulers import Scheduler
from xstar.searchers import Searcher
from xstar.space import Space
from xstar.study import Study
from xstar.study.decisions import Policy, Start

Decision = Start | ev.Reported
DECISIONS = (ev.Asked, ev.Started, ev.Reported)

ENOUGH = 100
"""Decisions for each process: it takes about a second to start and to read the journal."""

Progress = Callable[[int, int], object]
"""A callback: the events done, and how many there are."""


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found."""

    decisions: int
    """How many decisions were recomputed."""
    findings: list[str]
    """A sentence for each that came out differently; empty when all is well."""
    other_environments: list[OtherEnvironment] = field(default_factory=list)
    """The suggestions that were made with other versions or kernels, by environment."""
    spent: dict[str, float] = field(default_factory=dict)
    """Seconds by what was decided: suggestions by their method, promotions, verdicts."""

    def to_json(self) -> dict[str, Any]:
        """What was found, and where the time went."""
        others = [str(each) for each in self.other_environments]
        return {
            "decisions": self.decisions,
            "findings": self.findings,
            "other_environments": others,
            "seconds": self.spent,
        }

    def with_part(self, other: Audit) -> Audit:
        """This audit and that of the decisions after it."""
        merged = {str(each.there): each for each in self.other_environments}
        for each in other.other_environments:
            first = merged.setdefault(str(each.there), each)
            if first is not each:
                first.counts.update(each.counts)
        return Audit(
            self.decisions + other.decisions,
            self.findings + other.findings,
            list(merged.values()),
            {what: self.spent.get(what, 0.0) + other.spent.get(what, 0.0) for what in {**self.spent, **other.spent}},
        )


def audit(study: Study, progress: Progress | None = None) -> Audit:
    """Make every decision of ``study`` again."""
    events = list(study.journal.read(0))
    return audit_events(events, study.scheduler, study.searcher, progress, known=study.history.known_objectives)


def audit_events(
    events: Sequence[ev.Event],
    scheduler: Scheduler,
    searcher: Searcher,
    progress: Progress | None = None,
    part: tuple[int, int] | None = None,
    known: KnownObjectives | None = None,
) -> Audit:
    """Make every decision of a journal again, in one pass over it; or a ``part`` of them, from one number up to another."""
    first = events[0]
    assert isinstance(first, ev.Created)
    environments = [event.parts for event in events if isinstance(event, ev.Environment)]
    if first.environment is not None:
        environments.insert(0, first.environment)
    auditor = _Auditor(Policy(scheduler, searcher, Streams(first.seed)), History(scheduler.rungs), environments)
    auditor.history.known_objectives = known or KnownObjectives.of(first.goals, {})
    made = [(place, event) for place, event in enumerate(events) if isinstance(event, DECISIONS)]
    decisions: dict[int, list[tuple[int, Decision]]] = defaultdict(list)  # events seen → decisions made there
    for place, event in made[slice(*part)] if part is not None else made:
        decisions[event.seen].append((place, event))
    count, findings, spent = 0, list[str](), defaultdict[str, float](float)
    for number, folded in enumerate(events, start=1):
        if part is not None and not decisions:
            break
        auditor.history.fold(folded)
        for place, event in decisions.pop(number, ()):
            count += 1
            if number > place:
                findings.append(
                    f"{_name(event, place)} claims to have seen {number} events, but {place} came before it"
                )
                continue
            began = monotonic_clock()
            findings += auditor.check(event, place)
            spent[_kind(event)] += monotonic_clock() - began
        if progress is not None:
            progress(number, len(events))
    for place, event in (pair for pairs in decisions.values() for pair in pairs):
        findings.append(f"{_name(event, place)} claims to have seen {event.seen} events, which is impossible")
    return Audit(count, findings, [each for each in auditor.distinct.values() if each.counts], dict(spent))


def audit_in_parallel(
    events: Sequence[ev.Event],
    scheduler: Scheduler,
    searcher: Searcher,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Audit:
    """The same on several cores; by default on all, as far as there is enough for each to do.

    A decision is made from the events before it, so each process folds the journal up to its own decisions and makes these.
    """
    total = sum(isinstance(event, DECISIONS) for event in events)
    jobs = min(len(os.sched_getaffinity(0)), total // ENOUGH) if jobs is None else min(jobs, total)
    if jobs <= 1:
        return audit_events(events, scheduler, searcher, progress)
    # The cost of a decision grows with what was known: so much that later parts have to be shorter.
    ends = [round(total * math.sqrt(number / jobs)) for number in range(jobs + 1)]
    results: dict[int, Audit] = {}
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        running = {
            pool.submit(audit_events, events, scheduler, searcher, None, part): number
            for number, part in enumerate(pairwise(ends))
        }
        for done in as_completed(running):
            results[running[done]] = done.result()
            if progress is not None:
                progress(sum(each.decisions for each in results.values()), total)
    found = Audit(0, [])
    for number in range(jobs):
        found = found.with_part(results[number])
    return found


def _name(made: Decision, place: int) -> str:
    if isinstance(made, ev.Reported):
        return f"event {place}: the report of trial {made.trial} at budget {made.budget}"
    return f"event {place}: trial {made.trial}"


def _kind(made: Decision) -> str:
    if isinstance(made, ev.Asked):
        return f"suggestions of {Origin.of(made.origin).method}"
    return "promotions" if isinstance(made, ev.Started) else "verdicts"


class _Auditor:
    """Makes decisions again, each when the history has seen what it had seen."""

    def __init__(self, policy: Policy, history: History, environments: Sequence[Mapping[str, str]]) -> None:
        self.policy = policy
        self.history = history
        here, found = dict(environment()), [without_host(each) for each in environments]
        self.distinct = {str(there): OtherEnvironment(there, here) for there in found if there != here}
        """The environments unlike this one; machines may have the same."""
        self.other_environments = {
            place: self.distinct[str(there)] for place, there in enumerate(found) if there != here
        }
        """The same by their place in the journal."""

    def check(self, made: Decision, place: int) -> list[str]:
        """What is wrong with a decision, in sentences."""
        what, unlike = _name(made, place), self.other_environments.get(made.by)
        same_release = unlike is None or unlike.same_release
        if isinstance(made, ev.Reported):
            return self._check_report(made, what) if same_release else []
        findings = _check_config(self.history.space, made, what) if isinstance(made, ev.Asked) else []
        if same_release and (unlike is None or not findings):
            return findings + self._check_start(made, what, unlike)
        if isinstance(made, ev.Asked) and unlike is not None:
            unlike.counts[Likeness.NOT_COMPARABLE] += 1
        return findings

    def _check_start(self, made: Start, what: str, unlike: OtherEnvironment | None) -> list[str]:
        history = self.history
        task, trace = self.policy.due(history, made.at), None
        if unlike is not None:
            from xstar.searchers.bo.trace import DecisionTrace  # at use: SciPy loads slowly

            trace = history.memo.put(DecisionTrace())
        due = self.policy.new(history, task, made.at) if isinstance(task, New) else task
        if isinstance(due, Wait | Done):
            return [f"{what} was started, but after {made.seen} events the answer is {due}"]
        exact = ["trial", "attempt", "bracket", "queued"]
        if unlike is None or not isinstance(task, New) or made.budget not in task.choices:
            exact.append("budget")
        if unlike is None:
            exact += ["config", "origin"]
        pairs = {field: (getattr(made, field, None), getattr(due, field, None)) for field in exact}
        if unlike is not None and isinstance(made, ev.Asked) and isinstance(due, ev.Asked):
            unlike.counts[likeness(made, due, history, trace)] += 1
            pairs |= different_numbers(made, due)
            pairs["the first trial of its configuration"] = self._tried(made), self._tried(due)
        return [
            f"{what}: {name} is {told!r}, recomputed from the first {made.seen} events it is {expected!r}"
            for name, (told, expected) in pairs.items()
            if told != expected
        ]

    def _tried(self, asked: ev.Asked) -> int | None:
        """The first trial of the same configuration, if there was one."""
        return self.history.tried(self.history.space.load(asked.config))

    def _check_report(self, made: ev.Reported, what: str) -> list[str]:
        history, policy = self.history, self.policy
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
        return [] if due == made else [f"{what} was recorded as {made}, recomputed it is {due}"]


def _check_config(space: Space, made: ev.Asked, what: str) -> list[str]:
    try:
        space.parse(space.load(made.config))
    except InvalidConfig as error:
        return [f"{what} has a configuration outside its space: {error}"]
    return []
