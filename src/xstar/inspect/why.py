"""Why a trial was run, and why it was paused, promoted or stopped: recomputed from what was known then.

The journal says how many events a decision had seen. The history of those events is folded again, the decision is made again
(as ``audit`` does), and what it was made of is looked at: the surrogate's mean and uncertainty there, the value of the
acquisition function and that of the runners-up, the place among the records of a rung. Nothing of this is stored.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from xstar.core.randomness import Streams
from xstar.core.words import number, plural, short_config
from xstar.errors import UnknownTrial, XstarError
from xstar.journal import Event, History, Readable
from xstar.journal import events as ev
from xstar.models.standardise import Targets
from xstar.plots.figure import plain
from xstar.plots.network_data import graph_of
from xstar.schedulers import Hyperband, Scheduler
from xstar.schedulers.asha import ASHA, Asynchronous
from xstar.searchers.model_based.decision import NAMES, Witness
from xstar.study.policy import Policy
from xstar.study.settings import Settings
from xstar.trial import Config, Origin, State, Trial, Verdict, last_line

STEPS = 80
"""Halvings when a standardised loss is turned back into a value: more than the digits of a float."""


@dataclass(frozen=True)
class Candidate:
    """A configuration that was compared with others."""

    config: dict[str, Any]
    acquisition: float | None
    mean: float | None
    """What the surrogate expected there, in the user's own direction."""
    low: float | None
    high: float | None
    """Its 95 % interval."""
    chosen: bool = False


@dataclass(frozen=True)
class Turn:
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
    turns: list[Turn] = field(default_factory=list)
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
            interval = f"({number(each.low, 4)} to {number(each.high, 4)})"
            mean = f"expected {number(each.mean, 4)} {interval}" if each.mean is not None else ""
            made.append("  ".join(part for part in (f"  {mark}", value, mean, short_config(each.config)) if part))
        if self.turns:
            made.append("")
        return made + [f"event {turn.event}: " + "; ".join(filter(None, (turn.what, turn.why))) for turn in self.turns]


def why(journal: Readable, trial: int) -> Why:
    """Explain a trial of a journal."""
    events = iter(journal.read(0))
    created = next(events)
    assert isinstance(created, ev.Created)
    searcher, scheduler = Settings().parts(created)
    return _Explaining(created, Policy(scheduler, searcher, Streams(created.seed)), trial).walk(list(events))


class _Explaining:
    """One pass over the journal, with a stop at each decision about the trial."""

    def __init__(self, created: ev.Created, policy: Policy, trial: int) -> None:
        self.policy = policy
        self.trial = trial
        self.history = History(policy.scheduler.rungs)
        self.history.fold(created)
        self.found: Why | None = None

    def walk(self, events: list[Event]) -> Why:
        stops: dict[int, list[tuple[int, Event]]] = defaultdict(list)  # events seen → decisions made there
        for place, event in enumerate(events, start=1):
            if getattr(event, "trial", None) == self.trial:
                seen = getattr(event, "seen", None)
                stops[place if seen is None else min(seen, place)].append((place, event))
        if not stops:
            raise UnknownTrial(f"there is no trial {self.trial}; the journal has {_count(events)}")
        last = max(place for some in stops.values() for place, _ in some)
        turns: list[Turn] = []
        for upcoming in events[: last + 1]:
            for place, decision in stops.pop(self.history.seen, ()):
                turns += self._turn(place, decision)
            self.history.fold(upcoming)
        assert self.found is not None
        self.found.turns = sorted(turns, key=lambda turn: turn.event)
        return self.found

    def _turn(self, place: int, event: Event) -> list[Turn]:
        history, scheduler = self.history, self.policy.scheduler
        match event:
            case ev.Asked():
                self.found = self._choice(event)
                upto = f" to train up to epoch {event.budget}" if event.budget else ""
                return [Turn(place, f"asked for{upto}", "")]
            case ev.Added():
                self.found = Why(
                    event.trial, "added", history.seen, "An observation made elsewhere: nobody chose it here."
                )
                return []
            case ev.Started():
                return [_started(history, scheduler, event, place)]
            case ev.Reported():
                return _reported(history, scheduler, event, place)
            case ev.Failed():
                return [Turn(place, f"failed ({event.kind})", last_line(event.reason))]
            case ev.Lost():
                return [Turn(place, "lost", event.reason)]
            case ev.Completed():
                return [Turn(place, "complete", "the objective returned")]
        return []

    # ------------------------------------------------------------ the searcher

    def _choice(self, asked: ev.Asked) -> Why:
        history = self.history
        made = Why(asked.trial, str(Origin.of(asked.origin)), asked.seen, _known(history))
        if asked.queued is not None:
            made.choice = "It was enqueued, so the searcher was not asked for all of it."
        witness = history.memo.put(Witness())
        try:
            due = self.policy.start(history, asked.at)
        except XstarError as error:
            made.recomputed = f"It cannot be made again here: {error}"
            return made
        alike = isinstance(due, ev.Asked) and due.config == asked.config
        same = "Made again from those events, the decision is the same."
        made.recomputed = same if alike else f"Made again from those events, the decision is another one: {due}."
        if witness.learner is not None and witness.criterion is not None and witness.known is not None:
            improves = witness.criterion.incumbents is not None
            made.acquisition = NAMES[witness.learner.acquisition] if improves else "log p(feasible)"
            made.candidates = _candidates(history, witness, history.space.load(asked.config))
            made.choice = made.choice or _chosen(made)
        return made


