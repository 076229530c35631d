"""Command lines with placeholders."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

import xstar as xs
from xstar.errors import InvalidArgument
from xstar.run.programs.placeholders import check_names, fill, fill_words, to_json, to_text


@pytest.mark.parametrize(
    ("words", "filled"),
    [
        ("run {lr}", ["run", "0.1"]),
        ("run --lr={lr}/{n}", ["run", "--lr=0.1/3"]),
        ("run --momentum {momentum} --n {n}", ["run", "--n", "3"]),
        ("run --momentum={momentum} {n}", ["run", "3"]),
        ("run file {momentum}", ["run", "file"]),
        ("run --a={lr} {momentum}", ["run", "--a=0.1"]),
        ("awk '{ print $1 }' {{lr}} ${{}}", ["awk", "{ print $1 }", "{lr}", "${{}}"]),
    ],
)
def test_words_are_filled_and_those_without_a_value_left_out(words: str, filled: list[str]) -> None:
    assert fill_words(shlex.split(words), {"lr": 0.1, "n": 3}) == filled


@pytest.mark.parametrize(
    ("value", "text"), [("a b", "a b"), (True, "true"), (1e-05, "1e-05"), (None, "null"), ((0, 1), "[0, 1]")]
)
def test_values_are_text_or_json(value: Any, text: str) -> None:
    assert to_text(value) == text


def test_an_architecture_is_json() -> None:
    import numpy as np

    net = xs.nets.MLP(inputs=4, outputs=2).sample(np.random.default_rng(0))
    assert '"layers"' in to_json({"net": net})


def test_a_shell_gets_values_quoted() -> None:
    assert fill("echo {a}", {"a": "x; rm y"}, quoted=True) == "echo 'x; rm y'"


def test_an_unknown_placeholder_is_refused_with_the_nearest() -> None:
    with pytest.raises(InvalidArgument, match=r"did you mean 'lr'"):
        check_names(["--lr", "{lrr}"], ["lr"])
    check_names(["{lr}", "{trial}", "{{lrr}}", "{ print }"], ["lr"])
    with pytest.raises(InvalidArgument, match="placeholder"):
        xs.minimize(xs.Command("true {y}"), xs.Space(x=xs.Float(0, 1)), trials=1)
