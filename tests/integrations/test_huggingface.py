"""The callback of the Hugging Face Trainer, with a model made on the spot."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import pytest

import xstar as xs

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
pytest.importorskip("accelerate", reason="accelerate is not installed")

from xstar.errors import InvalidArgument  # noqa: E402
from xstar.integrations.huggingface import Report, hyperparameter_search  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
ROOT = Path(__file__).parents[2]
SPACE = xs.Space(learning_rate=xs.Float(1e-4, 1.0, log=True))


Module: Any = torch.nn.Module


class Tiny(Module):
    """What a Trainer needs of a model: a loss in its output."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)
        torch.nn.init.zeros_(self.layer.weight)
        torch.nn.init.zeros_(self.layer.bias)

    def forward(self, x: Any, labels: Any = None) -> dict[str, Any]:
        out = self.layer(x)
        return {"loss": torch.nn.functional.mse_loss(out, labels), "logits": out}


def data() -> list[dict[str, Any]]:
    return [{"x": torch.tensor([v / 8]), "labels": torch.tensor([2 * v / 8 + 1])} for v in range(-8, 8)]


def fit(trial: Any) -> None:
    report = Report(trial)
    with tempfile.TemporaryDirectory() as folder:
        args = transformers.TrainingArguments(
            folder,
            num_train_epochs=report.epochs,
            eval_strategy="epoch",
            save_total_limit=1,
            per_device_train_batch_size=8,
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
            lr_scheduler_type="constant",
            seed=0,
            **trial.config,
        )
        trainer = transformers.Trainer(Tiny(), args, train_dataset=data(), eval_dataset=data(), callbacks=[report])
        trainer.remove_callback(transformers.PrinterCallback)
        trainer.train(resume_from_checkpoint=report.checkpoint)


SNIPPET = re.compile(r"<!-- snippet: huggingface -->\n```text\n(.*?)```", re.DOTALL)


def test_the_snippet_of_the_documentation_runs_and_trials_share_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = SNIPPET.findall((ROOT / "docs" / "integrations" / "frameworks.md").read_text(encoding="utf-8"))
    folders: list[str] = []

    def arguments(**given: Any) -> Any:
        return transformers.TrainingArguments(report_to=[], use_cpu=True, disable_tqdm=True, seed=0, **given)

    class Seen(transformers.Trainer):  # type: ignore[name-defined]
        def _save_checkpoint(self, *args: Any, **kwargs: Any) -> None:
            super()._save_checkpoint(*args, **kwargs)
            folders.append(self.args.output_dir)

    there = {"xs": xs, "TrainingArguments": arguments, "Trainer": Seen, "make_model": Tiny, "space": SPACE}
    found: dict[str, Any] = {**there, "train": data(), "valid": data()}
    exec(code, found)
    trials = found["result"].study.trials
    assert len(trials) == 20
    assert not [trial.reason for trial in trials if trial.state is xs.State.FAILED]
    assert len(set(folders)) == 20
    assert not list(tmp_path.rglob("checkpoint-*")), "what belongs to trials lies in their folders"


def curve(trial: xs.Trial) -> list[float]:
    return [each.metrics["eval_loss"] for each in trial.reports]


def test_bad_trials_end_and_paused_ones_go_on_as_if_they_never_stopped(tmp_path: Path) -> None:
    result = xs.minimize(
        fit, SPACE, metric="eval_loss", method="asha", max_budget=9, trials=9, seed=0, directory=tmp_path
    )
    trials = result.study.trials
    assert not [trial.reason for trial in trials if trial.state is xs.State.FAILED]
    assert {trial.budget for trial in trials} == {1, 3, 9}
    assert result.best.attempt > 0
    only = xs.Space(learning_rate=xs.Constant(result.best["learning_rate"]))
    whole = xs.minimize(fit, only, metric="eval_loss", method="random", max_budget=9, trials=1)
    assert curve(whole.best) == pytest.approx(curve(result.best), rel=1e-5)


# ---------------------------------------------------------------- in the place of the Trainer's own search


def hp_space(trial: Any) -> dict[str, Any]:
    """As people write it for the Trainer's own search with Optuna."""
    return {
        "learning_rate": trial.suggest_float("learning_rate", 1e-4, 1.0, log=True),
        "per_device_train_batch_size": trial.suggest_categorical("per_device_train_batch_size", [4, 8, 16]),
    }


