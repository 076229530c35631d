"""DNGO where numbers are awkward: failures, constraints, losses of any size, repeated and constant ones."""

from __future__ import annotations

import pytest

import xstar as xs
from tests.searchers.cases import SQUARE, ask, best_value
from xstar.searchers.bo.failures import Outcomes
from xstar.searchers.bo.observations import Observations
from xstar.searchers.dngo.searcher import DNGO

pytestmark = pytest.mark.usefixtures("short_training")


# ---------------------------------------------------------------- constraints


def test_a_constraint_metric() -> None:
    def loss(trial: xs.Trial) -> dict[str, float]:
        return {"loss": -trial["x"], "size": trial["x"] + trial["y"]}

    study = xs.Study(SQUARE, searcher=DNGO(initial=5, networks=3), seed=1, metric="loss", constraints={"size": 0.7})
    for _ in range(25):
        trial = ask(study)
        study.tell(trial, loss(trial))
    assert study.best.metrics["size"] <= 0.7
    assert best_value(study) < -0.6
    outcomes = Outcomes.of(study.history, Observations.of(study.history))
    assert outcomes.measured.rows.shape == (25, 3)


# ---------------------------------------------------------------- awkward numbers
