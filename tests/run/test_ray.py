"""Trials on a real Ray cluster of two raylets: as with local processes, and through the death of workers, actors and nodes."""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import xstar as xs
from tests.clocks import Overrun, Time
from tests.run.clusters import add_node, connected, ray_cluster
from tests.waiting import appears, until
from xstar.cli.main import app
from xstar.core.goals import DEFAULT
from xstar.errors import InvalidArgument, ObjectiveError
from xstar.look.audit import audit
from xstar.run.ray.cluster import Token
from xstar.run.ray.executor import RayExecutor
from xstar.testing import check_executor

pytestmark = [
    pytest.mark.slow,  # a raylet that a busy machine keeps waiting for long is dead to Ray
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets and processes that Ray leaves to the collector
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
]

SPACE = xs.Space(x=xs.Float(-1, 1))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with ray_cluster(1, 2) as made, connected(made):
        yield made


@pytest.mark.parametrize("checkpoints", ["shared", "objects", "file"])
def test_ray_conforms(cluster: Any, tmp_path: Path, checkpoints: str) -> None:
    where = f"file://{tmp_path / 'elsewhere'}" if checkpoints == "file" else checkpoints
    settings = xs.Ray(checkpoints=where, slots=2)
    check_executor(lambda objective: RayExecutor(objective, DEFAULT, settings, tmp_path), tmp_path)


