"""DNGO on spaces with architectures: networks by what describes them, found by evolution."""

from __future__ import annotations

from typing import Any

import pytest

import xstar as xs
from tests.searchers.cases import ask, run
from xstar.nets.synthetic import f3
from xstar.searchers import DNGO, Auto
from xstar.searchers.bo.observations import Observations

pytestmark = pytest.mark.usefixtures("short_training")

SMALL = xs.nets.MLP(inputs=4, max_layers=14, units=(8, 64))
NETS = xs.Space(net=SMALL)
JOINT = xs.Space(x=xs.Float(0, 1), net=SMALL, kind=xs.Choice(["a", "b"]))


def loss(config: dict[str, Any]) -> float:
    value = -f3(config["net"]) if "net" in config else 0.0
    return float(value + (config["x"] - 0.3) ** 2 if "x" in config else value)


def test_no_distance_is_ever_computed() -> None:
    study = xs.Study(NETS, searcher=DNGO(initial=4, networks=1), seed=0)
    run(study, 8, loss)
    data = Observations.of(study.history, networks_by_index=False)
    assert data.X.shape == (8, len(data.catalogues[0].names))
    assert data.catalogues[0].computed == 0


def test_networks_that_fail_are_learned_from() -> None:
    def fragile(config: dict[str, Any]) -> float:
        if len(config["net"].layers) > 9:
            raise xs.Infeasible("too deep")
        return loss(config)

    study = xs.Study(NETS, searcher=DNGO(initial=10, networks=2), seed=0)
    trials = run(study, 26, fragile)
    deep = [len(trial.config["net"].layers) > 9 for trial in trials]
    assert sum(deep[18:]) < 4
    assert trials[-1].origin.startswith("dngo: log EI")


def test_over_budgets_and_with_constraints() -> None:
    study = xs.Study(JOINT, searcher=DNGO(initial=4, networks=1), scheduler=xs.schedulers.ASHA(9), seed=0)
    for _ in range(12):
        trial = ask(study)
        while study.history.trials[trial.number].state is xs.State.RUNNING:
            reports = study.history.trials[trial.number].reports
            budget = (reports[-1].budget if reports else 0) + 1
            study.report(trial, loss(trial.config) + 1.0 / budget, budget=budget)
    origins = [trial.origin for trial in study.history.trials]
    assert any(origin.startswith("dngo: log EI") and "at budget 9" in origin for origin in origins), origins
    study = xs.Study(NETS, searcher=DNGO(initial=6, networks=1), constraints={"layers": 9.0}, metric="loss", seed=0)
    for _ in range(12):
        trial = ask(study)
        study.tell(trial, {"loss": loss(trial.config), "layers": float(len(trial.config["net"].layers))})
    assert study.history.trials[-1].origin.startswith("dngo: log EI")


def test_auto_goes_over_with_networks_too() -> None:
    study = xs.Study(NETS, searcher=Auto(switch=12), seed=0)
    trials = run(study, 14, loss)
    assert trials[11].origin.startswith("auto: nasbot: ")
    assert trials[12].origin.startswith("auto: dngo: ")
