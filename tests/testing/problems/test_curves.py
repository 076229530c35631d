"""Simulated learning curves: the optimum by construction, crossings, runtimes, noise."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import spearmanr

from xstar.errors import InvalidArgument
from xstar.space import Config
from xstar.testing import problems
from xstar.testing.problems.curves import NOISE, PROBLEMS, RATE, START, make

NAMES = ["curves-mlp", "curves-optimizer"]
MISLEADING = [name for name in PROBLEMS if name not in NAMES]


def sample(problem: problems.Problem, count: int, seed: int = 0) -> list[Config]:
    rng = np.random.default_rng(seed)
    return [problem.space.sample(rng) for _ in range(count)]


def discordant(problem: problems.Problem, early: int, count: int = 200) -> float:
    """The share of pairs of configurations whose order at budget ``early`` is not the one at the end."""
    curves = [problem.curve(config, 0).losses for config in sample(problem, count)]
    turned = [(a[early - 1] - b[early - 1]) * (a[-1] - b[-1]) < 0 for a, b in combinations(curves, 2)]
    return float(np.mean(turned))


@pytest.mark.parametrize("name", NAMES)
def test_noise_free_curves_fall_from_the_start_to_the_expected_loss(name: str) -> None:
    problem = problems.get(name, noise=0)
    for config in sample(problem, 100):
        losses = problem.curve(config, 3).losses
        assert losses[0] < START
        assert sorted(losses, reverse=True) == losses
        assert losses[-1] == pytest.approx(problem.loss(config), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_the_fast_form_equals_the_formula(name: str) -> None:
    problem = make(name, noise=0, max_budget=30)
    for config in sample(problem, 20):
        final = problem.loss(config)
        alpha = RATE * np.exp(problem._shape(config)[1])
        r = np.arange(1, 31)
        left = ((1.0 + r) ** -alpha - 31.0**-alpha) / (1 - 31.0**-alpha)
        assert_allclose(problem.curve(config, 0).losses, final + (START - final) * left, rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_curves_cross(name: str) -> None:
    problem = problems.get(name, noise=0)
    shares = [discordant(problem, early) for early in (1, 9, 27)]
    assert 0.05 < shares[2] < shares[1] < shares[0] < 0.5  # the earlier, the less it says; and never the opposite


def test_noise_is_independent_from_budget_to_budget_and_seed_to_seed() -> None:
    problem, quiet = problems.get("curves-mlp"), problems.get("curves-mlp", noise=0)
    config = sample(problem, 1)[0]
    noise = np.array([problem.curve(config, s).losses for s in range(500)]) - quiet.curve(config, 0).losses
    assert_allclose(noise.std(), NOISE, rtol=0.02)
    assert abs(noise.mean()) < NOISE / 50
    assert abs(np.corrcoef(noise[:, 0], noise[:, 1])[0, 1]) < 0.15
    assert abs(np.corrcoef(noise[0], noise[1])[0, 1]) < 0.4
    # The clock does not depend on whether the losses are noisy.
    assert problem.curve(config, 7).seconds == quiet.curve(config, 7).seconds


def test_the_longest_budget_can_be_chosen() -> None:
    assert problems.get("curves-mlp").budgets == tuple(range(1, 82))
    short = problems.get("curves-mlp", max_budget=1)
    assert short.budgets == (1,)
    assert short.optimum == pytest.approx(short.curve(short.best, 0).losses[-1], abs=5 * NOISE)


@pytest.mark.parametrize("options", [{"max_budget": 0}, {"max_budget": 2.5}, {"noise": -0.1}, {"noise": "much"}])
def test_bad_options_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument, match=next(iter(options))):
        problems.get("curves-mlp", **options)


def all_losses(name: str, count: int = 300) -> np.ndarray:
    problem = problems.get(name, noise=0.0)
    return np.array([problem.curve(config, 0).losses for config in sample(problem, count, seed=3)])


@pytest.mark.parametrize("name", MISLEADING)
def test_the_first_epoch_would_drop_the_best_and_a_third_of_the_budget_would_not(name: str) -> None:
    losses = all_losses(name)
    best = np.argsort(losses[:, -1])[: len(losses) // 20]
    kept = {budget: np.isin(best, np.argsort(losses[:, budget - 1])[: len(losses) // 3]).mean() for budget in (1, 27)}
    assert kept[1] < 0.1
    assert kept[27] > 0.8


@pytest.mark.parametrize(("name", "most"), [("curves-late", -0.4), ("curves-deep", -0.25)])
def test_the_first_epoch_is_the_wrong_way_round(name: str, most: float) -> None:
    losses = all_losses(name)
    assert spearmanr(losses[:, 0], losses[:, -1]).statistic < most
