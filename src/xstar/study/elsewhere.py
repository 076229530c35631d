"""What comes from outside of a search, as events: observations made elsewhere, configurations that a user wants tried, and the
wish that it pauses, stops or goes on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from xstar.core.metrics import parse_metrics
from xstar.errors import InvalidReport
from xstar.journal import History
from xstar.journal import events as ev
from xstar.journal.rules import check_state, checked_budget

STOPPED = "a user stopped the study (study.hold, xstar hold); running it again goes on with it"


def added(history: History, config: Mapping[str, Any], value: Any, budget: int, at: float) -> ev.Added:
    """An observation made elsewhere."""
    space, metric = history.space, history.created.metric
    parsed, known = parse_metrics(value, metric), space.parse(config)
    if not math.isfinite(parsed[metric]):
        raise InvalidReport("value", "must be finite", parsed[metric], "leave failed observations out")
    return ev.Added(len(history.trials), space.dump(known), parsed, at, checked_budget(budget))


def enqueued(history: History, config: Mapping[str, Any], at: float) -> ev.Enqueued:
    """A configuration, or a part of one, to be tried next."""
    return ev.Enqueued(history.space.dump(history.space.parse_partial(config)), at)


def held(history: History, state: str, at: float) -> ev.Held | None:
    """The wish that no more trials are started, or that they are again; ``None`` if it is so already."""
    check_state(state)
    return None if history.hold == state else ev.Held(state, at)
