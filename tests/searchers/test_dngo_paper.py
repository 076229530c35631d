"""``dngo-paper`` against the equations of its paper (Snoek et al. 2015), written down one after the other."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

import xstar as xs
from tests.searchers.cases import SQUARE, awkward, run
from xstar.models.kernels import Array
from xstar.models.linear import Head
from xstar.searchers import DNGO, DNGOPaper
from xstar.searchers.acquisition.criterion import Criterion
from xstar.searchers.bo.observations import Observations
from xstar.searchers.bo.surrogate import Data
from xstar.searchers.bo.trace import DecisionTrace
from xstar.searchers.dngo.fit import EVERY, PAPER, Sizes
from xstar.searchers.dngo.surrogate import LastLayers

pytestmark = pytest.mark.usefixtures("short_training")


def expected_improvement(head: Head, X: Array, t: Array, A: Array) -> Array:
    """Equations 2 to 7 and 9, for targets ``t`` at ``X``, with θ and the basis of a head."""
    columns = len(head.basis.mean.columns)
    alpha, beta, offset = np.exp(head.theta[0]), np.exp(-head.theta[-1]), head.theta[1]
    centre, curvature = head.theta[2 : 2 + columns], np.exp(head.theta[2 + columns : -1])

    def eta(at: Array) -> Array:  # (9)
        made: Array = offset + ((at - centre) ** 2 * curvature).sum(axis=1)
        return made

    Phi, phi = head.basis.network(X), head.basis.network(A)
    K = beta * Phi.T @ Phi + alpha * np.eye(Phi.shape[1])  # (7)
    m = beta * np.linalg.solve(K, Phi.T @ (t - eta(X)))  # (6)
    mean = phi @ m + eta(A)  # (4)
    std = np.sqrt(np.einsum("ij,ji->i", phi, np.linalg.solve(K, phi.T)) + 1.0 / beta)  # (5)
    gamma = (t.min() - mean) / std  # (2)
    made: Array = std * (gamma * norm.cdf(gamma) + norm.pdf(gamma))  # (3)
    return made


def waves(config: dict[str, Any]) -> float:
    """Too many for a short training, so that much is left to improve."""
    return math.sin(13.0 * config["x"]) * math.cos(17.0 * config["y"])


def decided(study: xs.Study, trials: int) -> tuple[Observations, DecisionTrace]:
    """The observations and the trace of the decision after so many trials."""
    run(study, trials, waves)
    trace = study.history.memo.put(DecisionTrace())
    study.ask()
    assert trace.data is not None
    return trace.data.observed, trace


def test_a_decision_is_equations_2_to_9_averaged_over_theta() -> None:
    """Eq. 12; where expected improvement is far below the smallest of the sum, its logarithm has lost its digits."""
    data, trace = decided(xs.Study(SQUARE, searcher=DNGOPaper(), seed=1), 20)
    assert isinstance(trace.criterion, Criterion)
    heads = trace.criterion.models
    t = (data.loss - data.loss.mean()) / data.loss.std()
    A = np.random.default_rng(0).random((40, 2))
    each = [expected_improvement(head, data.X, t, A) for head in heads if isinstance(head, Head)]
    assert len(each) == len(heads) == 10
    direct = np.mean(each, axis=0)
    usual = direct > 1e-6
    assert usual.any()
    assert_allclose(np.exp(trace.criterion.score(A))[usual], direct[usual], rtol=1e-3)


def test_running_trials_have_fantasised_outcomes() -> None:
    """Eq. 11: each draw of the outcomes joins the data, and may be the lowest observed value."""
    study = xs.Study(SQUARE, searcher=DNGOPaper(), seed=1)
    run(study, 16, waves)
    running = [study.ask() for _ in range(3)]
    trace = study.history.memo.put(DecisionTrace())
    study.ask()
    assert isinstance(trace.criterion, Criterion)
    assert trace.criterion.incumbents is not None
    assert trace.data is not None
    data = trace.data.observed
    t = (data.loss - data.loss.mean()) / data.loss.std()
    pending, A = data.rows([trial for trial in running if trial is not None]), np.random.default_rng(0).random((40, 2))
    X, each = np.vstack([data.X, pending]), []
    for head, incumbents in zip(trace.criterion.models, trace.criterion.incumbents, strict=True):
        assert isinstance(head, Head)
        assert head.fantasies is not None
        assert head.fantasies.shape == (3, 10)
        assert_allclose(incumbents, np.minimum(t.min(), head.fantasies.min(axis=0)))
        each += [expected_improvement(head, X, np.append(t, drawn), A) for drawn in head.fantasies.T]
    direct = np.mean(each, axis=0)
    usual = direct > 1e-6
    assert usual.any()
    assert_allclose(np.exp(trace.criterion.score(A))[usual], direct[usual], rtol=1e-3)


def test_features_are_trained_after_every_observation() -> None:
    for searcher, last in ((DNGOPaper(), 21), (DNGO(networks=1), 18)):
        study = xs.Study(SQUARE, searcher=searcher, seed=1)
        made = run(study, 22)[-1]
        assert (found := re.search(r"trained on (\d+)", str(made.origin))) is not None
        assert int(found[1]) == last


def test_failures_change_the_classifier_and_nothing_else() -> None:
    """a_EI(x; V): the losses alone, and not that others had none."""
    study = xs.Study(SQUARE, searcher=DNGOPaper(), seed=1)
    run(study, 14, awkward)
    data = Observations.of(study.history, networks_by_index=False)
    assert data.failed
    given = Data(study.history, data)
    (head, *_) = LastLayers(PAPER, Sizes(growth=EVERY)).fit(given, given.losses()).models
    assert isinstance(head, Head)
    beta, Phi = np.exp(-head.theta[-1]), head.basis.network(data.X)
    assert_allclose(head.L @ head.L.T, beta * Phi.T @ Phi + np.exp(head.theta[0]) * np.eye(50), rtol=1e-7, atol=1e-8)


def test_other_losses_are_not_the_lowest_observed() -> None:
    """The default improves on the lowest posterior mean, which no noise lowers."""
    study = xs.Study(SQUARE, searcher=DNGO(networks=2), seed=1)
    data, trace = decided(study, 21)
    assert isinstance(trace.criterion, Criterion)
    assert trace.criterion.incumbents is not None
    for head, incumbent in zip(trace.criterion.models, trace.criterion.incumbents, strict=True):
        assert_allclose(incumbent, head.means(data.X).min(axis=0))
