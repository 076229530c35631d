"""The maximum of an acquisition: known ones are found, in spaces of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import xstar as xs
from xstar.searchers.acquisition.optimise import CANDIDATES, candidates, every_row, local_ascent, maximise
from xstar.space.cube import Cube
from xstar.testing import SPACES

Array = NDArray[np.float64]


class Hill:
    """Minus the squared distance from a row: its top is that row."""

    def __init__(self, top: Array, weights: Array | None = None) -> None:
        self.top = top
        self.weights = np.ones(len(top)) if weights is None else weights

    def score(self, rows: Array) -> Array:
        return -((rows - self.top) ** 2 * self.weights).sum(axis=1)

    def with_gradient(self, rows: Array) -> tuple[Array, Array]:
        return self.score(rows), -2.0 * (rows - self.top) * self.weights


def cubes() -> dict[str, Cube]:
    more = {
        "floats": xs.Space(**{f"x{i}": xs.Float(0, 1) for i in range(6)}),
        "integers": xs.Space(a=xs.Int(0, 7), b=xs.Int(1, 500), c=xs.Int(1, 90, log=True)),
        "options": xs.Space(**{f"c{i}": xs.Choice(list(range(7))) for i in range(6)}),
        "bits": xs.Space(mask=xs.Bits(14)),
    }
    return {name: Cube(space) for name, space in (SPACES | more).items()}


CUBES = cubes()
EVERY = pytest.mark.parametrize("cube", CUBES.values(), ids=CUBES)


def random_rows(cube: Cube, count: int, seed: int) -> Array:
    return cube.snap(np.random.default_rng(seed).random((count, cube.width)))


@EVERY
def test_candidates_are_canonical(cube: Cube) -> None:
    for good in (np.empty((0, cube.width)), random_rows(cube, 3, 1)):
        rows = candidates(cube, good, np.random.default_rng(0))
        assert len(rows) == CANDIDATES + (CANDIDATES if len(good) else 0)
        assert_allclose(rows, cube.encoder.encode([cube.decode(row) for row in rows])[0], atol=1e-12)


def test_local_candidates_are_around_the_good_ones() -> None:
    cube = CUBES["floats"]
    good = random_rows(cube, 3, 1)
    near = candidates(cube, good, np.random.default_rng(0))[CANDIDATES:]
    distance = np.linalg.norm(near[:, None, :] - good, axis=2)
    assert np.median(distance.min(axis=1)) < 0.15
    nearest = np.bincount(distance.argmin(axis=1), minlength=3)
    assert nearest[0] > nearest[1] > 0
    assert nearest[2] > 0


@EVERY
def test_a_hill_is_climbed(cube: Cube) -> None:
    """From anywhere, without a hint, in every kind of space."""
    for seed in range(3):
        top = random_rows(cube, 1, 100 + seed)[0]
        hill = Hill(top)
        rng = np.random.default_rng(seed)
        rows, values = maximise(cube, hill.score, hill.with_gradient, np.empty((0, cube.width)), rng)
        assert (np.diff(values) <= 0).all()
        assert_allclose(values, hill.score(rows), atol=1e-9)
        assert_allclose(rows, cube.encoder.encode([cube.decode(row) for row in rows])[0], atol=1e-12)
        assert values[0] > -1e-3, cube.decode(rows[0])


def test_the_ascent_goes_beyond_the_candidates() -> None:
    cube = CUBES["floats"]
    hill = Hill(np.array([0.123, 0.456, 0.789, 0.0, 1.0, 0.5]), np.array([100.0, 10.0, 1.0, 1.0, 1.0, 1.0]))
    best = hill.score(candidates(cube, np.empty((0, 6)), np.random.default_rng(0))).max()
    rows, values = maximise(cube, hill.score, hill.with_gradient, np.empty((0, 6)), np.random.default_rng(0))
    assert values[0] > 1e-4 * best > best
    assert_allclose(rows[0], hill.top, atol=1e-3)


def test_a_local_ascent_asks_for_no_point_twice() -> None:
    """Where the last step ended, the value is known."""
    cube, asked = CUBES["floats"], []
    hill = Hill(np.linspace(0.2, 0.8, 6), np.linspace(1.0, 30.0, 6))

    def noted(rows: Array) -> tuple[Array, Array]:
        asked.append(rows.tobytes())
        return hill.with_gradient(rows)

    begin = random_rows(cube, 4, 1)
    rows, values = local_ascent(cube, noted, begin, hill.score(begin))
    assert len(asked) == len(set(asked)) > 3
    assert_array_equal(values, hill.score(rows))
    assert (values > hill.score(begin)).all()


def test_a_local_ascent_that_ends_lower_than_it_began_is_undone() -> None:
    """The top lies between two integers, and beyond it the ground falls steeply: the integer next to it is worse."""
    cube = Cube(xs.Space(n=xs.Int(0, 19)))
    assert cube.smooth.all()

    def ridge(rows: Array) -> tuple[Array, Array]:
        step = rows[:, 0] - 0.51
        steep = np.where(step > 0.0, 20_000.0, 1_000.0)
        return -steep * step**2, (-2.0 * steep * step)[:, None]

    begin = np.array([[0.475], [0.075]])  # 9, beside the top, and 1
    rows, values = local_ascent(cube, ridge, begin, ridge(begin)[0])
    assert_array_equal(rows[0], begin[0])
    assert_allclose(values, ridge(rows)[0])
    assert (values >= ridge(begin)[0]).all()


@EVERY
def test_the_same_stream_the_same_rows(cube: Cube) -> None:
    hill = Hill(np.full(cube.width, 0.3))
    good = random_rows(cube, 2, 4)
    one, two = (maximise(cube, hill.score, hill.with_gradient, good, np.random.default_rng(5)) for _ in range(2))
    assert_array_equal(one[0], two[0])


@EVERY
def test_everything_that_was_scored_is_ranked(cube: Cube) -> None:
    """Also the neighbours on a walk: where it ends may have been tried before."""
    hill = Hill(random_rows(cube, 1, 6)[0])
    scored = []

    def score(rows: Array) -> Array:
        scored.append(rows)
        return hill.score(rows)

    rows, _ = maximise(cube, score, hill.with_gradient, np.empty((0, cube.width)), np.random.default_rng(5))
    ranked = {row.tobytes() for row in rows}
    assert {row.tobytes() for row in np.vstack(scored)} <= ranked


def test_every_row_of_a_finite_space_once() -> None:
    cube = CUBES["finite"]
    rows = every_row(cube)
    assert len(rows) == len(np.unique(rows, axis=0)) == cube.space.size
    assert_array_equal(rows, cube.snap(rows))


def test_a_flat_acquisition_is_no_trouble() -> None:
    cube = CUBES["mixed"]
    rows, values = maximise(
        cube,
        lambda rows: np.zeros(len(rows)),
        lambda rows: (np.zeros(len(rows)), np.zeros_like(rows)),
        np.empty((0, cube.width)),
        np.random.default_rng(0),
    )
    assert_array_equal(values, 0.0)
    assert len(rows) > 1