def trainer_in(folder: Path, epochs: int = 9, **options: Any) -> Any:
    given: dict[str, Any] = {
        "eval_strategy": "epoch",
        "save_strategy": "no",
        "lr_scheduler_type": "constant",
        "seed": 0,
    }
    args = transformers.TrainingArguments(
        str(folder), num_train_epochs=epochs, report_to=[], use_cpu=True, disable_tqdm=True, **given | options
    )
    made = transformers.Trainer(model_init=Tiny, args=args, train_dataset=data(), eval_dataset=data())
    made.remove_callback(transformers.PrinterCallback)
    return made


def test_the_search_of_the_trainer_and_ours_side_by_side(tmp_path: Path) -> None:
    """The unmodified script with Optuna and ours: the same space, number of trials and epochs of a full training."""
    optuna = pytest.importorskip("optuna", reason="optuna is not installed")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    theirs = trainer_in(tmp_path / "theirs", 3).hyperparameter_search(hp_space, n_trials=4, backend="optuna")
    ours = hyperparameter_search(trainer_in(tmp_path / "ours", 3), hp_space, n_trials=4, method="random", seed=0)
    assert set(ours.hyperparameters) == set(theirs.hyperparameters)
    assert isinstance(ours.objective, float)
    assert ours.objective == ours.run_summary.value
    assert len(ours.run_summary.study.trials) == 4
    again = trainer_in(tmp_path / "again", 3)
    for name, value in ours.hyperparameters.items():  # as its documentation says to go on
        setattr(again.args, name, value)
    again.train()
    assert again.evaluate()["eval_loss"] == pytest.approx(ours.objective, rel=1e-5)


def test_bad_trials_end_early_and_the_trainer_is_as_before(tmp_path: Path) -> None:
    trainer = trainer_in(tmp_path)
    space = xs.Space(learning_rate=xs.Float(1e-4, 1.0, log=True))
    given: dict[str, Any] = {"method": "asha", "study": "hf", "storage": tmp_path / "x.db", "seed": 0}
    best = hyperparameter_search(trainer, space, n_trials=5, **given)
    best = hyperparameter_search(trainer, space, n_trials=9, **given)
    study = best.run_summary.study
    assert len(study.trials) == 9
    assert {trial.budget for trial in study.trials} == {1, 3, 9}
    assert not [trial.reason for trial in study.trials if trial.state is xs.State.FAILED]
    assert study.best.attempt > 0
    alone = trainer_in(tmp_path / "alone")
    alone.args.learning_rate = best.hyperparameters["learning_rate"]
    alone.train()
    assert alone.evaluate()["eval_loss"] == pytest.approx(best.objective, rel=1e-5)
    assert trainer.args.learning_rate == trainer_in(tmp_path / "other").args.learning_rate
    assert not [each for each in trainer.callback_handler.callbacks if isinstance(each, Report)]


def test_without_evaluations_a_trial_is_evaluated_at_its_end(tmp_path: Path) -> None:
    trainer = trainer_in(tmp_path, 2, eval_strategy="no")
    space = xs.Space(learning_rate=xs.Float(1e-3, 1.0, log=True), num_train_epochs=xs.Int(1, 3))
    best = hyperparameter_search(
        trainer, space, lambda metrics: -metrics["eval_loss"], 4, "maximize", method="random", seed=0
    )
    assert best.objective == -best.run_summary.best.metrics["eval_loss"]
    assert [trial.budget for trial in best.run_summary.study.trials] == [1] * 4


def test_what_the_search_refuses_is_named(tmp_path: Path) -> None:
    trainer = trainer_in(tmp_path, 2)
    with pytest.raises(InvalidArgument, match="num_train_epochs: is the budget"):
        hyperparameter_search(trainer, xs.Space(num_train_epochs=xs.Int(1, 3)))
    with pytest.raises(InvalidArgument, match="workers: must be 1"):
        hyperparameter_search(trainer, SPACE, workers=2)
    with pytest.raises(xs.errors.ObjectiveError, match="learning_speed: must be one of TrainingArguments"):
        hyperparameter_search(trainer, xs.Space(learning_speed=xs.Float(0, 1)), max_failures=1)
    trainer.model_init = None
    with pytest.raises(InvalidArgument, match="must make a new model for each trial"):
        hyperparameter_search(trainer, SPACE)
