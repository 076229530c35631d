"""``warm_start=``: what other studies observed, copied into the journal of a new one.

A copy, so that the new study says all that its decisions rest on, whatever becomes of the others. What it copies is no
trial: it counts towards no limit and is never the best.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from xstar.core.goals import Goals
from xstar.core.randomness import Streams
from xstar.errors import InvalidArgument
from xstar.journal import History, events as ev
from xstar.journal.trial import State, losses_of
from xstar.searchers import CMA, PBIL, Grid, Random, Searcher, Sobol
from xstar.space import Space
from xstar.space.transfer import carried
from xstar.storage import open_storage
from xstar.study.naming import rungs_of

if TYPE_CHECKING:
    from xstar.study.study import Study

    WarmStart: TypeAlias = str | Study | Sequence[str | Study]

Columns = list[tuple[int, float]]
MOST = 1_000
"""Trials of one source that are copied: the best half, and evenly spaced ones of the others. A model is fitted to fewer."""
WITHOUT = (Random, Sobol, Grid, PBIL, CMA)
"""Searchers that ask for no observation, or for one of their own generation only."""


def prior_studies(
    wanted: Any,
    space: Space,
    goals: Goals,
    searcher: Searcher,
    seed: int,
    storage: str | os.PathLike[str] | None,
    at: float,
) -> list[ev.PriorStudy]:
    """The events with which a study begins that is started from ``wanted``."""
    sources = listed(wanted)
    if sources and isinstance(searcher, WITHOUT):
        rule = f"is of no use to {type(searcher).__name__}, which does not learn from observations made before"
        raise InvalidArgument(
            "warm_start", rule, [_name(each) for each in sources], 'e.g. method="gp", or leave it out'
        )
    made = []
    for number, source in enumerate(sources):
        history = _stored(source, storage) if isinstance(source, str) else source.refresh()
        rng = Streams(seed).generator(number, "carry")
        made.append(_copy(_name(source), history, space, _columns(history.goals, goals), rng, at))
    return made


def _columns(theirs: Goals, ours: Goals) -> Columns:
    """Where each of our objectives stands among the losses of a source, and its sign there.

    Several objectives are told apart by their names; the only one of a study may have had another name.
    """
    if not ours.several and not theirs.several:
        return [(0, 1.0)]
    if set(theirs.metrics) != set(ours.metrics):
        rule = f"must be of a study with the same objectives, {', '.join(ours.metrics)}"
        raise InvalidArgument("warm_start", rule, ", ".join(theirs.metrics))
    places = [theirs.metrics.index(name) for name in ours.metrics]
    return [(place, theirs.signs[place] * sign) for place, sign in zip(places, ours.signs, strict=True)]


def listed(wanted: Any) -> list[Any]:
    """The sources one by one: names of stored studies, or studies."""
    several = [] if wanted is None else list(wanted) if isinstance(wanted, list | tuple) else [wanted]
    for each in several:
        if not isinstance(each, str) and not callable(getattr(each, "refresh", None)):
            remedy = 'e.g. warm_start="digits", or warm_start=[study, "digits"]'
            raise InvalidArgument(
                "warm_start", "must be the name of a study, a study, or a list of these", each, remedy
            )
    return several


def names(wanted: Any) -> list[str]:
    """The sources by name."""
    return [_name(each) for each in listed(wanted)]


def _name(source: Any) -> str:
    return source if isinstance(source, str) else (source.name or "")


def _stored(name: str, storage: str | os.PathLike[str] | None) -> History:
    database = open_storage(storage)
    try:
        events = list(database.open(name).read(0))
    finally:
        database.close()
    assert isinstance(events[0], ev.Created)
    history = History(rungs_of(events[0]))
    history.extend(events)
    return history


def _copy(
    name: str, history: History, space: Space, columns: Columns, rng: np.random.Generator, at: float
) -> ev.PriorStudy:
    usable = _usable(history)
    configs: dict[int, dict[str, Any]] = {}
    for number in usable:
        config = carried(history.trials[number].config, space, rng)
        if config is not None:
            configs[number] = space.dump(config)
    kept = _some(list(configs), history)
    if len(kept) < 2:
        rule = f"study {name!r} must have at least two trials with a value that lie in this space"
        found = f"{len(kept)} of {len(usable)} trials with a value"
        remedy = "; ".join(space.difference(history.space)[:3]) or "let it run for longer"
        raise InvalidArgument("warm_start", rule, found, remedy)
    index = {number: index for index, number in enumerate(kept)}
    observed = [
        [index[number], budget, *(sign * losses[place] for place, sign in columns)]
        for number, budget, *losses in history.observed
        if number in index
    ]
    return ev.PriorStudy(name, [configs[number] for number in kept], observed, at, len(usable) - len(kept))


def _usable(history: History) -> list[int]:
    """The feasible trials with an observation, in the order of their numbers."""
    out = (State.FAILED, State.INFEASIBLE)
    observed = sorted({number for number, *_ in history.observed})
    trials = (history.trials[number] for number in observed)
    return [each.number for each in trials if each.state not in out and history.violation(each) is None]


def _some(numbers: list[int], history: History) -> list[int]:
    """At most ``MOST`` of the trials, in the order of their numbers."""
    if len(numbers) <= MOST:
        return numbers
    trials = history.trials
    ranking = np.argsort(history.goals.ordered([losses_of(trials[number]) for number in numbers]))
    place = dict(zip(numbers, ranking.tolist(), strict=True))
    order = sorted(numbers, key=lambda number: (-trials[number].budget, place[number]))
    best, others = order[: MOST // 2], sorted(order[MOST // 2 :])
    spaced = np.linspace(0, len(others) - 1, MOST - len(best)).round().astype(int)
    return sorted({*best, *(others[index] for index in spaced.tolist())})
