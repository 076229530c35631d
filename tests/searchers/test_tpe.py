"""TPE: the shared suite, the split, budgets, liars, networks, and BOHB's names."""

from __future__ import annotations

import math

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import SQUARE, ask, awkward, bowl, run
from xstar.look.audit import audit
from xstar.nets import synthetic
from xstar.schedulers import ASHA
from xstar.searchers import TPE
from xstar.searchers.bo.observations import Observations
from xstar.searchers.tpe import fit
from xstar.searchers.tpe.fit import split, thinned

NETS = xs.Space(net=xs.nets.MLP(inputs=4), lr=xs.Float(1e-3, 1, log=True))


def test_the_best_tenth_is_good(monkeypatch: pytest.MonkeyPatch) -> None:
    study = xs.Study(SQUARE, method="tpe", seed=0)
    run(study, 35)
    data = Observations.of(study.history, False)
    found = split(TPE(), study.history, data)
    assert sorted(data.loss[found.good]) == sorted(data.loss)[:4]
    assert sorted([*found.good, *found.bad]) == list(range(35))
    monkeypatch.setattr(fit, "MOST_GOOD", 2)
    assert len(split(TPE(), study.history, data).good) == 2


def test_infeasible_and_failed_trials_are_bad() -> None:
    study = xs.Study(SQUARE, method="tpe", constraints={"low": 0.0}, seed=0)
    for _ in range(60):
        trial = ask(study)
        study.tell(trial, {"value": trial.config["x"], "low": 0.5 - trial.config["x"]})
    data = Observations.of(study.history, False)
    found = split(TPE(), study.history, data)
    assert (data.X[found.good, 0] >= 0.5).all()
    study = xs.Study(SQUARE, method="tpe", seed=1)
    trials = run(study, 70, awkward)
    late = [trial.config["x"] > 0.7 or trial.config["y"] < 0.1 for trial in trials[-30:]]
    assert sum(late) <= 4
    assert audit(study).findings == []


def test_nothing_feasible_yet_is_said() -> None:
    study = xs.Study(SQUARE, method="tpe", constraints={"low": 0.0}, seed=0)
    for _ in range(6):
        study.tell(ask(study), {"value": 1.0, "low": 1.0})
    assert ask(study).origin == "random: tpe knows no feasible trial yet"


def test_workers_that_ask_at_once_are_sent_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A running trial is a kernel of g: where it is, the ratio is lower than without it."""
    study = xs.Study(SQUARE, searcher=TPE(candidates=200), seed=3)
    run(study, 30)
    ask(study)
    (running,) = study.history.running.values()
    data = Observations.of(study.history, False)
    decision = fit._Decision(TPE(), study.history, data, np.random.default_rng(0))
    at = decision.parts.points([running.config])
    with_it = decision.bad.log_density(at)
    monkeypatch.setattr(study.history, "running", {})
    without = fit._Decision(TPE(), study.history, data, np.random.default_rng(0)).bad.log_density(at)
    assert with_it[0] > without[0] + 0.5


def test_the_largest_budget_with_enough_observations_counts() -> None:
    study = xs.Study(SQUARE, searcher=TPE(initial=3), scheduler=ASHA(9), seed=0)
    seen = set()
    for _ in range(120):
        trial = ask(study)
        if trial.attempt == 0 and "budget" in trial.origin:
            counts = {level: sum(at == level for _, at, _ in study.history.observed) for level in (1, 3, 9)}
            enough = max(level for level in (1, 3, 9) if counts[level] >= 5 or level == 1)
            assert trial.origin.endswith(f"at budget {enough}"), trial.origin
            seen.add(enough)
        study.report(trial, bowl(trial.config) + 1 / trial.target, budget=trial.target)  # type: ignore[operator]
    assert seen == {1, 3, 9}
    assert audit(study).findings == []


def test_networks_come_from_good_ones() -> None:
    study = xs.Study(NETS, method="tpe", seed=0)
    run(study, 25, lambda config: -synthetic.f2(config["net"]) + abs(math.log10(config["lr"]) + 2))
    late = study.history.trials[12:]
    assert all(trial.origin.startswith("tpe: log l/g") for trial in late)
    assert len({trial.config["net"] for trial in late}) > 3
    assert audit(study).findings == []


def test_many_bad_ones_are_thinned() -> None:
    places, weights = thinned(np.arange(10_000), 100)
    assert places[-50:].tolist() == list(range(9_950, 10_000))
    assert (places[0], places[49]) == (0, 9_949)
    np.testing.assert_allclose(weights.sum(), 10_000)
    assert thinned(np.arange(7), 7)[0].tolist() == list(range(7))


def test_a_share_is_random() -> None:
    study = xs.Study(SQUARE, searcher=TPE(initial=5, random_fraction=0.5), seed=0)
    trials = run(study, 65)[5:]
    assert 15 <= sum(trial.origin == "random: tpe: 50% of all" for trial in trials) <= 45


def test_a_prior_is_a_kernel() -> None:
    """With one candidate nothing is chosen: a third of the draws after the first good one come from the prior."""
    space = xs.Space(x=xs.Float(0, 1, prior=xs.Normal(0.9, 0.02)), y=xs.Float(0, 1))
    study = xs.Study(space, searcher=TPE(initial=2, candidates=1), seed=0)
    trials = run(study, 80, lambda config: abs(config["x"] - 0.9))
    assert np.median([trial.config["x"] for trial in trials[2:]]) > 0.8


def test_bohb_learns_over_budgets() -> None:
    study = xs.Study(SQUARE, method="bohb", max_budget=9, seed=0)
    for _ in range(90):
        trial = ask(study)
        study.report(trial, bowl(trial.config) + 1 / trial.target, budget=trial.target)  # type: ignore[operator]
    assert any("good at budget" in trial.origin for trial in study.history.trials)
    assert audit(study).findings == []
