"""Our schedulers behind the interface of Ray Tune: trials pause, are promoted and go on; nothing is left hanging."""

from __future__ import annotations

import json
import logging
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from xstar.errors import InvalidArgument, MissingMetric

try:  # not importorskip: an installed Ray without Tune's dependencies raises when it is imported
    import ray
    from ray import tune
except ImportError:
    pytest.skip("ray[tune] is not installed", allow_module_level=True)

from xstar.integrations.raytune import Searcher
from xstar.integrations.raytune_scheduler import Scheduler

SPACE = {"x": tune.uniform(-5, 5)}
WORKERS = 2


@dataclass
class FakeTrial:
    """What a scheduler sees of a trial of Tune's."""

    trial_id: str
    config: dict[str, Any]
    status: str = "PENDING"
    epoch: int = 0
    last_result: dict[str, Any] = field(default_factory=dict)

    def is_finished(self) -> bool:
        return self.status in ("TERMINATED", "ERROR")


class Algorithm:
    """A search algorithm as the controller has it: around a searcher."""

    def __init__(self, searcher: Any, samples: int) -> None:
        self.searcher, self.left, self.begun = searcher, samples, 0

    def is_finished(self) -> bool:
        return self.left == 0

    def next(self) -> FakeTrial | None:
        name = f"t{self.begun}"
        config = self.searcher.suggest(name)
        if config is None or not self.left:
            return None
        self.left, self.begun = self.left - 1, self.begun + 1
        return FakeTrial(name, config)


class Controller:
    """The part of Tune's controller that schedulers meet: one pending trial at a time, two at work."""

    def __init__(self, searcher: Any, scheduler: Scheduler, samples: int) -> None:
        self.search_alg, self.scheduler = Algorithm(searcher, samples), scheduler
        self.trials: list[FakeTrial] = []
        self.resumed: list[tuple[str, int]] = []
        self.searcher = searcher

    def get_trials(self) -> list[FakeTrial]:
        return self.trials

    def stop_trial(self, trial: FakeTrial) -> None:
        notify = self.scheduler.on_trial_remove if trial.status == "PAUSED" else None
        trial.status = "TERMINATED"
        if notify is not None:
            notify(self, trial)
        else:
            self.scheduler.on_trial_complete(self, trial, trial.last_result)
        self.searcher.on_trial_complete(trial.trial_id, trial.last_result)

    def add(self, trial: FakeTrial) -> None:
        self.trials.append(trial)
        self.scheduler.on_trial_add(self, trial)

    def step(self) -> None:
        waiting = any(trial.status == "PENDING" for trial in self.trials)
        if not waiting and not self.search_alg.is_finished() and (new := self.search_alg.next()) is not None:
            self.add(new)
        running = [trial for trial in self.trials if trial.status == "RUNNING"]
        if len(running) < WORKERS and (chosen := self.scheduler.choose_trial_to_run(self)) is not None:
            if chosen.status == "PAUSED":
                self.resumed.append((chosen.trial_id, chosen.epoch))
            assert chosen.status in ("PENDING", "PAUSED")
            assert chosen is self.scheduler.choose_trial_to_run(self)  # idempotent
            chosen.status = "RUNNING"
        for trial in running[:1]:
            trial.epoch += 1
            loss = (trial.config["x"] - 1) ** 2 + 1 / trial.epoch
            trial.last_result = {"loss": loss, "size": trial.config["x"], "epoch": trial.epoch}
            decision = self.scheduler.on_trial_result(self, trial, dict(trial.last_result))
            if decision == "PAUSE":
                trial.status = "PAUSED"
            elif decision == "STOP":
                self.stop_trial(trial)

    def run(self, steps: int = 2000) -> None:
        for _ in range(steps):
            self.step()
            if self.trials and self.search_alg.is_finished() and all(trial.is_finished() for trial in self.trials):
                return
        raise AssertionError(f"it hangs: {[(trial.trial_id, trial.status, trial.epoch) for trial in self.trials]}")


SEVERAL: dict[str, Any] = {"metric": ["loss", "size"], "mode": ["min", "max"]}


def joint(method: str, samples: int = 18, **several: Any) -> Controller:
    searcher, scheduler = Searcher(method=method, max_budget=9, seed=0, **several), Scheduler(time_attr="epoch")
    assert searcher.set_search_properties(None if several else "loss", None if several else "min", dict(SPACE))
    return Controller(searcher, scheduler, samples)


@pytest.mark.parametrize("several", [{}, SEVERAL], ids=["one", "several"])
@pytest.mark.parametrize("method", ["asha", "mobster", "asha-stop", "hyperband", "async-hyperband", "median"])
def test_one_study_decides_what_is_new_and_what_goes_on(method: str, several: dict[str, Any]) -> None:
    made = joint(method, **several)
    made.run()
    study = made.searcher.study
    assert study.goals.goal == ("minimize loss, maximize size" if several else "minimize loss")
    assert {trial.budget for trial in study.front} == {9}
    assert {trial.trial_id: trial.epoch for trial in made.trials} == {
        f"t{place}": trial.budget for place, trial in enumerate(study.trials)
    }
    assert len(study.trials) == 18
    assert sum(trial.epoch for trial in made.trials) < 18 * 9
    assert max(trial.epoch for trial in made.trials) == 9
    if method in ("asha", "mobster", "hyperband"):
        assert all(epoch in (1, 3) for _, epoch in made.resumed)
        assert made.resumed
    assert not study.history.running


