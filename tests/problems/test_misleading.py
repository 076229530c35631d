"""Curves whose beginning misleads: the optimum by construction, and how far the first epoch is from the last."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from xstar import problems
from xstar.problems.curves import FLOOR
from xstar.problems.misleading import PROBLEMS

COUNT = 300


def losses_of(name: str) -> np.ndarray:
    problem, rng = problems.get(name, noise=0.0), np.random.default_rng(3)
    return np.array([problem.curve(problem.space.sample(rng), 0).losses for _ in range(COUNT)])


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_best_configuration_is_best_at_the_end(name: str) -> None:
    problem = problems.get(name)
    assert problem.loss(problem.best) == problem.optimum == FLOOR
    assert losses_of(name)[:, -1].min() > FLOOR


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_first_epoch_would_drop_the_best_and_a_third_of_the_budget_would_not(name: str) -> None:
    losses = losses_of(name)
    best = np.argsort(losses[:, -1])[: COUNT // 20]
    kept = {budget: np.isin(best, np.argsort(losses[:, budget - 1])[: COUNT // 3]).mean() for budget in (1, 27)}
    assert kept[1] < 0.1
    assert kept[27] > 0.8


@pytest.mark.parametrize(("name", "most"), [("curves-late", -0.4), ("curves-deep", -0.25)])
def test_the_first_epoch_is_the_wrong_way_round(name: str, most: float) -> None:
    losses = losses_of(name)
    assert spearmanr(losses[:, 0], losses[:, -1]).statistic < most
