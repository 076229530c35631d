"""Bayesian optimisation with a Gaussian process: asynchronous, at full budget or over budgets.

Choose it when a training run takes longer than a few seconds and there will be at most a few thousand of them. Under a
scheduler with rungs it models f(x, r) over configurations and budgets; with ASHA this is MOBSTER.

One suggestion, in the terms of MOBSTER's Algorithm 1:

    observed     rows of the model, whose hyperparameters were fitted at the last count of a schedule  (last_refit)
    new          observations since then: rows below its Cholesky factor                               (fit.py)
    pending      running trials, and those that wait to run again, each at the budget it runs to
    fantasised   M joint draws of their outcomes, each a column of the whitened targets                (models/gp.py)

Then the acquisition function at the budget r_acq is maximised, and the best untried configuration is suggested.

``GP`` departs from the paper in five ways (``benchmarks/mobster.py``). The surrogate over (x, r) is a Matérn kernel with r
warped, not the exponential decay with learned δ. r_acq is the full budget, not the highest one reached often: where one epoch
says nothing of the last, an acquisition function at one epoch favours configurations that are good after one epoch. Rungs at
which all losses are alike are not modelled. One suggestion in four explores. And trials that train to the full budget at once
are suggested by a GP of the complete ones alone. ``MOBSTERPaper`` is the paper's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from xstar.core.checks import as_float, check_counts, check_names, check_switches
from xstar.core.goals import Goals
from xstar.errors import InvalidArgument
from xstar.journal import History
from xstar.journal.trial import Done, New, Suggestion
from xstar.searchers.base import SEARCHERS, at_random, exhausted
from xstar.searchers.bo.design import ENOUGH, Design, before_model, check_space
from xstar.searchers.bo.observations import Observations
from xstar.space.cube import cube_of

if TYPE_CHECKING:
    from xstar.searchers.gp.fit import GaussianProcess

ACQUISITIONS = ("ei", "ucb", "thompson")
BUDGET_KERNELS = ("matern", "decay")
PAPER_KERNEL = "decay"
"""The surrogate of ``mobster-paper``. ``benchmarks/mobster.py`` changes it to the others of the paper's Figure 4
(``models.gp_prior.OVER_BUDGETS``)."""
PRIOR_WEIGHT = 30.0
"""β of πBO. Evaluations to reach what a search without priors reached after 30 and 45, as a share of the latter's (Branin,
Hartmann6, Rosenbrock4 and Levy6, ten seeds): 0.34 with a good prior (0.40 with β = 10, 0.35 with 100), 1.04 with one in the
opposite corner."""


FEWEST_COMPLETE = 5
"""Complete trials, and at least one more than there are parameters, from which on a GP of them alone suggests full-budget
trials. With four, and their rising share, losses after 16 trainings on each of four workers were lower in 24 searches and
higher in 13 than with a quarter of the epochs and the model over budgets (20 development tasks of ``benchmarks/budgets.py``,
two seeds, off record). In two dimensions a GP of four trials looks at corners still."""

MOST_GOALS = 3
"""Objectives whose hypervolume is improved on exactly: the boxes beside a front of f points grow as f^⌊m/2⌋."""


@dataclass(frozen=True)
class GP:
    """A Gaussian process with expected improvement."""

    initial: int | None = None
    """Trials before the first model-based suggestion. In a space of at most 20 numbers these are the middle and a step of each
    parameter. Otherwise they are Sobol points, twice as many as there are parameters, between 5 and 12; under a scheduler with
    rungs one more than there are parameters, between 4 and 10; with an architecture at least 10, and the networks come from
    its pool."""
    acquisition: str = "ei"
    """``ei`` (expected improvement), ``ucb`` (a confidence bound), or ``thompson`` (a draw of the function, whatever still
    runs)."""
    explore_every: int = 4
    """One suggestion in this many aims for an improvement by one standard deviation of the losses instead of any improvement:
    over budgets while few trials run, at full budget while losses are noisy, never over architectures. 0: none."""
    samples: int = 0
    """Number of hyperparameter draws over which the acquisition function is averaged; 0: use the MAP estimate."""
    fantasies: int = 20
    """Joint draws of the outcomes of running trials; 0: these reduce the uncertainty and leave the mean unchanged
    (hallucination)."""
    transform: bool = True
    """Transform skewed losses (Yeo–Johnson)."""
    max_observations: int = 500
    """Maximum number of observations that the model is fitted to."""
    prior_weight: float = PRIOR_WEIGHT
    """β of πBO: where parameters have a ``prior=``, the acquisition function is multiplied by its density to the power of
    β τ/n after n observations, with τ learned from how right the prior proves; 0: the prior places the first trials only."""
    budget_kernel: str = "matern"
    """Surrogate of f(x, r) under a scheduler with rungs: ``matern`` (over both, with r warped), or MOBSTER's exponential
    ``decay``."""

    def __post_init__(self) -> None:
        check_names(self, {"acquisition": ACQUISITIONS, "budget_kernel": BUDGET_KERNELS})
        least = {"initial": 1, "explore_every": 0, "samples": 0, "fantasies": 0, "max_observations": 10}
        check_counts(self, least, optional=("initial",))
        check_switches(self, "transform")
        object.__setattr__(self, "prior_weight", checked_weight(self.prior_weight))

    def handles(self, goals: Goals) -> bool:
        """Up to three objectives by expected hypervolume improvement; else by scalarisation."""
        return self.acquisition == "ei" and len(goals) <= MOST_GOALS

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        networks = bool(cube_of(history.space).encoder.domains)
        if networks and self.acquisition == "thompson":
            rule = "must be ei or ucb where a parameter is an architecture"
            raise InvalidArgument("acquisition", rule, self.acquisition, "leave it out")
        weight = 0.0 if self.acquisition == "thompson" else self.prior_weight
        name = "nasbot" if networks else "gp"
        design = Design(name, self.initial, steps=True, networks_by_index=True, learns_trust=weight > 0.0)
        observed = before_model(history, task, rng, design)
        if not isinstance(observed, Observations):
            return observed
        from xstar.searchers.bo.suggest import suggest  # imported at use: SciPy loads slowly
        from xstar.searchers.bo.surrogate import Data
        from xstar.searchers.gp.fit import prior_terms, settings_of

        # Near the optimum the lower rungs no longer tell who will be best, and in a model over budgets they are most of the
        # data: full-budget trials are suggested by a model of complete ones alone, once they are enough.
        to_the_end = len(history.levels) > 1 and task.budget == history.levels[-1]
        enough = max(FEWEST_COMPLETE, observed.parameters + 1)
        complete = to_the_end and int((observed.budget == history.levels[-1]).sum()) >= enough
        observed = observed.at(history.levels[-1]) if complete else observed
        data = Data(history, observed, complete, logarithmic=False, most_trials=self.max_observations)
        settings = settings_of(data, name, self.acquisition, self.fantasies, self.explore_every)
        return suggest(data, self._surrogate(), replace(settings, terms=prior_terms(data, weight)), rng)

    def _surrogate(self) -> GaussianProcess:
        from xstar.searchers.gp.fit import GaussianProcess

        return GaussianProcess(self.samples, self.transform, self.max_observations, self.budget_kernel)


@dataclass(frozen=True)
class MOBSTERPaper:
    """The searcher of MOBSTER as Klein et al. (2020) have it.

    The surrogate is the exponential decay with learned δ (A.2). r_acq is the largest rung with at least L observations, for L
    parameters (Section 3); while there is none, configurations are random, as in ASHA. Only what is pending is fantasised, each
    at the rung that it runs to (A.3).
    """

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        if (done := exhausted(history)) is not None:
            return done
        check_space(history.space, "mobster-paper")
        observed = Observations.of(history)
        if len(history.levels) > 1 and observed.reached(history.levels) is None:
            return at_random(history, rng, f"mobster-paper: no rung has {observed.parameters} observations")
        if observed.count < max(ENOUGH, observed.parameters):
            return at_random(history, rng, f"mobster-paper: fewer than {observed.parameters} observations")
        from xstar.searchers.bo.suggest import suggest  # imported at use: SciPy loads slowly
        from xstar.searchers.bo.surrogate import Data
        from xstar.searchers.gp.fit import GaussianProcess, settings_of

        budget = (observed.reached(history.levels) or 1) / history.levels[-1] if len(history.levels) > 1 else 1.0
        data = Data(history, observed, acquisition_budget=budget, logarithmic=False)
        settings = settings_of(data, "mobster-paper", explore_every=0)
        surrogate = GaussianProcess(transform=False, budget_kernel=PAPER_KERNEL, every_rung=True)
        return suggest(data, surrogate, replace(settings, most_fantasised=0), rng)


def checked_weight(given: object) -> float:
    """Return a weight of priors as a number."""
    weight = as_float(given)
    if weight is None or weight < 0.0:
        raise InvalidArgument("prior_weight", "must be a number of at least 0", given, "e.g. 10")
    return weight


SEARCHERS.register("gp", GP)
SEARCHERS.register("mobster-paper", MOBSTERPaper)
