"""Keras 3: ``Report``, a callback that reports each epoch, ends bad trials, and resumes the model that a trial saved."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from xstar.integrations import epochs_of, missing, saved_folder

try:
    import keras
except ImportError as error:
    raise missing("keras", "keras") from error

FILE = "model.keras"


class Report(keras.callbacks.Callback):
    """Reports the logs of each epoch (``loss``, ``val_loss``, …), and keeps the model with its optimizer.

    ::

        def objective(trial):
            report = Report(trial)
            model = report.restored(lambda: build(**trial.config))
            model.fit(x, y, epochs=report.epochs, initial_epoch=report.initial_epoch, validation_data=valid,
                      callbacks=[report])

    The objective returns nothing: its last report counts. One epoch is one unit of budget.
    """

    def __init__(self, trial: Any) -> None:
        super().__init__()
        self._trial = trial
        self._folder = saved_folder(trial)

    def restored(self, build: Callable[[], Any]) -> Any:
        """The compiled model of an earlier run, or what ``build`` makes where there is none."""
        return build() if self._folder is None else keras.models.load_model(self._folder / FILE)

    @property
    def initial_epoch(self) -> int:
        """The epochs that the restored model has been trained for."""
        return 0 if self._folder is None else int(self._trial.start)

    @property
    def epochs(self) -> int:
        """The epochs of a full training, those of earlier runs included, as Keras counts them."""
        return epochs_of(self._trial)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """After the validation of the epoch: save, then report."""
        with tempfile.TemporaryDirectory() as folder:
            self.model.save(Path(folder) / FILE)
            self._trial.save(Path(folder), epoch=epoch + 1)
        self._trial.report({name: float(value) for name, value in (logs or {}).items()}, epoch + 1)