def _known(history: History) -> str:
    counts = ", ".join(f"{history.count(state)} {state.value}" for state in State if history.count(state))
    text = f"After {plural(history.seen, 'event')} there were {plural(len(history.trials), 'trial')}"
    text += f" ({counts})" if counts else ""
    if history.best is not None:
        best = history.best
        text += f"; the best {history.created.metric} was {number(best.value, 6)} (trial {best.number})"
    return text + "."


def _chosen(made: Why) -> str:
    rest = [each.acquisition for each in made.candidates if not each.chosen and each.acquisition is not None]
    own = next((each.acquisition for each in made.candidates if each.chosen), None)
    if own is None or not rest:
        return ""
    ahead = own - max(rest)
    return f"{made.acquisition} is {number(own, 4)} there, {number(ahead, 3)} above the best runner-up."


def _candidates(history: History, witness: Witness, chosen: Config) -> list[Candidate]:
    learner, known = witness.learner, witness.known
    assert learner is not None
    assert known is not None
    leading = [(config, value) for config, value in witness.leading if config != chosen]
    own = next((value for config, value in witness.leading if config == chosen), None)
    configs = [chosen, *(config for config, _ in leading)]
    values = [own, *(value for _, value in leading)]
    intervals: list[tuple[float, float, float] | None] = [None] * len(configs)
    if known.models:
        data = learner.data
        domains = zip(data.cube.encoder.domains, data.networks, strict=True)
        networks = [catalogue.enter([config.get(name) for config in configs]) for name, catalogue in domains]
        rows = np.column_stack([data.cube.encoder.encode(configs)[0], *networks])
        if not data.in_numbers:
            rows = data.described(rows)
        predictions = [model.predict(learner.lift(rows)) for model in known.models]
        mean = np.mean([each.mean.mean(axis=1) for each in predictions], axis=0)
        spread = np.mean([each.variance + each.mean.var(axis=1) for each in predictions], axis=0)
        spread += np.var([each.mean.mean(axis=1) for each in predictions], axis=0)
        targets = getattr(learner, "fitted", None)
        scale = targets.targets if targets is not None else learner.learn("loss", *learner._observed()).targets
        pairs = zip(mean.tolist(), spread.tolist(), strict=True)
        intervals = [_interval(history, scale, each, math.sqrt(variance)) for each, variance in pairs]
    made = []
    for place, (config, value, interval) in enumerate(zip(configs, values, intervals, strict=True)):
        mean_, low, high = interval or (None, None, None)
        made.append(Candidate(_written(history, config), value, mean_, low, high, place == 0))
    return made


def _written(history: History, config: Config) -> dict[str, Any]:
    """A configuration for reading: an architecture by its size."""
    made: dict[str, Any] = dict(history.space.dump(config))
    for name, value in config.items():
        graph = graph_of(value)
        if graph is not None:
            made[name] = f"{len(graph.layers)} layers, mass {graph.mass:,.4g}"
    return made


def _interval(history: History, targets: Targets, mean: float, deviation: float) -> tuple[float, float, float]:
    """Mean and 95 % interval as values: quantiles pass through the monotone map from losses to targets and back."""
    losses = [history.sign * _loss(targets, t) for t in (mean, mean - 1.96 * deviation, mean + 1.96 * deviation)]
    return losses[0], min(losses[1:]), max(losses[1:])


def _loss(targets: Targets, target: float) -> float:
    """The loss whose target this is, by bisection; beyond what the map reaches, its end."""
    reach = 1e3 * targets.unit
    low, high = targets.centre - reach, targets.centre + reach
    for _ in range(STEPS):
        middle = (low + high) / 2
        if float(targets(np.array([middle]))[0]) < target:
            low = middle
        else:
            high = middle
    return (low + high) / 2


# ---------------------------------------------------------------- the scheduler


def _standing(history: History, trial: Trial, loss: float, budget: int, scheduler: Scheduler) -> str:
    """The place of a loss among the records of a rung."""
    records = history.rung(budget, trial.bracket).records
    curves = scheduler.distinct(history, budget, trial.bracket) if isinstance(scheduler, ASHA) else None
    others = [record for record in (records if curves is None else curves) if record[1] != trial.number]
    rank, among = bisect_left(others, (loss, trial.number)) + 1, len(others) + 1
    what, value = "" if curves is None else " different curves", number(history.sign * loss, 5)
    text = f"its {history.created.metric} of {value} was number {rank} of {among}{what} at epoch {budget}"
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


def _started(history: History, scheduler: Scheduler, event: ev.Started, place: int) -> Turn:
    trial = history.trials[event.trial]
    upto = f" to epoch {event.budget}" if event.budget else ""
    if trial.state is State.PAUSED:
        standing = _standing(history, trial, trial.known_loss, trial.budget, scheduler)
        if isinstance(scheduler, ASHA) and scheduler.first_up(history) is trial:
            standing = f"the best of those that train quickly, as none is complete yet; {standing}"
        return Turn(place, f"promoted{upto}", standing)
    return Turn(place, f"run again{upto}", trial.reason or "its run was lost")


def _reported(history: History, scheduler: Scheduler, event: ev.Reported, place: int) -> list[Turn]:
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
    return [Turn(place, f"{words}: {value}", reason)]


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


def _count(events: list[Event]) -> str:
    return plural(sum(isinstance(event, ev.Asked | ev.Added) for event in events), "trial")
