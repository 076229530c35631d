"""``nasbot-paper`` against plain forms of its paper: (1), (2), kernel (7), the priors and the evolution of B.1 and B.2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal, norm

import xstar as xs
from tests.searchers.cases import ask
from xstar.journal.trial import New
from xstar.models.gp import Posterior, log_posterior
from xstar.models.kernels import Array
from xstar.nets import STRUCTURE, Graph, modifiers, synthetic
from xstar.nets.distance import otmann
from xstar.searchers import NASBOTPaper
from xstar.searchers.acquisition import evolve
from xstar.searchers.acquisition.criterion import Criterion
from xstar.searchers.bo.observations import Observations
from xstar.searchers.bo.surrogate import DecisionSettings
from xstar.searchers.bo.trace import DecisionTrace
from xstar.searchers.nasbot import DRAWS

DOMAIN = xs.nets.MLP(inputs=4, max_layers=10, units=(8, 32))
TRIALS = 13


@pytest.fixture(scope="module")
def trace() -> DecisionTrace:
    """Of a decision after ``TRIALS`` observations, beside one running trial."""
    study = xs.Study(xs.Space(net=DOMAIN), searcher=NASBOTPaper(), direction="maximize", seed=2)
    for _ in range(TRIALS):
        trial = ask(study)
        study.tell(trial, synthetic.f3(trial["net"]))
    ask(study)
    made = study.history.memo.put(DecisionTrace())
    NASBOTPaper().suggest(study.history, New(), np.random.default_rng(0))
    return made


@dataclass
class Knowledge:
    """What the decision knew."""

    data: Observations
    posteriors: list[Posterior]
    y: Array
    """Targets."""
    networks: list[Graph]
    """Those that were evaluated, and the one of the running trial."""

    @property
    def unit(self) -> float:
        return self.data.catalogues[0].unit


@pytest.fixture(scope="module")
def knowledge(trace: DecisionTrace) -> Knowledge:
    assert trace.data is not None
    assert trace.known is not None
    assert trace.known.fitted is not None
    data, trials = trace.data.observed, trace.data.history.trials
    posteriors = [each for each in trace.known.posteriors if isinstance(each, Posterior)]
    networks = [trial.config["net"] for trial in trials[: TRIALS + 1]]
    return Knowledge(data, posteriors, trace.known.fitted.targets(data.loss), networks)


def kernel_7(theta: Array, a: Graph, b: Graph, unit: float) -> float:
    """α exp(-Σ βᵢ dᵢ) + ᾱ exp(-Σ β̄ᵢ d̄ᵢ²), d in a unit of mass. ``theta``: log α, log βᵢ, log ᾱ, log β̄ᵢ."""
    plain = sum(np.exp(theta[1 + i]) * otmann(a, b, nu) / unit for i, nu in enumerate(STRUCTURE))
    normalised = sum(np.exp(theta[6 + i]) * otmann(a, b, nu, normalised=True) ** 2 for i, nu in enumerate(STRUCTURE))
    return float(np.exp(theta[0] - plain) + np.exp(theta[5] - normalised))


def test_eleven_hyperparameters_with_uniform_priors(knowledge: Knowledge) -> None:
    surrogate = knowledge.posteriors[0].surrogate
    mean, *others = surrogate.priors
    assert (mean.low, mean.high) == (0.0, 0.0)
    assert len(others) == 11
    assert all(prior.flat for prior in others)
    draws = np.array([posterior.theta for posterior in knowledge.posteriors])
    assert draws.shape == (DRAWS, 12)
    assert (draws[:, 0] == 0.0).all()
    low, high = np.array([(prior.low, prior.high) for prior in surrogate.priors]).T
    assert ((low <= draws) & (draws <= high)).all()
    assert (np.ptp(draws[:, 1:], axis=0) > 0.0).all()


def test_the_posterior_of_the_hyperparameters_is_the_likelihood(knowledge: Knowledge) -> None:
    """Of hyperparameters whose matrix is positive definite: with p̄ = 2 not all are (``linalg.py`` adds to the diagonal)."""
    surrogate, unit, networks = knowledge.posteriors[0].surrogate, knowledge.unit, knowledge.networks
    X, y = knowledge.data.X, knowledge.y

    def plain(theta: Array) -> float:
        K = np.array([[kernel_7(theta[1:-1], a, b, unit) for b in networks[:TRIALS]] for a in networks[:TRIALS]])
        return float(multivariate_normal(np.zeros(TRIALS), K + np.exp(theta[-1]) * np.eye(TRIALS)).logpdf(y))

    one, other, *_ = (posterior.theta for posterior in knowledge.posteriors if not posterior.jitter)
    found = log_posterior(surrogate, one, X, y) - log_posterior(surrogate, other, X, y)
    assert_allclose(found, plain(one) - plain(other), rtol=1e-6, atol=1e-6)
    outside = one.copy()
    outside[-1] = np.log(0.21)
    assert log_posterior(surrogate, outside, X, y) == -np.inf


def test_the_acquisition_is_equation_2(trace: DecisionTrace, knowledge: Knowledge) -> None:
    """EI over the lowest loss observed, by (1), averaged over the draws; running trials reduce the variance alone."""
    unit, y, networks = knowledge.unit, knowledge.y, knowledge.networks
    rng = np.random.default_rng(5)
    candidates = [DOMAIN.sample(rng) for _ in range(5)]

    def kernel(theta: Array, left: list[Graph], right: list[Graph]) -> Array:
        return np.array([[kernel_7(theta[1:-1], a, b, unit) for b in right] for a in left])

    def improvements(theta: Array) -> tuple[Array, Array]:
        """EI of each candidate, and its variance, which a kernel that is not positive definite may make negative."""
        noise, k = np.exp(theta[-1]), kernel(theta, candidates, networks)
        K = kernel(theta, networks, networks) + noise * np.eye(TRIALS + 1)
        mean = k[:, :TRIALS] @ np.linalg.inv(K[:TRIALS, :TRIALS]) @ y
        own = np.array([kernel(theta, [candidate], [candidate])[0, 0] for candidate in candidates])
        variance = own - np.einsum("ij,jk,ik->i", k, np.linalg.inv(K), k)
        std = np.sqrt(np.maximum(variance, 1e-12))
        u = (y.min() - mean) / std
        return std * (u * norm.cdf(u) + norm.pdf(u)), variance

    assert isinstance(trace.criterion, Criterion)
    assert trace.criterion.incumbents is not None
    rows = np.array(knowledge.data.catalogues[0].enter(candidates), dtype=np.float64)[:, None]
    found, compared = [], 0
    for model, incumbent in zip(trace.criterion.models, trace.criterion.incumbents, strict=True):
        assert isinstance(model, Posterior)
        found.append(np.exp(Criterion([model], [incumbent], trace.criterion.with_budget).score(rows)))
        if not model.jitter:
            expected, variance = improvements(model.theta)
            clear = (variance > 1e-3) & (expected > 1e-9)
            assert_allclose(found[-1][clear], expected[clear], rtol=1e-5)
            compared += int(clear.sum())
    assert compared >= 10
    assert len(found) == DRAWS
    assert_allclose(np.exp(trace.criterion.score(rows)), np.mean(found, axis=0), rtol=1e-9)


def test_candidates_are_scored_with_all_of_their_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    made = xs.Study(xs.Space(net=DOMAIN), searcher=NASBOTPaper(), direction="maximize", seed=3)
    for _ in range(11):
        trial = ask(made)
        made.tell(trial, synthetic.f3(trial["net"]))
    checked = 0

    def exact(*arguments: Any) -> Any:
        nonlocal checked
        found = evolve.evolve(*arguments)
        catalogue = Observations.of(made.history).catalogues[0]
        known = np.array(catalogue.enter([trial.config["net"] for trial in made.history.trials]))
        for member in found[0][-5:]:
            if member.numbers[0] not in known:
                rows = catalogue.between(np.array(member.numbers), known)[0]
                net = member.config["net"]
                plain = [[otmann(net, trial.config["net"], nu) for nu in STRUCTURE] for trial in made.history.trials]
                assert_allclose(rows[0] * catalogue.unit, plain, rtol=1e-9, atol=1e-9)
                checked += 1
        return found

    monkeypatch.setattr("xstar.searchers.bo.networks.evolve", exact)
    ask(made)
    assert checked


def test_the_evolution_is_that_of_b_2() -> None:
    """π(z) ∝ exp(g(z)/σ) with σ the standard deviation of g; n_EA grows as √t, N_mut as √n_EA; one to five steps."""
    g = np.array([0.3, -1.0, 2.0, 0.5])
    weights = np.array([np.exp(value / np.sqrt(np.mean((g - g.mean()) ** 2))) for value in g])
    assert_allclose(evolve.chances(g), weights / weights.sum(), rtol=1e-12)
    assert evolve.evaluations(400) == 2 * evolve.evaluations(100) == 500
    assert evolve.generation(400) == 2 * evolve.generation(100) == 60
    assert modifiers.STEPS == (0.5, 0.25, 0.125, 0.075, 0.05)
    assert modifiers.KINDS[DecisionSettings("nasbot-paper").modifiers] == modifiers.MODIFIERS
