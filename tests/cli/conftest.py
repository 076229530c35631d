"""What the tests of the command line share: a way to call it, files for it to run, and a storage to look at."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import xstar as xs
from tests.trials import ask
from xstar.cli.main import app

Cli = Callable[..., Any]
Write = Callable[..., Path]


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty current folder, no storage in the environment, and the module search path given back."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XSTAR_STORAGE", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def cli() -> Cli:
    """Call ``xstar`` in this process; an exception that is not a message fails the test."""

    def call(*words: str, code: int = 0, **options: Any) -> Any:
        result = CliRunner().invoke(app, list(words), **options)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return result

    return call


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a Python file into the current folder."""

    def make(text: str, name: str = "search.py") -> Path:
        path = tmp_path / name
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return Path(name)

    return make


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A storage with a study ``demo``: two complete trials, a failed one, a running one whose program died."""
    db = tmp_path / "xstar.db"
    space = xs.Space(x=xs.Float(0, 1), how=xs.Choice(["[red]plain[/red]", ":star:"]))
    study = xs.Study(space, study="demo", storage=db, metric="error", seed=1, method="random", max_budget=3)
    for value in (0.5, 0.25):
        trial = ask(study)
        for budget in (1, 2, 3):
            study.report(trial, {"error": value / budget, "accuracy": 0.5}, budget)
    study.fail(ask(study), 'Traceback:\n  File "search.py"\nValueError: [bold]no[/bold] luck')
    folder = study.files.of(0)
    folder.mkdir(parents=True)
    (folder / "stdout.txt").write_text("hello\n")
    study.ask()
    # The program is gone without a word: nobody renews its lease.
    study.leases.close()
    assert study.storage is not None
    study.storage.database.write(
        lambda database: database.execute("UPDATE xstar_leases SET holder = 'elsewhere|1||x', expires = 0")
    )
    study.leases.attempts.clear()
    study.close()
    return db
