"""Trackers write what they have not written, whenever they are attached, and never end a search."""

from __future__ import annotations

import logging
import struct
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.integrations.wandb_files import runs
from xstar.integrations.trackers import MLflow, TensorBoard, Tracker, WandB, hypervolume_at_end

SPACE = xs.Space(x=xs.Float(0, 1))


def curve(trial: Any) -> Any:
    for epoch in trial.epochs():
        yield {"loss": trial["x"] + 1 / epoch, "epoch": epoch}


def search(watch: Any = None, trials: int = 3, **options: Any) -> xs.Result:
    return xs.minimize(
        curve, SPACE, metric="loss", method="median", max_budget=3, trials=trials, seed=0, watch=watch, **options
    )


class Recorder(Tracker):
    """Keeps what it is told."""

    def __init__(self, dies_at: int = -1) -> None:
        super().__init__()
        self.seen: list[tuple[Any, ...]] = []
        self.dies_at = dies_at

    def begin(self, study: xs.Study, trial: xs.Trial) -> None:
        self.seen.append(("begin", trial.number))

    def report(self, study: xs.Study, trial: xs.Trial, reading: Any) -> None:
        if trial.number == self.dies_at:
            raise ConnectionError("the server is gone")
        self.seen.append((trial.number, reading.budget, reading.metrics["loss"]))

    def end(self, study: xs.Study, trial: xs.Trial) -> None:
        self.seen.append(("end", trial.number))


def test_a_look_follows_only_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    tracker, followed = Recorder(), list[int]()
    monkeypatch.setattr(tracker, "_follow", lambda study, trial: followed.append(trial.number))
    study = xs.Study(SPACE, seed=0)
    for _ in range(50):
        trial = study.ask()
        assert trial is not None
        tracker(study)
        study.tell(trial, 1.0)
        tracker(study)
        tracker(study)  # nothing has happened
    assert followed == [number for number in range(50) for _ in range(2)]


def test_each_thing_is_told_once_and_in_order() -> None:
    live, late = Recorder(), Recorder()
    study = search(live).study
    late.replay(study)
    assert live.seen == late.seen
    assert live.seen[:2] == [("begin", 0), (0, 1, study.trials[0]["x"] + 1)]
    assert len(live.seen) == 3 * 2 + sum(len(trial.reports) for trial in study.trials)


def test_one_that_is_attached_later_writes_what_it_missed(tmp_path: Path) -> None:
    search(study="s", storage=tmp_path / "s.db").study.close()
    late = Recorder()
    study = search(late, trials=5, study="s", storage=tmp_path / "s.db").study
    assert [each[1] for each in late.seen if each[0] == "end"] == [0, 1, 2, 3, 4]
    study.close()


def test_a_dead_tracker_never_hurts_a_study(caplog: pytest.LogCaptureFixture) -> None:
    dying = Recorder(dies_at=1)
    with caplog.at_level(logging.WARNING, "xstar"):
        result = search(dying)
    assert [trial.state for trial in result.study.trials] == [trial.state for trial in search().study.trials]
    assert dying.broken == "ConnectionError: the server is gone"
    assert sum("Recorder failed and is dropped" in record.message for record in caplog.records) == 1
    assert not [each for each in dying.seen if each[0] == 2]


def scalars(folder: Path) -> list[tuple[str, int, float]]:
    """What is in the event files of a folder, read as the format says: length, checksum, data, checksum."""
    event_pb2 = pytest.importorskip("tensorboardX.proto.event_pb2", reason="tensorboardX is not installed")
    found = []
    for file in sorted(folder.glob("events*")):
        data = file.read_bytes()
        while data:
            (length,) = struct.unpack("<Q", data[:8])
            event = event_pb2.Event.FromString(data[12 : 12 + length])
            data = data[16 + length :]
            found += [
                (each.tag, event.step, each.simple_value)
                for each in event.summary.value
                if each.HasField("simple_value")
            ]
    return found


def by_hand(config: dict[str, float]) -> list[float]:
    """The training of the script that people have."""
    return [config["x"] + 1 / epoch for epoch in range(1, 4)]


def test_tensorboard_written_by_hand_is_the_same(tmp_path: Path) -> None:
    """The unmodified script of the documentation beside the search, on the same configurations."""
    tensorboard = pytest.importorskip("tensorboardX", reason="tensorboardX is not installed")
    tracker = TensorBoard(tmp_path / "ours")
    study = search(tracker).study
    assert tracker.broken is None
    TensorBoard(tmp_path / "ours").replay(study)  # nothing is missing, so nothing is written twice
    for number, trial in enumerate(study.trials):
        with tensorboard.SummaryWriter(str(tmp_path / f"{number}")) as writer:
            for epoch, loss in enumerate(by_hand(trial.config), start=1):
                writer.add_scalar("loss", loss, epoch)
        ours = [each for each in scalars(tmp_path / "ours" / f"trial-{number:04d}") if each[0] == "loss"]
        theirs = scalars(tmp_path / f"{number}")
        assert ours == theirs[: len(ours)]  # a trial may have ended early
        assert len(ours) == trial.budget


