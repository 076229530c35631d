"""A method with a constant changed, and as another checkout has it."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import generality
from benchmarks.harness import machine, variants
from benchmarks.harness.experiment import main, parser_of
from benchmarks.harness.records import Store, Task
from xstar.testing.problems import base

SMALL = [
    *("--part", "development", "--problems", "levy6", "--methods", "xstar-random", "--seeds", "1"),
    *("--evaluations", "4"),
]


def test_a_constant_is_changed_for_a_run_and_back_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "LIMIT", 1, raising=False)
    seen: list[Any] = []

    def run(task: Task, options: Namespace) -> dict[str, Any]:
        seen.append((task.method, base.LIMIT))  # type: ignore[attr-defined]
        return {}

    for method in ("xstar-gp~problems.base:LIMIT=[2]", "xstar-gp"):
        variants.carried_out(run, Task.of(0, "levy6", method), Namespace())
    assert seen == [("xstar-gp", [2]), ("xstar-gp", 1)]
    with pytest.raises(AttributeError, match="NO_SUCH"):
        variants.carried_out(run, Task.of(0, "levy6", "xstar-gp~problems.base:NO_SUCH=2"), Namespace())


def test_another_checkout_decides_in_a_process_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This one, as another: its searches are the same, and named by its commit."""
    monkeypatch.setattr(machine, "changes", lambda root=None: [])
    monkeypatch.setattr(generality, "OURS", "xstar-random")
    main(
        generality.EXPERIMENT, [*SMALL, "--processes", "0", "--records", str(tmp_path), "--baseline", str(machine.ROOT)]
    )
    found = {task.method: record for task, record in Store(tmp_path / "generality.jsonl").read().items()}
    (other,) = set(found) - {"xstar-random"}
    assert other == f"xstar-random@{variants.label(machine.ROOT)}"
    assert found[other].found["incumbents"] == found["xstar-random"].found["incumbents"]
    assert other.endswith(f"@{found[other].made['commit'][:7]}")


def test_a_folder_without_the_library_is_refused(tmp_path: Path) -> None:
    options = parser_of(generality.EXPERIMENT).parse_args([*SMALL, "--baseline", str(tmp_path)])
    with pytest.raises(SystemExit, match="--baseline: no xstar in"):
        generality.tasks("development", options)
    with pytest.raises(SystemExit, match="--baseline PATH says where"):
        variants.carried_out(generality.run, Task.of(0, "levy6", "xstar-gp@abc"), Namespace(baseline=None))
