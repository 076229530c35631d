"""What a benchmark keeps of a run, and the tables that are made from it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from benchmarks import dngo
from benchmarks.harness.experiment import block, parser_of
from benchmarks.harness.pack import pack
from benchmarks.harness.records import Record, Store, Task, arrival, best_after, improvements
from benchmarks.harness.report import Results, cell, mean_ranks, placed, ranks, write

MADE = {"commit": "abc1234", "machine": "2 cores", "versions": {"xstar": "1.0", "optuna": "5.0"}}


def record_of(seed: int, method: str, losses: list[float]) -> Record:
    found = {"best": improvements(losses), "processor": 1.5, "median": 1.25, "wall": 2.0}
    return Record(Task.of(seed, "branin", method, evaluations=200), found, MADE)


def test_a_record_survives_its_line() -> None:
    record = record_of(3, "xstar-gp", [2.0, 3.0, 1.0 / 3.0])
    again = Record.parse(record.line())
    assert again.task == record.task
    assert again.found == {"best": [[1, 2.0], [3, 0.3333333333]], "processor": 1.5, "median": 1.25, "wall": 2.0}
    assert again.made == MADE
    assert again.line() == Record.parse(again.line()).line()


def test_the_last_line_of_a_task_counts(tmp_path: Path) -> None:
    store = Store(tmp_path / "records" / "quality.jsonl")
    assert store.read() == {}
    for record in (record_of(0, "xstar-gp", [2.0]), record_of(1, "xstar-gp", [3.0]), record_of(0, "xstar-gp", [1.0])):
        store.append(record)
    assert [record.found["best"][0][1] for record in store.read().values()] == [1.0, 3.0]


def test_packing_keeps_the_last_line_and_the_curve_at_each_share(tmp_path: Path) -> None:
    store = Store(tmp_path / "budgets.jsonl")
    for loss in (3.0, 2.0):
        best = [(0.1 * at, loss + 1.0 / at) for at in range(1, 1001)]
        store.append(Record(Task.of(0, "f", "m", trainings=4.0), {"best": best, "seconds": 100.0}, MADE))
    before = store.read()[Task.of(0, "f", "m", trainings=4.0)]
    pack(store)
    assert not store.file.exists()
    (after,) = store.read().values()
    assert len(after.found["best"]) <= 52
    for share in (0.01, 0.25, 1.0):
        assert best_after(after.found["best"], 100 * share) <= 1.06 * best_after(before.found["best"], 100 * share)
    assert after.found["best"][-1] == before.found["best"][-1]
    store.append(record_of(0, "xstar-gp", [2.0]))
    assert len(store.read()) == 2


def test_a_number_that_json_does_not_know_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        Record(Task.of(0, "f", "m"), {"loss": math.inf}, MADE).line()


def test_trajectories_keep_improvements_only() -> None:
    losses = [5.0, 7.0, None, 4.0, 4.0, 1.0]
    steps = improvements(losses)
    assert steps == [(1, 5.0), (4, 4.0), (6, 1.0)]
    for count in range(1, len(losses) + 1):
        assert best_after(steps, count) == min(loss for loss in losses[:count] if loss is not None)
    assert arrival(steps, 4.0) == 4
    assert arrival(steps, 0.5) == math.inf
    assert best_after(improvements([None]), 1) == math.inf


def test_a_table_is_rebuilt_from_the_file_alone(tmp_path: Path) -> None:
    store = Store(tmp_path / "quality.jsonl")
    for seed in range(2):
        store.append(record_of(seed, "xstar-gp", [1.0, 0.5 + seed]))
        store.append(record_of(seed, "optuna-tpe", [4.0, 3.0 + seed]))
    given = ["--methods", "xstar-gp,optuna-tpe", "--problems", "branin", "--seeds", "2"]
    parsed = parser_of(dngo.EXPERIMENT).parse_args(given)
    text = block(dngo.EXPERIMENT, "table1", Results(dngo.table1_tasks(parsed), store.read()), parsed)
    assert "| branin | 200 | 0.398 | 0.655 | 0.526 | 0.398 | 0.75 ± 0.25 | 3.5 ± 0.5 |" in text
    assert "Runs of commit abc1234; 2 cores; xstar 1.0, optuna 5.0." in text


def test_cells_say_when_seeds_are_missing() -> None:
    assert cell([1.0, 3.0]) == "2 ± 1"
    assert cell([1.0], most=2) == "1 ± 0 (1 seed)"
    assert cell([]) == "–"
    assert cell([1.0, 3.0], "{:.2f} ± {:.2f}", least=2.0) == "**2.00 ± 1.00**"


def test_ranks_are_over_the_pairs_that_all_methods_have() -> None:
    assert ranks([0.3, 0.1, 0.1]) == [3.0, 1.5, 1.5]
    records = [record_of(0, "a", [1.0]), record_of(0, "b", [2.0]), record_of(1, "a", [1.0])]
    known = {record.task: record for record in records}
    means, pairs = mean_ranks(Results(list(known), known), lambda found: found["best"][-1][1], ["a", "b"])
    assert (means, pairs) == ([1.0, 2.0], 1)


def test_a_block_takes_the_place_of_its_former_self(tmp_path: Path) -> None:
    file = tmp_path / "dngo.md"
    file.write_text("# DNGO\n\nin words\n", encoding="utf-8")
    write(file, "DNGO", "dngo head", "first")
    write(file, "DNGO", "dngo workers", "second")
    write(file, "DNGO", "dngo head", "third")
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# DNGO\n\n<!-- dngo head -->\nthird\n<!-- end of dngo head -->\n")
    assert "first" not in text
    assert text.index("third") < text.index("second") < text.index("in words")
    assert placed(text, "dngo workers", "second") == text
