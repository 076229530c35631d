"""Expected hypervolume improvement against Monte Carlo, its gradient against differences, and far from the front."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from xstar.core.pareto import hypervolume, non_dominated
from xstar.models.kernels import Array
from xstar.searchers.acquisition.hypervolume import boxes, log_improvement


def front_of(m: int, seed: int, n: int = 12) -> Array:
    Y = np.random.default_rng(seed).random((n, m))
    return Y[non_dominated(Y)]


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_boxes_fill_what_is_not_dominated_once(m: int, seed: int) -> None:
    front, r = front_of(m, seed), np.full(m, 0.9)
    lower, upper = boxes(front, r)
    points = np.random.default_rng(seed).uniform(-0.5, 0.9, (500, m))
    inside = ((lower[None] <= points[:, None]) & (points[:, None] < upper[None])).all(axis=2).sum(axis=1)
    dominated = np.asarray((front[None] <= points[:, None]).all(axis=2))
    free = ~np.asarray(dominated.any(axis=1))
    assert inside.tolist() == free.astype(int).tolist()


def test_three_objectives_take_two_boxes_a_point_and_one() -> None:
    x = np.random.default_rng(0).normal(size=(400, 3))
    front = 1.0 - np.abs(x) / np.linalg.norm(x, axis=1)[:, None]
    front = front[non_dominated(front)]
    assert len(boxes(front, np.ones(3))[0]) <= 2 * len(front) + 1


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_the_expected_improvement_is_that_of_many_draws(m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    front, r = front_of(m, seed), np.ones(m)
    before = hypervolume(front, r)
    means, deviations = rng.uniform(0.0, 0.8, (4, m)), rng.uniform(0.05, 0.4, (4, m))
    value, _ = log_improvement(list(means.T[:, :, None]), list(deviations.T), [boxes(front, r)], gradient=False)
    for row in range(4):
        draws = means[row] + deviations[row] * rng.standard_normal((4000, m))
        better = ~(front[None] <= draws[:, None]).all(axis=2).any(axis=1) & (draws < r).all(axis=1)
        found = [hypervolume(np.vstack([front, draw]), r) - before for draw in draws[better][:500]]
        sampled = np.concatenate([found, np.zeros(round(np.mean(~better) / np.mean(better) * len(found)))])
        error = np.std(sampled) / np.sqrt(len(sampled))
        assert abs(np.exp(value[row]) - np.mean(sampled)) < 5 * error + 1e-6


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("shift", [0.0, 30.0])
def test_gradients_are_those_of_differences_also_far_from_the_front(m: int, shift: float) -> None:
    """30 standard deviations beyond the reference point the improvement is below e^-450: only its logarithm is left."""
    rng = np.random.default_rng(m)
    under = [boxes(front_of(m, seed), np.ones(m)) for seed in range(2)]
    means = [rng.uniform(0.0, 1.0, (3, 2)) + shift for _ in range(m)]
    variances = [rng.uniform(0.5, 1.5, 3) for _ in range(m)]

    def at(means: list[Array], variances: list[Array]) -> Array:
        return log_improvement(means, [np.sqrt(v) for v in variances], under, gradient=False)[0]

    value, slopes = log_improvement(means, [np.sqrt(v) for v in variances], under, gradient=True)
    assert np.isfinite(value).all()
    h = 1e-6
    for j in range(m):
        for c in range(2):
            up, down = ([mean.copy() for mean in means] for _ in range(2))
            up[j][:, c] += h
            down[j][:, c] -= h
            assert_allclose(
                slopes[j][0][:, c], (at(up, variances) - at(down, variances)) / (2 * h), rtol=1e-4, atol=1e-6
            )
        up, down = ([v.copy() for v in variances] for _ in range(2))
        up[j] += h
        down[j] -= h
        assert_allclose(slopes[j][1], (at(means, up) - at(means, down)) / (2 * h), rtol=1e-4, atol=1e-6)
