"""A new study that begins at any moment of an old one: what would have happened with another method, another seed?

The new journal begins with the same space, metric and constraints and the method asked for; then come the old one's events up
to that moment, as they are: what happened stays a fact under any method. Trials that were running then are recorded as lost,
so that the new study runs them again. Checkpoints stay with the old study, so a trial that goes on trains its epochs again.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from xstar.core.checks import whole_number
from xstar.core.clock import wall_clock
from xstar.errors import InvalidArgument
from xstar.journal import Event, History, MemoryJournal, events as ev
from xstar.schedulers import SCHEDULERS
from xstar.searchers import SEARCHERS
from xstar.study import Study
from xstar.study.methods import resolve
from xstar.study.settings import Settings, check_name

WHY = "it ran in the study that this one was forked from"


def fork_events(
    events: Sequence[Event],
    at: int,
    name: str,
    *,
    method: str | None = None,
    max_budget: int | None = None,
    seed: int | None = None,
) -> list[Event]:
    """The first events of a new study: the old one's after ``at`` events, under another method."""
    check_name(name)
    first = events[0]
    assert isinstance(first, ev.Created)
    at = whole_number("at", at, least=1, remedy=f"the study has {len(events)} events")
    if at > len(events):
        raise InvalidArgument("at", f"must be at most {len(events)}, the events that the study has", at)
    created = _created(first, name, method, max_budget, seed)
    rungs = Settings().parts(created)[1].rungs
    old = _folded(events[:at], Settings().parts(first)[1].rungs)
    _check_rungs(rungs, old)
    made: list[Event] = [created, *events[1:at]]
    history = _folded(made, rungs)
    now = wall_clock()
    if history.hold != "go":  # that wish was about the old one
        made.append(ev.Held("go", now))
    return made + [ev.Lost(trial.number, WHY, now, trial.attempt, released=True) for trial in history.running.values()]


def _folded(events: Sequence[Event], rungs: Sequence[int]) -> History:
    history = History(rungs)
    history.extend(events)
    return history


def _created(first: ev.Created, name: str, method: str | None, max_budget: int | None, seed: int | None) -> ev.Created:
    changed: dict[str, Any] = {
        "files": f"{name}-{secrets.token_hex(3)}",
        "at": first.at,
        "program": None,
    }
    budget = max_budget if max_budget is not None else first.scheduler.get("max_budget")
    if method is not None or max_budget is not None:
        from xstar.space import Space

        found = resolve(method or first.method or None, None, None, budget, Space.from_json(first.space))
        changed |= {"searcher": SEARCHERS.dump(found.searcher), "scheduler": SCHEDULERS.dump(found.scheduler)}
        changed |= {"method": found.name, "why": ""}
    if seed is not None:
        changed["seed"] = whole_number("seed", seed, least=0)
    return replace(first, **changed)


def _check_rungs(rungs: Sequence[int], old: History) -> None:
    """Refuse a ladder that the trials which pause do not stand on: nobody could promote them."""
    stray = sorted({trial.budget for trial in old.paused.values() if trial.budget not in rungs})
    if stray:
        found = f"rungs of the new method: {list(rungs) or 'none'}"
        rule = f"must have rungs at the epochs where trials pause ({', '.join(map(str, stray))})"
        raise InvalidArgument(
            "method", rule, found, "keep the scheduler and max_budget, or fork before the first pause"
        )


def forked(study: Study, at: int | None, name: str | None, **changed: Any) -> Study:
    """``study.fork``: the new study, opened."""
    events = list(study.journal.read(0))
    moment = len(events) if at is None else at
    if study.storage is None:
        if name is not None:
            rule = "a study in memory is forked into memory, without a name"
            raise InvalidArgument("study", rule, name, "leave it out, or fork a stored study")
        made = Study.from_journal(MemoryJournal(fork_events(events, moment, "study", **changed)))
        made.history.known_objectives = study.history.known_objectives
        return made
    target = name or f"{study.name}-fork-{moment}"
    study.storage.create(target, fork_events(events, moment, target, **changed))
    made = Study.open(target, study.storage.database.address)
    made.history.known_objectives = study.history.known_objectives
    return made
