"""The two decisions of a study as pure functions of its history: what to start next, and how to answer a report.

The study appends what they return; an audit calls them again on the same history and compares.

A model may take tenths of a second to suggest a configuration. So while all workers train, a program makes the next decision
ahead (``Preparation``). The event says what it had seen (``Asked.seen``), as any other does; until a worker takes it, it is
nowhere but here, and whoever dies with it has lost nothing. It is used if the scheduler still wants the same budget and bracket
and nothing has happened that matters (``Prepared.holds``); otherwise it is dropped, and made again. It is not made where it
would gain nothing: with a single worker, whose result is what the next decision waits for, and unless decisions take much
of the program's time.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from statistics import median

from xstar.core.checks import whole_number
from xstar.core.randomness import Streams
from xstar.errors import InvalidReport
from xstar.executors.clock import processor_clock
from xstar.journal import History, events as ev
from xstar.schedulers import Oblivious, Scheduler
from xstar.searchers import Independent, Searcher
from xstar.searchers.scalarised import of_several
from xstar.space import Space
from xstar.study.ledger import Ledger
from xstar.study.limits import Limits
from xstar.trial import (
    LIVE,
    Config,
    Done,
    Metrics,
    New,
    Origin,
    Promote,
    Report,
    State,
    Suggestion,
    Trial,
    Verdict,
    Wait,
)

Start = ev.Asked | ev.Started
STARTS = (ev.Asked, ev.Started)  # a tuple: a union would be put together anew at every `isinstance`


@dataclass(slots=True)
class Policy:
    """Scheduler, searcher and random streams of one study."""

    scheduler: Scheduler
    searcher: Searcher
    streams: Streams
    by: int = 0
    """Which of the study's environments decides."""
    alone: Independent | None = field(init=False)
    """The searcher, if it and the scheduler may decide without looking at other trials. Found once: that takes longer than
    a suggestion."""

    def __post_init__(self) -> None:
        scheduler, searcher = self.scheduler, self.searcher
        oblivious = isinstance(scheduler, Oblivious) and scheduler.oblivious
        self.alone = searcher if oblivious and isinstance(searcher, Independent) else None

    def is_independent(self, space: Space) -> bool:
        """Whether a new trial is decided on by its number alone, whatever other trials try or find."""
        return self.alone is not None and self.alone.independent(space)

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
        config, seen = history.space.dump(choice.config), history.seen + history.unread
        budget, bracket = task.budget, task.bracket
        if choice.budget in task.choices:
            budget = choice.budget
        return ev.Asked(number, config, Origin.of(choice.origin), seen, now, budget, bracket, queued, self.by)

    def _suggested(self, history: History, task: New) -> Suggestion | Done:
        rng = self.streams.generator(history.next_number, "suggest")
        if history.goals.several:
            return of_several(self.searcher, history, task, rng)
        return self.searcher.suggest(history, task, rng)

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

    def final(self, history: History, begun: Trial, seen: int, metrics: Metrics, now: float) -> ev.Reported | ev.Failed:
        """The same for the one and only report of a trial, as it ``begun``, that the history does not hold."""
        event = self.answer(history, begun, 0, metrics, None, now, final=True)
        assert event is not None, "a trial that has just begun takes any report"
        return replace(event, seen=seen) if isinstance(event, ev.Reported) else event


def is_late(trial: Trial, run: int) -> bool:
    """Whether the ``run``-th attempt at ``trial`` was given up, or the trial is over, so that its reports change nothing."""
    return run != trial.attempt or trial.state not in LIVE


# ---------------------------------------------------------------- decisions made ahead


LEAST_WORKERS = 2
"""Trials that must be running, all slots taken."""

BUSY = 0.25
"""Decisions are made ahead if they take this share of the program's time, or more.

W workers lose at least this share / W of their time to decisions that are made when they ask. The price is that a suggestion
misses the result that freed its worker, as if there were one worker more. Below a quarter there is less to gain than that.
"""

RECENT = 16
"""The share is that of so many decisions; before half as many there is none."""

GROWTH = 10
"""A suggestion made ahead is dropped when the observations have grown by more than a tenth, as models are refitted then. So
the first ten observations never meet one."""

