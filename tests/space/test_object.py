"""A space and its parameters as Python objects: immutable, comparable, readable."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError
from enum import StrEnum
from typing import Any

import numpy as np
import pytest

import xstar.space as shelf
from tests.space.cases import Words
from xstar.space import (
    Bits,
    Bool,
    Choice,
    Constant,
    Domain,
    Float,
    Int,
    Normal,
    Ordinal,
    Parameter,
    Space,
    at_least,
    at_most,
    between,
)

EVERY_KIND: list[Parameter] = [
    Float(1e-4, 1e-1, log=True, prior=Normal(1e-3, 0.2), when={"other": "x"}),
    Float(0.0, 1.0),
    Int(8, 128, log=True, when={"other": ["x", "y"], "layers": at_least(3)}),
    Int(1, 3, when={"other": at_most(4)}),
    Choice(["sgd", None, 3, (1, (2.5, "a"))], prior=[1.0, 2.0, 3.0, 4.0]),
    Ordinal(["s", "m", "l"], when={"other": between("s", "m")}),
    Bool(prior=0.8, when={"other": False}),
    Bits(4),
    Constant("cosine"),
    Constant((1, 2), when={"other": 1}),
]


@pytest.mark.parametrize("parameter", EVERY_KIND, ids=repr)
def test_parameters(parameter: Parameter) -> None:
    assert eval(repr(parameter), vars(shelf)) == parameter  # a repr is the call that made it
    assert pickle.loads(pickle.dumps(parameter)) == parameter
    assert len({parameter, pickle.loads(pickle.dumps(parameter))}) == 1
    assert parameter != Int(77, 78)
    assert parameter != "something else"
    with pytest.raises(FrozenInstanceError):
        parameter.when = None


def test_parameters_of_other_types_of_values_differ() -> None:
    assert Choice([1]) != Choice([True])
    assert Choice([1]) != Ordinal([1])
    assert Float(0, 1) == Float(0.0, np.float32(1.0))  # type: ignore[arg-type]
    assert Float(0, 1) != Int(0, 1)
    assert Bool(when={"a": 1}) == Bool(when={"a": [1]}) != Bool(when={"a": 2})


def test_options_are_frozen() -> None:
    class Colour(StrEnum):
        RED = "red"

    assert Choice([Colour.RED, np.int64(3), [1, [2]]]).options == ("red", 3, (1, (2,)))
    assert type(Choice([Colour.RED]).options[0]) is str
    assert Choice(np.array([1, 2])).options == (1, 2)  # type: ignore[arg-type]
    assert Choice(range(3)).options == (0, 1, 2)


def test_space_is_immutable() -> None:
    space = Space(a=Bool(), b=Float(0, 1, when={"a": True}))
    assert eval(repr(space), vars(shelf)) == space
    with pytest.raises(AttributeError, match="make another"):
        space.draws = 3
    with pytest.raises(AttributeError, match="make another"):
        del space.draws
    with pytest.raises(TypeError):
        space.parameters["b"] = Bool()  # type: ignore[index]


def test_equality_looks_through_the_way_conditions_are_written() -> None:
    def make(when: Any) -> Space:
        return Space(a=Choice(["x", "y", "z"]), n=Int(1, 9), b=Bool(when=when))

    assert make({"a": ["y", "x"]}) == make({"a": ["x", "y", "x"]})
    assert make({"a": "x", "n": 3}) == make({"n": 3.0, "a": ["x"]})
    assert make({"n": at_least(3)}) == make({"n": at_least(3.0)})
    assert make({"n": at_least(3)}) != make({"n": between(3, 9)})
    assert Space(a=Bool(), b=Bool()) != Space(b=Bool(), a=Bool())
    assert Space(a=Bool()) != "a"


def test_differences_are_sentences() -> None:
    here = Space(lr=Float(0, 0.1), momentum=Float(0, 1), opt=Choice(["a", 1]), n=Int(1, 2))
    there = Space(lr=Float(0, 0.01), opt=Choice(["a", True]), n=Bool(), extra=Bool(), x=1)
    assert here.difference(there) == [
        *("momentum is missing there", "extra is missing here", "x is missing here"),
        "lr: high is 0.1 here, 0.01 there",
        *('opt: options is ["a", 1] here, ["a", true] there', "n: kind is int here, bool there"),
    ]
    assert here.difference(here) == []
    a, b = Bool(), Bool()
    assert Space(a=a, b=b).difference(Space(b=b, a=a)) == ["the order is a, b here, b, a there"]
    conditional = Space(a=a, b=Bool(when={"a": True}, prior=0.25))
    assert conditional.difference(Space(a=a, b=b)) == [
        "b: prior is 0.25 here, not given there",
        'b: when is {"a": {"in": [true]}} here, not given there',
    ]


def test_a_domain_is_a_parameter_like_any_other() -> None:
    space = Space(on=Bool(), word=Words("abc", when={"on": True}))
    assert isinstance(space["word"], Domain)
    assert space.to_json()["parameters"][1] == [
        "word",
        {"kind": "test-words", "letters": "abc", "when": {"on": {"in": [True]}}},
    ]
    config = space.parse({"on": True, "word": "cab"})
    assert space.dump(config) == {"on": True, "word": {"word": "cab"}}
    assert space.load(space.dump(config)) == config
    assert space.difference(Space(on=Bool(), word=Words("ab", when={"on": True}))) == [
        'word: letters is "abc" here, "ab" there'
    ]
