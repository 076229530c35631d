"""Models of f(x, r) that are asked what configurations lose at the full budget: the library's, and candidates.

=================  =====================================================================================================
model              what it is
=================  =====================================================================================================
matern             the surrogate of ``mobster``: a Matérn kernel over (x, r), with r warped
matern-unwarped    the same with r as it is
decay              the exponential decay of the MOBSTER paper, with learned δ
converging         f(x, r) = f(x) + change that shrinks (``converging.py``): each rung has an amplitude and a noise of its own
forest             a random forest over (x, log r)
dngo               the networks of ``dngo`` under ASHA: their last layers are linear bases over (x, log r)
A + B              their mean; the variance is that of a mixture
ranks: A           A of normal scores within each rung, instead of losses through a power transform
=================  =====================================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import ndtri

from benchmarks.workloads.converging import ConvergingCurves
from benchmarks.workloads.curve_states import State
from xstar.core.randomness import Streams
from xstar.models.forest import Forest, Growth
from xstar.models.gp import Posterior, fit
from xstar.models.gp_prior import OVER_BUDGETS, GPPrior, over_budgets, over_configurations
from xstar.models.kernels import Array
from xstar.models.linear import Basis, Head, Statistics, sample
from xstar.models.quadratic import Quadratic
from xstar.models.targets import Targets
from xstar.searchers.dngo.fit import DNGOOptions, networks_of

Scale = Callable[[Array], Array]
"""Losses at the full budget → targets, ascending."""
Predict = Callable[[Array], tuple[Array, Array]]
"""Configurations → means and variances of their targets at the full budget, noise included."""
RANKS = "ranks: "
TREES = Growth(trees=30, least_leaf=2)


@dataclass(frozen=True)
class Fitted:
    """A model of a state."""

    scale: Scale
    predict: Predict


class Fit(Protocol):
    def __call__(self, state: State, targets: Array) -> Predict: ...


def fitted(name: str, state: State) -> Fitted:
    """The model of that name of a state."""
    if name.startswith(RANKS):
        scores, top = _normal_scores(state)
        return Fitted(top, _model(name.removeprefix(RANKS), state, scores))
    targets = Targets.of(state.loss, transform=True, lower_penalty=True)
    return Fitted(targets, _model(name, state, targets(state.loss)))


def _model(name: str, state: State, targets: Array) -> Predict:
    parts = [MODELS[part](state, targets) for part in name.split(" + ")]
    return parts[0] if len(parts) == 1 else _mixture(parts)


def _mixture(parts: Sequence[Predict]) -> Predict:
    def predict(X: Array) -> tuple[Array, Array]:
        means, variances = (np.array(each) for each in zip(*(part(X) for part in parts), strict=True))
        return means.mean(axis=0), variances.mean(axis=0) + means.var(axis=0)

    return predict


def _process(surrogate: Callable[[State], GPPrior]) -> Fit:
    def make(state: State, targets: Array) -> Predict:
        made, full = surrogate(state), state.levels[-1]
        inputs = np.column_stack([state.X, state.budget / full])
        posterior = Posterior.of(made, fit(made, inputs, targets), inputs, targets)

        def predict(X: Array) -> tuple[Array, Array]:
            at = posterior.predict(np.column_stack([X, np.ones(len(X))]))
            return at.mean[:, 0], at.variance + posterior.noise

        return predict

    return make


def _of_name(name: str) -> Fit:
    return _process(lambda state: over_budgets(state.inputs, name))


def _converging(state: State) -> GPPrior:
    return ConvergingCurves(*over_configurations(state.inputs), state.levels[0] / state.levels[-1])


def _forest(state: State, targets: Array) -> Predict:
    full = np.log(state.levels[-1])
    made = Forest.fit(np.column_stack([state.X, np.log(state.budget) / full]), targets, TREES, 0)

    def predict(X: Array) -> tuple[Array, Array]:
        at = made.predict(np.column_stack([X, np.ones(len(X))]))
        return at.mean[:, 0], at.variance

    return predict


def _dngo(state: State, targets: Array) -> Predict:
    """As after a training on all of the data; the variance is that of the mixture of networks, with 1/β."""
    options, rng = DNGOOptions(), Streams(0).generator(len(targets), "dngo loss")
    position = np.log(state.budget / state.levels[0]) / np.log(state.levels[-1] / state.levels[0])
    inputs = np.column_stack([state.X, position])
    numbers = [at for at, group in enumerate(state.inputs.groups) if group not in state.inputs.options]
    mean, parts = Quadratic(tuple(numbers)), list[Predict]()
    for network in networks_of(options, inputs, targets, rng, options.settings.networks, logistic=False):
        basis = Basis(network, mean)
        sums = Statistics.none(basis.width + mean.size).extended(basis.design(inputs), targets)
        thetas = sample(sums, basis, rng, options.settings.samples)
        parts += [_at_full(Head.of(sums, basis, theta, of_observations=True)) for theta in thetas]
    return _mixture(parts)


def _at_full(head: Head) -> Predict:
    def predict(X: Array) -> tuple[Array, Array]:
        at = head.predict(np.column_stack([X, np.ones(len(X))]))
        return at.mean[:, 0], at.variance

    return predict


MODELS: dict[str, Fit] = {
    **{name: _of_name(name) for name in OVER_BUDGETS if not name.startswith("decay-")},
    "converging": _process(_converging),
    "forest": _forest,
    "dngo": _dngo,
}
METHODS = (*MODELS, "matern + converging", "matern + forest", "converging + forest", f"{RANKS}converging")


def _normal_scores(state: State) -> tuple[Array, Scale]:
    """The scores of all losses within their rung, and the scale of the highest rung that has any."""
    scales = {}
    for level in np.unique(state.budget):
        own = np.sort(state.loss[state.budget == level])
        scales[level] = lambda y, own=own: _score(own, y)
    scores = np.empty(len(state.loss))
    for level, scale in scales.items():
        at = state.budget == level
        scores[at] = scale(state.loss[at])
    return scores, scales[max(scales)]


def _score(own: Array, y: Array) -> Array:
    """The normal quantile of the place of each y among ``own``, interpolated between neighbours."""
    place = np.interp(y, own, np.arange(len(own)), left=-0.5, right=len(own) - 0.5)
    made: Array = ndtri((place + 1.0) / (len(own) + 1.0))
    return made
