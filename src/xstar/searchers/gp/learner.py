"""The surrogate of a GP searcher: fitted at the counts of a schedule, extended by rows in between.

Notation: ``count`` the number of observations; ``last`` the count at the last refit; ``X`` inputs, with the budget as a
share of the largest in the last column if the model is over budgets; ``y`` losses; targets are losses on the model's
scale.

A model is a function of the first ``count`` observations and nothing else. Its hyperparameters come from the first ``last`` of
them; the others are rows below its Cholesky factor. So a resumed or audited study reproduces the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from xstar.core.randomness import Streams
from xstar.journal import History
from xstar.journal.memo import cached
from xstar.models.gp import Extended, Posterior, fit, sample_fits
from xstar.models.kernels import Array
from xstar.models.model import with_pending
from xstar.models.priors import EXACT
from xstar.models.surrogate import Inputs, Surrogate, at_full_budget, length_prior, over_budgets
from xstar.models.targets import Targets, choose, uninformative
from xstar.searchers.acquisition.criterion import LogProbability, log_expected_improvement
from xstar.searchers.acquisition.optimise import CANDIDATES, FEWER_CANDIDATES, LARGE_MODEL
from xstar.searchers.bo.inputs import NetworkKernel, NetworkKernelFactory, of_positions
from xstar.searchers.bo.learner import (
    BAD,
    LOCAL_CENTRES,
    MOST_FANTASISED,
    PROBABLY,
    AcquisitionInputs,
    Learned,
    Learner,
)
from xstar.searchers.bo.observations import Observations, last_refit
from xstar.searchers.bo.suggest import has_priors
from xstar.searchers.bo.transfer import Shift, Shifted, SourceMeans
from xstar.searchers.bo.user_prior import prior_term, trusted

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


NASBOT_KERNEL = NetworkKernel()
LOSS = "loss"


@dataclass(frozen=True)
class GPOptions:
    """What a method says about its Gaussian process; settings are explained at ``GP``."""

    method: str = ""
    """The name in origins; empty: ``gp``, or ``nasbot`` where a parameter is an architecture."""
    acquisition: str = "ei"
    explore_every: int = 4
    samples: int = 0
    fantasies: int = 20
    transform: bool = True
    max_observations: int = 500
    prior_weight: float = 0.0
    budget_kernel: str = "matern"
    r_acq: str = "full"
    """The budget of the acquisition function: the ``full`` one, or the largest rung that was ``reached`` often enough
    (``Observations.reached``)."""
    complete: bool = False
    """Over budgets, whether the model is one of f(x) at the full budget, of the observations there alone."""
    every_rung: bool = False
    """Whether rungs that tell nothing are modelled, too (``models.targets.uninformative``)."""
    fantasise_tried: bool = True
    """Over budgets, whether the outcomes of tried configurations are fantasised at the acquisition's budget, too."""
    network_kernels: NetworkKernelFactory = NASBOT_KERNEL
    modifiers: str = "all"
    """The modifiers by which networks evolve (``nets.modifiers.KINDS``)."""


def _loss(goal: int) -> str:
    """The purpose of the model of an objective."""
    return f"{LOSS} {goal}" if goal else LOSS


GPModel = Extended | Shifted[Extended]
"""A posterior of targets or, after other studies, of what these leave to explain."""


def unshifted(model: GPModel) -> Extended:
    """Return the posterior itself."""
    return model.model if isinstance(model, Shifted) else model


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


# ---------------------------------------------------------------- the learner


