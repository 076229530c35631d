"""PyTorch Lightning's callback reports, prunes, saves, and goes on from Lightning's checkpoint."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from xstar.errors import ObjectiveError

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("lightning", reason="lightning is not installed")

import lightning.pytorch as pl  # noqa: E402
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint  # noqa: E402

from xstar.integrations.distributed import Distributed  # noqa: E402
from xstar.integrations.lightning import Report  # noqa: E402
from xstar.schedulers import ASHA, FIFO  # noqa: E402

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


LOSSES = [3.0, 2.0, 2.5, 2.6, 1.0, 1.0, 1.0, 1.0, 1.0]


class Scripted(Line):
    """Its loss rises from the third epoch on: a patience of two epochs ends it after the fourth."""

    def validation_step(self, batch: Any, index: int) -> None:
        self.log("val_loss", torch.tensor(LOSSES[self.current_epoch]) + self.lr)


@pytest.mark.parametrize("scheduler", [FIFO(9), ASHA(9, rung_levels=[3, 9])], ids=["whole", "paused"])
@pytest.mark.parametrize("first", [True, False])
def test_the_patience_and_the_best_epoch_are_kept_over_a_pause(scheduler: Any, first: bool) -> None:
    def objective(trial: Any) -> None:
        report, early = Report(trial), EarlyStopping("val_loss", patience=2)
        best = ModelCheckpoint(
            trial.checkpoint / "best", filename="best", monitor="val_loss", enable_version_counter=False
        )
        callbacks = [report, early, best] if first else [best, early, report]
        quiet: dict[str, Any] = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
        trainer = pl.Trainer(
            max_epochs=report.max_epochs, callbacks=callbacks, accelerator="cpu", num_sanity_val_steps=0, **quiet
        )
        trainer.fit(Scripted(**trial.config), loader(), loader(), ckpt_path=report.ckpt_path)

    result = xs.minimize(
        objective,
        SPACE,
        metric="val_loss",
        scheduler=scheduler,
        trials=3,
        seed=0,
        trial_value="best",
        executor=xs.Processes(retries=0),
    )
    assert {trial.budget for trial in result.study.trials if trial.state is xs.State.COMPLETE} == {4}
    assert result.value == pytest.approx(2.0 + result.best["lr"])
    assert result.load().name.startswith("state-000004")
    Scripted.load_from_checkpoint(result.load() / "lightning.ckpt", **result.config)
    assert result.checkpoint is not None
    kept = torch.load(result.checkpoint / "best" / "best.ckpt", weights_only=False)
    assert kept["epoch"] == 1  # the second
    Scripted.load_from_checkpoint(result.checkpoint / "best" / "best.ckpt", **result.config)


def test_a_metric_that_nobody_logs_is_named() -> None:
    def wrong(trial: Any) -> None:
        quiet: dict[str, Any] = {"logger": False, "enable_checkpointing": False}
        trainer = pl.Trainer(max_epochs=1, callbacks=[Report(trial, "val_acc")], accelerator="cpu", **quiet)
        trainer.fit(Line(0.1), loader(), loader())

    with pytest.raises(
        ObjectiveError, match=r"must be logged in every epoch; there is \['val_loss'\], but got 'val_acc'"
    ):
        xs.minimize(wrong, SPACE, metric="val_loss", max_budget=1, trials=1, max_failures=1)


def in_parallel(trial: Any) -> None:
    warnings.simplefilter("ignore")
    fit(trial, strategy="ddp", devices=2)


@pytest.mark.slow
def test_two_processes_are_pruned_together_and_go_on_together(tmp_path: Path) -> None:
    result = xs.minimize(
        Distributed(in_parallel, processes=2),
        SPACE,
        metric="val_loss",
        method="asha",
        max_budget=3,
        trials=3,
        seed=0,
        directory=tmp_path,
    )
    trials = result.study.trials
    assert not [trial.reason for trial in trials if trial.state is xs.State.FAILED]
    assert sorted(trial.budget for trial in trials) == [1, 1, 3]
    assert result.best.attempt == 1
    assert (result.load() / "lightning.ckpt").exists()
    assert "RANK" not in os.environ
    assert not torch.distributed.is_initialized()


SCRIPT = """
import warnings
warnings.simplefilter("ignore")
import xstar as xs
from tests.integrations.test_lightning import SPACE, in_parallel

if __name__ == "__main__":
    xs.minimize(in_parallel, SPACE, metric="val_loss", method="asha", max_budget=3, trials=3, seed=0, max_failures=1)
"""


@pytest.mark.slow
def test_a_launcher_that_starts_the_search_again_is_refused_and_does_not_hang(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    root = Path(__file__).parents[2]
    ours = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(xs.__file__).parents[1]), str(root)])}
    done = subprocess.run(
        [sys.executable, str(script)], env=ours, cwd=tmp_path, capture_output=True, text=True, timeout=250, check=False
    )
    assert done.returncode == 1
    assert "must not start this script again in every process" in done.stderr
    assert "Distributed(objective, processes=2)" in done.stderr
