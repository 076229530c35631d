"""Hugging Face Trainer: ``Report``, a callback that reports each evaluation, ends bad trials, and resumes its checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from xstar.integrations import epochs_of, missing, saved_folder

try:
    from transformers import TrainerCallback
except ImportError as error:
    raise missing("huggingface", "transformers") from error


class Report(TrainerCallback):
    """Reports the metrics of each evaluation (``eval_loss``, …), and keeps the Trainer's checkpoint of it.

    ::

        def objective(trial):
            report = Report(trial)
            args = TrainingArguments(num_train_epochs=report.epochs, eval_strategy="epoch", **trial.config)
            trainer = Trainer(model, args, train_dataset=train, eval_dataset=valid, callbacks=[report])
            trainer.train(resume_from_checkpoint=report.checkpoint)

    The objective returns nothing: its last report counts. One evaluation is one unit of budget.

    The Trainer's ``output_dir`` becomes a folder of the trial's own: in a shared one, the Trainer of one trial removes the
    checkpoints of another (``save_total_limit``).
    """

    def __init__(self, trial: Any) -> None:
        self._trial = trial
        self._folder = saved_folder(trial)
        self._count = 0 if self._folder is None else trial.start
        self._metrics: dict[str, float] | None = None

    @property
    def checkpoint(self) -> str | None:
        """The checkpoint of an earlier run, for ``trainer.train(resume_from_checkpoint=…)``; ``None``: there is none."""
        return None if self._folder is None else str(self._folder)

    @property
    def epochs(self) -> int:
        """The epochs of a full training, where there is one evaluation per epoch."""
        return epochs_of(self._trial)

    def on_train_begin(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        """Give the Trainer the trial's own folder."""
        args.output_dir = str(self._trial.checkpoint.parent / "trainer")

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any = None, **rest: Any) -> Any:
        """An evaluation is done: have the Trainer save what was evaluated, and report then."""
        self._metrics = {name: float(value) for name, value in metrics.items() if isinstance(value, int | float)}
        control.should_save = True
        return control

    def on_save(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        """The checkpoint is there."""
        if self._metrics is None:
            return  # a save between evaluations, which is none of ours
        metrics, self._metrics = self._metrics, None
        self._count += 1
        self._trial.save(Path(args.output_dir) / f"checkpoint-{state.global_step}", epoch=self._count)
        self._trial.report(metrics, self._count)
