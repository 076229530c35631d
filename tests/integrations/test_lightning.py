"""PyTorch Lightning's callback reports, prunes, saves, and goes on from Lightning's checkpoint."""

from __future__ import annotations

import os
import socket
import warnings
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from xstar.errors import ObjectiveError

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("lightning", reason="lightning is not installed")

import lightning.pytorch as pl  # noqa: E402

from xstar.integrations.lightning import Report  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
SPACE = xs.Space(lr=xs.Float(1e-4, 1.0, log=True))


class Line(pl.LightningModule):
    """A straight line, fitted with momentum: a state that has to be resumed, too."""

    def __init__(self, lr: float, name: str = "val_loss") -> None:
        super().__init__()
        self.lr, self.name = lr, name
        self.layer = torch.nn.Linear(1, 1)
        torch.nn.init.zeros_(self.layer.weight)
        torch.nn.init.zeros_(self.layer.bias)

    def training_step(self, batch: Any, index: int) -> Any:
        x, y = batch
        return torch.nn.functional.mse_loss(self.layer(x), y)

    def validation_step(self, batch: Any, index: int) -> None:
        self.log(self.name, self.training_step(batch, index), sync_dist=True)

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=self.lr, momentum=0.5)


def loader() -> Any:
    x = torch.linspace(-1, 1, 32)[:, None]
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, 2 * x + 1), batch_size=8)


def fit(trial: Any, **options: Any) -> None:
    report = Report(trial, monitor="val_loss")
    quiet = {
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
    }
    trainer = pl.Trainer(max_epochs=report.max_epochs, callbacks=[report], accelerator="cpu", **quiet, **options)
    trainer.fit(Line(trial["lr"]), loader(), loader(), ckpt_path=report.ckpt_path)


def curve(trial: xs.Trial) -> list[float]:
    return [each.metrics["val_loss"] for each in trial.reports]


def test_bad_trials_end_and_paused_ones_go_on_as_if_they_never_stopped() -> None:
    result = xs.minimize(fit, SPACE, metric="val_loss", method="asha", max_budget=9, trials=9, seed=0)
    trials = result.study.trials
    assert {trial.budget for trial in trials} == {1, 3, 9}
    assert not [trial.reason for trial in trials if trial.state is xs.State.FAILED]
    assert result.best.attempt > 0
    only = xs.Space(lr=xs.Constant(result.best["lr"]))
    whole = xs.minimize(fit, only, metric="val_loss", method="random", max_budget=9, trials=1)
    assert curve(whole.best) == pytest.approx(curve(result.best), rel=1e-6)


def test_a_metric_that_nobody_logs_is_named() -> None:
    def wrong(trial: Any) -> None:
        trainer = pl.Trainer(max_epochs=1, callbacks=[Report(trial, "val_acc")], accelerator="cpu", logger=False)
        trainer.fit(Line(0.1), loader(), loader())

    with pytest.raises(
        ObjectiveError, match=r"must be logged in every epoch; there is \['val_loss'\], but got 'val_acc'"
    ):
        xs.minimize(wrong, SPACE, metric="val_loss", max_budget=1, trials=1, max_failures=1)


def _as_rank(rank: int, port: int) -> None:
    """The variables that torchrun sets: Lightning then starts no processes of its own."""
    os.environ |= {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": "2",
        "LOCAL_WORLD_SIZE": "2",
        "GROUP_RANK": "0",
    }
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "TORCHELASTIC_RUN_ID": "test"}


def _second(trial: Any, port: int) -> None:
    warnings.simplefilter("ignore")
    _as_rank(1, port)
    try:
        fit(trial, strategy="ddp", devices=2)
    except xs.Pruned:
        os._exit(3)  # it was told to end, as rank 0 was


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


RANKS = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT")


@pytest.fixture
def in_parallel(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[int | None]]:
    """An objective that trains in this process and another one, and how the other ones ended."""
    ends: list[int | None] = []
    for name in RANKS:
        monkeypatch.setenv(name, "0")  # restored afterwards
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "test")

    def parallel(trial: Any) -> None:
        port = _free_port()
        context = torch.multiprocessing.get_context("spawn")
        other = context.Process(target=_second, args=(trial, port), daemon=True)
        _as_rank(1, port)  # Lightning reads its rank when it is imported
        other.start()
        _as_rank(0, port)
        try:
            fit(trial, strategy="ddp", devices=2)
        finally:
            if torch.distributed.is_initialized():
                torch.distributed.destroy_process_group()
            other.join(60)
            ends.append(other.exitcode)

    return parallel, ends


@pytest.mark.slow
def test_two_processes_train_one_trial(tmp_path: Path, in_parallel: Any) -> None:
    parallel, ends = in_parallel
    result = xs.minimize(
        parallel, SPACE, metric="val_loss", method="random", max_budget=2, trials=1, seed=0, directory=tmp_path
    )
    assert [trial.budget for trial in result.study.trials] == [2]
    assert not [trial.reason for trial in result.study.trials if trial.state is xs.State.FAILED]
    assert ends == [0]
    assert (result.load() / "lightning.ckpt").exists()


@pytest.mark.slow
def test_two_processes_are_pruned_together_and_go_on_together(tmp_path: Path, in_parallel: Any) -> None:
    parallel, ends = in_parallel
    result = xs.minimize(
        parallel, SPACE, metric="val_loss", method="asha", max_budget=3, trials=3, seed=0, directory=tmp_path
    )
    trials = result.study.trials
    assert not [trial.reason for trial in trials if trial.state is xs.State.FAILED]
    assert sorted(trial.budget for trial in trials) == [1, 1, 3]
    assert result.best.attempt == 1
    assert ends == [3, 3, 3, 0]  # three pauses at the first rung, and one trial that went on to its end
