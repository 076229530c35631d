"""MOBSTER's Figure 3: eight searches that differ in one thing each, and who is ahead of whom."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import pytest

from benchmarks import mobster
from benchmarks.harness.records import Record, Task
from benchmarks.harness.report import Results
from benchmarks.mobster import DUELS, FIGURE3, figure3_report, run_figure3
from benchmarks.workloads.mobster_reports import duel, task_of


def result(method: str, seed: int, loss: float) -> Record:
    made = {"commit": "abc1234", "machine": "2 cores", "versions": {"xstar": "0.1"}}
    return Record(task_of(seed, 8, "curves-mlp", method, 4.0), {"best": [(1.0, loss)], "seconds": 9.0}, made)


def test_every_search_is_run_by_the_scheduler_of_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, tuple[str, str, int]] = {}

    def noted(task: Task, method: None, searcher: object, scheduler: Any) -> dict[str, object]:
        seen[task.method] = (type(searcher).__name__, type(scheduler).__name__, len(scheduler.sizes))
        assert scheduler.rungs == (1, 3, 9, 27, 81)
        return {}

    monkeypatch.setattr(mobster, "run_simulated", noted)
    for method in FIGURE3:
        run_figure3(task_of(0, 2, "curves-mlp", method, 1.0), Namespace())
    assert seen == {
        "asha": ("Random", "ASHA", 1),
        "asha-stop": ("Random", "StoppingASHA", 1),
        "asha-hyperband": ("Random", "ASHA", 5),
        "asha-hyperband-stop": ("Random", "StoppingASHA", 5),
        "mobster": ("GP", "ASHA", 1),
        "mobster-stop": ("GP", "StoppingASHA", 1),
        "mobster-hyperband": ("GP", "ASHA", 5),
        "mobster-hyperband-stop": ("GP", "StoppingASHA", 5),
    }


def test_pairs_differ_in_one_thing() -> None:
    assert {len(pairs) for pairs in DUELS.values()} == {4}
    assert all(one in FIGURE3 and other in FIGURE3 for pairs in DUELS.values() for one, other in pairs)
    assert ("asha-stop", "asha-hyperband-stop") in DUELS["r_min = 1 against Hyperband"]
    assert ("mobster-hyperband", "mobster-hyperband-stop") in DUELS["promotion against stopping"]


def test_a_duel_counts_pairs_of_the_same_problem_and_seed() -> None:
    losses = {"asha": [0.1, 0.2, 0.3, 0.4], "asha-stop": [0.2, 0.1, 0.3]}
    records = [result(method, seed, loss) for method, each in losses.items() for seed, loss in enumerate(each)]
    results = Results([record.task for record in records], {record.task: record for record in records})
    assert duel(results, "asha", "asha-stop") == ("asha", 1, 1)  # one is equal, one has no counterpart
    told = "\n".join(figure3_report(results, Namespace(seeds=4, trainings=4.0, workers="8")))
    assert "* promotion against stopping: asha 1–1" in told
    assert "| curves-mlp |" in told
