"""Moves in the unit cube: ``snap`` against the way through configurations, neighbours, perturbations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

from tests.space.cases import seeds, spaces
from xstar.space import Bits, Bool, Choice, Float, Int, Ordinal, Space
from xstar.space.cube import SHORT_LIST, SMOOTH, Cube
from xstar.testing import SPACES

EVERY = pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)


def through_configurations(cube: Cube, rows: np.ndarray) -> np.ndarray:
    """The plain form of ``snap``."""
    return np.array([cube.encoder.encode_one(cube.decode(row))[0] for row in rows]).reshape(len(rows), cube.width)


@settings(max_examples=150, deadline=None)
@given(spaces(), seeds)
def test_snap_is_decode_and_encode(space: Space, seed: int) -> None:
    cube = Cube(space)
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-0.1, 1.1, (6, cube.width))
    rows[rng.random(rows.shape) < 0.1] = rng.choice([0.0, 1.0])
    made = cube.snap(rows)
    assert_allclose(made, through_configurations(cube, rows), atol=1e-9)
    assert_allclose(cube.snap(made), made, atol=1e-9)


@settings(max_examples=80, deadline=None)
@given(spaces(), seeds)
def test_moves_end_at_canonical_rows(space: Space, seed: int) -> None:
    cube = Cube(space)
    if not cube.width:
        return
    rng = np.random.default_rng(seed)
    rows = cube.snap(rng.random((4, cube.width)))
    moved = cube.perturbed(rows, 0.2 * rng.standard_normal(rows.shape), rng.random((4, 2, cube.width)), 0.5)
    assert_allclose(moved, through_configurations(cube, moved), atol=1e-9)
    around = cube.neighbours(rows[0], rng)
    assert_allclose(around, through_configurations(cube, around), atol=1e-9)
    assert moved.min() >= 0.0
    assert moved.max() <= 1.0


def test_neighbours_differ_in_one_discrete_parameter() -> None:
    space = SPACES["mixed"]
    cube = Cube(space)
    rng = np.random.default_rng(1)
    for row in cube.snap(rng.random((20, cube.width))):
        here = cube.decode(row)
        around = [cube.decode(other) for other in cube.neighbours(row, rng)]
        for there in around:
            changed = [name for name in here if here[name] != there[name]]
            assert len(changed) == 1
            assert not isinstance(space[changed[0]], Float)
            if changed == ["mask"]:
                assert sum(a != b for a, b in zip(here["mask"], there["mask"], strict=True)) == 1
        for name, expected in [("kind", 2), ("size", 2), ("flag", 1), ("mask", 3)]:
            assert len({str(there[name]) for there in around if there[name] != here[name]}) == expected


def test_neighbours_of_integers_are_near_and_some_far() -> None:
    for log in (False, True):
        cube = Cube(Space(n=Int(1, 1000, log=log)))
        rng = np.random.default_rng(0)
        row = cube.encoder.encode_one({"n": 500})[0]
        found = {cube.decode(other)["n"] for _ in range(50) for other in cube.neighbours(row, rng)}
        assert {498, 499, 501, 502} <= found
        assert max(abs(n - 500) for n in found) > 100
        few = Cube(Space(n=Int(3, 2 + SHORT_LIST, log=log)))
        around = few.neighbours(few.encoder.encode_one({"n": 4})[0], rng)
        assert sorted(few.decode(other)["n"] for other in around) == [3, *range(5, 3 + SHORT_LIST)]


def test_neighbours_reach_what_is_switched_off() -> None:
    cube = Cube(SPACES["conditional"])
    rng = np.random.default_rng(2)
    here = cube.encoder.encode_one({"layers": 1, "optimizer": "adam"})[0]
    around = [cube.decode(row) for _ in range(20) for row in cube.neighbours(here, rng)]
    assert len({config.get("units_2") for config in around}) > 5  # not always the same value
    assert any("momentum" in config for config in around)


def test_perturbations_change_about_their_share_and_at_least_one() -> None:
    cube = Cube(Space(**{f"x{i}": Float(0, 1) for i in range(10)}))
    rng = np.random.default_rng(3)
    rows = np.full((2000, 10), 0.5)
    for share in (0.0, 0.3, 1.0):
        moved = cube.perturbed(rows, 0.1 * rng.standard_normal(rows.shape), rng.random((2000, 2, 10)), share)
        changed = (moved != rows).sum(axis=1)
        assert changed.min() >= 1
        assert changed.mean() == pytest.approx(max(1.0, 10 * share), abs=0.3)


def test_perturbed_options_are_uniform_and_borders_reflect() -> None:
    cube = Cube(Space(c=Choice(["a", "b", "c"]), x=Float(0, 1)))
    rng = np.random.default_rng(4)
    rows = np.tile(cube.encoder.encode_one({"c": "a", "x": 0.95})[0], (3000, 1))
    moved = cube.perturbed(rows, np.full(rows.shape, 0.1), rng.random((3000, 2, 4)), 1.0)
    assert_allclose(moved[:, :3].mean(axis=0), 1 / 3, atol=0.04)
    assert_allclose(moved[:, 3], 0.95)  # 1.05, folded back


def test_what_the_columns_are() -> None:
    cube = Cube(
        Space(
            x=Float(0, 1),
            few=Int(1, SMOOTH),
            many=Int(1, SMOOTH + 1),
            size=Ordinal([1, 2, 4]),
            kind=Choice(["a", "b", "c"]),
            flag=Bool(),
            mask=Bits(2),
            fixed=3,
        )
    )
    assert cube.labels == ("x", "few", "many", "size", "kind", "flag", "mask[0]", "mask[1]")
    assert cube.groups == (0, 1, 2, 3, 4, 4, 4, 5, 6, 7)
    assert cube.smooth.tolist() == [True, False, True] + [False] * 7
    assert cube.numeric.tolist() == [True] * 4 + [False] * 6
    assert not cube.pure
    assert Cube(Space(x=Float(0, 1), fixed=1)).pure
    assert cube.largest == SMOOTH + 1