@dataclass(frozen=True)
class GPLearner(Learner):
    """A Gaussian process; for architectures, with NASBOT's kernel."""

    options: GPOptions

    name: ClassVar[str] = "gp"

    @property
    def method(self) -> str:
        return self.options.method or ("nasbot" if self.data.catalogues else "gp")

    @property
    def over_budgets(self) -> bool:
        return super().over_budgets and not self.options.complete

    @property
    def acquisition(self) -> str:
        return self.options.acquisition

    @property
    def limit(self) -> int:
        return self.options.max_observations

    @property
    def modifiers(self) -> str:
        return self.options.modifiers

    @property
    def has_gradients(self) -> bool:
        return not self.data.goals.known  # who knows how a function of the user changes with a column

    @property
    def fantasies(self) -> int:
        return self.options.fantasies

    @property
    def explores(self) -> bool:
        every = self.options.explore_every
        if not every or len(self.history.trials) % every:
            return False
        if self.over_budgets:
            return len(self.history.running) < EXPLORE_RUNNING
        noises = [np.sqrt(posterior.noise) for refit in self.refits for posterior in refit.posteriors]
        return bool(np.mean(noises) > UNEXPLAINED)

    @property
    def safe(self) -> float:
        return SAFE if self.data.cube.numeric.all() else PROBABLY

    def user_prior(self) -> list[LogProbability]:
        weight, space = self.options.prior_weight, self.history.space
        if not weight or self.acquisition == "thompson" or not has_priors(space):
            return []
        data = Observations.of(self.history) if self.options.complete else self.data
        share = trusted(self.history, data)
        return [prior_term(space, weight * share / max(data.count, 1))] if share else []

    def budget_position(self, budget: Array) -> Array:
        return budget / self.history.levels[-1]

    @property
    def acquisition_budget(self) -> float | None:
        """r_acq / r_max."""
        if not self.over_budgets:
            return None
        if self.options.r_acq == "full":
            return 1.0
        reached = self.data.reached(self.history.levels)
        assert reached is not None, "the searcher asks for a model from then on only"
        return reached / self.history.levels[-1]

    # ------------------------------------------------------------ the losses

    @cached_property
    def refits(self) -> tuple[Refit, ...]:
        """The model of each objective as of its last refit; of one that is known, only the scale of its losses."""
        data, surrogate = self.data, self._surrogate()
        X = self.inputs(data.X, data.budget)
        return tuple(
            self._scale_of(y)
            if goal in data.goals.known
            else self._model_of(_loss(goal), surrogate, X, y, data.budget, self._sources(goal))
            for goal, y in enumerate(data.losses.T)
        )

    def _scale_of(self, y: Array) -> Refit:
        last = last_refit(len(y))
        return Refit(last, Targets.of(y[:last], transform=self.options.transform), np.arange(0), (), np.empty(0))

    def _sources(self, goal: int) -> SourceMeans | None:
        return SourceMeans.of(self.history, self.data, goal) if self.history.prior_studies else None

    @property
    def refit(self) -> Refit:
        """The model of the first objective that is learned, as of its last refit."""
        return self.refits[self.data.goals.learned[0]]

    @property
    def targets(self) -> Targets:
        return self.refit.targets

    def _surrogate(self) -> Surrogate:
        inputs = Inputs.of(self.data.cube)
        if self.data.catalogues:
            inputs = replace(inputs, network_kernels=self.options.network_kernels.of(self.data))
        if self.over_budgets:
            return over_budgets(inputs, self.options.budget_kernel)
        if self.data.catalogues:
            return at_full_budget(inputs)
        return at_full_budget(inputs, least_noise=EXACT, length=length_prior(self.data.cube))

    def _model_of(
        self, purpose: str, surrogate: Surrogate, X: Array, y: Array, budget: Array, sources: SourceMeans | None = None
    ) -> Refit:
        """Return a model of the first observations, as many as the schedule says, from ``history.memo`` if it is there."""
        history, options, last = self.history, self.options, last_refit(len(y))
        kept = history.memo.get(Refit, self._key(purpose))
        if kept is not None and kept.last == last:
            return kept
        X, y = X[:last], y[:last]
        is_loss = purpose.startswith(LOSS)
        coordinates = self._coordinates(X) if is_loss and last > self.limit else X
        chosen = choose(coordinates, y, budget[:last], self.limit)
        # A penalty is lowered in losses only: a constraint metric is compared with its bound.
        targets = Targets.of(y[chosen], transform=options.transform, lower_penalty=is_loss)
        left_out = np.empty(0)
        if is_loss and self.over_budgets and not options.every_rung:
            left_out = uninformative(targets(y[:last]), budget[:last])
            chosen = chosen[~np.isin(budget[chosen], left_out)]
        inputs, outputs = X[chosen], targets(y[chosen])
        shift = None if sources is None else sources.shift(inputs, outputs)
        if shift is not None:
            outputs = outputs - shift(inputs)

        def compute() -> list[Array]:
            if not options.samples:
                return [fit(surrogate, inputs, outputs)]
            rng = Streams(history.seed).generator(last, "gp fit")
            return sample_fits(surrogate, inputs, outputs, rng, options.samples)

        found = _thetas(history, f"gp {purpose}", (options, last, inputs, outputs), surrogate, compute)
        posteriors = tuple(Posterior.of(surrogate, theta, inputs, outputs) for theta in found)
        return history.memo.put(Refit(last, targets, chosen, posteriors, left_out, shift), self._key(purpose))

    def _coordinates(self, X: Array) -> Array:
        """Return coordinates of inputs between which there are distances: networks by their descriptive features."""
        width = self.data.width
        return np.hstack([self.data.positions(X[:, :width]), X[:, width:]])

    @cached_property
    def _seen(self) -> NDArray[np.intp]:
        """Return the observations that the model uses. Above its limit, the others are not considered for the incumbent
        either: the model has better ones nearby."""
        chosen = [refit.chosen for refit in self.refits]
        return np.concatenate([np.unique(np.concatenate(chosen)), np.arange(self.refit.last, self.data.count)])

    def possible_incumbents(self) -> NDArray[np.intp]:
        return self.data.feasible(self.history, self._seen)

    @property
    def starts(self) -> list[int]:
        made: list[int] = np.unique(self.data.trial[self._seen]).tolist()
        return made

    def acquisition_inputs(self, tried: Array, rng: np.random.Generator) -> AcquisitionInputs:
        # Workers that draw functions at the same time draw different ones.
        pending = [] if self.acquisition == "thompson" else self.pending_trials[-MOST_PENDING:]
        if self.data.goals.several:
            from xstar.searchers.gp.fronts import front_inputs

            return front_inputs(self, tried, pending, rng)
        waiting = self.inputs_of(pending)
        models = [with_pending(model, waiting, self.fantasies, rng) for model in self.with_new(self.refit, 0)]
        if not len(tried):
            return self.inputs_without_incumbents(models)
        rows = np.vstack([tried, self.data.rows(list(self.history.running.values())[-MOST_PENDING:])])
        means = [model.means(self.with_budget(rows)) for model in models]
        if self.over_budgets and self.options.fantasise_tried:
            models = [self._fantasise_tried(*pair, rows, rng) for pair in zip(models, means, strict=True)]
            means = [model.means(self.with_budget(rows)) for model in models]
        # The incumbent is the lowest posterior mean at observed and running configurations, not a lucky noisy value.
        incumbents = tuple(each.min(axis=0) for each in means)
        average = np.mean([each.mean(axis=1) for each in means], axis=0)
        centres = rows[np.argsort(average, kind="stable")[:LOCAL_CENTRES]]
        return replace(self.inputs_without_incumbents(models), incumbents=incumbents, centres=centres)

    def with_new(self, model: Refit, goal: int) -> Sequence[GPModel]:
        """Return the posteriors with the observations since the refit and the trials that count as bad values."""
        data, losses = self.data, self.data.losses[:, goal]
        new = np.arange(model.last, data.count)
        new = new[~np.isin(data.budget[new], model.uninformative)]
        X, y = self.inputs(data.X[new], data.budget[new]), model.targets(losses[new])
        if failed := self.bad:
            X = np.vstack([X, self.inputs_of(failed)])
            y = np.append(y, np.full(len(failed), np.quantile(model.targets(losses), BAD)))
        if model.shift is not None and len(X):
            y = y - model.shift(X)
        made = [Extended(posterior, X, y) for posterior in model.posteriors]
        return made if model.shift is None else [Shifted(each, model.shift) for each in made]

    def _fantasise_tried(self, model: GPModel, mean: Array, rows: Array, rng: np.random.Generator) -> GPModel:
        """Condition the model on fantasies of tried configurations at the acquisition's budget (``with_pending``)."""
        inputs = self.with_budget(rows)
        if len(inputs) > MOST_FANTASISED:
            at = model.predict(inputs)
            value, _ = log_expected_improvement(at.mean, at.variance, mean.min(axis=0))
            inputs = inputs[np.sort(np.argsort(-value, kind="stable")[:MOST_FANTASISED])]
        return model.fantasised(inputs, self.fantasies, rng)

    def inputs_without_incumbents(self, models: Sequence[GPModel]) -> AcquisitionInputs:
        """The models and, for the origin, what they were fitted to; what is to be improved on is still missing."""
        model, detail = self.refit, ", n={n}"
        if self.options.complete:
            detail += " at the full budget"
        numbers: dict[str, float] = {"n": self.data.count}
        if len(model.chosen) < model.last:
            detail += ", fitted to {fitted} of {last}"
            numbers |= {"fitted": len(model.chosen), "last": model.last}
        plain = [unshifted(model) for model in models]
        if jitter := max(each.jitter for each in plain):
            detail += ", not positive definite: {jitter:.0e} added to the diagonal"
            numbers["jitter"] = jitter
        if model.shift is not None:
            detail += ", sources weigh {weight:.2g}"
            numbers["weight"] = float(model.shift.weights.sum())
        count = FEWER_CANDIDATES if plain[0].rows >= LARGE_MODEL else CANDIDATES
        return AcquisitionInputs(models, candidates=count, detail=detail, numbers=numbers)

    # ------------------------------------------------------------ constraint metrics

    def learn(self, purpose: str, X: Array, y: Array) -> Learned:
        model = self._model_of(purpose, at_full_budget(of_positions(self.data)), X, y, np.ones(len(y)))
        new = slice(model.last, len(y))
        return Learned(model.targets, [Extended(each, X[new], model.targets(y[new])) for each in model.posteriors])


def _thetas(
    history: History,
    name: str,
    made_from: Sequence[object],
    surrogate: Surrogate,
    compute: Callable[[], Sequence[Array]],
) -> list[Array]:
    """Return ``compute()``, hyperparameters of a surrogate that are a function of ``made_from`` and of its priors: from
    the cache that programs share, if they are there."""
    priors = surrogate.priors
    given = (*made_from, type(surrogate).__name__, surrogate.names, priors)
    found = cached(history, name, given, lambda: np.array(compute()))
    low, high = np.array([prior.low for prior in priors]), np.array([prior.high for prior in priors])
    if found.ndim != 2 or found.shape[1] != len(priors) or not ((low <= found) & (found <= high)).all():
        return list(compute())  # not what this function has left there
    return list(found)
