"""What other studies observed (``warm_start``), as the prior mean of a surrogate.

Notation

==========  ======================================================================================  ==========
symbol      meaning                                                                                 shape
==========  ======================================================================================  ==========
``m_s(x)``  the posterior mean of a Gaussian process over the observations of source s,             (N,)
            standardised within that source, at its largest budget
``b_s``     how much source s counts: at least 0                                                    (S,)
``t``       standardised losses of this study                                                       (n,)
==========  ======================================================================================  ==========

The surrogate of this study is fitted to the residuals t − Σ_s b_s m_s(x), and its predictions are shifted back. Shift and
scale of a source's losses do not matter, and where a source says nothing, nothing changes. b minimises

    ‖t − mean(t) − Σ_s b_s (m_s(X) − mean(m_s(X)))‖² + κ Σ_s (b_s − 1/S)²,        b ≥ 0

least squares with κ pseudo-observations of "the sources are right". A source that is not has lost its weight after a few
trials, because it cannot predict them; one that is loses it as 1/n, because the study then knows better. Cf. the stack of
Gaussian processes in Golovin et al. (2017, Google Vizier, Section 3.3), which has b = 1, and the weights by agreement in Feurer
et al. (2018, RGPE).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Generic

import numpy as np

from xstar.journal import History
from xstar.journal.prior_study import PriorObservations
from xstar.models.gp import Posterior, fit
from xstar.models.gp_prior import GPPrior, Inputs, at_full_budget, over_budgets
from xstar.models.kernels import Array
from xstar.models.model import JointModel, M, Model, Prediction
from xstar.models.targets import Targets, choose
from xstar.searchers.bo.inputs import NetworkKernel, of_positions
from xstar.searchers.bo.observations import Observations

PSEUDO = 2.0
"""κ. With more, a misleading source keeps its weight for longer; with none, a handful of noisy trials decides."""
FADING = 10
"""From so many observations n on, the weights fade as 1/n: near the optimum, a source that is a little beside it has a shape of
its own, which the residuals would have to undo. After 30 trials (geometric mean of 4 seeds, a source shifted by 0.05), the
regret with fading and without: Branin 0.014 and 0.040, Hartmann6 0.040 and 0.053, Rosenbrock4 3.04 and 2.98, Levy4 0.084 and
0.148."""
LIMIT = 200
"""Observations of one source that its model is fitted to: 0.2 s, once in a program that runs the study."""


@dataclass(frozen=True)
class SourceMean:
    """m_s: the posterior mean of one source."""

    posterior: Posterior
    budgets: bool
    """Whether its last input is the budget; then the mean is the one at its largest."""

    def values(self, X: Array) -> Array:
        made: Array = self.posterior.means(self._lifted(X))[:, 0]
        return made

    def to_left(self, X: Array, w: Array) -> Array:
        """Return the gradient of Σ w m_s with respect to ``X``."""
        model = self.posterior
        covariance = model.surrogate.covariance(model.theta, self._lifted(X), model.X)
        return covariance.to_left(w[:, None] * model.weights[:, 0])[:, : X.shape[1]]

    def _lifted(self, X: Array) -> Array:
        return np.hstack([X, np.ones((len(X), 1))]) if self.budgets else X


@dataclass(frozen=True)
class SourceMeans:
    """m_1 … m_S, kept in ``history.memo``."""

    means: tuple[SourceMean, ...]
    width: int
    """How many columns of an input are the configuration; one with the budget may follow."""

    @classmethod
    def of(cls, history: History, data: Observations, goal: int = 0) -> SourceMeans:
        """Return the models of one objective of all sources."""
        key: Hashable = (data.networks_by_index, goal)
        kept = history.memo.get(SourceMeans, key)
        if kept is None:
            made = [_mean_of(data, source, goal) for source in history.prior_studies]
            kept = history.memo.put(cls(tuple(made), data.width), key)
        return kept

    def shift(self, X: Array, t: Array) -> Shift:
        """Return Σ_s b_s m_s with the weights that explain the targets ``t`` at ``X``."""
        from scipy.optimize import nnls  # not at the top: a model without sources does without it

        M = np.column_stack([mean.values(X[:, : self.width]) for mean in self.means])
        count = len(self.means)
        kappa = np.sqrt(PSEUDO)
        A = np.vstack([M - M.mean(axis=0), kappa * np.eye(count)])
        weights, _ = nnls(A, np.append(t - t.mean(), np.full(count, kappa / count)))
        return Shift(self, weights * min(1.0, FADING / len(t)))


@dataclass(frozen=True)
class Shift:
    """Σ_s b_s m_s."""

    sources: SourceMeans
    weights: Array

    def __call__(self, X: Array) -> Array:
        own, made = X[:, : self.sources.width], np.zeros(len(X))
        for weight, mean in zip(self.weights, self.sources.means, strict=True):
            if weight > 0.0:
                made += weight * mean.values(own)
        return made

    def to_left(self, X: Array, w: Array) -> Array:
        """Return the gradient of Σ w · shift(X) with respect to ``X``."""
        width = self.sources.width
        made = np.zeros_like(X)
        for weight, mean in zip(self.weights, self.sources.means, strict=True):
            if weight > 0.0:
                made[:, :width] += mean.to_left(X[:, :width], weight * w)
        return made


@dataclass(frozen=True)
class Shifted(Generic[M]):
    """A model of residuals, with the shift added to what it predicts."""

    model: M
    shift: Shift

    @property
    def noise(self) -> float:
        return self.model.noise

    def means(self, A: Array) -> Array:
        return self.model.means(A) + self.shift(A)[:, None]

    def predict(self, A: Array) -> Prediction:
        return shifted(self.model.predict(A), self.shift, A)

    def sample(self, A: Array, normal: Array) -> Array:
        assert isinstance(self.model, JointModel)
        return self.model.sample(A, normal) + self.shift(A)[:, None]

    def fantasised(self, A: Array, draws: int, rng: np.random.Generator) -> Shifted[M]:
        return Shifted(self.model.fantasised(A, draws, rng), self.shift)


def unshifted(model: Model) -> Model:
    """Return the model itself, of residuals where other studies are learned from."""
    return model.model if isinstance(model, Shifted) else model


def shifted(at: Prediction, shift: Shift, A: Array) -> Prediction:
    """Return a prediction of residuals at ``A`` as one of targets."""
    to_left = at.to_left
    mean = at.mean + shift(A)[:, None]
    if to_left is None:
        return Prediction(mean, at.variance)

    def back(d_mean: Array, d_variance: Array) -> Array:
        return to_left(d_mean, d_variance) + shift.to_left(A, d_mean.sum(axis=1))

    return Prediction(mean, at.variance, back)


# ---------------------------------------------------------------- the model of one source


def _mean_of(data: Observations, source: PriorObservations, goal: int) -> SourceMean:
    encoded = data.encoded(source.configs)
    indices, budget, *losses = (np.array(column) for column in zip(*source.observed, strict=True))
    loss = losses[goal]
    X = encoded[indices]
    share = budget / budget.max()
    several = bool((share < 1.0).any())
    kept = choose(data.positions(X), loss, share, LIMIT)
    inputs = np.hstack([X, share[:, None]])[kept] if several else X[kept]
    targets = Targets.of(loss[kept], transform=True)(loss[kept])
    surrogate = _surrogate(data, several)
    theta = fit(surrogate, inputs, targets)
    return SourceMean(Posterior.of(surrogate, theta, inputs, targets), several)


def _surrogate(data: Observations, several: bool) -> GPPrior:
    inputs: Inputs
    if data.networks_by_index:
        # Networks by their descriptive features alone: distances to those of another study are costly, and few are near.
        inputs = replace(Inputs.of(data.cube), network_kernels=NetworkKernel(distances="none").of(data))
    else:
        inputs = of_positions(data)
    return over_budgets(inputs, "matern") if several else at_full_budget(inputs)