def test_tensorboard_goes_on_with_a_trial_that_ended_while_nobody_looked(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX", reason="tensorboardX is not installed")
    study = xs.Study(SPACE, metric=["loss", "size"], seed=0)
    tracker = TensorBoard(tmp_path / "runs")
    trial = study.ask()
    assert trial is not None
    tracker(study)
    tracker.close()
    study.tell(trial, {"loss": 1.0, "size": 2.0})
    for _ in range(2):
        TensorBoard(tmp_path / "runs").replay(study)
    written = scalars(tmp_path / "runs" / "trial-0000")
    assert sorted(tag for tag, *_ in written) == sorted(["loss", "size", *hypervolume_at_end(study.history, trial)])
    other = xs.Study(SPACE, metric="loss", seed=0)
    other.ask()
    refused = TensorBoard(tmp_path / "runs")
    refused.replay(other)
    assert "folder: must not hold the runs of another study" in str(refused.broken)


def test_tensorboard_writes_the_reason_of_a_trial_that_failed_after_its_tracker_died(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX", reason="tensorboardX is not installed")
    study = xs.Study(SPACE, metric="loss", method="median", max_budget=3, seed=0)
    trial = study.ask()
    assert trial is not None
    study.report(trial, {"loss": 1.0}, budget=1)
    TensorBoard(tmp_path / "runs").replay(study)
    study.fail(trial, "out of luck")
    TensorBoard(tmp_path / "runs").replay(study)
    assert any(b"out of luck" in file.read_bytes() for file in (tmp_path / "runs" / "trial-0000").glob("events*"))


@pytest.mark.filterwarnings("ignore")  # of what MLflow does with SQLAlchemy
def test_mlflow_written_by_hand_is_the_same(tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed")
    uri = f"sqlite:///{tmp_path / 'runs.db'}"
    tracker = MLflow(uri, "ours")
    study = search(tracker).study
    assert tracker.broken is None
    MLflow(uri, "ours").replay(study)  # nothing is missing, so nothing is written twice
    mlflow.set_tracking_uri(uri)
    mlflow.set_experiment("by hand")
    for trial in study.trials:
        with mlflow.start_run(run_name=f"trial-{trial.number}"):
            mlflow.log_params(trial.config)
            for epoch, loss in enumerate(by_hand(trial.config)[: trial.budget], start=1):
                mlflow.log_metric("loss", loss, step=epoch)
    client = mlflow.MlflowClient(uri)

    def written(experiment: str) -> dict[str, Any]:
        runs = client.search_runs([client.get_experiment_by_name(experiment).experiment_id])
        return {
            run.info.run_name: (
                run.data.params,
                run.info.status,
                [(each.step, each.value) for each in client.get_metric_history(run.info.run_id, "loss")],
            )
            for run in runs
        }

    assert written("ours") == written("by hand")


def test_wandb_written_by_hand_is_the_same(tmp_path: Path) -> None:
    wandb = pytest.importorskip("wandb", reason="wandb is not installed")
    study = search(WandB("ours", mode="offline", folder=str(tmp_path / "ours"))).study
    for trial in study.trials:
        with wandb.init(
            project="by hand", name=f"trial-{trial.number}", config=trial.config, mode="offline", dir=str(tmp_path)
        ) as run:
            for epoch, loss in enumerate(by_hand(trial.config)[: trial.budget], start=1):
                run.log({"loss": loss}, step=epoch)
    wandb.teardown()  # its service writes files after a run has ended
    ours, theirs = ({name: run[:3] for name, run in runs(place).items()} for place in (tmp_path / "ours", tmp_path))
    assert ours == theirs
    assert len(ours) == 3


def two_curves(trial: Any) -> Any:
    for epoch in trial.epochs():
        yield {"loss": trial["x"] + 1 / epoch, "cost": -trial["x"]}


def several(watch: Any = None, trials: int = 4) -> xs.Result:
    goals = ["loss", "cost"]
    return xs.minimize(
        two_curves, SPACE, metric=goals, max_budget=2, trials=trials, method="median", seed=0, watch=watch
    )


def test_the_hypervolume_is_that_of_the_moment_when_a_trial_ended() -> None:
    history = several().study.history
    for trials in (1, 2, 4):
        then = several(trials=trials)
        found = hypervolume_at_end(history, history.trials[trials - 1])
        upto = {name: found[f"hypervolume_up_to.{name}"] for name in ("loss", "cost")}
        assert found["hypervolume"] == then.hypervolume(upto)
    assert hypervolume_at_end(search().study.history, search().study.trials[0]) == {}


@pytest.mark.filterwarnings("ignore")  # of what MLflow does with SQLAlchemy
@pytest.mark.parametrize("kind", ["tensorboard", "mlflow", "wandb"])
def test_all_objectives_and_the_hypervolume_are_written(kind: str, tmp_path: Path) -> None:
    package = {"tensorboard": "tensorboardX"}.get(kind, kind)
    module = pytest.importorskip(package, reason=f"{package} is not installed")
    uri = f"sqlite:///{tmp_path / 'runs.db'}"
    made: Tracker
    if kind == "tensorboard":
        made = TensorBoard(tmp_path)
    else:
        made = MLflow(uri, "e") if kind == "mlflow" else WandB("e", mode="offline", folder=str(tmp_path))
    study = several(made).study
    assert made.broken is None
    if kind == "wandb":
        module.teardown()  # its service writes files after a run has ended
    for trial in study.trials:
        expected = {**trial.metrics, **hypervolume_at_end(study.history, trial)}
        if kind == "tensorboard":
            last = {tag: value for tag, _, value in scalars(tmp_path / f"trial-{trial.number:04d}")}
        elif kind == "mlflow":
            client = module.MlflowClient(uri)
            where = client.get_experiment_by_name("e").experiment_id
            (run,) = client.search_runs([where], f"tags.mlflow.runName = 'trial-{trial.number}'")
            last = run.data.metrics
        else:
            last = runs(tmp_path)[f"trial-{trial.number}"].summary
        assert {name: last[name] for name in expected} == pytest.approx(expected, rel=1e-6)
