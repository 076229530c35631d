"""Nonsense is refused, and the message names the argument, the rule, the value found and the remedy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.space.cases import Words
from xstar.errors import InvalidArgument, InvalidConfig, InvalidSpace
from xstar.space import (
    Bits,
    Bool,
    Choice,
    Constant,
    Float,
    Int,
    Normal,
    Ordinal,
    Space,
    at_least,
    at_most,
    between,
    register_domain,
)

loop: list[Any] = []
loop.append(loop)


def nested(levels: int) -> Any:
    value: Any = "a"
    for _ in range(levels):
        value = [value]
    return value


# (what is written, the argument named, a word of the rule, the value shown, a word of the remedy)
PARAMETERS: list[tuple[Callable[[], Any], str, str, str, str]] = [
    (lambda: Float(3, 1), "Float.low", "below high", "low=3.0, high=1.0", "swap"),
    (lambda: Float(1, 1), "Float.low", "below high", "low=1.0, high=1.0", "Constant(1.0)"),
    (lambda: Float(0, 1, log=True), "Float.low", "above 0", "0.0", "leave log out"),
    (lambda: Float(-1, 1, log=True), "Float.low", "above 0", "-1.0", "raise low"),
    (lambda: Float(math.nan, 1), "Float.low", "finite", "nan", "numbers"),
    (lambda: Float(0, math.inf), "Float.high", "finite", "inf", "numbers"),
    (lambda: Float(0, 10**400), "Float.high", "finite", "1000", "numbers"),
    (lambda: Float(-1.7e308, 1.7e308), "Float.high", "finite", "low=-1.7e+308", "narrow"),
    (lambda: Float(True, 2), "Float.low", "number", "True", "numbers"),
    (lambda: Float("0", 2), "Float.low", "number", "'0'", "numbers"),  # type: ignore[arg-type]
    (lambda: Float(0, 1, log=1), "Float.log", "True or False", "1", "log=True"),  # type: ignore[arg-type]
    (lambda: Float(0, 1, prior=0.5), "Float.prior", "Normal", "0.5", "Normal(mean, std)"),  # type: ignore[arg-type]
    (lambda: Float(0, 1, prior=Normal(2, 0.1)), "Float.prior", "mean", "Normal(mean=2.0", "widen"),
    (lambda: Int(5, 1), "Int.low", "below high", "low=5, high=1", "swap"),
    (lambda: Int(5, 5), "Int.low", "below high", "low=5, high=5", "Constant(5)"),
    (lambda: Int(1.5, 3), "Int.low", "integer", "1.5", "Float"),  # type: ignore[arg-type]
    (lambda: Int(1, math.inf), "Int.high", "integer", "inf", "Float"),  # type: ignore[arg-type]
    (lambda: Int(False, 3), "Int.low", "integer", "False", "round"),
    (lambda: Int(0, 9, log=True), "Int.low", "at least 1", "0", "raise low"),
    (lambda: Int(1, 2**41, log=True), "Int.high", "2**40", str(2**41), "Float"),
    (lambda: Int(0, 2**50), "Int.high", "2**50", f"low=0, high={2**50}", "Float"),
    (lambda: Int(1, 9, prior=Normal(10, 0.2)), "Int.prior", "mean", "Normal(mean=10.0", "move"),
    (lambda: Normal(0, 0), "Normal.std", "above 0", "0", "0.2"),
    (lambda: Normal(0, -1), "Normal.std", "above 0", "-1", "share"),
    (lambda: Normal(0, 1e9), "Normal.std", "at most 100", "1000000000.0", "leave the prior out"),
    (lambda: Normal(math.nan, 0.1), "Normal.mean", "finite", "nan", "expect"),
    (lambda: Choice([]), "Choice.options", "empty", "[]", "at least one"),
    (lambda: Choice("abc"), "Choice.options", "list", "'abc'", "Choice(["),
    (lambda: Choice({"a", "b"}), "Choice.options", "list", "{", "Choice(["),  # type: ignore[arg-type]
    (lambda: Choice(3), "Choice.options", "list", "3", "Choice(["),  # type: ignore[arg-type]
    (lambda: Choice(["a", "a"]), "Choice.options[1]", "differ", "'a'", "leave one out"),
    (lambda: Choice([1, True]), "Choice.options[1]", "True == 1", "True", "strings"),
    (lambda: Choice([1, 1.0]), "Choice.options[1]", "1.0 == 1", "1.0", "strings"),
    (lambda: Ordinal([[1], (True,)]), "Ordinal.options[1]", "(True,) == [1]", "(True,)", "strings"),
    (lambda: Choice([math.nan]), "Choice.options[0]", "NaN", "nan", "strings"),
    (lambda: Choice([print, max]), "Choice.options[0]", "JSON", "print", "map them in the objective"),
    (lambda: Choice([dict]), "Choice.options[0]", "JSON", "dict", "SearchCV takes a plain list"),
    (lambda: Choice([{"a": 1}]), "Choice.options[0]", "dict", "{'a': 1}", "map them in the objective"),
    (lambda: Choice([loop]), "Choice.options[0]", "nested 50 deep", "[[...]]", "strings"),
    (lambda: Choice([nested(500)]), "Choice.options[0]", "nested 50 deep", "[[[", "strings"),
    (lambda: Choice([nested(100_000)]), "Choice.options[0]", "nested 50 deep", "too deeply to be shown", "strings"),
    (lambda: Constant(nested(500)), "Constant.value", "nested 50 deep", "[[[", "strings"),
    (lambda: Choice(["a", "b"], prior=[1]), "Choice.prior", "one weight for each of the 2", "[1]", "2 positive"),
    (lambda: Choice(["a", "b"], prior=[1, 0]), "Choice.prior", "positive", "[1, 0]", "leave out an option"),
    (lambda: Choice(["a", "b"], prior=[1, math.nan]), "Choice.prior", "positive", "nan", "weights"),
    (lambda: Choice(["a", "b"], prior="ab"), "Choice.prior", "weight", "'ab'", "weights"),  # type: ignore[arg-type]
    (lambda: Ordinal([1, 2], prior=0.5), "Ordinal.prior", "weight", "0.5", "weights"),  # type: ignore[arg-type]
    (lambda: Bool(prior=0), "Bool.prior", "between 0 and 1", "0", "Constant(False)"),
    (lambda: Bool(prior=1.5), "Bool.prior", "between 0 and 1", "1.5", "probability"),
    (lambda: Bool(prior=True), "Bool.prior", "between 0 and 1", "True", "probability"),
    (lambda: Bits(0), "Bits.n", "at least 1", "0", "number of bits"),
    (lambda: Bits(2.5), "Bits.n", "integer", "2.5", "number of bits"),  # type: ignore[arg-type]
    (lambda: Bits(True), "Bits.n", "integer", "True", "number of bits"),
    (lambda: Constant(object), "Constant.value", "plain", "object", "strings"),
    (lambda: Constant(math.inf), "Constant.value", "plain", "inf", "strings"),
    (lambda: Float(0, 1, when={}), "when", "at least one", "{}", "leave when= out"),
    (lambda: Float(0, 1, when="a"), "when", "map names", "'a'", "write when="),  # type: ignore[arg-type]
    (lambda: Float(0, 1, when={1: 2}), "when", "map names", "{1: 2}", "write when="),  # type: ignore[dict-item]
    (lambda: Float(0, 1, when={"a": []}), "when['a']", "at least one value", "[]", "write when="),
    (lambda: Float(0, 1, when={"a": dict}), "when['a']", "plain", "dict", "an object its name, when="),
    (lambda: at_least(None), "at_least", "not None", "None", "number"),
    (lambda: at_most(math.nan), "at_most", "plain value", "nan", "number"),
    (lambda: between(1, object()), "between", "plain value", "object", "number"),
]

ab = Choice(["a", "b"])
SPACES: list[tuple[Callable[[], Any], str, str, str, str]] = [
    (lambda: Space(), "parameters", "at least one", "{}", "Float"),
    (lambda: Space([1]), "parameters", "mapping", "[1]", "Space(lr="),  # type: ignore[arg-type]
    (lambda: Space({"a": 1}, a=2), "parameters", "differ", "['a']", "once"),
    (lambda: Space({"learning rate": 1}), "name", "identifier", "'learning rate'", "underscores"),
    (lambda: Space({"lambda": 1}), "name", "keyword", "'lambda'", "underscores"),
    (lambda: Space({3: 1}), "name", "identifier", "3", "underscores"),  # type: ignore[dict-item]
    (lambda: Space(x=[1, 2]), "x", "must be a parameter", "[1, 2]", "Choice([...])"),
    (lambda: Space(x=Float), "x", "not a class", "Float", "Float(...)"),
    (lambda: Space(x=object()), "x", "must be a parameter", "object", "Float, Int"),
    (lambda: Space(x=math.nan), "Constant.value", "NaN", "nan", "strings"),
    (lambda: Space(x=Bool(when={"y": 1})), "x.when['y']", "name a parameter", "'y'", "the space has x"),
    (lambda: Space(x=Bool(when={"x": True})), "x.when['x']", "itself", "'x'", "another"),
    (
        lambda: Space(a=Bool(when={"c": True}), b=Bool(when={"a": True}), c=Bool(when={"b": True})),
        "a.when",
        "circle",
        "a -> c -> b -> a",
        "remove one",
    ),
    (lambda: Space(a=ab, x=Bool(when={"a": "c"})), "x.when['a']", "one of 'a', 'b'", "'c'", "it can take"),
    (lambda: Space(a=ab, x=Bool(when={"a": ("a", "b")})), "x.when['a']", "value of", "('a', 'b')", "into a list"),
    (lambda: Space(a=ab, x=Bool(when={"a": at_least("a")})), "x.when['a']", "order", "at_least('a')", "Ordinal"),
    (lambda: Space(a=Bool(), x=Bool(when={"a": at_least(1)})), "x.when['a']", "order", "at_least(1)", "list"),
    (lambda: Space(a=Bool(), x=Bool(when={"a": 1})), "x.when['a']", "True or False", "1", "it can take"),
    (lambda: Space(a=Int(1, 3), x=Bool(when={"a": 4})), "x.when['a']", "1 ... 3", "4", "it can take"),
    (lambda: Space(a=Int(1, 3), x=Bool(when={"a": at_least(4)})), "x.when['a']", "possible", "at_least(4)", "move"),
    (lambda: Space(a=Int(1, 3), x=Bool(when={"a": at_most("b")})), "x.when['a']", "number", "at_most('b')", "number"),
    (lambda: Space(a=Int(1, 3), x=Bool(when={"a": between(1.2, 1.8)})), "x.when", "possible", "between(1.2", "move"),
    (lambda: Space(a=Int(1, 3), x=Bool(when={"a": between(3, 1)})), "x.when['a']", "possible", "between(3, 1)", "move"),
    (lambda: Space(a=Float(0, 1), x=Bool(when={"a": 0.5})), "x.when['a']", "single value", "0.5", "between"),
    (lambda: Space(a=Float(0, 1), x=Bool(when={"a": at_most(-1)})), "x.when['a']", "possible", "at_most(-1)", "move"),
    (lambda: Space(a=Ordinal(["x", "z"]), x=Bool(when={"a": at_least("q")})), "x.when", "option", "'q'", "one of"),
    (lambda: Space(a=Ordinal([1, 2]), x=Bool(when={"a": between(2, 1)})), "x.when", "after high", "between", "swap"),
    (lambda: Space(a=Bits(2), x=Bool(when={"a": (0, 1)})), "x.when['a']", "bits", "(0, 1)", "condition on"),
    (lambda: Space(a=Words("ab"), x=Bool(when={"a": "ab"})), "x.when['a']", "test-words", "'ab'", "condition on"),
    (lambda: Space(a="x", x=Bool(when={"a": "y"})), "x.when['a']", "constant 'x'", "'y'", "it can take"),
    (lambda: Space(a="x", x=Bool(when={"a": at_least("x")})), "x.when['a']", "order", "at_least", "Ordinal"),
    (lambda: Space.from_json([]), "data", "parameters", "[]", "to_json"),  # type: ignore[arg-type]
    (lambda: Space.from_json({"parameters": [1]}), "data", "parameters", "[1]", "to_json"),
    (lambda: Space.from_json({"parameters": [["x", 1]]}), "parameter", "kind", "1", "to_json"),
    (lambda: Space.from_json({"parameters": [["x", {"kind": "no"}]]}), "kind", "known kind", "'no'", "import"),
    (lambda: Space.from_json({"parameters": [["x", {"kind": "bits"}]]}), "parameter", "fields", "bits", "to_json"),
    (lambda: register_domain("float", lambda data: Words("a")), "kind", "other than", "'float'", "another name"),
]


@pytest.mark.parametrize(("make", "argument", "rule", "found", "remedy"), PARAMETERS + SPACES)
def test_spaces_that_are_not_well_formed(
    make: Callable[[], Any], argument: str, rule: str, found: str, remedy: str
) -> None:
    with pytest.raises(InvalidSpace) as caught:
        make()
    message = str(caught.value)
    assert message.startswith(argument)
    before, _, after = message.partition(", but got ")
    assert rule in before
    assert found in after
    assert remedy in after.partition("; ")[2]


space = Space(
    lr=Float(1e-4, 1e-1, log=True),
    layers=Int(1, 4),
    optimizer=Choice(["sgd", "adam"]),
    momentum=Float(0, 0.99, when={"optimizer": "sgd"}),
    nesterov=Bool(when={"momentum": at_least(0.5)}),
    mask=Bits(3),
    net=Words("ab"),
    epochs=10,
)
good = {"lr": 0.01, "layers": 2, "optimizer": "adam", "mask": (0, 1, 0), "net": "ba", "epochs": 10}


@pytest.mark.parametrize(
    ("change", "argument", "rule", "found", "remedy"),
    [
        ({"lr": 5.0}, "lr", "lie in [0.0001, 0.1]", "5.0", "widen"),
        ({"lr": math.nan}, "lr", "finite", "nan", "number in"),
        ({"lr": True}, "lr", "number", "True", "number in"),
        ({"lr": "0.1"}, "lr", "number", "'0.1'", "number in"),
        ({"lr": None}, "lr", "number", "None", "number in"),
        ({"layers": 2.5}, "layers", "integer", "2.5", "1 ... 4"),
        ({"layers": True}, "layers", "integer", "True", "1 ... 4"),
        ({"layers": 9}, "layers", "lie in 1 ... 4", "9", "widen"),
        ({"optimizer": "lion"}, "optimizer", "one of 'sgd', 'adam'", "'lion'", "options"),
        ({"optimizer": {}}, "optimizer", "one of", "{}", "options"),
        ({"momentum": 0.9}, "momentum", "optimizer is 'adam' and the condition is 'sgd'", "0.9", "leave it out"),
        ({"nesterov": True}, "nesterov", "momentum is inactive itself", "True", "leave it out"),
        ({"optimizer": "sgd"}, "momentum", "must be given", "nothing", "Float(0.0, 0.99"),
        ({"mask": (0, 1)}, "mask", "3 bits", "(0, 1)", "3 zeros and ones"),
        ({"mask": (0, 1, 2)}, "mask", "0 or 1", "(0, 1, 2)", "zeros and ones"),
        ({"mask": (0, 1, None)}, "mask", "0 or 1", "None", "zeros and ones"),
        ({"mask": "01x"}, "mask", "3 bits", "'01x'", "zeros and ones"),
        ({"net": "zz"}, "net", "Words('ab')", "'zz'", "sample"),
        ({"epochs": 11}, "epochs", "constant 10", "11", "leave it out"),
        ({"optimiser": 1}, "optimiser", "name of a parameter", "1", "did you mean optimizer?"),
        ({"qqqq": 1}, "qqqq", "name of a parameter", "1", "the space has lr, layers"),
    ],
)
def test_configurations_that_do_not_belong(
    change: dict[str, Any], argument: str, rule: str, found: str, remedy: str
) -> None:
    with pytest.raises(InvalidConfig) as caught:
        space.parse({**good, **change})
    error = caught.value
    assert error.argument == argument
    assert rule in error.rule
    assert found in str(error)
    assert remedy in error.remedy


def test_everything_wrong_is_named_at_once() -> None:
    with pytest.raises(InvalidConfig) as caught:
        space.parse({"lr": 7.0, "layers": 2, "optimiser": "sgd", "mask": "010", "net": "ab"})
    message = str(caught.value)
    for part in ("(1) optimiser: ", "(2) lr: ", "(3) optimizer: must be given", "did you mean optimizer?", "lr=7.0"):
        assert part in message
    assert "momentum" not in message.partition("(1)")[0]  # whether it is active cannot be known


def test_a_configuration_is_a_mapping() -> None:
    with pytest.raises(InvalidConfig, match="mapping"):
        space.parse([("lr", 0.1)])  # type: ignore[arg-type]


def test_values_are_made_plain() -> None:
    config = space.parse(
        {
            "lr": np.float64(0.1),
            "layers": np.int32(3),
            "optimizer": np.str_("sgd"),
            "momentum": 0,
            "mask": np.array([True, False, True]),
            "net": "ab",
        }
    )
    assert repr(config) == (
        "{'lr': 0.1, 'layers': 3, 'optimizer': 'sgd', 'momentum': 0.0, 'mask': (1, 0, 1), 'net': 'ab', 'epochs': 10}"
    )
    assert all(type(value) in (float, int, str, tuple) for value in config.values())
    assert space.parse({**good, "layers": 3.0, "mask": "110"})["mask"] == (1, 1, 0)


@pytest.mark.parametrize("parameter", [Int(1, 3), Choice(["a"]), Ordinal([1]), Bool(), Bits(2), Constant(1)])
def test_numbered_values_end(parameter: Int | Choice | Ordinal | Bool | Bits | Constant) -> None:
    for index in (-1, parameter.size):
        with pytest.raises(InvalidArgument, match="index"):
            parameter.value_at(index)
    with pytest.raises(InvalidArgument, match="Float"):
        Float(0, 1).value_at(0)
