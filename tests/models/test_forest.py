"""The forest against plain trees: the best split by trying all, leaves by walking, variance by its law."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from xstar.models.forest import VARIANCE_FLOOR, Forest, Grafted, Growing, Growth


def data(n: int = 40, w: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, w))
    X[:, -1] = X[:, -1].round()  # a switch: many equal values
    return X, X[:, 0] - 2 * X[:, -1] + rng.standard_normal(n) * 0.1


def walk(forest: Forest, root: int, x: np.ndarray) -> int:
    node = root
    while forest.column[node] >= 0:
        node = int(forest.left[node] + (x[forest.column[node]] > forest.threshold[node]))
    return node


def squared_error(y: np.ndarray) -> float:
    return float(((y - y.mean()) ** 2).sum())


def least_error(X: np.ndarray, y: np.ndarray) -> float:
    """Of all splits into two parts with different values."""
    found = np.inf
    for column in X.T:
        for value in np.unique(column)[:-1]:
            left = column <= value
            found = min(found, squared_error(y[left]) + squared_error(y[~left]))
    return found


def test_every_split_is_the_best_one() -> None:
    X, y = data()
    growth = Growth(trees=3, share=1.0)
    forest = Forest.fit(X, y, growth, seed=1)
    drawn = np.random.default_rng(1).integers(len(y), size=(3, len(y)))
    checked = 0
    for root in range(3):
        todo = [(root, drawn[root])]
        while todo:
            node, own = todo.pop()
            assert_allclose(forest.mean[node], y[own].mean(), atol=1e-12)
            assert_allclose(forest.variance[node], y[own].var(), atol=1e-12)
            if forest.column[node] < 0:
                assert (
                    len(own) < growth.least_split or not np.isfinite(least_error(X[own], y[own])) or y[own].std() < 1e-6
                )
                continue
            right = X[own, forest.column[node]] > forest.threshold[node]
            parts = own[~right], own[right]
            assert_allclose(sum(squared_error(y[part]) for part in parts), least_error(X[own], y[own]), atol=1e-9)
            todo += [(int(forest.left[node]) + side, part) for side, part in enumerate(parts)]
            checked += 1
    assert checked > 40


def test_predictions_are_those_of_walks_through_the_trees() -> None:
    forest = Forest.fit(*data(), Growth(trees=5), seed=2)
    A = np.random.default_rng(3).random((30, 3))
    leaves = [[walk(forest, root, x) for root in range(5)] for x in A]
    assert_array_equal(forest.leaves(A), leaves)
    found = forest.predict(A)
    m, s = forest.mean[leaves], forest.variance[leaves]
    assert_allclose(found.mean[:, 0], m.mean(axis=1))
    assert_allclose(forest.means(A), found.mean)
    assert_allclose(
        found.variance, np.maximum((s + m**2).mean(axis=1) - m.mean(axis=1) ** 2, VARIANCE_FLOOR), atol=1e-12
    )


def test_leaves_have_as_many_observations_as_asked_for() -> None:
    X, y = data(60)
    forest = Forest.fit(X, y, Growth(trees=4, least_leaf=5), seed=0)
    drawn = np.random.default_rng(0).integers(60, size=(4, 60))
    for root in range(4):
        leaves = [walk(forest, root, x) for x in X[drawn[root]]]
        assert min(np.unique(leaves, return_counts=True)[1]) >= 5


def test_a_share_of_the_columns_is_tried() -> None:
    rng, (X, y) = np.random.default_rng(0), data(w=6)
    growing = Growing.of_draws(X, y, np.arange(len(y))[None], Growth(share=0.5), rng)
    assert_array_equal(growing._chosen_columns(20).sum(axis=0), 3)


@pytest.mark.parametrize("grafted", [0, 2])
def test_pending_points_end_as_predicted_and_are_certain(grafted: int) -> None:
    X, y = data(30)
    grown = Forest.fit(X, y, Growth(trees=30), seed=0)
    forest = Grafted(grown, X[:grafted], y[:grafted]) if grafted else grown
    A = np.array([[0.5, 0.5, 0.0]])
    before = forest.predict(A)
    pending = np.repeat(A, 8, axis=0)
    after = forest.fantasised(pending, 10, np.random.default_rng(0)).predict(A)
    assert after.variance[0] < 0.5 * before.variance[0]
    assert_allclose(after.mean, before.mean, atol=0.1)
    assert forest.fantasised(A[:0], 10, np.random.default_rng(0)) is forest


@pytest.mark.parametrize("y", [np.zeros(8), np.arange(8.0)])
def test_nothing_to_split(y: np.ndarray) -> None:
    """Equal losses, or equal inputs: every tree is a root."""
    X = np.random.default_rng(0).random((8, 2)) if not y.any() else np.ones((8, 2))
    forest = Forest.fit(X, y, Growth(trees=4), seed=0)
    assert_array_equal(forest.column, [-1] * 4)
    assert forest.predict(X).variance.min() >= VARIANCE_FLOOR


# ---------------------------------------------------------------- grafting


def test_grafting_grows_on_the_leaves_that_new_observations_fall_into() -> None:
    X, y = data(60, seed=3)
    base = Forest.fit(X[:50], y[:50], Growth(trees=6), seed=1)
    trees = Grafted(base, X[50:], y[50:]).trees
    copies = np.random.default_rng([1, 10]).poisson(1.0, size=(10, 6))
    drawn = np.random.default_rng(1).integers(50, size=(6, 50))
    for root in range(6):
        own = np.concatenate([drawn[root], np.repeat(np.arange(50, 60), copies[:, root])])
        landed = np.array([walk(trees, root, x) for x in X[own]])
        for leaf in np.unique(landed):
            assert_allclose(trees.mean[leaf], y[own[landed == leaf]].mean(), atol=1e-12)
            assert_allclose(trees.variance[leaf], y[own[landed == leaf]].var(), atol=1e-12)
            assert (landed == leaf).sum() < 3 or len(np.unique(X[own[landed == leaf]], axis=0)) == 1
    assert_array_equal(base.draws[1].reshape(6, 50)[2], [walk(base, 2, x) for x in X[drawn[2]]])


def test_grafting_nothing_changes_nothing() -> None:
    X, y = data(40)
    base = Forest.fit(X, y, Growth(), seed=0)
    assert Grafted(base, X[:0], y[:0]).trees is base
