"""PyTorch Lightning: ``Report``, a callback that reports each epoch, ends bad trials, and resumes Lightning's checkpoint."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from xstar.errors import InvalidArgument, MissingMetric
from xstar.integrations import epochs_of, missing, saved_folder
from xstar.run import ranks

try:
    from lightning.pytorch.callbacks import Callback, Checkpoint
except ImportError:
    try:
        from pytorch_lightning.callbacks import Callback, Checkpoint
    except ImportError as error:
        raise missing("lightning", "lightning") from error

FILE = "lightning.ckpt"


class Report(Callback):
    """Reports what was logged in each epoch, and keeps Lightning's own checkpoint of it.

    ::

        def objective(trial):
            report = Report(trial, monitor="val_loss")
            trainer = Trainer(max_epochs=report.max_epochs, callbacks=[report], enable_checkpointing=False)
            trainer.fit(Model(**trial.config), train, valid, ckpt_path=report.ckpt_path)

    The objective returns nothing: its last report counts. With several processes, each of which makes a ``Report`` of its copy
    of the trial, that of rank 0 counts and all end alike: ``xstar.integrations.distributed.Distributed`` starts them.
    Lightning's own launcher starts the whole script again in each process, and so the search: that is refused.
    """

    def __init__(self, trial: Any, monitor: str = "val_loss") -> None:
        self._trial = trial
        self._monitor = monitor
        self._folder = saved_folder(trial)

    @property
    def ckpt_path(self) -> str | None:
        """Lightning's checkpoint of an earlier run, for ``trainer.fit(ckpt_path=…)``; ``None``: there is none."""
        return None if self._folder is None else str(self._folder / FILE)

    @property
    def max_epochs(self) -> int:
        """The epochs of a full training, those of earlier runs included, as Lightning counts them."""
        return epochs_of(self._trial)

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Comes after all others at the end of an epoch, so that the checkpoint has what they know by then."""
        if not any(isinstance(each, _Last) for each in trainer.callbacks):
            trainer.callbacks.append(_Last(self.epoch_ended))
        self._check_ranks(trainer)

    def _check_ranks(self, trainer: Any) -> None:
        """All ranks are here: there must be one search among them, else they train different trials in one group."""
        group = ranks.group()
        if group is None:
            return
        searches: list[Any] = [None] * group.get_world_size()
        group.all_gather_object(searches, not self._trial.copied)
        if sum(searches) < 2:
            return
        leads = group.get_rank() == 0
        group.destroy_process_group()
        if not leads:
            os._exit(0)  # rank 0 says it; this process would go on with a search that nobody asked for
        rule = "must not start this script again in every process: each of them has a search of its own now"
        remedy = "wrap the objective: xstar.integrations.distributed.Distributed(objective, processes=2)"
        raise InvalidArgument("strategy", rule, type(trainer.strategy).__name__, remedy)

    def epoch_ended(self, trainer: Any) -> None:
        """After the validation of the epoch, and all other callbacks: save, then report."""
        logged = trainer.callback_metrics
        if self._monitor not in logged:
            remedy = f"self.log({self._monitor!r}, …) in validation_step, or monitor=…"
            raise MissingMetric(
                "monitor", f"must be logged in every epoch; there is {sorted(logged)}", self._monitor, remedy
            )
        metrics = {name: float(value) for name, value in logged.items() if value.numel() == 1}
        epoch = trainer.current_epoch + 1
        with tempfile.TemporaryDirectory() as folder:
            trainer.save_checkpoint(Path(folder) / FILE)  # on every rank: some strategies gather first
            self._trial.save(Path(folder), epoch=epoch)
        self._trial.report(metrics, epoch)


class _Last(Checkpoint):
    """Lightning calls callbacks of this kind behind all others, ``EarlyStopping`` included, which so is saved as it is then."""

    def __init__(self, ended: Callable[[Any], None]) -> None:
        self._ended = ended

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        self._ended(trainer)
