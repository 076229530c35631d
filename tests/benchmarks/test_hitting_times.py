"""A long run that is broken off and goes on is the run that was not, and runs that are lines of their own make one cell."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import igo
from benchmarks.harness import machine
from benchmarks.harness.experiment import main
from benchmarks.harness.records import Record, Store, Task
from benchmarks.harness.report import Results
from benchmarks.workloads.hitting_times import FUNCTIONS, SEED, BrokenOff, continued, hit
from xstar.igo import IGO, Bernoulli


def test_a_run_goes_on_exactly_from_its_file(tmp_path: Path) -> None:
    f, file, stops = FUNCTIONS["LeadingOnes"], tmp_path / "run.json", 0
    whole = hit(IGO(Bernoulli(30)), f, np.random.default_rng(1), 100_000)
    assert whole is not None
    found = None
    while found is None:
        generations = itertools.count(1)

        def until(calls: int, generations: Iterator[int] = generations) -> bool:
            return next(generations) == 40

        try:
            found = continued(IGO(Bernoulli(30)), f, np.random.default_rng(1), 100_000, file, until)
        except BrokenOff:
            stops += 1
    assert found == whole
    assert stops > 3


def test_the_command_goes_on_from_call_to_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(machine, "changes", lambda root=None: [])
    monkeypatch.setattr(igo, "SIZES", (12,))
    monkeypatch.setattr(igo, "LONG", 12)
    given = ["--functions", "LeadingOnes", "--figures-only", "--runs", "2", "--processes", "0"]
    given += ["--records", str(tmp_path), "--kept", str(tmp_path / "kept")]
    with pytest.raises(SystemExit, match="call again to go on"):
        main(igo.EXPERIMENT, [*given, "--minutes", "-1"])
    main(igo.EXPERIMENT, given)
    records = Store(tmp_path / "igo.jsonl").read()
    alone = [record.found["calls"] for task, record in records.items() if task.method == "PBIL-λ"]
    wanted = [
        hit(IGO(Bernoulli(12)), FUNCTIONS["LeadingOnes"], np.random.default_rng((SEED, 12, one)), 10**5)
        for one in (0, 1)
    ]
    assert alone == [[each] for each in wanted]
    assert list((tmp_path / "kept").iterdir()) == []
    assert "LeadingOnes (Figure 1)" in capsys.readouterr().out


def test_runs_that_are_lines_of_their_own_make_one_cell() -> None:
    tasks = [Task.of(one, "LeadingOnes", "PBIL-λ", part="figure 1", n=1000, runs=1) for one in range(3)]
    known = {task: Record(task, {"calls": [10 * task.seed]}, {}) for task in tasks}
    assert igo.Cells(Results(tasks, known)).of("figure 1", "LeadingOnes", 1000, "PBIL-λ") == [0, 10, 20]
