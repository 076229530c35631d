"""The two decisions of a study as pure functions of its history: what to start next, and how to answer a report.

The study appends what they return; an audit calls them again on the same history and compares.
"""

from __future__ import annotations

from dataclasses import dataclass

from xstar.core.checks import whole_number
from xstar.core.randomness import Streams
from xstar.errors import InvalidReport
from xstar.journal import History, events as ev
from xstar.journal.known import KnownObjectives
from xstar.journal.trial import (
    LIVE,
    Config,
    Done,
    Metrics,
    New,
    Origin,
    Promote,
    Report,
    Suggestion,
    Trial,
    Verdict,
    Wait,
)
from xstar.schedulers import Scheduler
from xstar.searchers import Searcher
from xstar.searchers.base import of_several

Start = ev.Asked | ev.Started
STARTS = (ev.Asked, ev.Started)  # a tuple: a union would be put together anew at every `isinstance`


MOST_RULED_OUT = 10_000
"""Random configurations that known objectives rule out, one after the other, before a search ends."""


@dataclass(slots=True)
class Policy:
    """Scheduler, searcher and random streams of one study."""

    scheduler: Scheduler
    searcher: Searcher
    streams: Streams
    by: int = 0
    """Which of the study's environments decides."""

    def start(self, history: History, now: float, full: str | None = None) -> Start | Wait | Done:
        """The event that starts the next run; ``full`` says why no *new* trial may begin, if so.

        Trials whose worker or program died go first, oldest first; then the scheduler says how much, and the user's queue
        or the searcher says what.
        """
        due = self.due(history, now)
        if not isinstance(due, New):
            return due
        return self.new(history, due, now) if full is None else Done(full)

    def due(self, history: History, now: float) -> ev.Started | New | Wait | Done:
        """The first half of it: a run of a known trial, or how much a new one is to have. It takes no time."""
        for trial in history.waiting.values():
            return ev.Started(trial.number, trial.attempt + 1, history.seen, now, trial.target, self.by)
        task = self.scheduler.next(history)
        if isinstance(task, Promote):
            attempt = history.trials[task.trial].attempt + 1
            return ev.Started(task.trial, attempt, history.seen, now, task.budget, self.by)
        return task

    def new(self, history: History, task: New, now: float) -> ev.Asked | Done:
        """The second half: what the new trial tries, by the user's queue or by the searcher, which may take its time."""
        number, queued = history.next_number, None
        choice: Suggestion | Done
        if history.queue:
            queued, given = history.queue[0]
            choice = self._enqueued(history, task, queued, given)
        else:
            choice = self._suggested(history, task)
            if isinstance(choice, Done):
                return choice
        config, seen = history.space.dump(choice.config), history.seen
        budget, bracket = task.budget, task.bracket
        if choice.budget in task.choices:
            budget = choice.budget
        known = history.known_objectives.values(choice.config) if history.known_objectives is not None else None
        return ev.Asked(number, config, Origin.of(choice.origin), seen, now, budget, bracket, queued, self.by, known)

    def _suggested(self, history: History, task: New) -> Suggestion | Done:
        rng = self.streams.generator(history.next_number, "suggest")
        if not history.goals.several:
            return self.searcher.suggest(history, task, rng)
        made = of_several(self.searcher, history, task, rng)
        if isinstance(made, Done) or history.known_objectives is None:
            return made
        return self._within(history, history.known_objectives, made)

    def _within(self, history: History, known: KnownObjectives, made: Suggestion) -> Suggestion | Done:
        """The suggestion, or a random one within the thresholds of known objectives. Most searchers avoid what is beyond, as
        they avoid what was tried; those that draw from a distribution do not."""
        metric = known.beyond(made.config)
        if metric is None:
            return made
        rng = self.streams.generator(history.next_number, "within")
        for _ in range(MOST_RULED_OUT):
            config = history.space.sample(rng)
            if known.beyond(config) is None:
                why = f"{Origin.of(made.origin).method} found nothing within the threshold of {metric}"
                return Suggestion(config, Origin("random", why), made.budget)
        return Done(f"none of {MOST_RULED_OUT:,} random configurations is within the threshold of {metric}")

    def _enqueued(self, history: History, task: New, queued: int, given: Config) -> Suggestion:
        """A configuration that a user wants tried; what it leaves open is as the searcher would have it."""
        if history.space.is_complete(given):
            return Suggestion(given, Origin("enqueued", "number {number}", number=queued + 1))
        number = history.next_number
        made = self._suggested(history, task)
        rng = self.streams.generator(number, "complete")
        if isinstance(made, Done):
            made = Suggestion(history.space.sample(rng), f"random: {made.reason}")
        config = history.space.complete(given, made.config, rng)
        detail = "number {number}, completed by {by}"
        return Suggestion(config, Origin("enqueued", detail, number=queued + 1, by=str(made.origin)))

    def answer(
        self,
        history: History,
        trial: Trial,
        run: int,
        metrics: Metrics,
        budget: int | None,
        now: float,
        *,
        final: bool,
        strict: bool = True,
    ) -> ev.Reported | ev.Failed | None:
        """The event that records metrics of the ``run``-th attempt at ``trial``, with its verdict.

        ``None`` if there is nothing to record: a resumed run without a checkpoint trains its first epochs again, and
        (unless ``strict``) someone else may have reported for it. A report of a run that was given up is recorded without
        effect and told to stop.
        """
        number, full = trial.number, self.scheduler.max_budget
        at = trial.budget + 1 if budget is None else budget
        if budget is None and final and trial.target is not None:
            at = max(trial.target, at)
        late = is_late(trial, run)
        if not late:
            if type(at) is not int or at < 1:  # the common case first: an executor's budgets are ints
                at = whole_number(f"budget of trial {number}", at, least=1, error=InvalidReport)
            if at <= trial.budget:
                if run > 0 or not strict:
                    return None
                rule, remedy = f"must be above the last one, {trial.budget}", "count the epochs up, one report for each"
                raise InvalidReport(f"budget of trial {number}", rule, at, remedy)
            if trial.target is not None and at > trial.target:
                rule = f"must not pass its target, {trial.target}"
                remedy = f"report the epochs of trial.epochs(), and at {trial.target} do as the verdict says"
                raise InvalidReport(f"budget of trial {number}", rule, at, remedy)
        if (problem := history.goals.unusable(metrics)) is not None:
            return ev.Failed(number, "nan", f"{problem} at budget {at}", now, run)
        if late:
            return ev.Reported(number, at, metrics, now, history.seen, run, Verdict.STOP, by=self.by)
        if final or (full is not None and at >= full):
            return ev.Reported(number, at, metrics, now, history.seen, run, final=True, by=self.by)
        verdict = self.scheduler.judge(history, Report(number, run, at, metrics))
        return ev.Reported(number, at, metrics, now, history.seen, run, verdict, by=self.by)


def is_late(trial: Trial, run: int) -> bool:
    """Whether the ``run``-th attempt at ``trial`` was given up, or the trial is over, so that its reports change nothing."""
    return run != trial.attempt or trial.state not in LIVE
