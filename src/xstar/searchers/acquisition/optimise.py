"""Maximise an acquisition function over mixed and conditional spaces.

1. Score candidates in one batch: a randomly shifted Sobol set, and points around the best known ones at several scales.
2. Improve the best few: L-BFGS on the smooth columns (all starts form one problem, so that each call serves all of
   them), then moves to the best neighbour in the discrete parameters, then L-BFGS again where those moves improved the
   value. Without gradients, rounds of random steps of decreasing size replace L-BFGS (local search, as in SMAC).
3. Rank every point that was scored; the caller takes the first that was not tried before.

A finite space of at most ``SMALL_SPACE`` configurations is scored exhaustively instead.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from xstar.core.sobol import sobol
from xstar.models.kernels import Array
from xstar.models.lbfgs import descend
from xstar.space.cube import Cube

Score = Callable[[Array], Array]
"""Maps rows to the acquisition function, to be maximised."""
ScoreWithGradient = Callable[[Array], tuple[Array, Array]]
"""Maps rows to the acquisition function and its gradient with respect to the rows."""

SMALL_SPACE = 2_000
CANDIDATES, FEWER_CANDIDATES = 512, 256
"""Candidates of each kind, and the number from ``LARGE_MODEL`` rows on, where scoring them dominates the cost of a
decision. NAS-Bench-201 (CIFAR-10) ends at 8.39 after 100 trials, and at 8.41 with 256 throughout (16 seeds)."""
LARGE_MODEL = 150
SCALES = (0.3, 0.1, 0.03, 0.01, 0.003)
"""Standard deviations of the steps around known points, in sides of the cube: from coarse to fine."""
LOCAL_SCALES = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002)
LOCAL_STEPS = 20
"""Without gradients: standard deviations of the steps, and steps per round and start. That is 6 × 20 × 6 evaluations,
about as many as there are candidates."""
STARTS = 6
STEPS = 25
TOLERANCE = 1e-7
"""Candidates from which local optimisation starts; iterations of L-BFGS of all of them together, and the relative gain at which
it ends."""
MOVES = 20
"""Maximum number of moves to the best neighbour: enough to change each of 20 categorical parameters once."""


def candidates(cube: Cube, centres: Array, rng: np.random.Generator, count: int = CANDIDATES) -> Array:
    """Return canonical rows: ``count`` spread over the cube, and as many around the ``centres`` (best first)."""
    spread = _sobol(cube.width, count) + rng.random(cube.width)
    spread -= spread >= 1.0  # modulo 1, which takes ten times as long
    everywhere = cube.snap(spread)
    if not len(centres):
        return everywhere
    # Half of the local candidates surround the best point, a quarter the second best, …
    which = np.minimum(np.floor(-np.log2(1.0 - rng.random(count))).astype(int), len(centres) - 1)
    steps = rng.standard_normal((count, cube.width)) * rng.choice(SCALES, size=(count, 1))
    share = min(1.0, max(2.0 / len(cube.labels), 0.3))
    near = cube.perturbed(centres[which], steps, rng.random((count, 2, cube.width)), share)
    return np.vstack([everywhere, near])


def maximise(
    cube: Cube,
    score: Score,
    with_gradient: ScoreWithGradient | None,
    centres: Array,
    rng: np.random.Generator,
    count: int = CANDIDATES,
) -> tuple[Array, Array]:
    """Return canonical rows in descending order of the acquisition function, and their values."""

    def improved(rows: Array, values: Array) -> tuple[Array, Array]:
        if with_gradient is not None:
            return local_ascent(cube, with_gradient, rows, values)
        return local_search(cube, score, rows, values, rng)

    rows = candidates(cube, centres, rng, count)
    values = score(rows)
    order = np.argsort(-values, kind="stable")
    tops, heights = rows[order[:STARTS]], values[order[:STARTS]]
    seen = [(rows, values)]
    if cube.smooth.any():
        tops, heights = improved(tops, heights)
    if not cube.smooth.all():
        moved, higher = _walk(cube, score, tops, heights, rng, seen)
        if cube.smooth.any() and (changed := higher > heights).any():
            moved[changed], higher[changed] = improved(moved[changed], higher[changed])
        tops, heights = moved, higher
    # Keep all rows: in discrete spaces, dozens of the best rows may be one configuration, or may have been tried
    # before. A walk often ends at a configuration that was tried; its neighbours, scored on the way, are the next best.
    rows = np.vstack([tops, *(each for each, _ in seen)])
    values = np.concatenate([heights, *(own for _, own in seen)])
    ranked = np.argsort(-values, kind="stable")
    return rows[ranked], values[ranked]


def local_ascent(cube: Cube, with_gradient: ScoreWithGradient, rows: Array, values: Array) -> tuple[Array, Array]:
    """Maximise in the smooth columns from each of ``rows``; keep the start if the result is lower.

    All starts form one problem, the sum of their values.
    """
    columns = np.flatnonzero(cube.smooth)
    active = cube.active(rows)
    every = len(columns) == cube.width and bool(active.all())

    def at(x: Array) -> tuple[Array, Array]:
        if every:
            return with_gradient(x)
        moved = rows.copy()
        moved[:, columns] = x
        value, gradient = with_gradient(moved)
        return value, (gradient * active)[:, columns]

    moved = rows.copy()
    moved[:, columns], heights = _together(at, rows[:, columns])
    snapped = cube.snap(moved)
    reached = heights if np.array_equal(snapped, moved) else with_gradient(snapped)[0]
    better = reached > values
    return np.where(better[:, None], snapped, rows), np.where(better, reached, values)


def _together(at: ScoreWithGradient, start: Array) -> tuple[Array, Array]:
    """Maximise the sum of the values at all points by L-BFGS; return the points, and the values there."""
    shape = start.shape
    latest = start, np.empty(0)

    def negative(flat: Array) -> tuple[float, Array]:
        nonlocal latest
        value, gradient = at(flat.reshape(shape))
        latest = flat, value
        return -float(np.add.reduce(value)), -gradient.reshape(-1)

    flat, _ = descend(negative, start.reshape(-1), np.zeros(start.size), np.ones(start.size), STEPS, TOLERANCE)
    found = flat.reshape(shape)
    return found, latest[1] if np.array_equal(flat, latest[0]) else at(found)[0]


def local_search(cube: Cube, score: Score, rows: Array, values: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Search from each of ``rows`` in rounds of ever smaller random steps; the best of a round starts the next."""
    rows, values = rows.copy(), values.copy()
    share = min(1.0, max(2.0 / len(cube.labels), 0.3))
    for scale in LOCAL_SCALES:
        starts = np.repeat(rows, LOCAL_STEPS, axis=0)
        steps = rng.standard_normal(starts.shape) * scale
        near = cube.perturbed(starts, steps, rng.random((len(starts), 2, cube.width)), share)
        found = score(near).reshape(len(rows), LOCAL_STEPS)
        best = found.argmax(axis=1)
        better = found.max(axis=1) > values
        rows[better] = near.reshape(len(rows), LOCAL_STEPS, -1)[better, best[better]]
        values[better] = found.max(axis=1)[better]
    return rows, values


