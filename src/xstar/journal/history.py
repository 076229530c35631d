"""The fold of a journal: what its events add up to, indexed for the questions that searchers and schedulers ask.

    question                                cost        answer
    how many events are folded?             O(1)        ``seen``, ``claims``
    trial n                                 O(1)        ``trials[n]``
    which run, pause, wait to run again?    O(1)        ``running``, ``paused``, ``waiting`` (by number, oldest first)
    how many are in a state?                O(1)        ``count(state)``
    the best so far                         O(1)        ``best``, ``since_best`` (amortised O(log n) before any is complete)
    the best at any time                    O(1)        ``best_over_time``
    was this configuration tried?           O(1)        ``tried(config)``
    the records at a rung, best first       O(log n)    ``rung(budget, bracket)``
    what happened since I last looked?      O(1)        ``ended``, ``touched``, ``observed`` (append-only: keep a position)
    what a user wants tried first           O(1)        ``queue``
    what other studies observed             O(1)        ``prior_studies``
    where were decisions made?              O(1)        ``environments``

Folding one event costs O(log n) at most. Two histories that folded the same events answer alike; nothing here reads a
clock, a random number or a file.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from xstar.core.goals import Goals, Losses
from xstar.errors import CorruptJournal, InvalidConfig
from xstar.journal import events as ev
from xstar.journal.constraints import BothSides, broken, measured, read_bounds
from xstar.journal.incumbent import Front, Incumbent, Step
from xstar.journal.known import RULED_OUT, KnownObjectives
from xstar.journal.memo import Memo
from xstar.journal.messages import MEMORIES
from xstar.journal.prior_study import PriorObservations, read_prior_study
from xstar.journal.reshaping import inside, queue_inside, reshape
from xstar.journal.rules import MOST_TIMES_LOST
from xstar.journal.rung import Rung, Rungs, Standing, ranking, standing
from xstar.journal.trial import LIVE, Config, Origin, State, Trial, TrialsByState, Verdict, stand_for
from xstar.space import Space
from xstar.space.transfer import narrower

ADDED = Origin("added")


class History:
    """The state of a study after the first ``seen`` events of its journal."""

    def __init__(self, rungs: Iterable[int] = ()) -> None:
        self.seen = 0
        self.claims = 0
        """How many of the events took a trial's number or started a run (:data:`~xstar.journal.events.CLAIMS`)."""
        self.trials: list[Trial] = []
        self._states = TrialsByState()
        self.running = self._states.running
        self.paused = self._states.paused
        self.waiting = self._states.waiting
        self.queue: deque[tuple[int, Config]] = deque()
        self.levels = tuple(rungs)  # the budgets of the scheduler's rungs, ascending
        self._rungs = Rungs(self.levels)
        self.all_rungs = self._rungs.by_place
        """By bracket and budget; see :meth:`rung`."""
        self.started: Counter[int] = Counter()
        """New trials by bracket."""
        self.ended: list[int] = []
        """The trials that are over, in the order in which they ended."""
        self.touched = self._rungs.touched
        """The bracket of every trial that reached a rung or ended, in that order."""
        self.observed: list[tuple[Any, ...]] = []
        """(trial, budget, loss; of several objectives, one loss each) of every report at a rung, and of the last report,
        wherever that was, of every trial that is complete, was stopped, or ended above the bound of a constraint."""
        self.observed_inside = self.observed
        """Those of them that models learn from: of trials that lie in the space as it is now."""
        self.memo = Memo()
        """For searchers and schedulers: what they computed from this history. May be emptied without changing an answer."""
        self.since_best = 0
        """How many trials were over since the best one was."""
        self.asked: Counter[str] = Counter()
        """New trials by the method that suggested them."""
        self.added = 0
        """How many trials are observations made elsewhere."""
        self.prior_studies: list[PriorObservations] = []
        """What other studies observed (``warm_start``): no trials of this one, but searchers may learn from them."""
        self.reshaped = 0
        """After how many events the space became what it is."""
        self.wider_spaces: list[Space] = []
        """The spaces of which this one was made by taking something away: a program that knows one of them may go on."""
        self.acts: list[ev.Enqueued | ev.Reshaped | ev.Held] = []
        """What users did to the study."""
        self.hold = "go"
        """Whether trials may be started; ``pause`` and ``stop`` say no. It changes no decision, only when one is made."""
        self.environments: list[Mapping[str, str]] = []
        """Where decisions were made, in the order in which that became known; events name them by their place here."""
        self.known_objectives: KnownObjectives | None = None
        """The functions of known objectives, which no journal keeps: whoever decides puts them here."""
        self._tried: dict[Hashable, int] = {}
        self._enqueued = 0
        self._incumbent = Incumbent(self.trials, lambda trial: self.violation(trial) is not None)
        self._apply: dict[type[Any], Callable[[Any], None]] = {
            ev.Created: self._created,
            ev.Enqueued: self._enqueue,
            ev.Asked: self._ask,
            ev.Started: self._start,
            ev.Reported: self._report,
            ev.Completed: self._complete,
            ev.Failed: self._fail,
            ev.Lost: self._lose,
            ev.Added: self._add,
            ev.Annotated: self._annotate,
            ev.PriorStudy: self._prior_study,
            ev.Reshaped: self._reshape,
            ev.Held: self._hold,
            ev.Environment: self._environment,
        }

    # ------------------------------------------------------------ questions

    def count(self, *states: State) -> int:
        """How many trials are in any of ``states``."""
        return self._states.count(*states)

    @property
    def next_number(self) -> int:
        """The number of the next new trial."""
        return len(self.trials)

    @property
    def over(self) -> int:
        """How many trials can no longer change."""
        return len(self.trials) - len(self.running) - len(self.paused) - len(self.waiting)

    def rung(self, budget: int, bracket: int = 0) -> Rung:
        """The records at a budget of the scheduler's ladder, in one bracket."""
        return self._rungs.at(budget, bracket)

    def tried(self, config: Config) -> int | None:
        """The number of the first trial of this very configuration, finished or not (``RULED_OUT``: by a known objective)."""
        found, known = self._tried.get(self.space.key(config)), self.known_objectives
        return RULED_OUT if found is None and known is not None and known.beyond(config) else found

    @property
    def distinct(self) -> int:
        """How many different configurations have been tried."""
        return len(self._tried)

    @property
    def best(self) -> Trial | None:
        """The complete trial with the lowest loss; before any is complete, the lowest at the highest budget reached."""
        return self._incumbent.best

    def with_goals(self, goals: Goals, observed: Sequence[float]) -> History:
        """Return a copy with another loss for each trial and observation (``searchers/base.py``)."""
        made = copy(self)
        made.goals, made.memo, made.trials = goals, Memo(), [copy(trial) for trial in self.trials]
        made._incumbent = Incumbent(made.trials, lambda trial: False)
        for trial in made.trials:
            stand_for(trial, goals)
            made._incumbent.end(trial, 0.0)
        made.observed = [(*row[:2], loss) for row, loss in zip(self.observed, observed, strict=True)]
        made.observed_inside = [each for each in made.observed if self.trials[each[0]].inside]
        made.running, made.paused, made.waiting = (
            {number: made.trials[number] for number in of} for of in (self.running, self.paused, self.waiting)
        )
        return made

    @property
    def front(self) -> list[Trial]:
        """The complete, feasible trials that no other dominates, in the order of their first objective; of one, the best."""
        if self.goals.several:
            return [self.trials[number] for number in self.fronts.in_order]
        return [] if self.best is None or self.best.state is not State.COMPLETE else [self.best]

    @property
    def has_value(self) -> bool:
        return self.best is not None or len(self.fronts) > 0

    @property
    def best_over_time(self) -> Sequence[Step]:
        """Every change of ``best``, in the order of the journal; the last one is what is best now."""
        return self._incumbent.steps

    @property
    def sources(self) -> list[str]:
        """The names of the studies that this one began with."""
        return [source.name for source in self.prior_studies]

    def violation(self, trial: Trial) -> str | None:
        """Which constraint the last report of a trial breaks, in words; ``None`` if none."""
        return broken(self.bounds, trial.metrics) if self.bounds else None

    def standing(self, metrics: Mapping[str, float]) -> Standing:  # by what a report ranks at a rung
        return standing(self.goals, self.bounds, metrics)

    # ------------------------------------------------------------ the fold

    def extend(self, events: Iterable[ev.Event]) -> None:
        """Fold ``events``, which must be the next ones of the journal."""
        for event in events:
            self.fold(event)

    def fold(self, event: ev.Event) -> None:
        """Fold the next event of the journal."""
        self._apply[type(event)](event)
        self.seen += 1

    def _created(self, event: ev.Created) -> None:
        if self.seen != 0:
            raise CorruptJournal(f"event {self.seen}: a study is created once, at sequence number 0")
        self.bounds = read_bounds(event.constraints)
        """The constraints as the user wrote them; ``created.constraints`` has them as upper bounds."""
        self._both_sides = any(bound.lower for bound in self.bounds)
        self.stored = event
        """The event as it is in the journal."""
        self.created = replace(event, constraints={bound.name: bound.most for bound in self.bounds} or None)
        self.space = Space.from_json(event.space)
        self.seed = event.seed
        self.goals = event.goals
        self._rungs.goals = ranking(self.goals, bounded=bool(self.bounds))
        self.environments += [] if event.environment is None else [event.environment]
        self.fronts = Front(self.goals)

    def _enqueue(self, event: ev.Enqueued) -> None:
        self.queue.append((self._enqueued, self.space.load(event.config)))
        self._enqueued += 1
        self.acts.append(event)

    def _ask(self, event: ev.Asked) -> None:
        self.claims += 1
        origin = Origin.of(event.origin)
        trial = self._open(event.trial, event.config, origin, event.seen, event.at)
        _aim(trial, event)
        self.started[event.bracket] += 1
        self.asked[origin.method] += 1
        if event.queued is not None and self.queue and self.queue[0][0] == event.queued:
            self.queue.popleft()
        self._states.begin(trial)

    def _start(self, event: ev.Started) -> None:
        self.claims += 1
        trial = self._trial(event.trial)
        if trial.state is State.PAUSED:
            self._rungs.resume(trial, self.standing(trial.metrics))
        trial.attempt, trial.target, trial.runs.by = event.attempt, event.budget, event.by
        if trial.runs.contested:
            trial.runs.homes, trial.runs.contested = (*trial.runs.homes, event.attempt), False
        self._states.move(trial, State.RUNNING)

    def _report(self, event: ev.Reported) -> None:
        trial = self._trial(event.trial)
        if event.attempt != trial.attempt or trial.state not in LIVE:
            return  # a late report of a run that was given up: on record, without effect
        if event.budget <= trial.budget:
            return  # someone else reported for the same run at the same time: the first one counts
        self._record(trial, event)
        if event.final:
            self._end(trial, State.COMPLETE, event.at)
        elif event.verdict is Verdict.PAUSE:
            self._states.move(trial, State.PAUSED)
            self._rungs.pause(trial, self.standing(trial.metrics))
        elif event.verdict is Verdict.STOP:
            self._end(trial, State.STOPPED, event.at)
        elif event.budget == trial.target:
            trial.target = self._rungs.above(trial)

    def _complete(self, event: ev.Completed) -> None:
        trial = self._trial(event.trial)
        if event.attempt == trial.attempt and trial.state in LIVE:
            self._end(trial, State.STOPPED if event.pruned else State.COMPLETE, event.at)

    def _fail(self, event: ev.Failed) -> None:
        trial = self._trial(event.trial)
        if event.attempt != trial.attempt or trial.state not in LIVE:
            return
        trial.reason = event.reason
        if event.kind == "killed":
            trial.runs.crashes += 1
            trial.runs.contested = event.may_live
            if trial.runs.crashes <= self.created.retries:
                self._states.move(trial, State.WAITING)
                return
        if event.kind in MEMORIES and trial.runs.alone is None:
            trial.runs.alone = event.kind
            self._states.move(trial, State.WAITING)
            return
        infeasible = event.kind == "infeasible" or event.kind in MEMORIES
        self._end(trial, State.INFEASIBLE if infeasible else State.FAILED, event.at)

    def _lose(self, event: ev.Lost) -> None:
        trial = self._trial(event.trial)
        if event.attempt != trial.attempt or trial.state is not State.RUNNING:
            return
        trial.runs.lost += not event.released
        trial.runs.contested = event.may_live
        trial.reason = event.reason
        if trial.runs.lost <= MOST_TIMES_LOST:
            self._states.move(trial, State.WAITING)
        else:
            trial.reason = f"given up: the program running it died {trial.runs.lost} times; last: {event.reason}"
            self._end(trial, State.FAILED, event.at)

    def _add(self, event: ev.Added) -> None:
        self.claims += 1
        trial = self._open(event.trial, event.config, ADDED, self.seen, event.at)
        trial.bracket = -1  # it ran in none: at no rung is it compared with trials that did
        self._states.begin(trial)
        self.added += 1
        self._record(trial, event)
        self._end(trial, State.COMPLETE, event.at)

    def _annotate(self, event: ev.Annotated) -> None:
        trial = self._trial(event.trial)
        trial.attrs = {**trial.attrs, **event.attrs}

    def _hold(self, event: ev.Held) -> None:
        self.hold = event.state
        self.acts.append(event)

    def _environment(self, event: ev.Environment) -> None:
        self.environments.append(event.parts)

    def _prior_study(self, event: ev.PriorStudy) -> None:
        if self.trials:
            raise CorruptJournal(f"event {self.seen}: what other studies observed comes before the first trial")
        self.prior_studies.append(read_prior_study(event, self.space.load, len(self.goals), f"event {self.seen}"))

    def _reshape(self, event: ev.Reshaped) -> None:
        self.claims += 1
        old, self.space = self.space, Space.from_json(event.space)
        self.reshaped = self.seen + 1
        self.wider_spaces = [*self.wider_spaces, old] if narrower(old, self.space) else []
        fill = self.space.load(event.fill)
        try:
            reshape(self.trials, old, self.space, fill)
            self.prior_studies = [inside(each, old, self.space, fill) for each in self.prior_studies]
        except InvalidConfig as error:
            raise CorruptJournal(f"event {self.seen} (reshaped): {error}") from error
        self.queue = queue_inside(self.queue, self.space)
        self.observed_inside = [each for each in self.observed if self.trials[each[0]].inside]
        self._tried = {}
        for trial in self.trials:
            if trial.inside:
                self._tried.setdefault(self.space.key(trial.config), trial.number)
        self.acts.append(event)
        self.memo.clear()  # all of it was computed in the old space

    # ------------------------------------------------------------ helpers of the fold

    def _open(self, number: int, config: dict[str, Any], origin: Origin, seen: int, at: float) -> Trial:
        if number != len(self.trials):
            raise CorruptJournal(f"event {self.seen} opens trial {number}, but the next number is {len(self.trials)}")
        trial = self._made(number, config, origin, seen, at)
        self.trials.append(trial)
        self._tried.setdefault(self.space.key(trial.config), number)
        return trial

    def _made(self, number: int, config: dict[str, Any], origin: Origin, seen: int, at: float) -> Trial:
        return Trial(number, self.space.load(config), origin, seen, at, self.goals, self.created.trial_value == "best")

    def _trial(self, number: int) -> Trial:
        if not 0 <= number < len(self.trials):
            raise CorruptJournal(f"event {self.seen} speaks of trial {number}, but there are {len(self.trials)} trials")
        return self.trials[number]

    def _record(self, trial: Trial, event: ev.Reported | ev.Added) -> None:
        losses = self.goals.losses(event.metrics)
        if self._both_sides:
            event = replace(event, metrics=BothSides(event.metrics))
        if isinstance(trial.reports, list):
            trial.reports.append(event)
        else:
            # A tuple of one costs 48 bytes, a list of one 88: most trials of a large study report once.
            trial.reports = (event,) if not trial.reports else [*trial.reports, event]
        trial.losses = losses
        trial.lowest = losses if trial.lowest is None else tuple(map(min, losses, trial.lowest))
        trial.budget = event.budget
        if self.levels and event.budget in self.levels:
            self._observe(trial, event.budget, losses)
            self._rungs.record(trial, event.budget, self.standing(event.metrics))
        if not self.goals.several:
            self._incumbent.report(trial, event.at)

    def _observe(self, trial: Trial, budget: int, losses: Losses) -> None:
        self.observed.append((trial.number, budget, *losses))
        if self.observed_inside is not self.observed and trial.inside:
            self.observed_inside.append((trial.number, budget, *losses))

    def _end(self, trial: Trial, state: State, at: float) -> None:
        why = self.violation(trial) if self.created.constraints and state is State.COMPLETE else None
        state = state if why is None else State.INFEASIBLE
        self._states.move(trial, state)
        trial.runs.ended_at = at
        self.ended.append(trial.number)
        self.since_best += 1
        self._rungs.end(trial)
        if why is not None or state in (State.COMPLETE, State.STOPPED):
            trial.reason = why  # in the place of that of an earlier run that was lost
        counts = state in (State.COMPLETE, State.STOPPED) or (why is not None and measured(trial.metrics, self.bounds))
        # At a rung it was observed when it reported.
        if counts and trial.losses is not None and trial.budget not in self.levels:
            self._observe(trial, trial.budget, trial.losses)
        ahead = self.fronts.end(trial, at, len(self.trials)) if self.goals.several else self._incumbent.end(trial, at)
        if ahead:
            self.since_best = 0


def _aim(trial: Trial, event: ev.Asked) -> None:
    trial.target, trial.bracket, trial.runs.by = event.budget, event.bracket, event.by
    trial.known = event.known or trial.known
