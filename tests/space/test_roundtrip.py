"""Whatever space and configuration hypothesis invents comes back unchanged from every journey."""

from __future__ import annotations

import copy
import json
import math
import pickle
from typing import Any

import numpy as np
from hypothesis import assume, given, settings, strategies as st

from tests.space.cases import is_active, spaces, spaces_and_configs
from xstar.space import Choice, Encoder, Float, Ordinal, Parameter, Space

FUZZ = settings(max_examples=200, deadline=None)


@FUZZ
@given(spaces_and_configs(domains=True))
def test_a_drawn_configuration_is_canonical(case: tuple[Space, dict[str, Any]]) -> None:
    space, config = case
    parsed = space.parse(config)
    assert parsed == config
    assert list(parsed) == list(config) == [name for name in space if name in config]
    for name, value in config.items():
        assert space[name].contains(value)
        assert type(parsed[name]) is type(value)
        assert type(value) in (float, int, str, bool, type(None), tuple)


@FUZZ
@given(spaces_and_configs(domains=True), st.randoms(use_true_random=False))
def test_parse_sorts_and_thaws(case: tuple[Space, dict[str, Any]], random: Any) -> None:
    space, config = case
    names = list(config)
    random.shuffle(names)
    lists = {name: list(config[name]) if isinstance(config[name], tuple) else config[name] for name in names}
    assert list(space.parse(lists).items()) == list(config.items())


@FUZZ
@given(spaces_and_configs(domains=True))
def test_json_of_configurations(case: tuple[Space, dict[str, Any]]) -> None:
    space, config = case
    text = json.dumps(space.dump(config), allow_nan=False)
    loaded = space.load(json.loads(text))
    assert repr(loaded) == repr(config)  # types too: 1 is not 1.0 and not True
    assert space.key(loaded) == space.key(config)
    if all(isinstance(given, Parameter) and given.plain for given in space.parameters.values()):
        assert space.dump(config) is config
        assert space.load(config) is config


@FUZZ
@given(spaces(domains=True))
def test_json_of_spaces(space: Space) -> None:
    again = Space.from_json(json.loads(json.dumps(space.to_json(), allow_nan=False)))
    assert again == space
    assert hash(again) == hash(space)
    assert again.difference(space) == []
    assert again.to_json() == space.to_json()
    rngs = np.random.default_rng(1), np.random.default_rng(1)
    assert space.sample(rngs[0]) == again.sample(rngs[1])


@FUZZ
@given(spaces(), spaces())
def test_difference_is_empty_only_for_equal_spaces(one: Space, other: Space) -> None:
    assert (one.difference(other) == []) == (one == other)
    assert bool(one.difference(other)) == bool(other.difference(one))


@FUZZ
@given(spaces())
def test_copies_and_pickles(space: Space) -> None:
    u = [0.3] * space.draws
    rng = np.random.default_rng(0)
    for again in (pickle.loads(pickle.dumps(space)), copy.deepcopy(space), copy.copy(space)):
        assert again == space
        assert again.from_uniforms(u, rng) == space.from_uniforms(u, rng)


@FUZZ
@given(spaces_and_configs(domains=True))
def test_unit_cube(case: tuple[Space, dict[str, Any]]) -> None:
    space, config = case
    encoder = Encoder(space)
    row, active = encoder.encode_one(config)
    assert row.shape == active.shape == (encoder.width,)
    assert np.all((row >= 0) & (row <= 1))
    decoded = encoder.decode(row)
    assert list(decoded) == [name for name in config if name not in encoder.domains]
    for name, value in decoded.items():
        parameter = space[name]
        if isinstance(parameter, Float):
            scale = abs(config[name]) if parameter.log else max(abs(parameter.low), abs(parameter.high))
            assert abs(value - config[name]) <= 1e-12 * scale
        else:
            assert value == config[name]
            assert type(value) is type(config[name])


@FUZZ
@given(spaces_and_configs(domains=True))
def test_activity_is_what_the_conditions_say(case: tuple[Space, dict[str, Any]]) -> None:
    space, config = case
    values = {name: config.get(name) for name in space}
    for name in space:
        assert (name in config) == is_active(name, space, values)


@FUZZ
@given(spaces(), st.data())
def test_any_row_decodes_to_a_configuration(space: Space, data: st.DataObject) -> None:
    encoder = Encoder(space)
    row = data.draw(st.lists(st.floats(-1, 2), min_size=encoder.width, max_size=encoder.width))
    config = encoder.decode(row)
    assert space.parse(config) == config


finite = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), finite, st.text(max_size=5))


@FUZZ
@given(st.lists(scalars, min_size=1, max_size=6, unique=True), st.sampled_from([Choice, Ordinal]))
def test_any_scalar_is_an_option(options: list[Any], kind: type[Choice] | type[Ordinal]) -> None:
    space = Space(x=kind(options))
    encoder = Encoder(space)
    assert Space.from_json(json.loads(json.dumps(space.to_json(), allow_nan=False))) == space
    for option in options:
        config = space.parse({"x": option})
        assert repr(config) == repr({"x": option})
        assert space.load(json.loads(json.dumps(space.dump(config)))) == config
        assert repr(encoder.decode(encoder.encode_one(config)[0])) == repr(config)


@FUZZ
@given(finite, finite, st.floats(0, 1), st.booleans())
def test_any_range_of_floats(one: float, other: float, x: float, log: bool) -> None:
    low, high = sorted((one, other))
    log = log and low > 0
    assume(high - low < math.inf and low < high and not (log and math.log(low) == math.log(high)))
    parameter = Float(low, high, log=log)
    value = parameter.quantile([x])
    assert parameter.parse(value, "x") == value
    assert 0 <= parameter.encode(value)[0] <= 1
    scale = value if log else max(abs(low), abs(high))
    smallest = 5e-324  # a denormal has fewer digits than 12
    assert abs(parameter.decode(parameter.encode(value)) - value) <= max(1e-12 * scale, smallest)
    assert [parameter.decode(parameter.encode(end)) for end in (low, high)] == [low, high]


def test_the_end_of_a_grid_is_read_back_as_it_was_written() -> None:
    """The last value is two steps above the first, but no double is: it must not be taken for one step and a bit."""
    space = Space(x=Float(1000000.0, 1000000.7, step=0.3333333333333333))
    assert Space.from_json(json.loads(json.dumps(space.to_json()))) == space
    assert space.size == 3