def _walk(
    cube: Cube, score: Score, rows: Array, values: Array, rng: np.random.Generator, seen: list[tuple[Array, Array]]
) -> tuple[Array, Array]:
    """Move each of ``rows`` to its best neighbour until none is better. Scored points are added to ``seen``."""
    rows, values = rows.copy(), values.copy()
    alive = list(range(len(rows)))
    for _ in range(MOVES):
        around = [cube.neighbours(rows[i], rng) for i in alive]
        sizes = [len(each) for each in around]
        if not sum(sizes):
            break
        rows_around = np.vstack(around)
        seen.append((rows_around, score(rows_around)))
        scored = np.split(seen[-1][1], np.cumsum(sizes)[:-1])
        moved = []
        for i, each, own in zip(alive, around, scored, strict=True):
            if len(each) and own.max() > values[i] + 1e-9:
                rows[i], values[i] = each[own.argmax()], own.max()
                moved.append(i)
        alive = moved
        if not alive:
            break
    return rows, values


@lru_cache(maxsize=4)
def every_row(cube: Cube) -> Array:
    """Return the canonical rows of all configurations of a finite space."""
    return cube.encoder.encode(list(cube.space.grid(max(2, cube.largest))))[0]


@lru_cache(maxsize=8)
def _sobol(width: int, count: int) -> Array:
    """Return the first points of the Sobol sequence, which are always the same; each suggestion shifts them."""
    return sobol(max(width, 1), 0, count)[:, :width]
