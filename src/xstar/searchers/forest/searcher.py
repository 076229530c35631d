"""Bayesian optimisation with a random forest, as in SMAC (Hutter et al. 2011).

Choose it where most parameters are categorical or conditional and the loss jumps from one to the next: trees split off what
matters and assume no smoothness. On smooth functions of a few numbers ``GP()`` needs fewer trials. Under a scheduler
with rungs the budget is one more input.

One suggestion:

    forest      grown from all observations; its trees' disagreement is its uncertainty                   (models/forest.py)
    new ones    from 100 observations on, the leaves they fall into are split again between two growths (models/forest.py)
    pending     running trials are believed to end as predicted: the trees agree on them from then on
    candidates  log expected improvement is maximised by local search: trees have no gradients    (acquisition/optimise.py)

References: Hutter, Hoos & Leyton-Brown (2011), Sequential model-based optimization for general algorithm configuration, LION 5;
Hutter, Xu, Hoos & Leyton-Brown (2014), Algorithm runtime prediction, Artificial Intelligence 206.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xstar.core.checks import check_counts, check_shares
from xstar.journal import History
from xstar.journal.trial import Done, New, Suggestion
from xstar.searchers.base import SEARCHERS
from xstar.searchers.bo.design import Design, before_model
from xstar.searchers.bo.observations import Observations


@dataclass(frozen=True)
class Forest:
    """A random forest with expected improvement."""

    initial: int | None = None
    """Sobol points before the first model-based suggestion. The default is twice the number of parameters, between 5
    and 12. Under a scheduler with rungs it is the number of parameters plus one, between 4 and 10. With an architecture
    it is at least 10."""
    trees: int = 10
    """The number of trees."""
    max_features: float = 5 / 6
    """The share of the columns that are tried at each split; the values of a Choice have a column each."""
    min_samples_leaf: int = 1
    """The number of observations in a leaf, at least. More of them smooth out noise."""
    max_observations: int = 1000
    """The number of observations that the forest is grown from, at most: the best quarter and a well-spread rest."""

    def __post_init__(self) -> None:
        least = {"initial": 1, "trees": 2, "min_samples_leaf": 1, "max_observations": 10}
        check_counts(self, least, optional=("initial",))
        check_shares(self, "max_features")

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        observed = before_model(history, task, rng, Design("forest", self.initial))
        if not isinstance(observed, Observations):
            return observed
        from xstar.models.forest import Growth  # imported at use: SciPy loads slowly
        from xstar.searchers.bo.suggest import suggest
        from xstar.searchers.bo.surrogate import Data, DecisionSettings
        from xstar.searchers.forest.surrogate import Trees

        trees = Trees(Growth(self.trees, self.max_features, self.min_samples_leaf), self.max_observations)
        data = Data(history, observed)
        explores = len(history.trials) % 4 == 0
        return suggest(data, trees, DecisionSettings("forest", explores=explores), rng)


SEARCHERS.register("forest", Forest)
