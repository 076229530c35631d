"""A random forest of regression trees, whose disagreement is its uncertainty: the surrogate of SMAC.

Notation

==============  ==================================================================================  ===========
symbol          meaning                                                                             shape
==============  ==================================================================================  ===========
``T``           the number of trees
``X, y``        inputs, standardised losses                                                         (n, w), (n,)
``draws``       the observations of each tree, drawn with replacement                               (T, n)
``order``       for each column, the draws of all trees sorted by node and value                    (w, T n)
``S, c``        sums of the losses left of a split, and their number                                (w, T n)
``m_t, s_t²``   mean and variance of the leaf of tree t that an input falls into
==============  ==================================================================================  ===========

A node is split where the squared error becomes least, Σ_left (y − m)² + Σ_right (y − m)², that is, where S_left²/c_left +
S_right²/c_right is largest. The threshold is drawn uniformly between the two neighbouring values (Hutter et al. 2014,
Section 4.3.2): the trees then agree at observations and disagree between them. By the law of total variance

    mean = mean_t m_t          variance = mean_t s_t² + var_t m_t

All trees grow at once, a level at a time, so that a level takes a few dozen calls of NumPy: no slower than scikit-learn, whose
import takes as long as 150 fits to 100 observations.

New observations need no new trees. A tree of n observations draws each of them about Poisson(1) times, so a new one is drawn as
often. It falls into one leaf of the tree, and this leaf is grown on from its own draws and the new ones, as the tree would be
if its upper splits stayed where they are: a twentieth of the time of growing a forest of 1,000 observations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xstar.models.kernels import Array
from xstar.models.model import Prediction

Whole = NDArray[np.intp]
Nodes = tuple[Whole, Array, Whole, Array, Array]
"""Columns, thresholds, left children, means and variances: the fields of ``Forest`` of these names."""

VARIANCE_FLOOR = 1e-6
"""Least variance: trees may agree exactly, and expected improvement divides by the standard deviation."""


@dataclass(frozen=True)
class Growth:
    """How trees are grown."""

    trees: int = 10
    """SMAC's number; 30 are better on Branin, and worse on Hartmann6 and on FC-Net's naval."""
    share: float = 5 / 6
    """The share of the columns that are tried at each split (Hutter et al. 2011, Section 4.1)."""
    least_leaf: int = 1
    """Observations in a leaf, at least."""
    least_split: int = 3
    """Observations in a node that is split, at least."""


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees as arrays, one entry per node; the first T nodes are the roots, and a right child follows its left one."""

    X: Array
    y: Array
    growth: Growth
    seed: int
    column: Whole
    """The column that a node is split in; −1: it is a leaf."""
    threshold: Array
    """Inputs up to this value go left."""
    left: Whole
    mean: Array
    variance: Array
    noise: float = 0.01

    @classmethod
    def fit(cls, X: Array, y: Array, growth: Growth, seed: int) -> Forest:
        """Return the forest of these observations; ``seed`` decides the draws of each tree and their splits."""
        rng = np.random.default_rng(seed)
        drawn = rng.integers(len(y), size=(growth.trees, len(y)))
        return cls(X, y, growth, seed, *Growing.of_draws(X, y, drawn, growth, rng).grown())

    @cached_property
    def draws(self) -> tuple[Whole, Whole]:
        """The observations that the trees were grown from, one tree after the other, and the leaf of each."""
        drawn = np.random.default_rng(self.seed).integers(len(self.y), size=(self.growth.trees, len(self.y)))
        return drawn.ravel(), np.take_along_axis(self.leaves(self.X).T, drawn, axis=1).ravel()

    def with_subtrees(self, indices: Whole, grown: Nodes) -> Forest:
        """Return the forest with trees in the place of some leaves; ``grown`` has their roots first, in that order."""
        count = len(indices)

        def joined(own: Any, new: Any) -> Any:
            made = np.append(own, new[count:])
            made[indices] = new[:count]
            return made

        column, threshold, left, mean, variance = grown
        left = np.where(left >= 0, left - count + len(self.column), left)  # children stand after the nodes there were
        return replace(
            self,
            column=joined(self.column, column),
            threshold=joined(self.threshold, threshold),
            left=joined(self.left, left),
            mean=joined(self.mean, mean),
            variance=joined(self.variance, variance),
        )

    def leaves(self, A: Array) -> Whole:
        """Return the leaf of each tree that each input falls into: (N, T)."""
        at = np.tile(np.arange(self.growth.trees), (len(A), 1))
        rows = np.arange(len(A))[:, None]
        while (inner := self.column[at] >= 0).any():
            right = A[rows, self.column[at]] > self.threshold[at]
            at = np.where(inner, self.left[at] + right, at)
        return at

    def means(self, A: Array) -> Array:
        made: Array = self.mean[self.leaves(A)].mean(axis=1, keepdims=True)
        return made

    def predict(self, A: Array) -> Prediction:
        at = self.leaves(A)
        means = self.mean[at]
        variance = self.variance[at].mean(axis=1) + means.var(axis=1)
        return Prediction(means.mean(axis=1, keepdims=True), np.maximum(variance, VARIANCE_FLOOR))

    def fantasised(self, A: Array, draws: int, rng: np.random.Generator) -> Forest:
        """Return the forest that believes its own predictions at ``A``: its trees no longer disagree there.

        A forest has no joint distribution to draw from, so the number of ``draws`` does not matter.
        """
        if not len(A):
            return self
        X, y = np.vstack([self.X, A]), np.append(self.y, self.means(A)[:, 0])
        return Forest.fit(X, y, self.growth, self.seed)


