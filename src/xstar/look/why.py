"""Why a trial was run, and why it was paused, promoted or stopped: recomputed from what was known then.

The journal says how many events a decision had seen. The history of those events is folded again, the decision is made again
(as ``audit`` does), and what it was made of is looked at: the surrogate's mean and uncertainty there, the value of the
acquisition function and that of the runners-up (``suggestions.py``), the place among the records of a rung
(``explanation.py``). Nothing of this is stored.
"""

from __future__ import annotations

from collections import defaultdict

from xstar.core.randomness import Streams
from xstar.core.words import last_line, plural
from xstar.errors import UnknownTrial, XstarError
from xstar.journal import Event, History, Readable, events as ev
from xstar.journal.known import KnownObjectives
from xstar.journal.messages import MEMORIES
from xstar.journal.trial import Origin
from xstar.look.explanation import LaterEvent, Why as Why, completed, reported, started
from xstar.look.suggestions import compared, known_then, margin
from xstar.searchers.bo.trace import DecisionTrace
from xstar.study.decisions import Policy
from xstar.study.settings import Settings


def why(journal: Readable, trial: int, known: KnownObjectives | None = None) -> Why:
    """Explain a trial of a journal; ``known`` are the functions of its objectives that are known."""
    events = iter(journal.read(0))
    created = next(events)
    assert isinstance(created, ev.Created)
    searcher, scheduler = Settings().parts(created)
    made = _Explaining(created, Policy(scheduler, searcher, Streams(created.seed)), trial)
    made.history.known_objectives = known or KnownObjectives.of(created.goals, {})
    return made.walk(list(events))


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
                stops[min(getattr(event, "seen", place), place)].append((place, event))
        if not stops:
            raise UnknownTrial(f"there is no trial {self.trial}; the journal has {_count(events)}")
        last = max(place for some in stops.values() for place, _ in some)
        later: list[LaterEvent] = []
        for upcoming in events[: last + 1]:
            for place, decision in stops.pop(self.history.seen, ()):
                later += self._later(place, decision)
            self.history.fold(upcoming)
        assert self.found is not None
        self.found.later = sorted(later, key=lambda each: each.event)
        return self.found

    def _later(self, place: int, event: Event) -> list[LaterEvent]:
        history, scheduler = self.history, self.policy.scheduler
        match event:
            case ev.Asked():
                self.found = self._choice(event)
                upto = f", to train to epoch {event.budget}" if event.budget else ""
                return [LaterEvent(place, f"suggested{upto}", "")]
            case ev.Added():
                self.found = Why(
                    event.trial, "added", history.seen, "An observation made elsewhere: nobody chose it here."
                )
                return []
            case ev.Started():
                return [started(history, scheduler, event, place)]
            case ev.Reported():
                return reported(history, scheduler, event, place)
            case ev.Failed(kind="infeasible"):
                return [LaterEvent(place, f"infeasible: {last_line(event.reason)}", "")]
            case ev.Failed(kind=kind) if kind in MEMORIES:
                return [LaterEvent(place, "out of memory beside others, to be run alone", last_line(event.reason))]
            case ev.Failed():
                return [LaterEvent(place, f"failed ({event.kind})", last_line(event.reason))]
            case ev.Lost():
                return [LaterEvent(place, "lost", event.reason)]
            case ev.Completed(pruned=True):
                return [LaterEvent(place, "stopped: it was pruned before its end", "")]
            case ev.Completed():
                return [completed(history, place, history.trials[self.trial].metrics)]
        return []

    # ------------------------------------------------------------ the searcher

    def _choice(self, asked: ev.Asked) -> Why:
        history = self.history
        made = Why(asked.trial, str(Origin.of(asked.origin)), asked.seen, known_then(history))
        if asked.queued is not None:
            made.choice = "It was enqueued, so the searcher was not asked for all of it."
        trace = history.memo.put(DecisionTrace())
        try:
            due = self.policy.start(history, asked.at)
        except XstarError as error:
            made.recomputed = f"It cannot be made again here: {error}"
            return made
        alike = isinstance(due, ev.Asked) and due.config == asked.config
        same = "Made again from those events, the decision is the same."
        made.recomputed = same if alike else f"Made again from those events, the decision is another one: {due}."
        if trace.settings is not None and trace.known is not None:
            made.acquisition = trace.known.acquisition(trace.settings) if trace.known.improvable else "log p(feasible)"
            made.candidates = compared(history, trace, history.space.load(asked.config))
            made.choice = made.choice or margin(made)
        return made


def _count(events: list[Event]) -> str:
    return plural(sum(isinstance(event, ev.Asked | ev.Added) for event in events), "trial")
