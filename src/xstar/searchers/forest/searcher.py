"""Bayesian optimisation with a random forest, as in SMAC (Hutter et al. 2011).

Choose it where most parameters are categorical or conditional and the loss jumps from one to the next: trees split off what
matters and assume no smoothness. On smooth functions of a few numbers ``GP()`` needs fewer trials. Under a scheduler
with rungs the budget is one more input.

One suggestion:

    forest      grown from all observations; its trees' disagreement is its uncertainty                   (models/forest.py)
    new ones    from 100 observations on, the leaves they fall into are split again between two growths (models/grafting.py)
    pending     running trials are believed to end as predicted: the trees agree on them from then on
    candidates  log expected improvement is maximised by local search: trees have no gradients    (acquisition/maximise.py)

References: Hutter, Hoos & Leyton-Brown (2011), Sequential model-based optimization for general algorithm configuration, LION 5;
Hutter, Xu, Hoos & Leyton-Brown (2014), Algorithm runtime prediction, Artificial Intelligence 206.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from xstar.core.checks import check_counts, check_shares, check_switches
from xstar.journal import History
from xstar.searchers.base import SEARCHERS
from xstar.searchers.model_based import initial
from xstar.searchers.model_based.observations import Observations
from xstar.trial import Done, New, Suggestion

if TYPE_CHECKING:
    from xstar.searchers.forest.fit import ForestLearner


REGROW = 50
"""A suggestion at 1,000 trials of ten Floats takes 19 ms instead of 102. Best losses after 250 trials, grown anew for one in
50 and for every suggestion (means of three seeds): Hartmann6 −3.275 and −3.275 ± 0.04, Levy6 2.67 and 2.56 ± 2.3,
Styblinski–Tang −190.8 and −186.1 ± 7; FC-Net's protein and NAS-Bench-201 (CIFAR-100) end at their optima either way."""


@dataclass(frozen=True)
class Forest:
    """A random forest with expected improvement."""

    initial: int | None = None
    """Sobol points before the first model-based suggestion. The default is twice the number of parameters, between 5
    and 12. Under a scheduler with rungs it is the number of parameters plus one, between 4 and 10. With an architecture
    it is at least 10."""
    trees: int = 10
    """The number of trees."""
    columns: float = 5 / 6
    """The share of the columns that are tried at each split; the values of a Choice have a column each."""
    least_leaf: int = 1
    """The number of observations in a leaf, at least. More of them smooth out noise."""
    straighten: bool = True
    """Transform skewed losses (Yeo–Johnson)."""
    explore_every: int = 4
    """At full budget, one suggestion in this many aims for an improvement by one standard deviation of the losses instead
    of any improvement; 0: none."""
    limit: int = 1000
    """The number of observations that the forest is grown from, at most: the best quarter and a well-spread rest."""
    regrow: int = REGROW
    """The forest is grown anew when the observations have become more by one in this many, and for every suggestion below
    twice as many; in between the leaves that new ones fall into are split again. 0: for every suggestion."""

    def __post_init__(self) -> None:
        least = {"initial": 1, "trees": 2, "least_leaf": 1, "explore_every": 0, "limit": 10, "regrow": 0}
        check_counts(self, least, optional=("initial",))
        check_shares(self, "columns")
        check_switches(self, "straighten")

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        def learner(history: History, data: Observations) -> ForestLearner:
            from xstar.searchers.forest.fit import ForestLearner  # imported at use: see ``model_based/decision.py``

            return ForestLearner(history, data, self)

        return initial.suggest(history, task, rng, initial.Design("forest", self.initial), learner)


def _of_earlier_releases(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The forest was grown for every suggestion; who asks for the method of today asks for no other."""
    return [data] if "regrow" in data else [{**data, "regrow": 0}, {**data, "regrow": REGROW}]


SEARCHERS.register("forest", Forest, readings=_of_earlier_releases)