class Growing:
    """Trees while they grow. The draws of the nodes of the last level stand one after the other, node by node."""

    def __init__(
        self, X: Array, y: Array, sizes: Whole, order: Whole, growth: Growth, rng: np.random.Generator
    ) -> None:
        """Begin with one root for each of ``sizes``: the numbers of its draws, which ``X`` (w, M), ``y`` and ``order`` list."""
        self.X, self.y, self.order = X, y, order
        self.growth, self.rng = growth, rng
        self.starts = sizes.cumsum() - sizes
        self.sizes = sizes
        self.count = len(sizes)
        """The number of nodes so far."""
        self.levels: list[Nodes] = []

    @classmethod
    def of_draws(cls, X: Array, y: Array, drawn: Whole, growth: Growth, rng: np.random.Generator) -> Growing:
        """Begin with a tree for each row of ``drawn``."""
        trees, n = drawn.shape
        draws = X[drawn.ravel()].T.copy()
        by_value = np.argsort(draws.reshape(len(draws), trees, n), axis=2, kind="stable")
        order = (by_value + (np.arange(trees) * n)[None, :, None]).reshape(len(draws), -1)
        return cls(draws, y[drawn.ravel()], np.full(trees, n), order, growth, rng)

    def grown(self) -> Nodes:
        """Split level by level until nothing is left to split; return the nodes, the roots first."""
        while self.split_level():
            pass
        column, threshold, left, mean, variance = (np.concatenate(parts) for parts in zip(*self.levels, strict=True))
        return column, threshold, left, mean, variance

    def split_level(self) -> bool:
        """Split the nodes of the last level where that is allowed; False if there is none."""
        if not len(self.starts):
            return False
        y = self.y[self.order[0]]
        sums = np.add.reduceat(y, self.starts)
        mean = sums / self.sizes
        variance = np.maximum(np.add.reduceat(y * y, self.starts) / self.sizes - mean**2, 0.0)
        column, index = self._best_splits(sums)
        column = np.where(variance > 1e-12, column, -1)
        inner = np.flatnonzero(column >= 0)
        threshold = np.full(len(self.starts), np.inf)
        low = self.X[column[inner], self.order[column[inner], index[inner]]]
        high = self.X[column[inner], self.order[column[inner], index[inner] + 1]]
        # Below ``high`` even if rounding would reach it: both children have observations.
        threshold[inner] = np.minimum(low + self.rng.random(len(inner)) * (high - low), np.nextafter(high, low))
        left = np.full(len(self.starts), -1, dtype=np.intp)
        left[inner] = self.count + 2 * np.arange(len(inner))
        self.levels.append((column, threshold, left, mean, variance))
        self.count += 2 * len(inner)
        self._descend(inner, column[inner], index[inner])
        return True

    def _best_splits(self, sums: Array) -> tuple[Whole, Whole]:
        """Return the best column of each node, −1 for none, and the position in its order after which it is split."""
        starts, sizes = self.starts, self.sizes
        wide, total = self.order.shape
        node = np.repeat(np.arange(len(starts)), sizes)
        before = self.y[self.order].cumsum(axis=1)
        before -= np.where(starts > 0, before[:, starts - 1], 0.0)[:, node]  # S of the left part
        c = (np.arange(total) - starts[node] + 1).astype(np.float64)
        rest = sizes[node] - c
        values = np.take_along_axis(self.X, self.order, axis=1)
        allowed = (c >= self.growth.least_leaf) & (rest >= max(1, self.growth.least_leaf))
        allowed &= sizes[node] >= self.growth.least_split
        differ = np.zeros((wide, total), dtype=bool)
        differ[:, :-1] = values[:, 1:] > values[:, :-1]
        differ &= self._chosen_columns(len(starts))[:, node]
        gain = np.where(differ & allowed, before**2 / c + (sums[node] - before) ** 2 / np.maximum(rest, 1.0), -np.inf)
        top = np.maximum.reduceat(gain, starts, axis=1)  # (w, nodes)
        column = top.argmax(axis=0)
        best = top[column, np.arange(len(starts))]
        at_best = np.flatnonzero(gain[column[node], np.arange(total)] == best[node])
        index = at_best[np.searchsorted(at_best, starts)]  # the first one of each node
        return np.where(np.isfinite(best), column, -1), index

    def _chosen_columns(self, nodes: int) -> NDArray[np.bool_]:
        wide = len(self.X)
        tried = max(1, round(self.growth.share * wide))
        if tried == wide:
            return np.ones((wide, nodes), dtype=bool)
        rank = self.rng.random((wide, nodes)).argsort(axis=0).argsort(axis=0)
        chosen: NDArray[np.bool_] = rank < tried
        return chosen

    def _descend(self, inner: Whole, column: Whole, index: Whole) -> None:
        """Make the children of the split nodes the last level."""
        lefts = index - self.starts[inner] + 1
        sizes = np.column_stack([lefts, self.sizes[inner] - lefts]).ravel()
        new_starts = np.concatenate([[0], sizes.cumsum()[:-1]]) if len(sizes) else np.zeros(0, dtype=np.intp)
        # To which child each draw goes: the first ``lefts`` in the order of the node's column go left.
        child = np.full(len(self.y), -1, dtype=np.int32)
        kept_sizes = self.sizes[inner]
        offsets = np.arange(kept_sizes.sum()) - np.repeat(kept_sizes.cumsum() - kept_sizes, kept_sizes)
        positions = np.repeat(self.starts[inner], kept_sizes) + offsets
        own = np.repeat(np.arange(len(inner)), kept_sizes)
        # Positions in ``order`` hold indices of draws, which are the same set for every column of a node.
        of_column = self.order[np.repeat(column, kept_sizes), positions]
        child[of_column] = 2 * own + (offsets >= np.repeat(lefts, kept_sizes))
        kept = self.order[:, positions]
        self.order = np.take_along_axis(kept, np.argsort(child[kept], axis=1, kind="stable"), axis=1)
        self.starts, self.sizes = new_starts, sizes


