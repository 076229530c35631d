"""What GP and DNGO must have in common: what they learn from, what they do when configurations repeat, and how they resume."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import ask
from xstar.errors import MissingExtra
from xstar.look.audit import audit
from xstar.models import features
from xstar.schedulers import ASHA, StoppingASHA
from xstar.searchers import DNGO, GP, Searcher
from xstar.searchers.bo import suggest as page
from xstar.searchers.bo.observations import Observations
from xstar.searchers.bo.suggest import distinct_rows
from xstar.searchers.bo.surrogate import Data
from xstar.searchers.dngo.surrogate import bad_inputs

SQUARE = xs.Space(x=xs.Float(0.0, 1.0), y=xs.Float(0.0, 1.0))
BOTH = pytest.mark.parametrize("searcher", [GP(), DNGO(networks=2)], ids=["gp", "dngo"])


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "MOST_STEPS", 150)


def bowl(x: float, y: float) -> float:
    return (x - 0.9) ** 2 + (y - 0.5) ** 2


def infeasible(study: xs.Study, first: int) -> int:
    return sum(trial.state.value == "infeasible" for trial in study.history.trials[first:])


@BOTH
@pytest.mark.parametrize(
    "space",
    [
        xs.Space(
            opt=xs.Choice(["sgd", "adam"]), layers=xs.Int(1, 3), momentum=xs.Float(0.0, 0.99, when={"opt": "sgd"})
        ),
        xs.Space(layers=xs.Int(1, 50), momentum=xs.Int(1, 60)),
    ],
    ids=["a branch of three", "a grid"],
)
def test_where_configurations_repeat_the_next_best_is_suggested(searcher: Searcher, space: xs.Space) -> None:
    def objective(trial: xs.Trial) -> float:
        loss = 0.1 * trial["layers"] + 0.2 * (trial.config.get("opt") == "sgd")
        return loss + (trial.config.get("momentum", 0.9) - 0.9) ** 2

    study = xs.minimize(objective, space, searcher=searcher, trials=30, seed=1).study
    assert [trial.origin for trial in study.history.trials if trial.origin.startswith("random")] == []


@BOTH
def test_infeasible_is_learned_also_when_it_is_raised_after_a_report(searcher: Searcher) -> None:
    def objective(trial: xs.Trial) -> Iterator[float]:
        yield bowl(trial["x"], trial["y"])
        if trial["x"] > 0.5:
            raise xs.Infeasible("out of memory")
        yield bowl(trial["x"], trial["y"])

    study = xs.minimize(objective, SQUARE, searcher=searcher, trials=30, seed=1).study
    assert infeasible(study, first=10) <= 12  # of 20; the lowest losses are all on that side


@BOTH
@pytest.mark.parametrize("scheduler", [None, ASHA(9, min_budget=2)], ids=["full", "rungs"])
def test_infeasible_is_learned_also_when_a_bounded_metric_told_of_it(searcher: Searcher, scheduler: Any) -> None:
    """The report comes before the first rung, or before the end: no model has the metric."""

    def objective(trial: xs.Trial) -> Iterator[dict[str, float]]:
        told = {"loss": bowl(trial["x"], trial["y"]), "latency": 100.0 * trial["x"]}
        yield told
        if trial["x"] > 0.5:
            raise xs.Infeasible("slow")
        yield told

    settings = {"searcher": searcher, "scheduler": scheduler, "constraints": {"latency": 50.0}, "metric": "loss"}
    study = xs.minimize(objective, SQUARE, trials=30, seed=1, **settings).study
    assert infeasible(study, first=10) <= 12  # of 20; all 20 when nobody learned it


def test_a_bounded_metric_that_grows_beyond_its_bound_is_a_failure() -> None:
    """Within it at the first rung, above it at the last: the model of the metric does not know."""
    study = xs.Study(SQUARE, searcher=GP(), scheduler=StoppingASHA(9), constraints={"gap": 0.5}, metric="loss", seed=1)
    trial = ask(study)
    for epoch in range(1, 10):
        study.report(trial, {"loss": 1.0, "gap": epoch / 9}, epoch)
    assert trial.state is xs.State.INFEASIBLE
    data = Observations.of(study.history)
    assert (data.failed, data.measured) == ([0], [0])


def failing(searcher: Searcher, share: float, trials: int, seed: int) -> float:
    """The best loss in four dimensions, where trials fail by chance."""
    space, rng = xs.Space({f"x{i}": xs.Float(0.0, 1.0) for i in range(4)}), np.random.default_rng(seed)
    study, losses = xs.Study(space, searcher=searcher, seed=seed), []
    for _ in range(trials):
        trial = ask(study)
        if rng.random() < share:
            study.fail(trial, "the node went away")
        else:
            losses.append(sum((value - 0.37) ** 2 for value in trial.config.values()))
            study.tell(trial, losses[-1])
    return min(losses)


def test_failures_by_chance_do_not_spoil_the_search() -> None:
    """Each was an exact observation of a bad loss once, also beside the best point: 0.09 and 0.07 were left.

    Of 56 searches, 4 are left with more than 0.002 (with exploring after failures, 7).
    """
    left = [failing(GP(), 0.1, 45, seed) for seed in range(4)]
    assert sum(loss > 2e-3 for loss in left) <= 1


def one_half_fails(study: xs.Study, kind: str) -> list[bool]:
    failed = []
    for _ in range(36):
        trial = ask(study)
        failed.append(trial["x"] > 0.5)
        if failed[-1]:
            study.fail(trial, "out of memory", kind)
        else:
            study.tell(trial, (trial["x"] - 0.25) ** 2 + (trial["y"] - 0.5) ** 2)
    return failed


@pytest.mark.parametrize("kind", ["exception", "infeasible"])
def test_failures_that_are_none_of_chance_are_avoided(kind: str) -> None:
    assert sum(one_half_fails(xs.Study(SQUARE, searcher=GP(), seed=1), kind)[-14:]) <= 5


def test_which_failures_count_as_bad() -> None:
    def counted(study: xs.Study) -> tuple[int, int]:
        by_gp = Data(study.history, Observations.of(study.history))
        bad = bad_inputs(Data(study.history, Observations.of(study.history, networks_by_index=False)))
        assert bad is not None
        return len(by_gp.bad_trials), len(bad.lasting) + len(bad.others)

    for kind, most in (("exception", 0.8), ("infeasible", 1.0)):
        study = xs.Study(SQUARE, method="random", seed=1)
        failed = sum(one_half_fails(study, kind))
        for count in counted(study):
            assert most * failed <= count <= failed
    study = xs.Study(SQUARE, method="random", seed=1)
    for number in range(36):
        trial = ask(study)
        if number % 7 == 3:
            study.fail(trial, "the node went away")
        else:
            study.tell(trial, trial["x"])
    assert counted(study) == (0, 0)


@BOTH
def test_workers_that_ask_at_once_are_spread_while_nothing_feasible_is_known(searcher: Searcher) -> None:
    study = xs.Study(SQUARE, searcher=searcher, seed=1)
    for _ in range(8):
        trial = ask(study)
        study.fail(trial, "no", "infeasible")
    asked = [ask(study) for _ in range(8)]
    X = np.array([[trial["x"], trial["y"]] for trial in asked])
    assert len(X) == 8
    assert (np.ptp(X, axis=0) > 0.5).all()  # all stood in one corner


@BOTH
def test_while_no_metric_is_known_what_runs_makes_no_model(searcher: Searcher) -> None:
    study = xs.Study(SQUARE, searcher=searcher, scheduler=ASHA(9), constraints={"gap": 0.5}, metric="loss", seed=1)
    for _ in range(8):
        trial = ask(study)
        study.report(trial, {"loss": trial["x"]}, 1)
    asked = [ask(study) for _ in range(5)]  # some go on from the first rung
    origins = [trial.origin for trial in asked if trial.number >= 8]
    assert len(origins) >= 2
    assert all(origin.startswith("random: not two trials have reported gap") for origin in origins)


@BOTH
def test_what_ends_before_the_first_rung_is_learned(searcher: Searcher) -> None:
    def objective(trial: xs.Trial) -> Iterator[float]:
        for epoch in trial.epochs():
            yield bowl(trial["x"], trial["y"]) + 0.1 / epoch
            if trial["x"] > 0.5 and epoch == 2:
                return  # converged

    study = xs.minimize(objective, SQUARE, searcher=searcher, scheduler=ASHA(27, min_budget=3), trials=20, seed=1).study
    known = {number for number, _, _ in study.history.observed}
    assert known == set(range(20))
    modelled = [trial for trial in study.history.trials if trial.origin.startswith(("gp", "dngo"))]
    assert len({round(trial["x"], 1) for trial in modelled}) >= 4


@BOTH
@pytest.mark.parametrize("latency", [math.inf, math.nan, None], ids=str)
def test_a_bounded_metric_without_a_finite_value_is_learned(searcher: Searcher, latency: float | None) -> None:
    def objective(trial: xs.Trial) -> dict[str, float]:
        told = 10.0 + trial["x"] if trial["x"] <= 0.5 else latency
        return {"loss": bowl(trial["x"], trial["y"]), **({} if told is None else {"latency": told})}

    study = xs.minimize(
        objective, SQUARE, searcher=searcher, metric="loss", constraints={"latency": 50.0}, trials=28, seed=1
    ).study
    assert infeasible(study, first=10) <= 11  # of 18
    observed = {number for number, _, _ in study.history.observed}
    assert all(study.history.trials[number].state.value == "complete" for number in observed)


@BOTH
def test_a_bounded_metric_that_only_the_last_rung_tells_is_learned(searcher: Searcher) -> None:
    def objective(trial: xs.Trial) -> Iterator[dict[str, float]]:
        for epoch in trial.epochs():
            loss = (trial["x"] - 0.6) ** 2 + 1.0 / epoch
            yield {"loss": loss, **({"latency": 100.0 * trial["x"]} if epoch == 9 else {})}

    study = xs.minimize(
        objective,
        SQUARE,
        searcher=searcher,
        scheduler=StoppingASHA(9),
        metric="loss",
        constraints={"latency": 70.0},
        trials=30,
        seed=1,
    ).study
    origins = [trial.origin for trial in study.history.trials]
    early = [origin for origin in origins if origin.startswith("random")]
    assert set(early) <= {"random: not two trials have reported latency at a rung yet"}
    assert "log EI" in origins[-1]
    assert "at budget 9" in origins[-1]


@BOTH
@pytest.mark.parametrize("scheduler", [ASHA(9), StoppingASHA(9)], ids=["asha", "asha-stop"])
def test_a_study_that_is_resumed_at_every_step_is_the_same(searcher: Searcher, scheduler: Any) -> None:
    """With rungs and with trials that fail early, late, and after a report."""

    def study(resumed: bool) -> xs.Study:
        made = xs.Study(SQUARE, searcher=searcher, scheduler=scheduler, seed=1)
        for step in range(16):
            if resumed:
                made.history.memo.clear()
            trial = ask(made)
            if step in (1, 5, 11):
                made.fail(trial, "no", "infeasible" if step > 1 else "exception")
            else:
                made.report(trial, bowl(trial["x"], trial["y"]), budget=trial.target)
        return made

    whole, resumed = study(False), study(True)
    assert [trial.config for trial in whole.history.trials] == [trial.config for trial in resumed.history.trials]
    assert audit(resumed).findings == []


@BOTH
def test_what_reported_and_failed_later_is_nothing_to_improve_on(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[np.ndarray] = []

    def noted(X: np.ndarray) -> np.ndarray:
        compared.append(X)
        return distinct_rows(X)

    monkeypatch.setattr(page, "distinct_rows", noted)
    study = xs.Study(SQUARE, searcher=searcher, scheduler=ASHA(9), seed=1)
    for _ in range(8):
        trial = ask(study)
        if trial.number == 2 and trial.target == 3:
            study.fail(trial, "out of memory")
        else:
            study.report(trial, -100.0 if trial.number == 2 else bowl(trial["x"], trial["y"]), budget=trial.target)
    lucky = study.history.trials[2]
    assert lucky.state is xs.State.FAILED
    study.ask()
    row = [lucky["x"], lucky["y"]]
    assert len(compared[-1]) >= 4
    assert not np.isclose(compared[-1], row).all(axis=1).any()


@BOTH
def test_losses_near_the_largest_number(searcher: Searcher) -> None:
    study = xs.minimize(
        lambda trial: sys.float_info.max if trial["x"] > 0.5 else trial["x"],
        SQUARE,
        searcher=searcher,
        trials=9,
        seed=1,
    ).study
    last = study.history.trials[-1]
    assert "log EI" in last.origin
    assert "nan" not in last.origin


def test_a_device_that_is_missing_is_missed_before_the_first_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = "torch"
    with suppress(ImportError):
        import torch

        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        missing = "a GPU that torch can see"
    with pytest.raises(MissingExtra, match=f"device='cuda' needs {missing}"):
        xs.Study(SQUARE, searcher=DNGO(device="cuda")).ask()
