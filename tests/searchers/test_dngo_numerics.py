"""DNGO where numbers are awkward: failures, constraints, losses of any size, repeated and constant ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import SQUARE, ask, best_value, run
from xstar.models import features
from xstar.searchers.bo.failures import Outcomes
from xstar.searchers.bo.observations import Observations
from xstar.searchers.dngo.searcher import DNGO

pytestmark = pytest.mark.usefixtures("short_training")


# ---------------------------------------------------------------- constraints


def test_the_share_of_infeasible_suggestions_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "MOST_STEPS", 400)

    def left(config: dict[str, Any]) -> float:
        if config["x"] > 0.5:
            raise xs.Infeasible("x is above 1/2")
        return float((config["x"] - 0.3) ** 2 + (config["y"] - 0.5) ** 2)

    shares = []
    for seed in (2, 3):
        study = xs.Study(SQUARE, searcher=DNGO(initial=8, networks=3), seed=seed)
        bad = [trial.state is xs.State.INFEASIBLE for trial in run(study, 26, left)]
        shares.append([np.mean(bad[:8]), np.mean(bad[8:])])
        assert best_value(study) < 2e-3
    first, then = np.mean(shares, axis=0)
    assert then < 0.5 * first


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
