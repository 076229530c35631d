"""The surrogate of a GP searcher: fitted at the counts of a schedule, extended by rows in between.

Notation: ``last`` the count of observations at the last refit; ``X`` inputs, with the budget as a share of the largest in the
last column if the model is over budgets; ``y`` losses; targets are losses on the model's scale.

A model is a function of the observations and of nothing else. Its hyperparameters come from the first ``last`` of them; the
others are rows below its Cholesky factor. So a resumed or audited study reproduces the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from xstar.core.randomness import Streams
from xstar.journal import History
from xstar.journal.memo import cached
from xstar.models.gp import Posterior, fit, sample_fits
from xstar.models.gp_prior import (
    GPPrior,
    Inputs,
    Plain,
    at_full_budget,
    length_prior,
    over_budgets,
    over_configurations,
)
from xstar.models.kernels import Array
from xstar.models.otmann_kernel import UNIFORM_NOISE
from xstar.models.priors import EXACT, ZERO_MEAN
from xstar.models.targets import Targets, choose, uninformative
from xstar.searchers.acquisition.criterion import LogProbability
from xstar.searchers.bo.design import has_priors
from xstar.searchers.bo.inputs import NetworkKernel, NetworkKernelFactory, of_positions
from xstar.searchers.bo.observations import Observations, last_refit
from xstar.searchers.bo.surrogate import BAD, PROBABLY, Data, DecisionSettings, Fitted, Sample
from xstar.searchers.bo.transfer import Shift, Shifted, SourceMeans
from xstar.searchers.bo.user_prior import prior_term, trusted

NASBOT_KERNEL = NetworkKernel()

UNEXPLAINED = 0.1
"""The standard deviation of the noise, in those of the losses, above which losses are noisy: where they are exact, exploring
loses (``benchmarks/generality.py``, development)."""
EXPLORE_RUNNING = 5
"""Over budgets, exploring helps while fewer trials than this run: many spread by themselves (``benchmarks/budgets.py``)."""
SAFE = 0.8
"""What has a value with at least this probability comes before what only probably has one: with 0.5, 17 of 100 trials
fail instead of 7, with 0.9 searches end far off. Over budgets, where all of x < 0.3 fails and x is to be minimised, 6 of 65
trials fail (median of ten seeds), with 0.5 21 and with 0 60. Beside options, which have to suit each other, it is
``PROBABLY``."""
MOST_PENDING = 256
"""The trials that were started last stand where the model last wanted to look, and would be suggested again without them. Each
is a row of the Cholesky factor in every decision: with a thousand of them one took 0.25 s."""


def settings_of(
    data: Data, name: str, acquisition: str = "ei", fantasies: int = 20, explore_every: int = 4
) -> DecisionSettings:
    """Return what a GP searcher says about a decision."""
    observed, history = data.observed, data.history
    due = explore_every > 0 and len(history.trials) % explore_every == 0
    return DecisionSettings(
        name,
        acquisition,
        explores=due and (not data.over_budgets or len(history.running) < EXPLORE_RUNNING),
        least_noise=-1.0 if data.over_budgets else UNEXPLAINED,
        least_probability=SAFE if observed.cube.numeric.all() else PROBABLY,
        has_gradients=not observed.goals.known,  # who knows how a function of the user changes with a column
        # Workers that draw functions at the same time draw different ones.
        pending=() if acquisition == "thompson" else data.pending[-MOST_PENDING:],
        running=list(history.running.values())[-MOST_PENDING:],
        fantasies=fantasies,
        ranks_pending=True,
    )


def prior_terms(data: Data, weight: float) -> list[LogProbability]:
    """Return the term of what the user expects, ``prior=`` of parameters (``bo/user_prior.py``)."""
    space = data.history.space
    if not weight or not has_priors(space):
        return []
    share = trusted(data.history, Observations.of(data.history))
    return [prior_term(space, weight * share / max(data.observed.count, 1))] if share else []


@dataclass(frozen=True)
class GaussianProcess:
    """A Gaussian process; for architectures, with NASBOT's kernel. ``GP`` explains the settings that are its own."""

    samples: int = 0
    transform: bool = True
    max_observations: int = 500
    budget_kernel: str = "matern"
    every_rung: bool = False
    """Whether rungs that tell nothing are modelled, too (``models.targets.uninformative``)."""
    network_kernels: NetworkKernelFactory = NASBOT_KERNEL
    uniform: bool = False
    """At full budget: whether the priors of the hyperparameters are uniform and the mean is 0, as in NASBOT's paper."""

    def fit(self, data: Data, sample: Sample) -> Fitted:
        """Return the posteriors given all observations and the trials that count as bad values."""
        history, last, count = data.history, last_refit(len(sample.y)), len(sample.y)
        key = self, sample.purpose, data.complete
        if sample.goal in data.observed.goals.known:  # only the scale of its losses
            return Fitted(Targets.of(sample.y[:last], transform=self.transform), ())
        kept = history.memo.get(Refit, *key)
        if kept is None or kept.last != last:
            kept = history.memo.put(self._refit(data, sample, last), *key)
        new = np.arange(last, count)
        new = new[~np.isin(sample.budget[new], kept.uninformative)]
        X, y = sample.X[new], kept.targets(sample.y[new])
        if sample.goal is not None and (failed := data.bad_trials):
            X = np.vstack([X, data.inputs_of(failed)])
            y = np.append(y, np.full(len(failed), np.quantile(kept.targets(sample.y), BAD)))
        if kept.shift is not None and len(X):
            y = y - kept.shift(X)
        models = [posterior.extended(X, y) for posterior in kept.posteriors]
        detail, numbers = ", n={n}", {}
        if data.complete:
            detail += " at the full budget"
        if len(kept.chosen) < last:
            detail, numbers = detail + ", fitted to {fitted} of {last}", {"fitted": len(kept.chosen), "last": last}
        seen = np.append(kept.chosen, np.arange(last, count))
        if kept.shift is None:
            return Fitted(kept.targets, models, detail, numbers, seen=seen)
        shifted: list[Shifted[Posterior]] = [Shifted(each, kept.shift) for each in models]
        return Fitted(kept.targets, shifted, detail, numbers, float(kept.shift.weights.sum()), seen)

    def _refit(self, data: Data, sample: Sample, last: int) -> Refit:
        """Return the model of the first ``last`` observations."""
        observed, is_loss = data.observed, sample.goal is not None
        X, y, budget = sample.X[:last], sample.y[:last], sample.budget[:last]
        coordinates = X
        if (
            is_loss and last > self.max_observations
        ):  # between networks there are distances of their descriptive features
            coordinates = np.hstack([observed.positions(X[:, : observed.width]), X[:, observed.width :]])
        chosen = choose(coordinates, y, budget, self.max_observations)
        # A penalty is lowered in losses only: a constraint metric is compared with its bound.
        targets = Targets.of(y[chosen], transform=self.transform, lower_penalty=is_loss)
        left_out = np.empty(0)
        if is_loss and data.over_budgets and not self.every_rung:
            left_out = uninformative(targets(y), budget)
            chosen = chosen[~np.isin(budget[chosen], left_out)]
        inputs, outputs, shift = X[chosen], targets(y[chosen]), None
        if sample.goal is not None and data.history.prior_studies:
            shift = SourceMeans.of(data.history, observed, sample.goal).shift(inputs, outputs)
            outputs = outputs - shift(inputs)
        prior = self._prior(data) if is_loss else at_full_budget(of_positions(observed))

        def compute() -> list[Array]:
            if not self.samples:
                return [fit(prior, inputs, outputs)]
            rng = Streams(data.history.seed).generator(last, "gp fit")
            return sample_fits(prior, inputs, outputs, rng, self.samples)

        found = _thetas(data.history, f"gp {sample.purpose}", (self, last, inputs, outputs), prior, compute)
        posteriors = tuple(Posterior.of(prior, theta, inputs, outputs) for theta in found)
        return Refit(last, targets, chosen, posteriors, left_out, shift)

    def _prior(self, data: Data) -> GPPrior:
        """Return mean, kernel and priors of the hyperparameters for a loss."""
        observed, inputs = data.observed, Inputs.of(data.observed.cube)
        if observed.catalogues:
            inputs = replace(inputs, network_kernels=self.network_kernels.of(observed))
        if data.over_budgets:
            return over_budgets(inputs, self.budget_kernel)
        if self.uniform:
            return Plain(*over_configurations(inputs), UNIFORM_NOISE, ZERO_MEAN)
        if observed.catalogues:
            return at_full_budget(inputs)
        return at_full_budget(inputs, least_noise=EXACT, length=length_prior(observed.cube))


@dataclass(frozen=True)
class Refit:
    """A model as of its last refit."""

    last: int
    targets: Targets
    chosen: NDArray[np.intp]
    """Indices, among the ``last`` observations, of those that it was fitted to."""
    posteriors: tuple[Posterior, ...]
    """One posterior, or one per draw of the hyperparameters."""
    uninformative: Array
    """Rungs whose losses are left out."""
    shift: Shift | None = None
    """What other studies predict; the posteriors are of what is left."""


def _thetas(
    history: History, name: str, made_from: Sequence[object], prior: GPPrior, compute: Callable[[], Sequence[Array]]
) -> list[Array]:
    """Return ``compute()``, hyperparameters that are a function of ``made_from`` and of their priors: from the cache that
    programs share, if they are there."""
    priors = prior.priors
    given = (*made_from, type(prior).__name__, prior.names, priors)
    found = cached(history, name, given, lambda: np.array(compute()))
    low, high = np.array([prior.low for prior in priors]), np.array([prior.high for prior in priors])
    if found.ndim != 2 or found.shape[1] != len(priors) or not ((low <= found) & (found <= high)).all():
        return list(compute())  # not what this function has left there
    return list(found)
