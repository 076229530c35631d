"""The forest: the shared suite, and what the shared decision owes to a model without gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import SQUARE, ask, awkward, bowl, run
from xstar.look.audit import audit
from xstar.models import forest as models
from xstar.nets import synthetic
from xstar.schedulers import ASHA
from xstar.searchers import Forest
from xstar.searchers.bo.constraints import bounded_metrics
from xstar.searchers.bo.observations import Observations
from xstar.searchers.bo.surrogate import Data
from xstar.searchers.forest import surrogate


def test_failures_and_constraints() -> None:
    study = xs.Study(SQUARE, method="forest", seed=1)
    trials = run(study, 45, awkward)
    assert sum(trial.config["x"] > 0.7 or trial.config["y"] < 0.1 for trial in trials[-15:]) <= 4
    assert audit(study).findings == []
    study = xs.Study(SQUARE, method="forest", constraints={"low": 0.0}, seed=0)
    for _ in range(30):
        trial = ask(study)
        study.tell(trial, {"value": trial.config["x"], "low": 0.5 - trial.config["x"]})
    assert 0.5 <= study.best["x"] < 0.6


def test_workers_that_ask_at_once_are_sent_apart() -> None:
    study = xs.Study(SQUARE, method="forest", seed=0)
    run(study, 20)
    configs = [ask(study).config for _ in range(6)]
    places = np.array([[config["x"], config["y"]] for config in configs])
    distances = np.linalg.norm(places[:, None] - places, axis=2)[np.triu_indices(6, 1)]
    assert distances.min() > 1e-3
    assert audit(study).findings == []


def test_budgets_are_an_input() -> None:
    study = xs.Study(SQUARE, searcher=Forest(initial=3), scheduler=ASHA(9), seed=0)
    for _ in range(40):
        trial = ask(study)
        study.report(trial, bowl(trial.config) + 1 / trial.target, budget=trial.target)  # type: ignore[operator]
    assert any("at budget 9" in trial.origin for trial in study.history.trials)
    assert audit(study).findings == []


def test_networks() -> None:
    study = xs.Study(xs.Space(net=xs.nets.MLP(inputs=4)), method="forest", seed=0)
    trials = run(study, 14, lambda config: -synthetic.f2(config["net"]))
    assert all(trial.origin.startswith("forest: log EI") for trial in trials[10:])
    assert audit(study).findings == []


def test_above_its_limit_some_are_chosen() -> None:
    study = xs.Study(SQUARE, searcher=Forest(max_observations=10), seed=0)
    run(study, 30)
    assert study.history.trials[-1].origin.endswith("n=29, grown from 10")
    assert audit(study).findings == []


def test_it_is_grown_anew_when_there_are_more_observations_by_one_in_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    grown: list[int] = []
    fit = models.Forest.fit

    def counted(X: np.ndarray, *rest: Any) -> models.Forest:
        grown.append(len(X))
        return fit(X, *rest)

    monkeypatch.setattr(models.Forest, "fit", counted)
    monkeypatch.setattr(surrogate, "REGROW", 8)
    study = xs.Study(SQUARE, method="forest", seed=0)
    run(study, 32)
    assert grown == [*range(5, 17), 18, 20, 22, 24, 27, 30]
    assert audit(study).findings == []


def test_failed_trials_are_grafted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surrogate, "REGROW", 3)
    study = xs.Study(SQUARE, method="forest", seed=0)
    for _ in range(30):
        trial = ask(study)
        if trial["x"] > 0.6:
            study.fail(trial, "no")
        else:
            study.tell(trial, bowl(trial.config))
    assert audit(study).findings == []
    assert sum(trial["x"] > 0.6 for trial in study.trials[15:]) <= 5


def test_a_constraint_called_loss_has_a_model_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surrogate, "REGROW", 3)
    study = xs.Study(SQUARE, method="forest", metric="error", constraints={"loss": 0.5}, seed=0)
    for _ in range(30):
        trial = ask(study)
        study.tell(trial, {"error": trial["x"], "loss": trial["y"]})
    data = Data(study.history, Observations.of(study.history, networks_by_index=False))
    trees = surrogate.Trees(models.Growth(), 1000)
    trees.fit(data, data.losses())
    (within,) = bounded_metrics(data, trees, np.empty((0, 2)), np.random.default_rng(0))
    probably, hardly = within(np.array([[0.5, 0.1], [0.5, 0.9]]))[0]
    assert probably > hardly + 1.0
