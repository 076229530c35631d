"""Where options raise unless they suit each other, the GP does not stay with the first combination that has a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import run
from xstar.look.audit import audit

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


def test_other_combinations_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {}
    for least in (0.8, 0.5):
        monkeypatch.setattr("xstar.searchers.gp.fit.PROBABLY", least)
        study = xs.Study(RING, method="gp", seed=1)
        found[least] = combinations(run(study, 40, loss))
    assert found[0.5] > 2 * found[0.8]
    assert audit(study).findings == []