def test_a_search_on_a_cluster(cluster: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Reports, verdicts, promotions with their checkpoints, output, and workers' numbers, as with local processes."""
    caplog.set_level(logging.INFO, "xstar")

    def objective(trial: Any) -> Iterator[float]:
        trained = trial.load() or 0
        print("trains on worker", trial.worker, trial.device, trial.cores)
        (tmp_path / f"worker-{trial.worker}").touch()
        until(lambda: len(list(tmp_path.glob("worker-*"))) == 3)  # so each slot has a trial
        for epoch in trial.epochs():
            assert trained == epoch - 1, "the checkpoint came along"
            trained = epoch
            trial.save(trained)
            yield trial["x"] ** 2 + 1 / epoch

    result = xs.minimize(
        objective, SPACE, trials=30, method="asha", max_budget=9, seed=1, study="cluster", storage=tmp_path / "ray.db",
        executor=xs.Ray(), progress=False,
    )  # fmt: skip
    with result.study as study:
        assert len(study.history.trials) == 30
        assert study.history.count(xs.State.FAILED, xs.State.RUNNING) == 0
        assert max(trial.attempt for trial in study.history.trials) > 0, "some were promoted"
        assert audit(study).findings == []
        said = {(study.files.of(trial.number) / "stdout.txt").read_text() for trial in study.history.trials}
        assert {line for text in said for line in text.splitlines()} == {
            f"trains on worker {number} cpu 1" for number in range(3)
        }
        assert result.checkpoint is not None
        assert list(study.files.folder.glob(".visible-*")) == []
    assert "which all nodes have to see" in caplog.text


def test_two_objectives_on_a_cluster(cluster: Any, tmp_path: Path) -> None:
    def objective(trial: Any) -> Iterator[dict[str, float]]:
        for epoch in trial.epochs():
            yield {"error": trial["x"] ** 2 + 1 / epoch, "size": -trial["x"]}

    result = xs.minimize(
        objective, SPACE, metric=["error", "size"], trials=12, method="mobster", max_budget=3, seed=1,
        directory=tmp_path, executor=xs.Ray(slots=2), progress=False,
    )  # fmt: skip
    assert {trial.budget for trial in result.front} == {3}
    assert result.pick() in result.front
    assert result.study.history.count(xs.State.FAILED) == 0
    assert audit(result.study).findings == []


@pytest.mark.parametrize("where", ["objects", "file"])
def test_checkpoints_without_a_shared_folder(cluster: Any, tmp_path: Path, where: str) -> None:
    """They follow their trials, those that are not needed any more are removed, and the best one is found at the end."""
    elsewhere = tmp_path / "elsewhere"

    def objective(trial: Any) -> None:
        trained = trial.load() or 0
        print("from", trained)
        for epoch in trial.epochs():
            trained += 1
            assert trained == epoch
            trial.save(trained)
            trial.report(abs(trial["x"]))

    checkpoints = "objects" if where == "objects" else f"file://{elsewhere}"
    result = xs.minimize(
        objective, SPACE, trials=12, method="asha", max_budget=3, seed=1, directory=tmp_path / "here", checkpoints=2,
        executor=xs.Ray(checkpoints=checkpoints, slots=2),
    )  # fmt: skip
    history = result.study.history
    assert history.count(xs.State.FAILED) == 0
    promoted = next(trial.number for trial in history.trials if trial.attempt)
    assert "from 1\n" in (result.study.files.of(promoted) / "stdout.txt").read_text()
    assert result.checkpoint is not None
    assert [path.name.partition("-")[0] for path in result.checkpoint.iterdir()] == ["state", "state"]
    if where == "file":
        complete = {trial.number for trial in history.trials if trial.state is xs.State.COMPLETE}
        kept = {int(path.stem) for path in elsewhere.glob("*/*.tar")}
        assert result.best.number in kept
        assert len(kept & complete) == 2 < len(complete)


def test_workers_and_actors_that_die_are_replaced(cluster: Any, tmp_path: Path, frozen: Time) -> None:
    def objective(trial: Any) -> Iterator[float]:
        if trial.number == 1 and trial.attempt == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        if trial.number == 2 and trial.attempt == 0:
            os.kill(os.getppid(), signal.SIGKILL)  # the actor
            signal.pause()
        if trial.number == 3:
            (tmp_path / "long").touch()
            signal.pause()
        yield 1.0

    class Late(Overrun):
        def __call__(self, study: xs.Study) -> None:
            others = [trial for trial in study.trials if trial.number != 3]
            if len(others) == 5 and all(trial.state is xs.State.COMPLETE for trial in others):
                super().__call__(study)

    frozen.passed = time.monotonic  # the driver looks after its cluster by this clock, too
    result = xs.minimize(
        *(objective, SPACE),
        trials=6,
        executor=xs.Ray(timeout=900.0),
        max_budget=1,
        method="random",
        watch=Late(frozen, tmp_path / "long", trial=3),
    )
    trials = result.study.history.trials
    assert [trial.runs.crashes for trial in trials] == [0, 1, 1, 0, 0, 0]
    assert trials[3].reason == "it ran longer than the time limit of 900 s"
    assert result.study.history.count(xs.State.COMPLETE) == 5


def test_slots_follow_nodes_that_join_and_leave(cluster: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What ran on a node that left is run again elsewhere from its checkpoint."""
    nodes: list[Any] = []
    left = tmp_path / "left"

    def objective(trial: Any) -> None:
        done = trial.load() or 0
        for epoch in trial.epochs():
            if trial.worker >= 3 and epoch == 2:
                (tmp_path / f"joined-{trial.number}").touch()
                signal.pause()
            if trial.worker < 3:
                appears(left)
            assert done == epoch - 1
            done = epoch
            trial.save(done)
            trial.report(float(trial.attempt))

    def watch(study: xs.Study) -> None:
        if not nodes:
            nodes.append(add_node(cluster, 2))
        elif not left.exists() and len(list(tmp_path.glob("joined-*"))) == 2:
            cluster.remove_node(nodes[0], allow_graceful=False)
            left.touch()

    result = xs.minimize(objective, SPACE, trials=5, executor=xs.Ray(), max_budget=3, method="random", watch=watch)
    moved = {int(path.name.rpartition("-")[2]) for path in tmp_path.glob("joined-*")}
    assert len(moved) == 2
    for trial in result.study.history.trials:
        assert trial.state is xs.State.COMPLETE
        assert trial.attempt == trial.runs.crashes == (1 if trial.number in moved else 0)
        assert [reading.metrics["value"] for reading in trial.reports] == (
            [0.0, 1.0, 1.0] if trial.number in moved else [0.0, 0.0, 0.0]
        ), "the first epoch is not trained again"
    assert "its slot on node" in caplog.text


def test_what_is_wrong_with_a_cluster_is_named(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        InvalidArgument, match=r"more than any node of the cluster has, but got nodes=(?=.*CPU=1)(?=.*CPU=2)"
    ):
        xs.minimize(lambda trial: 1.0, SPACE, trials=1, executor=xs.Ray(cpus=7))

    missing = types.ModuleType("only_on_the_driver")
    missing.objective = lambda trial: 1.0  # type: ignore[attr-defined]
    missing.objective.__module__, missing.objective.__qualname__ = missing.__name__, "objective"
    monkeypatch.setitem(sys.modules, missing.__name__, missing)
    with pytest.raises(
        ObjectiveError, match=r"(?s)cannot be loaded on node .*working_dir.*No module named 'only_on_the_driver'"
    ):
        xs.minimize(missing.objective, SPACE, trials=1, executor=xs.Ray(slots=1))

    class Unseen(Token):
        def __init__(self, folder: Path) -> None:
            super().__init__(folder)
            self.path.unlink()

    monkeypatch.setattr("xstar.run.ray.executor.Token", Unseen)
    with pytest.raises(ObjectiveError, match=r"node .* does not see the study's folder .*checkpoints='objects'"):
        xs.minimize(lambda trial: 1.0, SPACE, trials=1, executor=xs.Ray(slots=1), directory=tmp_path)


def test_the_command_line_runs_on_a_cluster(cluster: Any, tmp_path: Path) -> None:
    file = tmp_path / "search.py"
    file.write_text(
        "import xstar as xs\nspace = xs.Space(x=xs.Float(-1, 1))\ndef train(trial):\n    return trial['x']\n"
    )
    storage = str(tmp_path / "study.db")
    told = CliRunner().invoke(
        app, ["run", str(file), "--executor", "ray", "--workers", "2", "--trials", "5", "--storage", storage]
    )
    assert told.exit_code == 0, told.output
    with xs.Study.open("search", storage=storage) as study:
        assert study.history.count(xs.State.COMPLETE) == 5


def test_a_node_with_a_full_disk_is_named_and_left_alone(
    cluster: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    elsewhere = str(tmp_path.parent)  # not the study's folder, which all nodes share

    def objective(trial: Any) -> float:
        if trial.worker == 0:  # one slot of one node
            (tmp_path / "full").touch()
            raise OSError(28, "No space left on device", elsewhere)
        appears(tmp_path / "full")
        return float(trial["x"])

    result = xs.minimize(
        objective, SPACE, trials=12, executor=xs.Ray(), max_budget=1, method="random", directory=tmp_path
    )
    trials = result.study.history.trials
    assert [trial.state for trial in trials] == [xs.State.COMPLETE] * 12
    assert sum(trial.runs.crashes for trial in trials) <= 2
    assert "gets no trials for 300 s: the disk is full on" in caplog.text
