"""The unit cube: exact ends, equal shares, blanks, and the vectorised form against the plain one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_array_equal

from tests.space.cases import Words, spaces
from xstar.errors import InvalidArgument
from xstar.space import Bits, Bool, Choice, Encoder, Float, Int, Ordinal, Parameter, Space


def mixed() -> Space:
    return Space(
        lr=Float(1e-4, 1e-1, log=True),
        optimizer=Choice(["sgd", "adam", "lion"]),
        momentum=Float(0, 0.99, when={"optimizer": "sgd"}),
        schedule=Choice(["step", "cosine"], when={"optimizer": "adam"}),
        mask=Bits(2, when={"optimizer": "lion"}),
        epochs=10,
        net=Words("abc"),
    )


def test_inactive_columns_hold_their_blanks() -> None:
    configs = [
        {"lr": 1e-4, "optimizer": "sgd", "momentum": 0.99, "epochs": 10, "net": "abc"},
        {"lr": 1e-1, "optimizer": "adam", "schedule": "cosine", "epochs": 10, "net": "abc"},
        {"lr": 1e-1, "optimizer": "lion", "mask": (1, 0), "epochs": 10, "net": "abc"},
    ]
    X, active = Encoder(mixed()).encode(configs)
    assert_array_equal(
        X, [[0, 1, 0, 0, 1.0, 0, 0, 0.5, 0.5], [1, 0, 1, 0, 0.5, 0, 1, 0.5, 0.5], [1, 0, 0, 1, 0.5, 0, 0, 1.0, 0.0]]
    )
    expected = np.array([[1, 1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 0, 1, 1, 0, 0], [1, 1, 1, 1, 0, 0, 0, 1, 1]])
    assert_array_equal(active, expected.astype(bool))


@settings(max_examples=200, deadline=None)
@given(spaces(domains=True))
def test_the_vectorised_form_is_the_plain_one(space: Space) -> None:
    rng = np.random.default_rng(0)
    configs = [space.sample(rng) for _ in range(7)]
    encoder = Encoder(space)
    X, active = encoder.encode(configs)
    for row, mask, config in zip(X, active, configs, strict=True):
        cells: list[float] = []
        flags: list[bool] = []
        for name, given_ in space.parameters.items():
            if isinstance(given_, Parameter):
                cells += given_.encode(config[name]) if name in config else [given_.blank] * given_.width
                flags += [name in config] * given_.width
        assert row.tolist() == cells
        assert mask.tolist() == flags


@pytest.mark.parametrize(
    "parameter", [Float(0.1, 0.3), Float(1e-4, 1e-1, log=True), Float(-7.3, 1e300), Int(3, 17), Int(3, 17, log=True)]
)
def test_the_ends_of_the_cube_are_exactly_the_bounds(parameter: Float | Int) -> None:
    encoder = Encoder(Space(x=parameter))
    assert encoder.decode([0.0])["x"] == parameter.low == encoder.decode([-5.0])["x"]
    assert encoder.decode([1.0])["x"] == parameter.high == encoder.decode([5.0])["x"]
    assert encoder.decode(encoder.encode_one({"x": parameter.low})[0])["x"] == parameter.low
    assert encoder.decode(encoder.encode_one({"x": parameter.high})[0])["x"] == parameter.high


@pytest.mark.parametrize(
    "parameter", [Int(-(2**49), 2**49 - 1), Int(1, 2**40, log=True), Int(2**80, 2**80 + 2**50 - 1)]
)
def test_the_widest_ints_come_back_exactly(parameter: Int) -> None:
    rng = np.random.default_rng(0)
    near = [0, 1, 2, parameter.size // 2, parameter.size - 3, parameter.size - 2, parameter.size - 1]
    for index in near + rng.integers(0, parameter.size, 2000).tolist():
        value = parameter.value_at(index)
        assert parameter.decode(parameter.encode(value)) == value


def test_choice_takes_the_first_of_equals() -> None:
    encoder = Encoder(Space(c=Choice(["a", "b", "c"])))
    assert encoder.decode([0.2, 0.7, 0.7]) == {"c": "b"}
    assert encoder.decode([0.0, 0.0, 0.0]) == {"c": "a"}


def test_ordinal_bool_and_bits() -> None:
    encoder = Encoder(Space(o=Ordinal(["s", "m", "l", "xl"]), b=Bool(), m=Bits(2)))
    assert_array_equal(encoder.encode_one({"o": "m", "b": True, "m": (0, 1)})[0], [0.375, 1, 0, 1])
    assert encoder.decode([0.49, 0.5, 0.49, 0.5]) == {"o": "m", "b": True, "m": (0, 1)}


def test_decode_lets_conditions_decide() -> None:
    encoder = Encoder(mixed())
    row = [0.5, 0, 1, 0, 0.9, 1, 0, 1, 1]
    assert list(encoder.decode(row)) == ["lr", "optimizer", "schedule", "epochs"]


@pytest.mark.parametrize("row", [[0.5], [[0.5, 0.5]], 0.5, [0.5, math.nan], [0.5, math.inf]])
def test_rows_of_another_shape_or_with_nan_are_refused(row: Any) -> None:
    with pytest.raises(InvalidArgument, match="row"):
        Encoder(Space(a=Float(0, 1), b=Float(0, 1))).decode(row)


def test_nothing_to_encode() -> None:
    encoder = Encoder(Space(epochs=3))
    X, active = encoder.encode([{"epochs": 3}, {"epochs": 3}])
    assert X.shape == active.shape == (2, 0)
    assert encoder.decode([]) == {"epochs": 3}
    X, active = Encoder(mixed()).encode([])
    assert X.shape == active.shape == (0, 9)
