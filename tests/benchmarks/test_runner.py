"""Every experiment has a command line, runs what is missing and nothing else, and records nothing from a changed tree."""

from __future__ import annotations

import importlib
import subprocess
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import dngo
from benchmarks.__main__ import SPECS
from benchmarks.harness import machine
from benchmarks.harness.experiment import Experiment, main, parser_of
from benchmarks.harness.methods import METHODS, search
from benchmarks.harness.records import Found, Store, Task
from xstar.testing import problems

ROOT = Path(__file__).parents[2]
SMALL = ["--part", "table1", "--problems", "branin", "--seeds", "2", "--methods", "xstar-random"]


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree without changes, whatever the developer's is."""
    monkeypatch.setattr(machine, "changes", lambda root=ROOT: [])


def lines(folder: Path) -> list[str]:
    file = folder / "quality.jsonl"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def running(run: Callable[[Task, Namespace], Found]) -> Experiment:
    """The experiment with another way to make a run."""
    return replace(
        dngo.EXPERIMENT,
        parts=dict(dngo.EXPERIMENT.parts) | {"table1": replace(dngo.EXPERIMENT.parts["table1"], run=run)},
    )


def never(task: Task, options: Namespace) -> Found:
    raise AssertionError(f"{task} is on record")


# --- the specs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SPECS)
def test_every_spec_imports_and_explains_itself(name: str) -> None:
    experiment: Experiment = importlib.import_module(f"benchmarks.{name}").EXPERIMENT
    assert experiment.name == name
    text = parser_of(experiment).format_help()
    assert f"python -m benchmarks.{name}" in text
    assert {"--dirty", "--write", "--table-only", "--again"} <= set(text.split())


def test_every_spec_is_in_the_readme() -> None:
    readme = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    assert [name for name in SPECS if f"| `{name}` |" not in readme] == []


# --- runs and their records --------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("clean")
def test_random_search_on_branin_from_end_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records, results = tmp_path / "records", tmp_path / "results"
    main(dngo.EXPERIMENT, [*SMALL, "--records", str(records), "--write"], results)
    found = Store(records / "quality.jsonl").read()
    assert sorted(task.seed for task in found) == [0, 1]
    for task, record in found.items():
        steps = search(problems.get("branin"), "xstar-random", task.seed, 200)
        assert record.found["best"][-1][1] == pytest.approx(min(step.loss for step in steps), rel=1e-9)
        assert record.made["versions"]["xstar"] == machine.installed("xstar")
    written = (results / "dngo.md").read_text(encoding="utf-8")
    assert "| xstar-random |\n" in written
    capsys.readouterr()
    main(dngo.EXPERIMENT, [*SMALL, "--records", str(records), "--table-only"], results)
    assert written.split("-->\n")[1].partition("<!--")[0] in capsys.readouterr().out  # the file says what is printed


@pytest.mark.usefixtures("clean")
def test_what_is_on_record_is_not_run_again(tmp_path: Path) -> None:
    given = [*SMALL, "--records", str(tmp_path), "--processes", "0"]
    main(dngo.EXPERIMENT, given)
    before = lines(tmp_path)
    assert len(before) == 2
    main(running(never), given)
    assert lines(tmp_path) == before
    more = [word if word != "2" else "3" for word in given]
    main(dngo.EXPERIMENT, more)
    assert lines(tmp_path)[:2] == before
    assert len(lines(tmp_path)) == 3


@pytest.mark.usefixtures("clean")
def test_a_failed_run_is_told_and_the_others_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def fails_once(task: Task, options: Namespace) -> Found:
        if task.seed == 0:
            raise ValueError("no luck")
        return {"best": [(1, 1.0)], "processor": 1.0, "median": 1.0, "wall": 1.0}

    with pytest.raises(SystemExit, match="1 runs failed"):
        main(running(fails_once), [*SMALL, "--records", str(tmp_path), "--processes", "0"])
    assert "no luck" in capsys.readouterr().err
    assert len(lines(tmp_path)) == 1


# --- changed trees -----------------------------------------------------------------------------------------------------


def test_a_changed_tree_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(machine, "changes", lambda root=ROOT: ["src/xstar/api.py"])
    given = [*SMALL, "--records", str(tmp_path), "--processes", "0"]
    with pytest.raises(SystemExit):
        main(running(never), given)
    assert "src/xstar/api.py" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(dngo.EXPERIMENT, [*given, "--dirty", "--write"])
    assert "--dirty writes nothing" in capsys.readouterr().err
    main(dngo.EXPERIMENT, [*given, "--dirty"], tmp_path / "results")
    told = capsys.readouterr().out
    assert "-dirty;" in told
    assert "| branin | 200 | 0.398 |" in told
    assert lines(tmp_path) == []
    assert not (tmp_path / "results").exists()


def test_changes_are_those_that_can_change_a_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(machine.COMMIT, raising=False)
    assert "no git commit" in machine.changes(tmp_path)[0]
    monkeypatch.setenv(machine.COMMIT, "abc1234")
    assert (machine.changes(tmp_path), machine.commit(tmp_path)) == ([], "abc1234")

    def git(*words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)

    for name in ("src/a.py", "benchmarks/b.py", "docs/c.md", "benchmarks/records/x.jsonl", "benchmarks/results/x.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1", encoding="utf-8")
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "a")
    assert machine.changes(tmp_path) == []
    for name in ("docs/c.md", "benchmarks/records/x.jsonl", "benchmarks/records/y.jsonl", "benchmarks/results/x.md"):
        (tmp_path / name).write_text("2", encoding="utf-8")
    assert machine.changes(tmp_path) == []
    (tmp_path / "src" / "new.py").write_text("1", encoding="utf-8")
    (tmp_path / "benchmarks" / "b.py").write_text("2", encoding="utf-8")
    assert sorted(machine.changes(tmp_path)) == ["benchmarks/b.py", "src/new.py"]


# --- peers -------------------------------------------------------------------------------------------------------------


def test_optuna_runs_at_its_own_defaults() -> None:
    optuna = pytest.importorskip("optuna")
    made: Any = METHODS["optuna-tpe"].make(problems.get("branin").space, 0, 10)
    ours, theirs = made._study.sampler, optuna.samplers.TPESampler(seed=0)
    settings = [name for name in vars(theirs) if isinstance(vars(theirs)[name], bool | int | float | type(None))]
    assert "_multivariate" in settings
    assert {name: vars(ours)[name] for name in settings} == {name: vars(theirs)[name] for name in settings}
