"""``xstar plot``, ``why``, ``fork`` and ``watch``, as typed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

import xstar as xs
from tests.trials import run_trials
from tests.waiting import PATIENCE
from xstar.cli.main import app


@pytest.fixture
def storage(tmp_path: Path) -> str:
    place = tmp_path / "x.db"
    with xs.Study(xs.Space(x=xs.Float(0, 1)), study="s", storage=place, method="gp", seed=1) as study:
        run_trials(study, 8, lambda trial: trial["x"])
    return str(place)


def said(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == code, result.output
    return result.output


def test_plots_are_listed_and_written(storage: str, tmp_path: Path) -> None:
    assert "learning curves by outcome" in said("plot", "s", "--storage", storage)
    out = tmp_path / "plot.json"
    said("plot", "s", "history", "--set", "over=budget", "-o", str(out), "--storage", storage)
    assert json.loads(out.read_text())["layout"]["xaxis"]["title"]["text"].startswith("epochs trained")
    page = tmp_path / "plot.html"
    said("plot", "s", "comparison", "--with", "s", "-o", str(page), "--storage", storage)
    assert "Plotly.newPlot" in page.read_text(encoding="utf-8")
    for wrong in (["histroy"], ["history", "--set", "over"], ["history", "-o", str(tmp_path / "x.doc")]):
        said("plot", "s", *wrong, "--storage", storage, code=2)


def test_a_trial_is_explained(storage: str) -> None:
    assert "the decision is the same" in said("why", "s", "7", "--storage", storage)
    assert "no trial 99" in said("why", "s", "99", "--storage", storage, code=2)


def test_a_study_is_forked(storage: str) -> None:
    text = said("fork", "s", "--at", "5", "--method", "random", "--storage", storage)
    assert "study 's-fork-5' begins with 2 trials" in text
    assert "random" in said("show", "s-fork-5", "--storage", storage)


def test_a_study_is_watched(storage: str) -> None:
    text = said("watch", "s", "--once", "--storage", storage)
    assert "8 complete" in text
    assert "best" in text


def test_the_dashboard_starts_answers_and_ends(storage: str, tmp_path: Path) -> None:
    pytest.importorskip("fastapi", reason="the dashboard needs its extra")
    command = [sys.executable, "-c", "from xstar.cli.entry import main; main()", "dashboard"]
    with subprocess.Popen(
        [*command, "--storage", storage, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        address = running.stdout.readline().split()[-1]
        with httpx.Client(transport=httpx.HTTPTransport(retries=10), timeout=PATIENCE, trust_env=False) as asking:
            assert asking.get(f"{address}api/studies").json()["studies"][0]["name"] == "s"
        os.kill(running.pid, signal.SIGINT)
        _, problems = running.communicate(timeout=PATIENCE)
        assert running.returncode in (0, 130, -2)
        assert "Traceback" not in problems
    assert "must be free" not in said("dashboard", "--storage", str(tmp_path / "none.db"), code=2)
    assert "at least 16" in said("dashboard", "--storage", storage, "--token", "short", code=2)
