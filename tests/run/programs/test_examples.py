"""The examples of docs/programs.md and examples/any-program/ do what they say."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import xstar as xs
from tests.test_docs import blocks_of
from xstar.cli.experiment import load_experiment
from xstar.cli.main import app

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "examples" / "any-program"

needs_bash = pytest.mark.skipif(
    shutil.which("bash") is None or shutil.which("awk") is None, reason="needs bash and awk"
)


def blocks(language: str) -> list[str]:
    page = (ROOT / "docs" / "programs.md").read_text(encoding="utf-8")
    return ["\n".join(block.text) for block in blocks_of(page) if block.language == language]


@needs_bash
def test_the_example_in_bash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XSTAR_STORAGE", raising=False)
    shutil.copytree(FOLDER, tmp_path / "any-program")
    words = [
        *("run", "any-program/experiment.toml", "--trials", "5", "--method", "asha", "--max-budget", "3"),
        *("--seed", "1"),
    ]
    found = CliRunner().invoke(app, words)
    assert found.exit_code == 0, found.output
    with xs.Study.open("experiment") as study:
        assert all(trial.reports for trial in study.trials)
        resumed = [trial for trial in study.trials if trial.budget == 3]
        assert resumed
        for trial in resumed:  # it was paused after its first epoch, or went on at once; no epoch was trained twice
            printed = (study.files.of(trial.number) / "stdout.txt").read_text()
            assert [printed.count(f'"epoch": {epoch}}}') for epoch in (1, 3)] == [1, 1]


@needs_bash
def test_the_example_that_calls_report(tmp_path: Path) -> None:
    command = xs.Command(["bash", str(FOLDER / "report.sh"), "{lr}"])
    space = xs.Space(lr=xs.Float(1e-4, 1.0, log=True))
    result = xs.minimize(
        command, space, trials=4, max_budget=3, method="asha-stop", seed=2, directory=tmp_path, metric="loss"
    )
    assert {trial.state for trial in result.study.trials} == {xs.State.STOPPED, xs.State.COMPLETE}
    result.study.close()


@needs_bash
def test_the_two_lines_of_bash() -> None:
    done = subprocess.run(
        ["bash", "-c", blocks("bash")[0], "train.sh", "0.51"], capture_output=True, text=True, check=True
    )
    assert done.stdout == '{"loss": 0.25}\n'


def test_the_files_of_the_page_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "train").write_text("#!/bin/sh\n")
    (tmp_path / "train").chmod(0o755)
    whole = [block for block in blocks("toml") if "[space]" in block and "[program]" in block]
    parts = [block for block in blocks("toml") if block not in whole]
    rest = {"program": 'command = "true"', "space": "lr = [1, 2]", "settings": "trials = 1"}
    for block in (*whole, *parts):
        missing = [f"[{name}]\n{text}" for name, text in rest.items() if name not in tomllib.loads(block)]
        (tmp_path / "e.toml").write_text("\n".join([block.replace("python ", "python3 "), *missing]))
        assert isinstance(load_experiment(tmp_path / "e.toml").objective, xs.Command)
