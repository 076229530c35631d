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
correlation at x; and β^(1/2) is the weight of the confidence bound, but at least ``LEAST_WEIGHT``, as nothing
would satisfy the second condition with one below 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from xstar.core.checks import check_counts
from xstar.journal import History
from xstar.journal.trial import Config, Done, New, Origin, Suggestion
from xstar.searchers.base import SEARCHERS
from xstar.searchers.bo.design import Design, before_model

if TYPE_CHECKING:
    from xstar.models.kernels import Array
    from xstar.searchers.bo.surrogate import Data
    from xstar.searchers.gp.fit import GaussianProcess

LEAST_WEIGHT = 1.5
"""β^(1/2) is at least this. With two parameters and ten observations the weight is 1.1, and a budget would have to be nearly
as far from the full one as any."""


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
        drawn = before_model(history, task, rng, Design("boca", self.initial, networks_by_index=True))
        if isinstance(drawn, Done):
            return drawn
        if isinstance(drawn, Suggestion):
            return self._initial(history, task, drawn)
        from xstar.searchers.bo.suggest import suggest  # imported at use: SciPy loads slowly
        from xstar.searchers.bo.surrogate import Data
        from xstar.searchers.gp.fit import GaussianProcess, settings_of

        surrogate = GaussianProcess(max_observations=self.max_observations, every_rung=True)
        data = Data(history, drawn, logarithmic=False, most_trials=self.max_observations)
        made = suggest(data, surrogate, settings_of(data, "boca", "ucb", fantasies=0), rng)
        if isinstance(made, Done) or not task.choices or Origin.of(made.origin).method != "boca":
            return made
        budget = budget_for(data, surrogate, made.config, task.choices)
        origin = Origin.of(made.origin)
        chosen = Origin(origin.method, origin.detail + ", to budget {chosen}", **origin.numbers, chosen=budget)
        return Suggestion(made.config, chosen, budget)

    def _initial(self, history: History, task: New, drawn: Suggestion) -> Suggestion:
        """The initial trials go through the rungs in turn, from the lowest: the model has to learn what a budget says."""
        if not task.choices:
            return drawn
        return replace(drawn, budget=history.levels[len(history.trials) % len(history.levels)])


def budget_for(data: Data, surrogate: GaussianProcess, config: Config, choices: Sequence[int]) -> int:
    """Return the cheapest budget from which there is something to learn at ``config``, or the full one."""
    from xstar.searchers.acquisition.criterion import confidence_weight

    observed, share = data.observed, np.array(choices) / choices[-1]
    rows = observed.encoded([config])
    at = np.hstack([np.repeat(rows, len(share), axis=0), share[:, None]])
    std, variance, correlation = _uncertainty_at(data, surrogate, at)
    gap = np.sqrt(np.maximum(1.0 - correlation**2, 0.0))
    weight = max(confidence_weight(observed.parameters, observed.count), LEAST_WEIGHT)
    return choices[cheapest(std, variance, gap, share, observed.parameters, weight)]


def _uncertainty_at(data: Data, surrogate: GaussianProcess, at: Array) -> tuple[Array, Array, Array]:
    """Return τ, κ₀ and φ at each row; the last row is at the full budget."""
    from xstar.models.gp import Posterior
    from xstar.models.model import with_pending
    from xstar.searchers.bo.transfer import unshifted

    pending, parts = data.inputs_of(data.pending), []
    for model in surrogate.fit(data, data.losses()).models:
        posterior = unshifted(model)
        assert isinstance(posterior, Posterior)
        prior, theta = posterior.surrogate, posterior.theta
        variance = prior.variance(theta, at).values
        cross = prior.covariance(theta, at, at[-1:]).K[:, 0]
        expected = with_pending(model, pending, 0, np.random.default_rng(0))
        parts.append((np.sqrt(expected.predict(at).variance), variance, cross / np.sqrt(variance * variance[-1])))
    std, variance, correlation = (np.mean(column, axis=0) for column in zip(*parts, strict=True))
    return std, variance, correlation


def cheapest(std: Array, variance: Array, gap: Array, share: Array, count: int, weight: float) -> int:
    """Return the index of the cheapest budget that satisfies both conditions of equation (4), or of the full one."""
    threshold = np.sqrt(variance) * gap * share ** (1.0 / (count + 3.0))
    fine = (std > threshold) & (gap > gap.max() / weight) & (share < 1.0)
    return int(np.flatnonzero(fine)[0]) if fine.any() else len(share) - 1


SEARCHERS.register("boca", BOCA)
