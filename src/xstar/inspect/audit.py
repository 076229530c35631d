"""Recompute every decision of a study from the events before it.

A decision is a function of the events it had seen and of (seed, trial number). So anyone with the journal can make it again
and compare: which trial was started with which configuration and budget, and what each report was answered.

Made with the same versions and kernels, decisions are compared to the last bit. Those made elsewhere (``likeness.py``) are
compared in what is the same on every machine; how alike the configurations are is counted, and no finding. Decisions of another
release of xstar are not made again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from xstar.core.environment import environment
from xstar.core.randomness import Streams
from xstar.errors import InvalidConfig, InvalidReport
from xstar.inspect.likeness import Elsewhere, Likeness, different_numbers, likeness
from xstar.journal import History
from xstar.journal import events as ev
from xstar.schedulers import Scheduler
from xstar.searchers import Searcher
from xstar.space import Space
from xstar.study import Study
from xstar.study.decisions import Policy, Start
from xstar.trial import Done, New, Wait

Decision = Start | ev.Reported
DECISIONS = (ev.Asked, ev.Started, ev.Reported)

Progress = Callable[[int, int], object]
"""Is told how many of how many events were gone through."""


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found."""

    decisions: int
    """How many decisions were recomputed."""
    findings: list[str]
    """A sentence for each that came out differently; empty when all is well."""
    elsewhere: list[Elsewhere] = field(default_factory=list)
    """The suggestions that were made with other versions or kernels, by environment."""


def audit(study: Study, progress: Progress | None = None) -> Audit:
    """Make every decision of ``study`` again."""
    return audit_events(list(study.journal.read(0)), study.scheduler, study.searcher, progress)


def audit_events(
    events: Sequence[ev.Event], scheduler: Scheduler, searcher: Searcher, progress: Progress | None = None
) -> Audit:
    """Make every decision of a journal again, in one pass over it."""
    first = events[0]
    assert isinstance(first, ev.Created)
    environments = [event.parts for event in events if isinstance(event, ev.Environment)]
    if first.environment is not None:
        environments.insert(0, first.environment)
    auditor = _Auditor(Policy(scheduler, searcher, Streams(first.seed)), History(scheduler.rungs), environments)
    decisions: dict[int, list[tuple[int, Decision]]] = defaultdict(list)  # events seen → decisions made there
    for place, event in enumerate(events):
        if isinstance(event, DECISIONS):
            decisions[event.seen].append((place, event))
    count, findings = 0, []
    for number, event in enumerate(events, start=1):
        auditor.history.fold(event)
        for place, made in decisions.pop(number, ()):
            count += 1
            if number > place:
                findings.append(f"{_name(made, place)} claims to have seen {number} events, but {place} came before it")
            else:
                findings += auditor.check(made, place)
        if progress is not None:
            progress(number, len(events))
    for place, made in (pair for pairs in decisions.values() for pair in pairs):
        findings.append(f"{_name(made, place)} claims to have seen {made.seen} events, which is impossible")
    return Audit(count, findings, [each for each in auditor.elsewhere.values() if each.counts])


def _name(made: Decision, place: int) -> str:
    if isinstance(made, ev.Reported):
        return f"event {place}: the report of trial {made.trial} at budget {made.budget}"
    return f"event {place}: trial {made.trial}"


class _Auditor:
    """Makes decisions again, each when the history has seen what it had seen."""

    def __init__(self, policy: Policy, history: History, environments: Sequence[Mapping[str, str]]) -> None:
        self.policy = policy
        self.history = history
        here = environment()
        self.elsewhere = {
            place: Elsewhere(there, here) for place, there in enumerate(environments) if dict(there) != dict(here)
        }
        """The environments unlike this one, by their place in the journal."""

    def check(self, made: Decision, place: int) -> list[str]:
        """What is wrong with a decision, in sentences."""
        what, elsewhere = _name(made, place), self.elsewhere.get(made.by)
        same_release = elsewhere is None or elsewhere.same_release
        if isinstance(made, ev.Reported):
            return self._check_report(made, what) if same_release else []
        findings = _check_config(self.history.space, made, what) if isinstance(made, ev.Asked) else []
        if same_release and (elsewhere is None or not findings):
            return findings + self._check_start(made, what, elsewhere)
        if isinstance(made, ev.Asked) and elsewhere is not None:
            elsewhere.counts[Likeness.NOT_COMPARABLE] += 1
        return findings

    def _check_start(self, made: Start, what: str, elsewhere: Elsewhere | None) -> list[str]:
        history = self.history
        task, trace = self.policy.due(history, made.at), None
        if elsewhere is not None:
            from xstar.searchers.bo.decision import DecisionTrace  # at use: SciPy loads slowly

            trace = history.memo.put(DecisionTrace())
        due = self.policy.new(history, task, made.at) if isinstance(task, New) else task
        if isinstance(due, Wait | Done):
            return [f"{what} was started, but after {made.seen} events the answer is {due}"]
        exact = ["trial", "attempt", "bracket", "queued"]
        if elsewhere is None or not isinstance(task, New) or made.budget not in task.choices:
            exact.append("budget")
        if elsewhere is None:
            exact += ["config", "origin"]
        pairs = {field: (getattr(made, field, None), getattr(due, field, None)) for field in exact}
        if elsewhere is not None and isinstance(made, ev.Asked) and isinstance(due, ev.Asked):
            elsewhere.counts[likeness(made, due, history, trace)] += 1
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
