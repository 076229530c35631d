"""Evolution as a maximiser: how many are scored, and that it climbs. Constants and chances: ``test_nasbot_paper.py``."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from xstar.searchers.acquisition.evolve import evolve


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
