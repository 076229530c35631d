"""BOCA: Bayesian optimisation with continuous approximations (Kandasamy et al. 2017), which chooses the budget, too.

Choose it to compare with MOBSTER, which leaves the budget to a scheduler and resumes trials, where this one begins each anew.
It needs the scheduler ``SearcherBudget``; under another one, which says itself how far to train, it is the GP with a confidence
bound.

Notation (Section 3 of the paper; budgets are its fidelities, r_max is z•)

    symbol      here        meaning
    z           share       a budget as a share of the largest
    λ(z)        share       its cost: the budget itself
    τ(z, x)     std         posterior standard deviation at (x, z)
    κ₀          variance    prior variance
    ξ(z)        gap         information gap √(1 − φ(z)²), where φ is the prior correlation with the full budget
    q           power       1 / (p + d + 2), for p = 1 budget and d parameters

One suggestion: x maximises the upper confidence bound at the full budget (here, of losses, minimises the lower one). Then
z is the cheapest budget from which there is still something to learn at x, and which is far from the full one (equation 4):

    τ(z, x) > √κ₀ ξ(z) λ(z)^q        and        ξ(z) > max ξ / β^(1/2)

or the full budget, if there is none. Two readings of ours: the kernel is that of ``GP`` over (x, r), so φ is its prior
correlation at x; and β^(1/2) is the weight of the confidence bound, but at least ``LEAST_WEIGHT`` (``learner.py``), as nothing
would satisfy the second condition with one below 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from xstar.core.checks import check_counts
from xstar.journal import History
from xstar.journal.trial import Done, New, Origin, Suggestion
from xstar.searchers.base import SEARCHERS, at_random
from xstar.searchers.bo.observations import Observations
from xstar.searchers.bo.suggest import Design, before_model

if TYPE_CHECKING:
    from xstar.searchers.boca.learner import BOCALearner


@dataclass(frozen=True)
class BOCA:
    """A GP with a confidence bound, and with the cheapest budget from which there is something to learn.

    Running trials are hallucinated, as for GP-UCB in parallel (Desautels et al. 2014); the paper evaluates one at a time.
    """

    initial: int | None = None
    """Sobol points before the first model-based suggestion. The default is one more than there are parameters, between 4 and
    10."""
    max_observations: int = 500
    """Maximum number of observations that the model is fitted to."""

    def __post_init__(self) -> None:
        check_counts(self, {"initial": 1, "max_observations": 10}, optional=("initial",))

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        data = before_model(history, task, rng, Design("boca", self.initial, networks_by_index=True))
        if isinstance(data, Done):
            return data
        if isinstance(data, Suggestion):
            return self._initial(history, task, data)
        from xstar.searchers.bo.decision import decide  # imported at use: SciPy loads slowly

        learner = self._learner(history, data)
        made = decide(learner, rng)
        if isinstance(made, str):
            return at_random(history, rng, made)
        if not task.choices:
            return made
        budget = learner.budget_for(made.config, task.choices)
        origin = Origin.of(made.origin)
        chosen = Origin(origin.method, origin.detail + ", to budget {chosen}", **origin.numbers, chosen=budget)
        return Suggestion(made.config, chosen, budget)

    def _learner(self, history: History, data: Observations) -> BOCALearner:
        from xstar.searchers.boca.learner import BOCALearner  # imported at use: SciPy loads slowly
        from xstar.searchers.gp.learner import GPOptions

        limit = self.max_observations
        own = GPOptions("boca", acquisition="ucb", fantasies=0, max_observations=limit, every_rung=True)
        return BOCALearner(history, data, own)

    def _initial(self, history: History, task: New, drawn: Suggestion) -> Suggestion:
        """The initial trials go through the rungs in turn, from the lowest: the model has to learn what a budget says."""
        if not task.choices:
            return drawn
        return replace(drawn, budget=history.levels[len(history.trials) % len(history.levels)])


SEARCHERS.register("boca", BOCA)
