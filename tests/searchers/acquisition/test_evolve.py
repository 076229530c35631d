"""Evolution as a maximiser: its budget, its choice of parents, and that it climbs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from xstar.searchers.acquisition.evolve import chances, evaluations, evolve, generation


def test_the_budget_grows_with_the_root_of_the_trials() -> None:
    assert [evaluations(t) for t in (1, 4, 25, 100, 400, 10_000)] == [50, 50, 125, 250, 500, 500]
    assert [generation(count) for count in (1, 50, 250, 500, 10_000)] == [5, 21, 47, 67, 100]


def test_chances_are_exponential_in_units_of_the_spread() -> None:
    g = np.array([0.0, 1.0, 3.0])
    expected = np.exp(g / g.std())
    assert_allclose(chances(g), expected / expected.sum())
    assert_allclose(chances(1e6 * g), chances(g))
    assert_allclose(chances(np.full(4, 7.0)), np.full(4, 0.25))


@pytest.mark.parametrize("count", [1, 20, 21, 100])
def test_so_many_are_scored(count: int) -> None:
    rng = np.random.default_rng(0)
    scored: list[int] = []

    def score(born: list[int]) -> np.ndarray:
        scored.extend(born)
        return -np.array([float(each) for each in born])

    members, values = evolve([100], np.array([-100.0]), lambda parents: [p - 1 for p in parents], score, count, rng)
    assert len(scored) == count
    assert members == [100, *scored]
    assert_allclose(values, -np.array(members, dtype=float))


def test_it_climbs() -> None:
    rng = np.random.default_rng(0)

    def children(parents: list[int]) -> list[int]:
        return [parent + int(rng.integers(-2, 3)) for parent in parents]

    members, values = evolve([0], np.array([-50.0]), children, lambda born: -np.abs(np.array(born) - 50.0), 500, rng)
    random_members, _ = evolve([0], np.array([0.5]), children, lambda born: rng.random(len(born)), 500, rng)
    assert max(members) > 2 * max(random_members)
    assert values.max() == -min(abs(member - 50) for member in members)
