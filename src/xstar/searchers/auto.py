"""The default searcher: a Gaussian process while there are few observations, DNGO after that.

Choose it when you do not know how many trials there will be. Its suggestions are those of ``GP()`` and ``DNGO()``. Only
the number of observations decides which of them is used, and the suggestion's origin records the choice. Both need to compare
values. They cannot for a :class:`~xstar.space.Domain` whose values are neither in the unit cube nor networks (a
permutation, a tree). If the space has one, good configurations are mutated instead (``Evolution()``), and the origin
records why.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from xstar.core.checks import check_counts
from xstar.core.goals import Goals
from xstar.journal import History
from xstar.journal.trial import Done, New, Origin, Suggestion
from xstar.nets.catalogue import is_of_networks
from xstar.searchers.base import SEARCHERS, of_several
from xstar.searchers.dngo.searcher import DNGO
from xstar.searchers.evolution import Evolution
from xstar.searchers.gp.searcher import GP, PRIOR_WEIGHT, checked_weight
from xstar.space import Parameter, Space

SWITCH = 1000
"""At this count both take 0.09 s for a suggestion (Hartmann's function, one core). At 300 the GP takes a third of
DNGO's time and at 3,000 it takes 1.4 times as long. From 500 on it is fitted to a subset of the observations only."""


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

    def __post_init__(self) -> None:
        check_counts(self, {"switch": 1})
        object.__setattr__(self, "prior_weight", checked_weight(self.prior_weight))

    @property
    def _gp(self) -> GP:
        return GP(prior_weight=self.prior_weight)

    def handles(self, goals: Goals) -> bool:
        """As the searcher that it chooses does."""
        return True

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        if names := without_model(history.space):
            made = of_several(Evolution(), history, task, rng)
            reason = f"no model knows {', '.join(names)}; "
        else:
            made = of_several(self._gp if len(history.observed_inside) < self.switch else DNGO(), history, task, rng)
            reason = ""
        if isinstance(made, Done):
            return made
        origin = Origin.of(made.origin).within("auto")
        return Suggestion(made.config, Origin("auto", reason + origin.detail, **origin.numbers), made.budget)


SEARCHERS.register("auto", Auto)
