"""The surrogate of a GP searcher: fitted at the counts of a schedule, extended by rows in between.

Notation: ``count`` the number of observations; ``last`` the count at the last refit; ``X`` inputs, with the budget as a
share of the largest in the last column if the model is over budgets; ``y`` losses; targets are losses on the model's
scale.

A model is a function of the first ``count`` observations and nothing else. Its hyperparameters come from the first
``last`` of them; the others are rows below its Cholesky factor. Resuming or auditing a study therefore reproduces the
same numbers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from xstar.acquisition.criterion import LogProbability
from xstar.acquisition.improvement import log_expected_improvement
from xstar.acquisition.maximise import CANDIDATES, FEWER_CANDIDATES, LARGE_MODEL
from xstar.acquisition.pending import with_pending
from xstar.models.blas import single_threaded
from xstar.models.cholesky import NotPositiveDefinite
from xstar.models.kernels import Array
from xstar.models.priors import LENGTH
from xstar.models.surrogate import Surrogate, at_full_budget
from xstar.searchers.gp.fitted import Extended, Fitted, fitted
from xstar.searchers.gp.kernels import length_prior, surrogate_of, with_and_without_terms
from xstar.searchers.gp.settings import GPSettings
from xstar.searchers.gp.structure import Data, structured
from xstar.searchers.model_based.beliefs import COMPARED, believed, trusted
from xstar.searchers.model_based.columns import of_positions
from xstar.searchers.model_based.exhaustion import RESOLUTION, confirmed_noise
from xstar.searchers.model_based.learner import BAD, PROBABLY, PROMISING, UNFINISHED, Known, Learned, Learner
from xstar.searchers.model_based.observations import Observations, feasible_places
from xstar.searchers.model_based.prior_design import has_priors
from xstar.searchers.model_based.schedule import last_full_refit, last_lean_refit, last_refit
from xstar.searchers.model_based.shelved import NotShelved, only_borrowed
from xstar.searchers.model_based.sources import SourceMeans
from xstar.searchers.nasbot.kernel import Architectures

UNEXPLAINED = 0.1
"""The standard deviation of the noise above which much of the losses is unexplained, in standard deviations of the losses.
Chosen on ``harness/development.py`` (``generality --part development``, 40 problems, two to three seeds): after 200 trials,
losses with this rule are lower in 48 searches and higher in 35 than if every fourth suggestion explores, 57 and 35 if every
eighth does, 28 and 22 if none does; after 25 it is 32 and 47, 45 and 54, 24 and 28.

