"""Fronts and hypervolumes against their definitions, for one to five objectives."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from xstar.core.pareto import Array, fronts, hypervolume, non_dominated, ordered, reference


def rows(m: int, n: int, seed: int) -> Array:
    """Losses on a coarse grid, so that there are ties and equal rows."""
    return np.random.default_rng(seed).integers(0, 6, (n, m)).astype(float)


def dominates(a: Array, b: Array) -> bool:
    return bool((a <= b).all() and (a < b).any())


def peeled(Y: Array) -> list[int]:
    """The fronts by their definition, one after the other."""
    left, found = list(range(len(Y))), [0] * len(Y)
    front = 0
    while left:
        top = [i for i in left if not any(dominates(Y[j], Y[i]) for j in left)]
        for i in top:
            found[i] = front
        left = [i for i in left if i not in top]
        front += 1
    return found


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(4))
def test_fronts_are_what_is_left_when_those_before_are_taken_away(m: int, seed: int) -> None:
    Y = rows(m, 30, seed)
    expected = peeled(Y)
    assert fronts(Y).tolist() == expected
    assert non_dominated(Y).tolist() == [front == 0 for front in expected]


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(3))
def test_the_hypervolume_is_that_of_inclusion_and_exclusion(m: int, seed: int) -> None:
    Y, r = rows(m, 7, seed), np.full(m, 5.0)
    expected = 0.0
    for size in range(1, len(Y) + 1):
        for chosen in combinations(range(len(Y)), size):
            corner = Y[list(chosen)].max(axis=0)
            expected -= (-1.0) ** size * float(np.prod(np.maximum(r - corner, 0.0)))
    assert_allclose(hypervolume(Y, r), expected, rtol=1e-12)


def test_points_beyond_the_reference_and_none_at_all_cover_nothing() -> None:
    r = np.array([1.0, 1.0])
    assert hypervolume(np.empty((0, 2)), r) == 0.0
    assert hypervolume(np.array([[1.0, 0.0], [0.5, 2.0]]), r) == 0.0
    assert hypervolume(np.array([[0.5, 0.5], [0.5, 0.5]]), r) == 0.25


@pytest.mark.parametrize("m", [1, 2, 3])
def test_the_order_is_one_of_fronts_and_with_one_objective_that_of_losses(m: int) -> None:
    Y = rows(m, 40, 7)
    order = ordered(Y)
    assert sorted(order.tolist()) == list(range(40))
    assert (np.diff(fronts(Y)[order]) >= 0).all()
    if m == 1:
        assert order.tolist() == sorted(range(40), key=lambda i: (Y[i, 0], i))


def test_the_first_of_a_front_spread_over_it() -> None:
    x = np.linspace(0.0, 1.0, 101)
    Y = np.column_stack([x, 1.0 - x])
    assert sorted(ordered(Y)[:3].tolist()) == [0, 50, 100]


def test_the_reference_point_lies_beyond_the_front() -> None:
    assert_allclose(reference(np.array([[0.0, 1.0], [1.0, 0.0], [9.0, 9.0]])), [1.1, 1.1])
    assert_allclose(reference(np.array([[0.0, 0.0], [1.0, 2.0]])), [0.1, 0.2])  # a front of one point: the range of all
    assert_allclose(reference(np.array([[2.0, 3.0]])), [2.1, 3.1])  # one point: the unit of a loss
