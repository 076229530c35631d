"""A wider space for a study that has begun: checked here, recorded as an event, folded by the history.

The trials so far stay what they were. Decisions before the event are made, and recomputed, in the old space, those after it in
the new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xstar.errors import InvalidArgument, InvalidConfig
from xstar.journal import History
from xstar.journal import events as ev
from xstar.space import Space
from xstar.space.widening import check_fill, first_problem, narrower


def widened(history: History, space: Space, fill: Mapping[str, Any] | None, at: float) -> ev.Widened | None:
    """The event that gives a study a wider space; ``None`` if it has that space already."""
    if not isinstance(space, Space):
        raise InvalidArgument("space", "must be an xs.Space", type(space).__name__, "e.g. xs.Space(lr=xs.Float(0, 1))")
    old = history.space
    if space == old:
        return None
    if lost := narrower(old, space):
        remedy = "leave what there is, or start a new study with warm_start"
        raise InvalidArgument("space", "must hold all that the space so far holds", "; ".join(lost), remedy)
    try:
        values = check_fill(fill or {}, old, space)
    except InvalidConfig as error:
        raise InvalidArgument("fill", "must give values of new parameters", str(error)) from None
    if problem := first_problem(_configs(history), space, values):
        raise InvalidArgument("space", "every configuration so far must have a place in it", problem)
    return ev.Widened(space.to_json(), space.dump(values), at)


def _configs(history: History) -> list[Any]:
    return [trial.config for trial in history.trials] + [each for one in history.brought for each in one.configs]


def is_wider(old: Space, new: Space) -> bool:
    """Whether one space holds another and more."""
    return new != old and not narrower(old, new)
