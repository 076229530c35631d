"""Which observations a model sees when there are too many."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from xstar.models.targets import choose


def made(n: int = 400, seed: int = 0, levels: tuple[int, ...] = (1, 3, 9)) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    share = 0.5 ** np.arange(len(levels))
    budget = rng.choice(levels, n, p=share / share.sum()).astype(float)
    return rng.random((n, 4)), rng.standard_normal(n), budget


def test_few_are_all() -> None:
    X, loss, budget = made(50)
    assert_array_equal(choose(X, loss, budget, 50), np.arange(50))


@pytest.mark.parametrize("limit", [10, 57, 100, 399])
@pytest.mark.parametrize("levels", [(1,), (1, 3, 9)])
def test_limit_order_and_repetition(limit: int, levels: tuple[int, ...]) -> None:
    X, loss, budget = made(levels=levels)
    places = choose(X, loss, budget, limit)
    assert len(places) == limit
    assert (np.diff(places) > 0).all()  # ascending, none twice
    assert_array_equal(places, choose(X, loss, budget, limit))


@pytest.mark.parametrize("levels", [(1,), (1, 3, 9)])
def test_the_best_quarter_is_there(levels: tuple[int, ...]) -> None:
    X, loss, budget = made(levels=levels)
    assert set(np.argsort(loss)[:25]) <= set(choose(X, loss, budget, 100))


def test_the_highest_budgets_are_there() -> None:
    X, loss, budget = made()
    budget[:] = 1
    budget[[5, 17, 200]] = 9
    budget[40:60] = 3
    places = set(choose(X, loss, budget, 100))
    assert {5, 17, 200, *range(40, 60)} <= places


def test_of_too_many_at_the_highest_budget_the_best_half_of_the_room() -> None:
    X, loss, budget = made()
    budget[:200] = 9
    budget[200:] = 1
    own = np.argsort(loss[:200])
    places = set(choose(X, loss, budget, 60))
    assert set(own[:30]) <= places


def test_the_rest_is_spread() -> None:
    """A region with one lonely bad point is not forgotten; a crowd is thinned out."""
    rng = np.random.default_rng(1)
    X = 0.01 * rng.random((300, 2))
    X[7] = [1.0, 1.0]
    loss = rng.random(300)
    loss[7] = 10.0
    assert 7 in choose(X, loss, np.ones(300), 20)


def test_equal_rows_come_last() -> None:
    rng = np.random.default_rng(2)
    distinct = rng.random((40, 3))
    X = np.vstack([distinct, np.tile(distinct[:1], (200, 1))])
    loss = np.concatenate([rng.random(40), np.full(200, 5.0)])
    places = choose(X, loss, np.ones(240), 40)
    assert_array_equal(places, np.arange(40))
    assert len(choose(X, loss, np.ones(240), 100)) == 100  # there are not so many different ones: copies fill up
