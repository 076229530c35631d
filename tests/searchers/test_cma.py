"""CMA-ES: the shared suite, its twin in the package, generations with many workers, restarts."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import xstar as xs
from tests.searchers.cases import SQUARE, ask, awkward, bowl, run
from xstar.core.randomness import Streams
from xstar.errors import MissingExtra
from xstar.look.audit import audit
from xstar.schedulers import ASHA
from xstar.searchers import CMA

cmaes = pytest.importorskip("cmaes")

MIXED = xs.Space(
    x=xs.Float(0, 1),
    layers=xs.Int(1, 5),
    units=xs.Int(1, 4, log=True),
    kind=xs.Choice(["a", "b", "c"]),
    flag=xs.Bool(),
    y=xs.Float(0, 1, when={"flag": True}),
)


def mixed(config: dict[str, Any]) -> float:
    wrong = (config["kind"] != "b") + abs(config["layers"] - 4) + abs(config["units"] - 4)
    return float(wrong + (config["x"] - 0.3) ** 2 + (config["y"] if config["flag"] else 0.5))


def test_with_one_worker_it_is_the_package() -> None:
    study = xs.Study(SQUARE, searcher=CMA(), seed=4)
    trials = run(study, 60)
    twin = cmaes.CMA(np.full(2, 0.5), sigma=0.3, bounds=np.array([[0.0, 1.0]] * 2), seed=0)
    number = 0
    while number < 60:
        told = []
        for _ in range(twin.population_size):
            twin.reseed_rng(int(Streams(4).generator(number, "cma").integers(2**32)))
            point = twin.ask()
            told.append((point, bowl({"x": point[0], "y": point[1]})))
            assert_allclose(list(trials[number].config.values()), point, rtol=1e-12)
            number += 1
        twin.tell(told)
    assert audit(study).findings == []


def test_nobody_waits_and_late_results_do_not_count() -> None:
    study = xs.Study(SQUARE, searcher=CMA(population=4), seed=0)
    trials = [ask(study) for _ in range(7)]
    assert {trial.origin.numbers["generation"] for trial in trials} == {0}
    for trial in (trials[5], trials[0], trials[2]):
        study.tell(trial, bowl(trial.config))
    assert ask(study).origin.numbers["generation"] == 0
    study.tell(trials[6], bowl(trials[6].config))
    opened = ask(study)
    assert opened.origin.numbers["told"] == [0, 2, 5, 6]
    assert opened.origin.numbers["generation"] == 1
    study.tell(trials[1], 0.0)
    joined = ask(study).origin.numbers
    assert "told" not in joined
    assert joined["opened"] == opened.number
    assert audit(study).findings == []


def test_discrete_and_conditional_columns() -> None:
    study = xs.Study(MIXED, method="cma", seed=0)
    run(study, 250, mixed)
    best = study.best.config
    assert (best["kind"], best["layers"], best["units"]) == ("b", 4, 4)
    assert audit(study).findings == []


def test_failures_come_last_and_budgets_are_heeded() -> None:
    study = xs.Study(SQUARE, method="cma", seed=0)
    trials = run(study, 150, awkward)
    assert sum(trial.config["x"] > 0.7 or trial.config["y"] < 0.1 for trial in trials[-30:]) <= 5
    study = xs.Study(SQUARE, searcher=CMA(), scheduler=ASHA(9), seed=0)
    for _ in range(60):
        trial = ask(study)
        study.report(trial, bowl(trial.config), budget=trial.target)
    assert study.history.trials[-1].origin.numbers["generation"] >= 4
    assert audit(study).findings == []


def test_it_starts_again_with_twice_as_many() -> None:
    study = xs.Study(xs.Space(x=xs.Float(0, 1)), searcher=CMA(population=4), seed=0)
    run(study, 700, lambda config: (config["x"] - 0.5) ** 2)
    restarts = [trial for trial in study.history.trials if trial.origin.numbers.get("restart") == 1]
    assert restarts, study.history.trials[-1].origin
    generations = [trial.origin.numbers["generation"] for trial in restarts]
    assert generations.count(0) == 8


def test_without_its_package_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cmaes", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[cma\]'"):
        xs.Study(SQUARE, method="cma").ask()
