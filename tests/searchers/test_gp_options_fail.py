"""Where options raise unless they suit each other, the GP does not stay with the first combination that has a value."""

from __future__ import annotations

from typing import Any

import pytest

import xstar as xs
from benchmarks.harness.penalties import suiting
from tests.searchers.cases import run
from xstar.errors import InvalidArgument
from xstar.inspect.audit import audit
from xstar.searchers import GP

CASE = suiting()["suited6x3"]


def loss(config: dict[str, Any]) -> float:
    assert CASE.fails is not None
    if CASE.fails(config):
        raise ArithmeticError("they do not suit each other")
    return CASE.true(config)


def combinations(trials: list[xs.Trial]) -> int:
    """How many combinations of options have a value."""
    own = [trial for trial in trials if trial.state is xs.State.COMPLETE]
    return len({tuple(value for value in trial.config.values() if isinstance(value, str)) for trial in own})


def test_other_combinations_are_tried() -> None:
    found = {}
    for when in ("always", "numbers"):
        study = xs.Study(CASE.space, searcher=GP(safe_when=when), seed=1)
        found[when] = combinations(run(study, 40, loss))
    assert found["numbers"] > 2 * found["always"]
    assert audit(study).findings == []


def test_where_all_parameters_are_numbers_nothing_changes() -> None:
    space = xs.Space(x=xs.Float(0, 1), n=xs.Int(1, 9))

    def partly(config: dict[str, Any]) -> float:
        if config["x"] > 0.6:
            raise ArithmeticError("too large")
        return float((config["x"] - 0.55) ** 2 + config["n"])

    one, other = (
        run(xs.Study(space, searcher=GP(safe_when=when), seed=2), 20, partly) for when in ("always", "numbers")
    )
    assert [trial.config for trial in one] == [trial.config for trial in other]


def test_another_rule_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="safe_when"):
        GP(safe_when="never")
