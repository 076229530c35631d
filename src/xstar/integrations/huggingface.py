"""Hugging Face Trainer: ``Report``, a callback that reports each evaluation, ends bad trials, and resumes its checkpoint;
``hyperparameter_search``, in the place of the Trainer's own method of that name."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from xstar.api import maximize, minimize
from xstar.errors import InvalidArgument
from xstar.integrations import epochs_of, missing
from xstar.integrations.define_by_run import FromOptuna, from_optuna
from xstar.space import Space

try:
    from transformers import TrainerCallback
    from transformers.trainer_utils import BestRun, default_compute_objective
except ImportError as error:
    raise missing("huggingface", "transformers") from error

OBJECTIVE = "objective"
"""The metric of ``hyperparameter_search``, beside those of the evaluation."""
Objective = Callable[[dict[str, float]], float]
SEARCHES: dict[str, Callable[..., Any]] = {"minimize": minimize, "maximize": maximize}


class Report(TrainerCallback):
    """Reports the metrics of each evaluation (``eval_loss``, …), and keeps the Trainer's checkpoint of it.

    ::

        def objective(trial):
            report = Report(trial)
            args = TrainingArguments(num_train_epochs=report.epochs, eval_strategy="epoch", **trial.config)
            trainer = Trainer(model, args, train_dataset=train, eval_dataset=valid, callbacks=[report])
            trainer.train(resume_from_checkpoint=report.checkpoint)

    The objective returns nothing: its last report counts. One evaluation is one unit of budget. ``compute_objective`` makes one
    number of the metrics of an evaluation, reported as ``objective``.

    The Trainer's ``output_dir`` becomes a folder of the trial's own: in a shared one, the Trainer of one trial removes the
    checkpoints of another (``save_total_limit``).
    """

    def __init__(self, trial: Any, compute_objective: Objective | None = None) -> None:
        self._trial = trial
        self._objective = compute_objective
        self._folder = trial.load()
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
        self._metrics = numbers(metrics, self._objective)
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


def numbers(metrics: dict[str, Any], compute_objective: Objective | None) -> dict[str, float]:
    """The metrics of an evaluation that are numbers, with what is made of them."""
    found = {name: float(value) for name, value in metrics.items() if isinstance(value, int | float)}
    return found if compute_objective is None else {**found, OBJECTIVE: float(compute_objective(dict(metrics)))}


def hyperparameter_search(
    trainer: Any,
    hp_space: Space | Callable[[Any], dict[str, Any]],
    compute_objective: Objective | None = None,
    n_trials: int = 20,
    direction: str = "minimize",
    **options: Any,
) -> BestRun:
    """Search with a Trainer, as ``trainer.hyperparameter_search(hp_space, backend="optuna", …)`` does.

    ``hp_space`` is an ``xs.Space`` whose names are those of ``TrainingArguments``, or the function that the Trainer's own
    method takes for Optuna. ``options`` are those of ``xs.minimize``: ``method=``, ``study=``, …

    Where the Trainer evaluates after every epoch, bad trials end early and paused ones go on from their checkpoint; a full
    training has ``num_train_epochs`` epochs. Otherwise every trial is trained to its end and evaluated once. The Trainer needs
    a ``model_init``. ``run_summary`` of what is returned is the result of ``xs.minimize``; ``trainer.args`` are as before.
    """
    if trainer.model_init is None:
        raise InvalidArgument(
            "trainer", "must make a new model for each trial", "model_init=None", "Trainer(model_init=…)"
        )
    if options.get("workers", 1) != 1:
        rule = "must be 1: the trials share one Trainer"
        raise InvalidArgument(
            "workers", rule, options["workers"], "use xs.minimize with an objective that makes its own"
        )
    chosen = _Chosen(hp_space)
    each_epoch = str(getattr(trainer.args.eval_strategy, "value", trainer.args.eval_strategy)) == "epoch"
    if each_epoch and "num_train_epochs" in chosen.space:
        remedy = "leave it out of the space: bad trials end early anyhow; or eval_strategy='no'"
        raise InvalidArgument("num_train_epochs", "is the budget where every epoch is evaluated", "hp_space", remedy)
    runs = _Runs(trainer, chosen, compute_objective or default_compute_objective, each_epoch)
    if each_epoch:
        options = {"max_budget": max(1, round(trainer.args.num_train_epochs)), **options}
    if direction not in SEARCHES:
        raise InvalidArgument("direction", f"must be one of {', '.join(SEARCHES)}", direction)
    result = SEARCHES[direction](runs, chosen.space, **{"metric": OBJECTIVE, "trials": n_trials, **options})
    best = result.best
    return BestRun(str(best.number), best.value, chosen.arguments(best), result)


class _Chosen:
    """The space, and what of ``TrainingArguments`` a trial's configuration is."""

    def __init__(self, hp_space: Space | Callable[[Any], dict[str, Any]]) -> None:
        self._asking: FromOptuna | None = None if isinstance(hp_space, Space) else from_optuna(hp_space)
        self.space: Space = hp_space if isinstance(hp_space, Space) else self._found().space

    def _found(self) -> FromOptuna:
        assert self._asking is not None
        return self._asking

    def arguments(self, trial: Any) -> dict[str, Any]:
        made = trial.config if self._asking is None else self._asking(trial)
        if not isinstance(made, dict):
            raise InvalidArgument("hp_space", "must return a dictionary of arguments", made)
        return made


class _Runs:
    """The objective: one training of the Trainer."""

    def __init__(self, trainer: Any, chosen: _Chosen, compute_objective: Objective, each_epoch: bool) -> None:
        self._trainer, self._chosen, self._objective = trainer, chosen, compute_objective
        self._each_epoch = each_epoch

    def __call__(self, trial: Any) -> dict[str, float] | None:
        trainer, before = self._trainer, self._trainer.args
        trainer.args = self._arguments(trial)
        try:
            trainer.create_accelerator_and_postprocess()  # as the Trainer's own search does: it depends on the arguments
            if self._each_epoch:
                self._reporting(trial)
                return None
            trainer.train()
            return numbers(trainer.evaluate(), self._objective)
        finally:
            trainer.is_in_train = False  # a training that was pruned did not come to say so
            trainer.args = before

    def _reporting(self, trial: Any) -> None:
        report = Report(trial, self._objective)
        self._trainer.add_callback(report)
        try:
            self._trainer.train(resume_from_checkpoint=report.checkpoint)
        finally:
            self._trainer.remove_callback(report)

    def _arguments(self, trial: Any) -> Any:
        args = copy.deepcopy(self._trainer.args)
        for name, value in self._chosen.arguments(trial).items():
            if not hasattr(args, name):
                raise InvalidArgument(name, "must be one of TrainingArguments", value, "or set it in model_init(trial)")
            old = getattr(args, name)
            setattr(args, name, value if old is None else type(old)(value))
        args.output_dir = str(Path(args.output_dir) / f"run-{trial.number}")
        if args.save_total_limit is None:
            args.save_total_limit = 1  # the study has a copy of the one that counts
        return args
