"""Sizes, numbered configurations and grids agree with plain enumeration."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

from tests.space.cases import Words, is_active, spaces
from xstar.errors import InvalidArgument
from xstar.space import Bool, Choice, Float, Int, Parameter, Space, at_least

FUZZ = settings(max_examples=200, deadline=None)


def all_configurations(space: Space) -> list[dict[str, Any]]:
    """Every combination of every value, without the inactive ones, duplicates included."""
    values = []
    for parameter in space.parameters.values():
        assert isinstance(parameter, Parameter)
        values.append([parameter.value_at(index) for index in range(int(parameter.size))])
    full = [dict(zip(space, row, strict=True)) for row in itertools.product(*values)]
    return [{name: row[name] for name in space if is_active(name, space, row)} for row in full]


def distinct(configs: list[dict[str, Any]]) -> set[tuple[tuple[str, Any], ...]]:
    return {tuple(config.items()) for config in configs}


@FUZZ
@given(spaces(finite=True))
def test_size_at_key_and_grid_against_enumeration(space: Space) -> None:
    expected = all_configurations(space)
    assert space.product == len(expected)
    assert [space.at(index) for index in range(space.product)] == expected
    assert space.size_is_exact
    assert space.size == len(distinct(expected))
    assert len({space.key(config) for config in expected}) == space.size
    grid = list(space.grid(4))  # no Int here has more than four values
    assert len(grid) == space.size
    assert distinct(grid) == distinct(expected)
    assert grid == list(space.grid(4))


@FUZZ
@given(spaces())
def test_grids_hold_no_duplicates(space: Space) -> None:
    grid = list(itertools.islice(space.grid(3), 2000))
    assert len({space.key(config) for config in grid}) == len(grid)
    for config in grid[:50]:
        assert space.parse(config) == config


def test_grid_positions_are_equally_spaced_in_the_encoded_scale() -> None:
    assert_allclose([c["x"] for c in Space(x=Float(1e-4, 1, log=True)).grid(5)], [1e-4, 1e-3, 1e-2, 1e-1, 1])
    assert [c["x"] for c in Space(x=Float(-1, 1)).grid(3)] == [-1.0, 0.0, 1.0]
    assert [c["x"] for c in Space(x=Int(0, 10)).grid(3)] == [0, 5, 10]
    assert [c["x"] for c in Space(x=Int(0, 4)).grid(5)] == [0, 1, 2, 3, 4]
    assert [c["x"] for c in Space(x=Int(1, 1000, log=True)).grid(4)] == [1, 6, 79, 1000]


def test_grid_respects_conditions_and_order() -> None:
    space = Space(kind=Choice(["a", "b"]), depth=Int(1, 2, when={"kind": "b"}), x=Float(0, 1))
    assert list(space.grid(2)) == [
        {"kind": "a", "x": 0.0},
        {"kind": "a", "x": 1.0},
        {"kind": "b", "depth": 1, "x": 0.0},
        {"kind": "b", "depth": 1, "x": 1.0},
        {"kind": "b", "depth": 2, "x": 0.0},
        {"kind": "b", "depth": 2, "x": 1.0},
    ]


def test_grid_refuses_domains_and_single_points_when_called() -> None:
    with pytest.raises(InvalidArgument, match="Domain"):
        Space(word=Words("ab")).grid(3)
    for points in (1, 0, -2, 2.5, True, "3"):
        with pytest.raises(InvalidArgument, match="points"):
            Space(x=Float(0, 1)).grid(points)  # type: ignore[arg-type]


def test_size_counts_only_what_can_be_reached() -> None:
    # c needs b, b needs a == "x", and c also needs a == "y": c is never active, so the Float does not count.
    space = Space(a=Choice(["x", "y"]), b=Bool(when={"a": "x"}), c=Float(0, 1, when={"a": "y", "b": True}))
    assert space.size == 3
    assert Space(a=Bool(), x=Float(0, 1, when={"a": True})).size == math.inf
    assert Space(x=Float(0, 1), b=Bool(when={"x": at_least(0.5)})).size == math.inf


def test_size_is_a_bound_where_counting_would_take_too_long() -> None:
    space = Space(a=Int(1, 400), b=Int(1, 400), c=Bool(when={"a": at_least(3), "b": 7}))
    assert not space.size_is_exact
    assert space.size == space.product == 320_000
    assert Space(a=Int(1, 300), b=Int(1, 300), c=Bool(when={"a": at_least(3), "b": 7})).size == 90_000 + 298


def test_numbered_configurations_need_a_finite_space_and_a_valid_index() -> None:
    with pytest.raises(InvalidArgument, match="finite"):
        _ = Space(x=Float(0, 1)).product
    with pytest.raises(InvalidArgument, match="finite"):
        Space(x=Float(0, 1)).at(0)
    space = Space(a=Bool(), b=Int(1, 3))
    assert space.at(np.int64(5)) == {"a": True, "b": 3}  # type: ignore[arg-type]
    for index in (-1, 6, 1.5):
        with pytest.raises(InvalidArgument, match=r"0 \.\.\. 5"):
            space.at(index)  # type: ignore[arg-type]


def test_the_key_tells_an_option_none_from_inactivity() -> None:
    space = Space(on=Bool(), extra=Choice([None, 1], when={"on": True}))
    keys = [space.key(config) for config in space.grid(2)]
    assert len(set(keys)) == 3
    assert space.key({"extra": 1, "on": True}) == space.key({"on": True, "extra": 1})  # order does not matter