def test_the_decisions_are_those_of_the_same_search_without_tune() -> None:
    """One worker, the same seed: the trials and how far each got."""

    def train(trial: Any) -> Any:
        for epoch in trial.epochs():
            yield (trial["x"] - 1) ** 2 + 1 / epoch

    ours = xs.minimize(train, xs.Space(x=xs.Float(-5, 5)), method="asha", max_budget=9, trials=12, seed=0).study
    made = joint("asha", 12)
    made.run()
    theirs = made.searcher.study
    assert [trial.config for trial in theirs.trials] == [trial.config for trial in ours.trials]


def test_a_restored_experiment_goes_on(tmp_path: Path) -> None:
    """Tune hands a new scheduler every trial it had; those that ran are pending again."""
    first = joint("asha")
    while sum(trial.status == "PAUSED" for trial in first.trials) < 4:
        first.step()
    again = joint("asha")
    first.searcher.save(str(tmp_path / "searcher"))
    again.searcher.restore(str(tmp_path / "searcher"))
    again.search_alg.left, again.search_alg.begun = first.search_alg.left, first.search_alg.begun
    for trial in first.trials:
        trial.status = "PENDING" if trial.status == "RUNNING" else trial.status
        again.add(trial)
    again.run()
    assert len(again.trials) == 18
    assert max(trial.epoch for trial in again.trials) == 9
    assert sum(trial.epoch for trial in again.trials) < 18 * 9


def test_reports_that_are_on_record_are_not_made_twice() -> None:
    made = joint("asha")
    while not made.resumed:
        made.step()
    (name, epoch) = made.resumed[0]
    again = next(trial for trial in made.trials if trial.trial_id == name)
    for repeated in range(1, epoch + 1):  # it began again, without a checkpoint
        assert made.scheduler.on_trial_result(made, again, {"loss": 5.0, "epoch": repeated}) == "CONTINUE"
    assert len(made.scheduler.study.trials[made.searcher.trials[name]].reports) == epoch


def test_results_that_are_seldom_count_at_the_rung_they_pass() -> None:
    made = joint("asha")
    made.step()
    trial = made.trials[0]
    assert made.scheduler.on_trial_result(made, trial, {"loss": 5.0, "epoch": 2}) == "PAUSE"
    assert made.scheduler.study.trials[0].budget == 1


def test_what_is_missing_is_named() -> None:
    for searcher in (None, Searcher(method="random")):
        with pytest.raises(InvalidArgument, match="must be a Searcher of xstar that knows how long a full training is"):
            Controller(searcher, Scheduler(), 9).add(FakeTrial("t0", {"x": 0.0}))
    made = joint("asha")
    made.step()
    with pytest.raises(MissingMetric, match="epoch: must be in every result"):
        made.scheduler.on_trial_result(made, made.trials[0], {"loss": 1.0})


def train_in_tune(config: dict[str, Any]) -> None:
    """A training function as Tune's own documentation has it: it goes on from the checkpoint it reported."""
    start, found = 1, tune.get_checkpoint()
    if found:
        with found.as_directory() as folder:
            start = json.loads((Path(folder) / "state.json").read_text())["epoch"] + 1
    for epoch in range(start, 10):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "state.json").write_text(json.dumps({"epoch": epoch}))
            loss = (config["x"] - 1) ** 2 + 1 / epoch
            metrics = {"loss": loss, "size": config["x"], "epoch": epoch, "start": start}
            tune.report(metrics, checkpoint=tune.Checkpoint.from_directory(folder))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("several", [{}, SEVERAL], ids=["one", "several"])
def test_a_real_experiment(several: dict[str, Any], tmp_path: Path) -> None:
    """The training function of a script of Tune, and its Tuner with a searcher and a scheduler of ours."""
    searcher = Searcher(method="mobster", max_budget=9, seed=0, **several)
    one = {} if several else {"metric": "loss", "mode": "min"}
    ours: dict[str, Any] = {"search_alg": searcher, "scheduler": Scheduler(time_attr="epoch"), **one}
    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR, ignore_reinit_error=True
    )
    try:
        tuner = tune.Tuner(
            train_in_tune,
            param_space=dict(SPACE),
            tune_config=tune.TuneConfig(num_samples=9, **ours),
            run_config=tune.RunConfig(storage_path=str(tmp_path), verbose=0),
        )
        results: Any = tuner.fit()
    finally:
        ray.shutdown()
    assert results.num_errors == 0
    assert {each.metrics["epoch"] for each in results} == {1, 3, 9}
    for each in results:  # each went on from its rung; none began again
        assert each.metrics["start"] == {1: 1, 3: 2, 9: 4}[each.metrics["epoch"]]
    if several:
        front = searcher.study.front
        seen = [(each.metrics["loss"], each.metrics["size"]) for each in results]
        assert front
        assert all((trial.values["loss"], trial.values["size"]) in seen for trial in front)
