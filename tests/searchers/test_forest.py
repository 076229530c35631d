"""The forest: the shared suite, and what the shared decision owes to a model without gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import SQUARE, Words, ask, awkward, best_value, bowl, run
from xstar.errors import InvalidArgument
from xstar.inspect.audit import audit
from xstar.models import forest as models
from xstar.nets import synthetic
from xstar.schedulers import ASHA
from xstar.searchers import Forest
from xstar.searchers.forest import learner
from xstar.testing import check_searcher


@pytest.mark.parametrize("searcher", [Forest(), Forest(2, 3, 0.5, 2, 10)], ids=["default", "other settings"])
def test_conforms(searcher: Forest) -> None:
    check_searcher(searcher)


SWITCHES = xs.Space({f"c{place}": xs.Choice(["u", "v", "w", "x"]) for place in range(8)})


def mistakes(config: dict[str, Any]) -> float:
    return float(sum(config[f"c{place}"] != "uvwxwvux"[place] for place in range(8)))


def test_it_beats_chance_where_nothing_is_smooth() -> None:
    for seed in range(2):
        best = {
            method: best_value(xs.minimize(lambda t: mistakes(t.config), SWITCHES, method=method, trials=50, seed=seed))
            for method in ("forest", "random")
        }
        assert best["forest"] < best["random"]


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
    monkeypatch.setattr(learner, "REGROW", 8)
    study = xs.Study(SQUARE, method="forest", seed=0)
    run(study, 32)
    assert grown == [*range(5, 17), 18, 20, 22, 24, 27, 30]
    assert audit(study).findings == []


def test_failed_trials_are_grafted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learner, "REGROW", 3)
    study = xs.Study(SQUARE, method="forest", seed=0)
    for _ in range(30):
        trial = ask(study)
        if trial["x"] > 0.6:
            study.fail(trial, "no")
        else:
            study.tell(trial, bowl(trial.config))
    assert audit(study).findings == []
    assert sum(trial["x"] > 0.6 for trial in study.trials[15:]) <= 5


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"min_samples_leaf": 0}, "min_samples_leaf: must be a whole number of at least 1"),
        ({"max_observations": 9}, "max_observations: must be a whole number of at least 10"),
        ({"trees": 1}, "trees: must be a whole number of at least 2"),
        ({"max_features": 2.0}, "max_features: must be a number from 0 to 1"),
    ],
)
def test_wrong_settings(settings: dict[str, Any], found: str) -> None:
    with pytest.raises(InvalidArgument, match=found):
        Forest(**settings)


def test_domains_without_networks_are_refused() -> None:
    study = xs.Study(xs.Space(word=Words(), x=xs.Float(0, 1)), method="forest")
    with pytest.raises(InvalidArgument, match="forest needs parameters with positions"):
        study.ask()
