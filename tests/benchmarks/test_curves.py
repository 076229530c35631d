"""The benchmark of predictions at the full budget: what it measures, the candidates, the states."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import spearmanr

from benchmarks import curves
from benchmarks.workloads.converging import ConvergingCurves
from benchmarks.workloads.curve_models import Fitted, fitted
from benchmarks.workloads.curve_states import State
from xstar.journal.memo import Memo
from xstar.models.gp import negative_log_posterior
from xstar.models.gp_prior import Inputs, over_configurations
from xstar.models.kernels import Array
from xstar.models.quadratic import Quadratic
from xstar.searchers.dngo.fit import DNGOOptions, heads, trained

INPUTS = Inputs((0, 1), ("a", "b"))


def surrogate() -> ConvergingCurves:
    return ConvergingCurves(*over_configurations(INPUTS), 1 / 27)


def some_state() -> State:
    rng = np.random.default_rng(3)
    X = rng.random((30, 2))
    asked = rng.random((40, 2))
    budget = np.repeat([1.0, 3.0, 27.0], 10)
    return State(
        INPUTS,
        (1, 3, 9, 27),
        X,
        budget,
        X.sum(axis=1) + 1.0 / budget,
        dict.fromkeys(("unseen", "near", "begun"), (asked, asked.sum(axis=1))),
    )


def test_correlation_of_ranks_is_spearmans() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 6, 50).astype(float), rng.integers(0, 6, 50).astype(float)
    assert_allclose(curves.rank_correlation(a, b), spearmanr(a, b).statistic)
    assert curves.rank_correlation(a, np.ones(50)) == 0.0


def test_a_model_that_knows_the_truth_has_its_scores() -> None:
    """Normal losses predicted by their own mean and deviation: the entropy, and the intervals cover what they say."""
    state, rng = some_state(), np.random.default_rng(1)
    X = rng.random((20_000, 2))
    losses = X.sum(axis=1) + 0.2 * rng.standard_normal(len(X))
    unit = 0.2
    found = curves._scores(X.sum(axis=1), np.full(len(X), 0.04), losses, lambda y: y, unit)
    rank, nll, half, ninety, _ = found
    assert rank > 0.85
    assert_allclose(nll, 0.5 * np.log(2 * np.pi * np.e), atol=0.02)
    assert_allclose([half, ninety], [0.5, 0.9], atol=0.02)

    def exactly(X: Array) -> tuple[Array, Array]:
        return X.sum(axis=1), np.full(len(X), 1e-6)

    for rank, _, half, ninety, regret in curves.measured(state, Fitted(lambda y: y, exactly)).values():
        assert (rank, half, ninety, regret) == (1.0, 1.0, 1.0, 0.0)


def test_likelihoods_are_those_of_losses_whatever_the_scale() -> None:
    """Targets of a model are another scale of the same losses: a normal distribution of 3 y + 1 is one of y."""
    losses = np.array([0.1, 0.4, 0.9, 1.3, 2.0])
    plain = curves._scores(np.ones(5), np.full(5, 0.5), losses, lambda y: y, 0.7)
    scaled = curves._scores(np.full(5, 4.0), np.full(5, 4.5), losses, lambda y: 3.0 * y + 1.0, 0.7)
    assert_allclose(plain, scaled, rtol=1e-6)


def test_the_gradient_of_converging_curves() -> None:
    rng, made = np.random.default_rng(0), surrogate()
    X = np.column_stack([rng.random((12, 2)), rng.choice([1, 3, 9, 27], 12) / 27])
    y = rng.standard_normal(12)
    theta = np.array([prior.centre for prior in made.priors]) + 0.3 * rng.standard_normal(len(made.priors))
    _, gradient = negative_log_posterior(made, theta, X, y)
    steps = 1e-5 * np.eye(len(theta))
    ends = [[negative_log_posterior(made, theta + s * step, X, y)[0] for s in (1, -1)] for step in steps]
    assert_allclose(gradient, [(up - down) / 2e-5 for up, down in ends], rtol=1e-4, atol=1e-5)


def test_the_networks_are_those_of_the_searcher() -> None:
    """As fitted to all observations, under the same random stream."""
    state = some_state()
    history: Any = SimpleNamespace(seed=0, memo=Memo())
    X = np.column_stack([state.X, np.log(state.budget) / np.log(27)])
    model = trained(history, DNGOOptions(), "loss", len(X), X, state.loss, Quadratic((0, 1)))
    own = heads(history, "loss", model, X, state.loss, 32, of_observations=True)
    at = state.asked["near"][0]
    each = [head.predict(np.column_stack([at, np.ones(len(at))])) for head in own]
    means, variances = np.array([e.mean[:, 0] for e in each]), np.array([e.variance for e in each])
    mean, variance = fitted("dngo", state).predict(at)
    assert_allclose(mean, means.mean(axis=0), rtol=1e-8)
    assert_allclose(variance, variances.mean(axis=0) + means.var(axis=0), rtol=1e-8)
