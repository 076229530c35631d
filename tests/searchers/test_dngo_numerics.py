"""DNGO where numbers are awkward: failures, constraints, losses of any size, repeated and constant ones."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import SQUARE, ask, best_value, bowl, of_the_model, run
from xstar.models import features
from xstar.searchers.bo.feasibility import Outcomes
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


@pytest.mark.parametrize("kind", [xs.Infeasible, ArithmeticError])
def test_all_trials_fail(kind: type[Exception]) -> None:
    def never(config: dict[str, Any]) -> float:
        raise kind("never")

    study = xs.Study(SQUARE, searcher=DNGO(initial=3), seed=1)
    trials = run(study, 12, never)
    assert all(trial.origin.endswith("too few trials have a value") for trial in trials[3::2])
    for trial in trials[4::2]:
        assert re.match(r"dngo: log p -?[\d.e+-]+, nothing is known to be feasible", trial.origin)
    places = np.array([list(trial.config.values()) for trial in trials])
    assert (np.linalg.norm(places[:, None] - places, axis=2) + np.eye(12)).min() > 1e-3


def test_nan_losses_are_failures() -> None:
    study = xs.Study(SQUARE, searcher=DNGO(initial=4, networks=2), seed=1)
    for _ in range(14):
        trial = ask(study)
        study.tell(trial, math.nan if trial["x"] > 0.6 else bowl(trial.config))
    assert len(of_the_model(study.history.trials, "dngo")) == 10
    assert best_value(study) < 0.1


# ---------------------------------------------------------------- awkward numbers


@pytest.mark.parametrize("scale", [1e-12, 1e200])
def test_any_unit(scale: float) -> None:
    study = xs.Study(SQUARE, searcher=DNGO(initial=3, networks=2), seed=1)
    assert len(of_the_model(run(study, 8, lambda config: scale * bowl(config)), "dngo")) == 5


def test_constant_targets() -> None:
    study = xs.Study(SQUARE, searcher=DNGO(initial=3, networks=2), seed=1)
    trials = run(study, 12, lambda config: 0.25)
    assert len(of_the_model(trials, "dngo")) == 9
    assert len({tuple(trial.config.values()) for trial in trials}) == 12


def test_one_observation() -> None:
    study = xs.Study(SQUARE, searcher=DNGO(initial=1, networks=2), seed=1)
    trials = run(study, 3)
    assert "sobol" in trials[1].origin
    assert "n=2" in trials[2].origin


def test_one_diverged_trial() -> None:
    study = xs.Study(SQUARE, searcher=DNGO(initial=4, networks=2), seed=1)
    trials = run(study, 14, lambda config: 1.7e308 if config["x"] > 0.7 else bowl(config))
    assert len(of_the_model(trials, "dngo")) == 10


def test_repeated_points() -> None:
    study = xs.Study(SQUARE, searcher=DNGO(initial=2, networks=2), seed=1)
    for _ in range(12):
        study.enqueue({"x": 0.5, "y": 0.5})
    noise = np.random.default_rng(0)
    run(study, 12, lambda config: bowl(config) + 0.01 * noise.standard_normal())
    assert len(of_the_model(run(study, 3), "dngo")) == 3


def test_two_hundred_dimensions() -> None:
    space = xs.Space(**{f"x{i}": xs.Float(0, 1) for i in range(200)})
    study = xs.Study(space, searcher=DNGO(initial=5, networks=2), seed=1)
    trials = run(study, 7, lambda config: sum((value - 0.5) ** 2 for value in config.values()))
    assert len(of_the_model(trials, "dngo")) == 2


def test_only_categories() -> None:
    study = xs.Study(xs.Space(a=xs.Choice(list("uvwxyz")), b=xs.Bool()), searcher=DNGO(initial=2, networks=2), seed=1)
    trials = run(study, 12, lambda config: float(ord(config["a"])))
    assert len(of_the_model(trials, "dngo")) == 10
    assert study.ask() is None


def test_one_constant() -> None:
    study = xs.Study(xs.Space(a=3), searcher=DNGO())
    study.tell(ask(study), 1.0)
    assert study.ask() is None
