"""Constraint metrics: a trial that ends above a bound is infeasible, is never the best, and teaches the searcher."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.trials import ask
from xstar.errors import NoValue, StudyMismatch
from xstar.journal import events as ev
from xstar.look.audit import audit
from xstar.schedulers import ASHA, Hyperband, Median, StoppingASHA
from xstar.searchers import DNGO, GP
from xstar.study.settings import Constraints

SPACE = xs.Space(x=xs.Float(0, 1), y=xs.Float(0, 1))
LATENCY = {"latency": 50.0}


def tell(study: xs.Study, value: float, latency: float | None) -> xs.Trial:
    trial = ask(study)
    study.tell(trial, {"value": value} | ({} if latency is None else {"latency": latency}))
    return trial


def test_above_the_bound_is_infeasible_and_never_the_best() -> None:
    study = xs.Study(SPACE, constraints=LATENCY)
    over, at, missing = tell(study, 0.1, 50.5), tell(study, 0.5, 50.0), tell(study, 0.2, None)
    assert over.state is xs.State.INFEASIBLE
    assert over.reason == "latency is 50.5, above its bound 50"
    assert missing.state is xs.State.INFEASIBLE
    assert missing.reason == "the constraint metric 'latency' was not reported"
    assert at.state is xs.State.COMPLETE
    assert at.reason is None
    assert study.best is at
    assert tell(study, 0.0, math.nan).state is xs.State.INFEASIBLE
    assert study.best is at
    assert study.history.count(xs.State.INFEASIBLE) == 3


def test_while_nothing_is_feasible_there_is_no_best() -> None:
    study = xs.Study(SPACE, constraints=LATENCY)
    tell(study, 0.1, 51.0)
    with pytest.raises(NoValue, match="above its bound"):
        _ = study.best


def test_added_observations_have_to_keep_them_too() -> None:
    study = xs.Study(SPACE, constraints=LATENCY)
    assert study.add({"x": 0.1, "y": 0.1}, {"value": 0.0, "latency": 99.0}).state is xs.State.INFEASIBLE
    assert study.add({"x": 0.2, "y": 0.1}, {"value": 1.0, "latency": 9.0}).state is xs.State.COMPLETE
    assert study.best.value == 1.0


def test_what_models_learn_from() -> None:
    """Without rungs: also what ended above a bound, since it has a value; not what was infeasible or failed."""
    study = xs.Study(SPACE, constraints=LATENCY)
    tell(study, 0.1, 60.0)
    tell(study, 0.2, 40.0)
    study.fail(ask(study), "no", kind="infeasible")
    study.fail(ask(study), "no")
    assert study.history.observed == [(0, 1, 0.1), (1, 1, 0.2)]


def test_with_rungs_every_report_is_one() -> None:
    study = xs.Study(SPACE, scheduler=ASHA(9), constraints=LATENCY)
    study.report(ask(study), {"value": 0.3, "latency": 99.0}, 1)
    assert study.history.observed == [(0, 1, 0.3)]
    with pytest.raises(NoValue):
        _ = study.best  # its last report breaks the constraint
    other = ask(study)
    study.report(other, {"value": 0.5, "latency": 9.0}, 1)
    assert study.best is other


def test_a_partial_best_that_comes_to_break_a_constraint() -> None:
    study = xs.Study(SPACE, constraints=LATENCY)
    one, two = ask(study), ask(study)
    study.report(one, {"value": 0.1, "latency": 10.0})
    study.report(two, {"value": 0.2, "latency": 10.0})
    assert study.best is one
    study.report(one, {"value": 0.05, "latency": 80.0})
    assert study.best is two
    study.report(one, {"value": 0.04, "latency": 20.0})
    assert study.best is one


# ---------------------------------------------------------------- stored, refused


def test_constraints_are_stored_and_compared(tmp_path: Path) -> None:
    storage = tmp_path / "study.db"
    with xs.Study(SPACE, study="c", storage=storage, constraints={"latency": 50}) as study:
        tell(study, 0.1, 60.0)
    with xs.Study.open("c", storage) as study:
        assert study.history.created.constraints == LATENCY
        assert study.history.trials[0].state is xs.State.INFEASIBLE
    with xs.Study(SPACE, study="c", storage=storage, constraints=LATENCY):
        pass
    for other in ({"latency": 51.0}, {"memory": 50.0}, {"latency": 50.0, "memory": 1.0}):
        with pytest.raises(StudyMismatch, match="constraints"):
            xs.Study(SPACE, study="c", storage=storage, constraints=other)


# ---------------------------------------------------------------- minimize, searchers


def objective(trial: Any) -> dict[str, float]:
    """The lower the better is the slower: the best feasible point lies on the border x + y = 1."""
    return {"value": -trial["x"] - trial["y"], "latency": 50.0 * (trial["x"] + trial["y"])}


def test_a_searcher_learns_the_constraint() -> None:
    study = xs.Study(SPACE, searcher=GP(initial=6), constraints=LATENCY, seed=2)
    broken = []
    for _ in range(24):
        trial = ask(study)
        study.tell(trial, objective(trial))
        broken.append(trial.state is xs.State.INFEASIBLE)
    assert study.best.metrics["latency"] <= 50.0
    assert study.best.value is not None
    assert study.best.value < -0.97
    rng = np.random.default_rng(0).random((200, 2))
    assert np.mean(broken[-12:]) <= 0.5 * np.mean(rng.sum(axis=1) > 1.0) + 0.25
    assert audit(study).findings == []


def test_a_constraint_that_nothing_keeps() -> None:
    study = xs.Study(SPACE, searcher=GP(initial=3), constraints={"latency": -1.0}, seed=3)
    for _ in range(10):
        trial = ask(study)
        assert all(map(math.isfinite, trial.config.values()))
        study.tell(trial, objective(trial))
    assert trial.origin.startswith("gp: log p ")
    # Of those it chose itself, some go where the latency is lowest.
    assert min(trial["x"] + trial["y"] for trial in study.history.trials[3:]) < 0.3


def test_a_constraint_metric_that_is_never_reported() -> None:
    study = xs.Study(SPACE, searcher=GP(initial=3), constraints={"memory": 1.0}, seed=3)
    for _ in range(7):
        trial = ask(study)
        study.tell(trial, objective(trial))
    assert trial.state is xs.State.INFEASIBLE
    assert trial.reason == "the constraint metric 'memory' was not reported"
    assert trial.origin.startswith("gp: log p ")
    assert trial.origin.endswith(", nothing is known to be feasible")


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_constraints_of_any_unit(scale: float) -> None:
    study = xs.Study(SPACE, searcher=GP(initial=4), constraints={"latency": 50.0 * scale}, seed=4)
    for _ in range(8):
        trial = ask(study)
        made = objective(trial)
        study.tell(trial, made | {"latency": scale * made["latency"]})
    assert trial.origin.startswith("gp: log EI ")
    assert study.best.metrics["latency"] <= 50.0 * scale


# ---------------------------------------------------------------- lower bounds


ACCURATE: Constraints = {"accuracy": xs.at_least(0.9), "latency": 50.0}


def test_a_lower_bound() -> None:
    study = xs.Study(SPACE, constraints=ACCURATE)
    outcomes = {
        (0.95, 10.0): None,
        (0.9, 50.0): None,
        (0.85, 10.0): "accuracy is 0.85, below its bound 0.9",
        (0.95, 60.0): "latency is 60, above its bound 50",
        (math.nan, 10.0): "accuracy is nan, below its bound 0.9",
    }
    for (accuracy, latency), reason in outcomes.items():
        trial = ask(study)
        study.tell(trial, {"value": 0.1, "accuracy": accuracy, "latency": latency})
        assert trial.reason == reason
        assert (trial.state is xs.State.COMPLETE) is (reason is None)
        assert list(trial.metrics) == ["value", "accuracy", "latency"]


def test_both_sides() -> None:
    study = xs.Study(SPACE, constraints={"size": xs.between(1, 2)})
    for size, state in ((0.5, "infeasible"), (1.0, "complete"), (2.0, "complete"), (2.5, "infeasible")):
        trial = ask(study)
        study.tell(trial, {"value": 0.1, "size": size})
        assert trial.state.value == state


@pytest.mark.usefixtures("short_training")
@pytest.mark.parametrize("searcher", [GP(), DNGO(networks=2)], ids=["gp", "dngo"])
def test_a_lower_bound_is_learned_as_the_upper_bound_of_its_negation_is(searcher: GP | DNGO) -> None:
    """The degenerate twin: a metric at least 0.6 and its negation at most -0.6 lead to the same configurations."""

    def lower(trial: Any) -> dict[str, float]:
        return {"value": trial["x"] + trial["y"], "good": trial["x"]}

    def upper(trial: Any) -> dict[str, float]:
        return {"value": trial["x"] + trial["y"], "good (negated)": -trial["x"]}

    one, two = (
        xs.minimize(objective, SPACE, searcher=searcher, trials=10, seed=3, constraints=constraints).study
        for objective, constraints in ((lower, {"good": xs.at_least(0.6)}), (upper, {"good (negated)": -0.6}))
    )
    assert [trial.config for trial in one.history.trials] == [trial.config for trial in two.history.trials]
    assert one.best["x"] >= 0.6
    assert audit(one).findings == []


def test_a_lower_bound_is_stored_as_it_was_written(tmp_path: Path) -> None:
    storage = tmp_path / "study.db"
    with xs.Study(SPACE, study="c", storage=storage, constraints=ACCURATE) as study:
        created = next(iter(study.journal.read(0)))
        assert isinstance(created, ev.Created)
        assert created.constraints == {"accuracy": {"at_least": 0.9}, "latency": 50.0}
    with xs.Study(
        SPACE, study="c", storage=storage, constraints={"accuracy": xs.at_least(0.9), "latency": xs.at_most(50)}
    ):
        pass
    with pytest.raises(StudyMismatch, match=r"constraints: .*0.8"):
        xs.Study(SPACE, study="c", storage=storage, constraints={"accuracy": xs.at_least(0.8), "latency": 50.0})


def test_a_constraint_on_a_metric_that_no_trial_reports_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    def run(constraints: dict[str, float]) -> list[str]:
        caplog.clear()
        space = xs.Space(x=xs.Float(0, 1))
        told: dict[str, Any] = {"metric": "loss", "constraints": constraints, "trials": 3, "progress": False}
        xs.minimize(lambda trial: {"loss": trial["x"], "latency": 1.0}, space, **told)
        return [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]

    (said,) = run({"latancy": 2.0})
    assert "trial 0 did not report latancy; it reported loss, latency" in said
    assert run({"latency": 2.0}) == []


KINDS = {
    "asha": ASHA(9),
    "asha-stop": StoppingASHA(9),
    "hyperband": Hyperband(9, brackets=1),
    "median": Median(9),
    "brackets": ASHA(9, brackets=2),
}


@pytest.mark.parametrize("metric", ["loss", ["loss", "other"]], ids=["one", "two"])
@pytest.mark.parametrize("scheduler", KINDS.values(), ids=KINDS)
def test_whatever_is_beyond_a_bound_ranks_behind_all_within_at_every_rung(scheduler: Any, metric: Any) -> None:
    """The best losses are those beyond the bound."""
    space = xs.Space(x=xs.Float(0, 1))

    def train(trial: Any) -> Any:
        for epoch in trial.epochs():
            loss = (trial["x"] if trial["x"] < 0.7 else -trial["x"]) + 1 / epoch
            yield {"loss": loss, "other": -trial["x"], "latency": 50 * trial["x"] / 0.7}

    result = xs.minimize(
        train,
        space,
        metric=metric,
        searcher=xs.searchers.Random(),
        scheduler=scheduler,
        constraints=LATENCY,
        trials=60,
        seed=0,
    )
    over = [trial for trial in result.study.trials if trial.metrics["latency"] > 50]
    assert len(over) > 10
    assert any(trial.budget == 9 for trial in result.study.trials if trial not in over)
    lowest = [trial for trial in over if trial.budget > (1 if trial.bracket == 0 else 3)]
    if isinstance(scheduler, Median):  # it judges from epoch 2 on
        lowest = [trial for trial in lowest if trial.budget > 2]
    assert [trial.number for trial in lowest if trial.number > 10] == []  # before, there is little to compare with
    ended = max(over, key=lambda trial: trial.number)
    words = str(result.study.why(ended.number))
    assert "above its bound 50, so it ranks behind all that are within" in words
    assert audit(result.study).findings == []


@pytest.mark.parametrize("scheduler", [ASHA(9), StoppingASHA(9), Median(9)], ids=["asha", "asha-stop", "median"])
def test_bounds_that_training_reaches_end_nothing_at_once(scheduler: Any) -> None:
    """Where all are beyond a bound, or have not reported it, losses decide."""

    def train(trial: Any) -> Any:
        for epoch in trial.epochs():
            loss = trial["x"] + 1 / epoch
            yield {"loss": loss, "accuracy": epoch / 9} | ({"size": 2.0} if epoch == 9 else {})

    bounds: Any = {"accuracy": xs.at_least(0.9), "size": 3.0}
    space = xs.Space(x=xs.Float(0, 1))
    searcher = xs.searchers.Random()
    free, bound = (
        xs.minimize(
            train,
            space,
            metric="loss",
            searcher=searcher,
            scheduler=scheduler,
            constraints=each,
            trials=30,
            seed=0,
        )
        for each in (None, bounds)
    )
    assert [each.budget for each in free.study.trials] == [each.budget for each in bound.study.trials]
    assert bound.best.budget == 9
