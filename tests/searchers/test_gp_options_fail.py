"""Where options raise unless they suit each other, the GP does not stay with the first combination that has a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import run
from xstar.errors import InvalidArgument
from xstar.inspect.audit import audit
from xstar.searchers import GP

RNG = np.random.default_rng(1)
WORTH, SUITS = RNG.standard_normal((6, 3)), RNG.random((6, 3, 3)) < 0.65
RING = xs.Space({f"c{place}": xs.Choice(["a", "b", "c"]) for place in range(6)} | {"x": xs.Float(0, 1)})


def loss(config: dict[str, Any]) -> float:
    own = ["abc".index(config[f"c{place}"]) for place in range(6)]
    if not all(SUITS[place, own[place], own[(place + 1) % 6]] for place in range(6)):
        raise ArithmeticError("they do not suit each other")
    return float(WORTH[np.arange(6), own].sum() + (config["x"] - 0.4) ** 2)


def combinations(trials: list[xs.Trial]) -> int:
    """How many combinations of options have a value."""
    own = [trial for trial in trials if trial.state is xs.State.COMPLETE]
    return len({tuple(value for value in trial.config.values() if isinstance(value, str)) for trial in own})


def test_other_combinations_are_tried() -> None:
    found = {}
    for when in ("always", "numbers"):
        study = xs.Study(RING, searcher=GP(safe_when=when), seed=1)
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