# ---------------------------------------------------------------- new observations


@dataclass(frozen=True, eq=False)
class Grafted:
    """A forest and the observations since it was grown."""

    base: Forest
    A: Array
    b: Array

    @property
    def noise(self) -> float:
        return self.base.noise

    def means(self, X: Array) -> Array:
        return self.trees.means(X)

    def predict(self, X: Array) -> Prediction:
        return self.trees.predict(X)

    def fantasised(self, X: Array, draws: int, rng: np.random.Generator) -> Grafted:
        """Return the forest that believes its own predictions at ``X`` (see ``Forest.fantasised``)."""
        if not len(X):
            return self
        return Grafted(self.base, np.vstack([self.A, X]), np.append(self.b, self.means(X)[:, 0]))

    @cached_property
    def trees(self) -> Forest:
        """The forest with what was grafted onto it."""
        base, rng = self.base, np.random.default_rng([self.base.seed, len(self.b)])
        copies = rng.poisson(1.0, size=(len(self.b), base.growth.trees)).ravel()
        new_leaf = np.repeat(base.leaves(self.A).ravel(), copies)
        if not len(new_leaf):
            return base
        new = np.repeat(np.repeat(np.arange(len(self.b)), base.growth.trees), copies)
        drawn, leaf = base.draws
        touched = np.zeros(len(base.column), dtype=bool)
        touched[new_leaf] = True
        kept = np.flatnonzero(touched[leaf])
        # All draws of the touched leaves, leaf by leaf; within a leaf the old ones come first.
        of_leaf = np.concatenate([leaf[kept], new_leaf])
        X = np.vstack([base.X[drawn[kept]], self.A[new]])
        y = np.append(base.y[drawn[kept]], self.b[new])
        together = np.argsort(of_leaf, kind="stable")
        X, y, of_leaf = X[together].T.copy(), y[together], of_leaf[together]
        roots, sizes = np.unique(of_leaf, return_counts=True)
        order = np.array([np.lexsort((column, of_leaf)) for column in X])
        grown = Growing(X, y, sizes, order, base.growth, rng).grown()
        return base.with_subtrees(roots, grown)
