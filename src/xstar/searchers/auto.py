"""The default searcher: a Gaussian process while there are few observations, DNGO after that.

Choose it when you do not know how many trials there will be. Its suggestions are those of ``GP()`` and ``DNGO()``. Only
the number of observations decides which of them is used, and the suggestion's origin records the choice. Both need to compare
values. They cannot for a :class:`~xstar.space.Domain` whose values are neither in the unit cube nor networks (a
permutation, a tree). If the space has one, good configurations are mutated instead (``Evolution()``), and the origin
records why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from xstar.core.checks import check_counts
from xstar.journal import History
from xstar.nets.catalogue import is_of_networks
from xstar.searchers.base import SEARCHERS
from xstar.searchers.dngo.searcher import BEFORE_LEVEL as DNGO_BEFORE_LEVEL
from xstar.searchers.dngo.searcher import DNGO, UNFINISHED, UNFINISHED_BEFORE
from xstar.searchers.evolution import Evolution
from xstar.searchers.gp.earlier import (
    BEFORE,
    BEFORE_ALIKE,
    BEFORE_BESIDE,
    BEFORE_COPIES,
    BEFORE_DIVERGED,
    BEFORE_EXHAUSTION,
    BEFORE_LEVEL,
    BEFORE_LONGER,
    BEFORE_NOISY,
    BEFORE_RESTARTS,
    BEFORE_SPREAD,
    BEFORE_STEPS,
    BEFORE_STRAIGHT,
    BEFORE_UNEXPLAINED,
)
from xstar.searchers.gp.searcher import GP
from xstar.searchers.gp.settings import PRIOR_WEIGHT, checked_weight
from xstar.space import Parameter, Space
from xstar.trial import Done, New, Origin, Suggestion

SWITCH = 1000
"""At this count both take 0.09 s for a suggestion (Hartmann's function, one core). At 300 the GP takes a third of
DNGO's time and at 3,000 it takes 1.4 times as long. From 500 on it is fitted to a subset of the observations only."""
TODAY = 15
"""The defaults that a new study has."""
BEFORE_LATER: Mapping[str, Any] = {
    **BEFORE_ALIKE,
    **BEFORE_RESTARTS,
    **BEFORE_COPIES,
    **BEFORE_LEVEL,
    **BEFORE_SPREAD,
    **BEFORE_STRAIGHT,
}
"""What the defaults of before ``GP`` began anew leave off."""
EARLIER: Mapping[int, Mapping[str, Any]] = {
    1: {**BEFORE, "trust_at": "largest"},
    2: {**BEFORE_LATER, **BEFORE_EXHAUSTION, **BEFORE_STEPS, **BEFORE_UNEXPLAINED, "trust_at": "largest"},
    3: {**BEFORE_LATER, **BEFORE_STEPS, **BEFORE_UNEXPLAINED},
    4: {**BEFORE_LATER, **BEFORE_UNEXPLAINED},
    5: {**BEFORE_LATER, **BEFORE_NOISY},
    6: {**BEFORE_LATER, **BEFORE_NOISY},
    7: BEFORE_LATER,
    8: {**BEFORE_ALIKE, **BEFORE_COPIES, **BEFORE_LONGER, **BEFORE_LEVEL, **BEFORE_SPREAD, **BEFORE_STRAIGHT},
    9: {**BEFORE_ALIKE, **BEFORE_LONGER, **BEFORE_LEVEL, **BEFORE_SPREAD, **BEFORE_STRAIGHT},
    10: {**BEFORE_LONGER, **BEFORE_LEVEL, **BEFORE_SPREAD, **BEFORE_STRAIGHT},
    11: {**BEFORE_LEVEL, **BEFORE_STRAIGHT},
    12: BEFORE_LEVEL,
    13: BEFORE_DIVERGED,
    14: BEFORE_BESIDE,
}
"""Settings of the GP with earlier defaults."""
FANTASIES = {1: UNFINISHED_BEFORE[0], 2: UNFINISHED_BEFORE[0], **dict.fromkeys((3, 4, 5), UNFINISHED_BEFORE[1])}
"""``unfinished`` of DNGO with earlier defaults."""
BEFORE_LEVELS = 12
"""The last defaults with which neither spread while losses are level, nor lowered penalties."""
BEFORE_AVOIDING = 8
"""The last defaults with which neither kept away from copies."""


@lru_cache(maxsize=16)
def without_model(space: Space) -> tuple[str, ...]:
    """The parameters whose values no model can compare: domains, unless their values are networks."""
    domains = {name: given for name, given in space.parameters.items() if not isinstance(given, Parameter)}
    return tuple(name for name, domain in domains.items() if not is_of_networks(domain))


@dataclass(frozen=True)
class Auto:
    """``GP()`` below ``switch`` observations, ``DNGO()`` from there on; ``Evolution()`` where neither applies."""

    switch: int = SWITCH
    """The number of observations at which DNGO takes over."""
    prior_weight: float = PRIOR_WEIGHT
    """β of the GP: how much ``prior=`` of parameters counts besides the first trials."""

    defaults: int = TODAY
    """Which defaults GP and DNGO have: 1 for those of before ``benchmarks/generality.py``, 2 for those of before the GP left
    exhausted places, trust in priors needed a comparison (``trust_at``) and DNGO had ``unfinished``, 3 for those of before the
    GP began with steps, 4 for those of before it explored where losses are unexplained, 5 for those of before DNGO left paused
    trials without fantasies, 6 for those of before the GP left off exploring after failures, 7 for those of
    before it began anew, 8 for those of before both kept away from copies and the GP explored over budgets, 9 for those of
    before its length scales of switches had a factor in common, 10 for those of before it spread while nothing has a value and
    waited longer until it began anew, 11 for those of before trials of the GP could go straight to the full budget, 12 for
    those of before both lowered penalties and the GP was less cautious beside options, 13 for those of before diverged trials
    counted as failed for the GP, 14 for those of before its trials went straight to the full budget beside others, 15 for
    today's."""

    def __post_init__(self) -> None:
        check_counts(self, {"switch": 1, "defaults": 1})
        object.__setattr__(self, "prior_weight", checked_weight(self.prior_weight))

    def follow(self, history: History) -> None:
        """Does nothing once DNGO has taken over: no GP was used since."""
        if not without_model(history.space) and len(history.observed) < self.switch:
            self._gp.follow(history)

    @property
    def _gp(self) -> GP:
        return GP(prior_weight=self.prior_weight, **EARLIER.get(self.defaults, {}))

    @property
    def _dngo(self) -> DNGO:
        copies = "ignore" if self.defaults <= BEFORE_AVOIDING else "avoid"
        earlier = DNGO_BEFORE_LEVEL if self.defaults <= BEFORE_LEVELS else {}
        return DNGO(unfinished=FANTASIES.get(self.defaults, UNFINISHED), copies=copies, **earlier)

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        if names := without_model(history.space):
            made = Evolution().suggest(history, task, rng)
            reason = f"no model knows {', '.join(names)}; "
        else:
            made = (self._gp if len(history.observed) < self.switch else self._dngo).suggest(history, task, rng)
            reason = ""
        if isinstance(made, Done):
            return made
        origin = Origin.of(made.origin).within("auto")
        return Suggestion(made.config, Origin("auto", reason + origin.detail, **origin.numbers), made.budget)


def _of_earlier_releases(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What a study of before there were several defaults keeps: the first, and priors that placed the first trials only. Who
    asks for the method of today asks for no other."""
    if "defaults" in data:
        return [data, {**data, "defaults": TODAY}] if data["defaults"] in range(2, TODAY) else [data]
    return [{**data, "prior_weight": 0.0, "defaults": 1}, {**data, "prior_weight": PRIOR_WEIGHT, "defaults": TODAY}]


SEARCHERS.register("auto", Auto, readings=_of_earlier_releases)