That failures are unexplained, too, so that exploring follows them, has no support: on six functions with a region that fails
and five where one trial in ten or five fails by chance (ten seeds), searches without it end lower in 56 and higher in 32 after
25 trials, 58 and 47 after 50, 60 and 48 after 100, with as many failures or fewer; on one of the eleven (Levy's, of four
parameters) higher in nine of ten. Beside options every fourth suggestion explores as before: development problems with options
show no difference, and the bits of the validation set ended higher without (1 and 9 searches of 200 trials)."""

ALL_NOISE = 0.85
"""The share of the variance of the losses above which nearly all of it is noise. Where all losses are those of chance it mostly
is above that from 20 trials on; on five noisy problems whose losses do depend on the parameters it is below 0.67, but once.
Compared with no such rule, five seeds of 100 trials: on seven problems most of whose losses are those of chance lower in 16 and
higher in 2 (17 and 3 with 0.75), on seven noisy ones in 5 and 2 (6 and 9; off record)."""


@dataclass(frozen=True)
class GPLearner(Learner):
    """A Gaussian process; for architectures, with NASBOT's kernel."""

    settings: GPSettings
    architectures: Architectures = field(default_factory=Architectures)
    begun: int = 0
    """The first trial of the observations, where they are those of a restart."""
    complete: bool = False
    """Whether the observations are those at the full budget alone, although there are rungs below (``straight.py``)."""

    silent: tuple[int, ...] = ()
    """The rungs that are left out of the observations, as they say nothing."""

    name: ClassVar[str] = "gp"

    @property
    def method(self) -> str:
        return "nasbot" if self.data.networks else "gp"

    @property
    def acquisition(self) -> str:
        return self.settings.acquisition

    @property
    def limit(self) -> int:
        return self.settings.limit

    @property
    def modifiers(self) -> str:
        return self.architectures.modifiers

    def _key(self, purpose: str) -> Hashable:
        key: tuple[Hashable, ...] = (self.settings, self.architectures, purpose)
        if self.complete:
            key = (*key, "complete")
        key = (*key, "without", *self.silent) if self.silent else key
        return (*key, self.begun) if self.begun else key

    @property
    def over_budgets(self) -> bool:
        return not self.complete and super().over_budgets

    @property
    def has_gradients(self) -> bool:
        return True

    @property
    def pending(self) -> tuple[str, int]:
        return self.settings.pending, self.settings.fantasies

    @property
    def explores(self) -> bool:
        every = self.settings.explore_every
        if not every or len(self.history.trials) % every:
            return False
        if self.over_budgets:
            return len(self.history.running) < self.settings.explore_running
        when = self.settings.explore_when
        if when == "always" or not self.data.cube.numeric.all():
            return True
        if when == "unexplained" and self.data.failed:
            return True
        return self.noisy

    @property
    def noisy(self) -> bool:
        return bool(np.mean([np.sqrt(posterior.noise) for posterior in self.fitted.posteriors]) > UNEXPLAINED)

    @property
    def explains_nothing(self) -> bool:
        if self.over_budgets or self.data.networks:
            return False
        return bool(np.mean([posterior.noise for posterior in self.fitted.posteriors]) > ALL_NOISE)

    @property
    def climbs_apart(self) -> bool:
        return self._lean

    @property
    def _lean(self) -> bool:
        return self.settings.effort == "lean" and not self.over_budgets and not self.data.networks

    @property
    def safe(self) -> float:
        settings = self.settings
        if not settings.cautious:
            return 0.0
        beside_options = settings.safe_when == "numbers" and not self.data.cube.numeric.all()
        return min(settings.safe, PROBABLY) if beside_options else settings.safe

    def log_exhausted(self, known: Known, value: float) -> float:
        share, data = self.settings.exhausted, self.data
        if not share:
            return -np.inf
        learned = float(np.mean([np.sqrt(model.noise) for model in known.models]))
        if value >= np.log(share * max(learned, RESOLUTION)):  # the noise is at most what was learned
            return -np.inf
        latest = slice(-self.limit, None)
        noise = confirmed_noise(learned, data.X[latest], self.fitted.targets(data.loss[latest]))
        return float(np.log(share * noise))

    @property
    def avoids_copies(self) -> bool:
        return self.settings.copies == "avoid"

    def beliefs(self) -> list[LogProbability]:
        weight, space = self.settings.prior_weight, self.history.space
        if not weight or self.acquisition == "thompson" or not has_priors(space):
            return []
        # Complete trials alone may have nothing to compare, and priors would be trusted for want of it.
        data = Observations.of(self.history, self.data.in_numbers) if self.complete else self.data
        least = COMPARED if self.settings.trust_at == "comparable" else 0
        share = 1.0 if self.settings.prior_trust == "constant" else trusted(self.history, data, least)
        return [believed(space, weight * share / max(data.count, 1))] if share else []

    def budget_position(self, budget: Array) -> Array:
        return budget / self.history.levels[-1]

    @property
    def acquisition_budget(self) -> float | None:
        """r_acq / r_max. MOBSTER's rule (Section 3) is the largest rung with as many observations as parameters."""
        levels, data = self.history.levels, self.data
        if not self.over_budgets:
            return None
        if self.settings.acquire_at == "full":
            return 1.0
        enough = len(data.cube.labels) + len(data.networks)
        reached = next((level for level in reversed(levels) if data.per_level[level] >= enough), levels[0])
        return reached / levels[-1]

    # ------------------------------------------------------------ the loss

    @cached_property
    def fitted(self) -> Fitted:
        """The model of the loss as of its last refit."""
        history, data = self.history, self.data
        last = last_lean_refit(data.count) if self._lean else last_refit(data.count)
        if self.settings.refit == "full-budget" and self.over_budgets:
            last = last_full_refit(data.count, data.budget == history.levels[-1])
        sources = SourceMeans.of(history, data)
        given = Data(self.inputs(data.X, data.budget).copy(), data.loss, data.budget, self._spread, sources)
        if self._own_terms_are_possible:
            own, compared = (
                with_and_without_terms(data, self.settings, length)
                for length in (length_prior(data, self.settings.lengths), LENGTH)
            )
            key, count = self._key("structure"), len(data.cube.labels)
            surrogate: Surrogate = structured(history, key, own, compared, count, given, self.settings)
        else:
            surrogate = surrogate_of(data, self.settings, self.architectures, over_rungs=self.over_budgets)
        robust = self.settings.robust and not self.over_budgets and not data.networks
        purpose = "loss complete" if self.complete else "loss"  # programs share models by it: these two take turns
        return fitted(history, self._key("loss"), purpose, surrogate, last, given, self.settings, robust=robust)

    def follow(self) -> None:
        """Bring the model up to date that was used before; before the first decision there is none."""
        if self.history.memo.get(Fitted, self._key("loss")) is not None:
            with single_threaded(), only_borrowed(self.history), contextlib.suppress(NotShelved, NotPositiveDefinite):
                _ = self.fitted

    @property
    def _own_terms_are_possible(self) -> bool:
        return not self.over_budgets and not self.data.networks

    def _spread(self, X: Array) -> Array:
        width = self.data.width
        return np.hstack([self.data.positions(X[:, :width]), X[:, width:]])

    @cached_property
    def _seen(self) -> NDArray[np.intp]:
        """Return the observations that the model uses. Above its limit, the others are not considered for the incumbent
        either: the model has better ones nearby."""
        return np.concatenate([self.fitted.places, np.arange(self.fitted.last, self.data.count)])

    def answers(self) -> NDArray[np.intp]:
        return feasible_places(self.history, self.data, self._seen)

    @property
    def starts(self) -> list[int]:
        made: list[int] = np.unique(self.data.trial[self._seen]).tolist()
        return made

    def known(self, tried: Array, rng: np.random.Generator) -> Known:
        how, draws = self.pending
        most = self.settings.most_pending or 0  # [-0:] is all of them
        pending = self.inputs_of(self.pending_trials[-most:])
        models = [with_pending(model, pending, how, draws, rng) for model in self._with_new()]
        if not len(tried):
            return self._known(models)
        places = np.vstack([tried, self.data.rows(list(self.history.running.values())[-most:])])
        means = [model.means(self.lift(places)) for model in models]
        if self.over_budgets:
            models = [self._with_unfinished(*pair, places, rng) for pair in zip(models, means, strict=True)]
            means = [model.means(self.lift(places)) for model in models]
        # The incumbent is the lowest posterior mean at observed and running configurations, not a lucky noisy value.
        incumbents = tuple(each.min(axis=0) for each in means)
        average = np.mean([each.mean(axis=1) for each in means], axis=0)
        promising = places[np.argsort(average, kind="stable")[:PROMISING]]
        return replace(self._known(models), incumbents=incumbents, promising=promising)

    def _with_new(self) -> list[Extended]:
        """Return the posteriors with the observations since the refit and the trials that count as bad values."""
        data, model = self.data, self.fitted
        new = slice(model.last, data.count)
        X, y = self.inputs(data.X[new], data.budget[new]), model.targets(data.loss[new])
        if failed := self.failures.expected():
            X = np.vstack([X, self.inputs_of(failed)])
            y = np.append(y, np.full(len(failed), np.quantile(model.targets(data.loss), BAD)))
        if model.shift is not None and len(X):
            y = y - model.shift(X)
        return [Extended(posterior, X, y, model.shift) for posterior in model.posteriors]

    def _with_unfinished(self, model: Extended, mean: Array, places: Array, rng: np.random.Generator) -> Extended:
        """Condition the model on fantasies of tried configurations at the acquisition's budget (``with_pending``)."""
        rows = self.lift(places)
        if len(rows) > UNFINISHED:
            at = model.predict(rows)
            value, _ = log_expected_improvement(at.mean, at.variance, mean.min(axis=0))
            rows = rows[np.sort(np.argsort(-value, kind="stable")[:UNFINISHED])]
        return model.fantasised(rows, self.settings.fantasies, rng)

    def _known(self, models: list[Extended]) -> Known:
        fit, detail = self.fitted, ", n={n}"
        numbers: dict[str, float] = {"n": self.data.count}
        if len(fit.places) < fit.last:
            detail += ", fitted to {fitted} of {last}"
            numbers |= {"fitted": len(fit.places), "last": fit.last}
        if jitter := max(model.jitter for model in models):
            detail += ", not positive definite: {jitter:.0e} added to the diagonal"
            numbers["jitter"] = jitter
        if fit.shift is not None:
            detail += ", sources weigh {weight:.2g}"
            numbers["weight"] = float(fit.shift.weights.sum())
        count = FEWER_CANDIDATES if models[0].rows >= LARGE_MODEL else CANDIDATES
        if self._lean and self.data.cube.numeric.all():
            count = count * 3 // 4
        return Known(models, candidates=count, detail=detail, numbers=numbers)

    # ------------------------------------------------------------ constraint metrics

    def learn(self, purpose: str, X: Array, y: Array) -> Learned:
        last = last_refit(len(y))
        surrogate = at_full_budget(of_positions(self.data))
        purpose = f"constraint {purpose}"
        fit = fitted(
            self.history, self._key(purpose), purpose, surrogate, last, Data(X, y, np.ones(len(y))), self.settings
        )
        new = slice(fit.last, len(y))
        return Learned(fit.targets, [Extended(each, X[new], fit.targets(y[new])) for each in fit.posteriors])
