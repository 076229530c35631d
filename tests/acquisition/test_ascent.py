"""The ascent of several points at once."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from xstar.acquisition.ascent import ascend
from xstar.models.kernels import Array

ROUNDS = 60


def hill(d: int, centre: Array) -> tuple[Array, Array]:
    """A concave quadratic function with unequal curvatures in turned directions: its matrix and its centre."""
    turned = np.linalg.qr(np.random.default_rng(d).standard_normal((d, d)))[0]
    return turned @ np.diag(10.0 ** np.linspace(0.0, 2.0, d)) @ turned.T, centre


def at(hill: tuple[Array, Array], x: Array) -> tuple[Array, Array]:
    Q, centre = hill
    g = -(x - centre) @ Q
    return 0.5 * np.einsum("ij,ij->i", x - centre, g), g


@pytest.mark.parametrize("d", [1, 2, 5, 12])
def test_all_points_reach_the_top_of_a_hill_inside(d: int) -> None:
    top = np.linspace(0.3, 0.6, d)
    found, values = ascend(lambda x: at(hill(d, top), x), np.random.default_rng(1).random((7, d)), ROUNDS, 1e-12)
    assert_allclose(found, np.tile(top, (7, 1)), atol=1e-4)
    assert_allclose(values, 0.0, atol=1e-6)


@pytest.mark.parametrize("d", [2, 5])
def test_a_hill_whose_top_is_outside_is_climbed_along_the_faces_of_the_cube(d: int) -> None:
    outside = np.where(np.arange(d) % 2, 1.4, 0.3)
    found, values = ascend(lambda x: at(hill(d, outside), x), np.random.default_rng(2).random((5, d)), ROUNDS, 1e-14)
    assert ((found >= 0.0) & (found <= 1.0)).all()
    # A concave function lies below its tangents: nowhere in the cube is it higher than here by more than this.
    slope = at(hill(d, outside), found)[1]
    above = np.maximum(slope * (1.0 - found), -slope * found).sum(axis=1)
    assert (above < 1e-3 * np.abs(values)).all()


def test_each_point_climbs_as_it_would_alone() -> None:
    """Points have their own curvatures and step lengths: others change nothing."""
    surface = hill(3, np.array([0.2, 0.9, 0.5]))

    def ripples(x: Array) -> tuple[Array, Array]:
        f, g = at(surface, x)
        return f + np.sin(12.0 * x).sum(axis=1), g + 12.0 * np.cos(12.0 * x)

    starts = np.random.default_rng(3).random((6, 3))
    together, values = ascend(ripples, starts, 12, 0.0)
    for place, start in enumerate(starts):
        alone, value = ascend(ripples, start[None], 12, 0.0)
        assert_allclose(alone[0], together[place], rtol=1e-9)
        assert_allclose(value[0], values[place], rtol=1e-9)


def test_no_point_ends_lower_than_it_began_and_calls_are_counted() -> None:
    calls = []

    def rough(x: Array) -> tuple[Array, Array]:
        calls.append(len(x))
        return np.cos(40.0 * x).sum(axis=1) - x.sum(axis=1), -40.0 * np.sin(40.0 * x) - 1.0

    starts = np.random.default_rng(4).random((9, 4))
    begun = rough(starts)[0]
    calls.clear()
    found, values = ascend(rough, starts, 8, 1e-12)
    assert calls == [9] * 8
    assert (values >= begun).all()
    assert (values > begun).any()
    assert_allclose(rough(found)[0], values)


def test_a_flat_function_ends_at_once() -> None:
    calls = []

    def flat(x: Array) -> tuple[Array, Array]:
        calls.append(1)
        return np.zeros(len(x)), np.zeros_like(x)

    starts = np.random.default_rng(5).random((3, 2))
    found, _ = ascend(flat, starts, 20, 1e-4)
    assert_allclose(found, starts)
    assert len(calls) == 2


def test_a_value_that_is_not_a_number_is_stepped_back_from() -> None:
    def edge(x: Array) -> tuple[Array, Array]:
        beyond = x[:, 0] > 0.7
        return np.where(beyond, np.nan, x[:, 0]), np.where(beyond[:, None], np.nan, np.ones_like(x))

    found, values = ascend(edge, np.array([[0.69], [0.1]]), 12, 0.0)
    assert np.isfinite(values).all()
    assert 0.69 < found[0, 0] <= 0.7
    assert 0.6 < found[1, 0] <= 0.7
