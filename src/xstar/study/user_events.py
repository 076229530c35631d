"""What a user does to a study, as events: observations made elsewhere, configurations that are to be tried, the wish that it
pauses, stops or goes on, and a wider or narrower space.

The trials so far stay what they were when the space changes. Decisions before that event are made, and recomputed, in the old
space, those after it in the new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xstar.errors import InvalidArgument, InvalidConfig, InvalidReport
from xstar.journal import History, events as ev
from xstar.journal.rules import check_state, checked_budget
from xstar.space import Space
from xstar.space.transfer import check_fill, first_problem, narrowed as narrowed_space, narrower

By = tuple[str, str]
"""Author and reason of an act, as the user gave them."""

STOPPED = "a user stopped the study (study.stop, xstar stop); running it again goes on with it"


def added(history: History, config: Mapping[str, Any], value: Any, budget: int, at: float) -> ev.Added:
    """An observation made elsewhere."""
    space, parsed = history.space, history.goals.parse(value)
    known = space.parse(config)
    parsed |= {} if history.known_objectives is None else history.known_objectives.values(known)
    if (problem := history.goals.unusable(parsed)) is not None:
        raise InvalidReport("value", "must be finite", problem, "leave failed observations out")
    return ev.Added(len(history.trials), space.dump(known), parsed, at, checked_budget(budget))


def enqueued(history: History, config: Mapping[str, Any], at: float, by: By) -> ev.Enqueued:
    """A configuration, or a part of one, to be tried next."""
    return ev.Enqueued(history.space.dump(history.space.parse_partial(config)), at, *by)


def held(history: History, state: str, at: float, by: By) -> ev.Held | None:
    """The wish that no more trials are started, or that they are again; ``None`` if it is so already."""
    check_state(state)
    return None if history.hold == state else ev.Held(state, at, *by)


def narrowed(history: History, changes: Mapping[str, Any], at: float, by: By) -> ev.Reshaped | None:
    """The event that leaves a part of the space; ``None`` if it leaves all of it."""
    space = narrowed_space(history.space, changes)
    return None if space == history.space else ev.Reshaped(space.to_json(), {}, at, *by)


def widened(history: History, space: Space, fill: Mapping[str, Any] | None, at: float, by: By) -> ev.Reshaped | None:
    """The event that gives a study a wider space; ``None`` if it has that space already."""
    if not isinstance(space, Space):
        raise InvalidArgument("space", "must be an xs.Space", type(space).__name__, "e.g. xs.Space(lr=xs.Float(0, 1))")
    old = history.space
    if space == old:
        return None
    if lost := narrower(old, space):
        remedy = "leave what there is; study.narrow takes away"
        raise InvalidArgument("space", "must hold all that the space so far holds", "; ".join(lost), remedy)
    try:
        values = check_fill(fill or {}, old, space)
    except InvalidConfig as error:
        raise InvalidArgument("fill", "must give values of new parameters", str(error)) from None
    if problem := first_problem(_configs(history), space, values):
        raise InvalidArgument("space", "every configuration so far must have a place in it", problem)
    return ev.Reshaped(space.to_json(), space.dump(values), at, *by)


def _configs(history: History) -> list[Any]:
    return [trial.config for trial in history.trials if trial.inside] + [
        each for one in history.prior_studies for each in one.configs
    ]


def is_wider(old: Space, new: Space) -> bool:
    """Whether one space holds another and more."""
    return new != old and not narrower(old, new)
