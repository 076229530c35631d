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

from xstar.integrations.huggingface import Report  # noqa: E402

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
