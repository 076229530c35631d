"""Objectives that are known before training: functions of the configuration, as the number of parameters, a price, a latency.

The journal keeps the value of each trial and not the function, which is code: whoever goes on with a study hands it over again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from xstar.core.checks import as_float
from xstar.core.goals import Goals
from xstar.errors import InvalidArgument

Function = Callable[[dict[str, Any]], float]
RULED_OUT = -1
"""The number of the trial of a configuration beyond a threshold, which has none."""


class KnownObjectives:
    """The values that the known objectives of a study have, computed once for each configuration."""

    def __init__(self, goals: Goals, functions: Mapping[str, Function]) -> None:
        self._goals = goals
        self._functions = functions
        self._limits = {
            each.metric: each.sign * each.threshold for each in goals if each.known and each.threshold is not None
        }

    @classmethod
    def of(cls, goals: Goals, functions: Mapping[str, Function]) -> KnownObjectives | None:
        """Those of a study; ``None`` if all of its objectives are learned."""
        return cls(goals, functions) if goals.known else None

    def values(self, config: Mapping[str, Any]) -> dict[str, float]:
        """What each of them is for a configuration."""
        return {each.metric: self.value(each.metric, config) for each in self._goals if each.known}

    def value(self, metric: str, config: Mapping[str, Any]) -> float:
        """What one of them is for a configuration."""
        if metric not in self._functions:
            rule = f"needs the function of the known objective {metric!r}, which no journal keeps"
            raise InvalidArgument("metric", rule, None, f"pass metric={{…, {metric!r}: xs.Known(function)}} again")
        given = self._functions[metric](dict(config))
        found = as_float(given)
        if found is None or not math.isfinite(found):
            rule = f"the function of {metric!r} must give a finite number for every configuration"
            raise InvalidArgument("metric", rule, given, f"it was called with {dict(config)}")
        return found

    def beyond(self, config: Mapping[str, Any]) -> str | None:
        """The first of them that is beyond its threshold for a configuration; ``None``: none is."""
        return next((m for m, limit in self._limits.items() if self._sign(m) * self.value(m, config) > limit), None)

    def _sign(self, metric: str) -> float:
        return self._goals.signs[self._goals.metrics.index(metric)]