LAST_USES = 8
"""If fewer than half of so many were used (another program took the number, results keep changing the best), none is made for
``REST`` trials."""
REST = 32


@dataclass(frozen=True, slots=True)
class Prepared:
    """A decision that waits for a worker, and what was known when it was made."""

    start: ev.Asked
    task: New
    best: tuple[float, ...]
    """The best trial, or the front."""
    failed: int
    observed: int
    space: Space

    @classmethod
    def of(cls, start: ev.Asked, task: New, history: History) -> Prepared:
        return cls(start, task, _best(history), _failed(history), len(history.observed), history.space)

    def is_due(self, history: History, task: New) -> bool:
        """Whether a worker is to be given it now."""
        return self.task == task and self.holds(history)

    def holds(self, history: History) -> bool:
        """Whether nothing has happened since that matters."""
        return (
            self.start.trial == history.next_number  # also where the trials of others are left unread
            and not history.queue
            and self.space is history.space
            and self.best == _best(history)
            and self.failed == _failed(history)
            and (len(history.observed) - self.observed) * GROWTH <= self.observed
        )


class Preparation:
    """What to start next, decided when a worker asks or before that."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._prepared: Prepared | None = None
        self._decisions: deque[tuple[float, float]] = deque(maxlen=RECENT)
        """When a new trial was decided on, and the seconds of processor time that it took."""
        self._uses: deque[bool] = deque(maxlen=LAST_USES)
        """Whether each of the last ones was used."""
        self._rest = 0

    def start(self, history: History, now: float, moment: float, full: str | None) -> Start | Wait | Done:
        """The event that starts the next run; ``full`` says why no new trial may begin, if so."""
        due = self._policy.due(history, now)
        if not isinstance(due, New):
            return due  # a promotion takes no time, and what is prepared may be due after it
        if full is not None:
            return Done(full)
        prepared = self._take()
        if prepared is not None:
            used = prepared.is_due(history, due)
            self._note_use(used)
            if used:
                return replace(prepared.start, at=now)
        self._rest = max(0, self._rest - 1)
        return self._decide(history, due, now, moment)

    def _wanted(self, history: History, moment: float) -> bool:
        """Whether one is to be made now."""
        if self._prepared is not None:
            if self._prepared.holds(history):
                return False
            self._prepared = None
            self._note_use(False)
        if self._rest or len(self._decisions) < RECENT // 2:
            return False
        since = moment - self._decisions[0][0]
        return sum(seconds for _, seconds in self._decisions) >= BUSY * since

    def prepare(self, ledger: Ledger, limits: Limits, now: float, moment: float, begun: float) -> None:
        """Make the next decision, if that is worthwhile, and if it is one for the searcher."""
        history = ledger.history
        if not self._wanted(history, moment):
            return
        ledger.catch_up()
        if limits.over(history, moment - begun) is not None or limits.full(history) is not None:
            return
        due = self._policy.due(history, now)
        if isinstance(due, New) and not history.queue:
            start = self._decide(history, due, now, moment)
            if isinstance(start, ev.Asked):
                self._prepared = Prepared.of(start, due, history)

    @property
    def seconds(self) -> float | None:
        """The median of the processor time that the latest decisions on new trials took; ``None`` before the first."""
        return median(seconds for _, seconds in self._decisions) if self._decisions else None

    def _decide(self, history: History, task: New, now: float, moment: float) -> Start | Done:
        begun = processor_clock()
        made = self._policy.new(history, task, now)
        self._decisions.append((moment, processor_clock() - begun))
        return made

    def _take(self) -> Prepared | None:
        taken, self._prepared = self._prepared, None
        return taken

    def _note_use(self, used: bool) -> None:
        self._uses.append(used)
        if len(self._uses) == LAST_USES and 2 * sum(self._uses) < LAST_USES:
            self._uses.clear()
            self._rest = REST


def _best(history: History) -> tuple[float, ...]:
    """The best trial and its loss, or the trials of the front."""
    best = history.best
    return tuple(each.number for each in history.front) if best is None else (best.number, best.score)


def _failed(history: History) -> int:
    return history.count(State.FAILED, State.INFEASIBLE)
