"""What comes from outside of a search, as events: observations made elsewhere, and configurations that a user wants tried."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from xstar.core.metrics import parse_metrics
from xstar.errors import InvalidReport
from xstar.journal import History
from xstar.journal import events as ev


def added(history: History, config: Mapping[str, Any], value: Any, budget: int, at: float) -> ev.Added:
    """An observation made elsewhere."""
    space, metric = history.space, history.created.metric
    parsed, known = parse_metrics(value, metric), space.parse(config)
    if not math.isfinite(parsed[metric]):
        raise InvalidReport("value", "must be finite", parsed[metric], "leave failed observations out")
    return ev.Added(len(history.trials), space.dump(known), parsed, at, budget)


def enqueued(history: History, config: Mapping[str, Any], at: float) -> ev.Enqueued:
    """A configuration, or a part of one, to be tried next."""
    return ev.Enqueued(history.space.dump(history.space.parse_partial(config)), at)
