"""Methods over budgets side by side: pairs, tasks, times, and the kinds of curves."""

from __future__ import annotations

import math
from argparse import Namespace
from typing import Any

import numpy as np
import pytest

from benchmarks import budgets
from benchmarks.harness import with_cost
from benchmarks.harness.experiment import main
from benchmarks.harness.kinds import CHANCE, NAMES, named
from benchmarks.harness.records import Record, Store, Task
from benchmarks.harness.simulated import Comparison, regret_curve, share_of_time
from benchmarks.harness.with_cost import WithCost, problem_of, run_with_cost


def run(problem: str, method: str, seed: int, loss: float) -> Record:
    found = {"best": [(1.0, 9.0), (4.0, loss)], "full": [(4.0, loss)], "seconds": 8.0, "processor": 0.1}
    return Record(Task.of(seed, problem, method, workers=4, trainings=4.0), found, {})


def test_no_default_is_chosen_on_validation() -> None:
    assert not set(budgets.DEVELOPMENT) & set(budgets.VALIDATION)


def test_pairs_have_the_same_task_and_seed() -> None:
    ours = [run("one", "mobster", 0, 0.1), run("one", "mobster", 1, 0.5), run("two", "mobster", 0, 0.2)]
    theirs = [run("one", "asha", 0, 0.2), run("one", "asha", 1, 0.4), run("two", "asha", 1, 0.1)]
    comparison = Comparison([*ours, *theirs], 4, 4.0)
    assert comparison.both("mobster", "asha") == {"one": [(0.1, 0.2), (0.5, 0.4)]}  # on the other: no seed in common
    assert comparison.optimum == {"one": 0.1, "two": 0.1}
    assert budgets.counted(comparison, "mobster", "asha", "best") == ("1–1", "0–0", "1")
    assert budgets.counted(comparison, "mobster", "random", "best") == ("–", "–", "–")


def test_the_share_of_time_is_that_of_each_task() -> None:
    slow = run("one", "asha", 0, 0.1)
    slow.found["best"] = [(2.0, 9.0), (8.0, 0.1)]  # the same loss at twice the time
    assert Comparison([run("one", "mobster", 0, 0.1), slow], 4, 4.0).ratio_of_times("mobster", "asha") == (0.5, 1)


def test_who_never_gets_there_took_the_whole_time() -> None:
    grid = np.linspace(0.0, 8.0, 9)[1:]
    low, high = (regret_curve([{"best": [(2.0, loss)]}], grid, 0.0) for loss in (0.1, 0.3))
    assert share_of_time(high, low, grid) == (4.0, False)
    assert math.isinf(regret_curve([{"best": []}], grid, 0.0)[-1])


def test_a_tiny_comparison(tmp_path: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.harness.machine.changes", lambda root=None: [])
    small = ["--workers", "2", "--trainings", "1", "--seeds", "1", "--processes", "0", "--records", str(tmp_path)]
    main(budgets.EXPERIMENT, ["--part", "kinds", "--problems", "turns:curves-mlp", *small])
    main(budgets.EXPERIMENT, ["--part", "validation", "--problems", "curves-schedule", *small, "--by-task"])
    printed = capsys.readouterr().out
    assert "1 tasks, 2 workers, 1 trainings on each:" in printed
    assert "| mobster | asha |" in printed
    records = Store(tmp_path / "budgets.jsonl").read().values()
    assert len(records) == 6
    for record in records:
        assert record.found["best"][-1][0] <= record.found["seconds"]
        assert record.found["complete"] == 0 or record.found["full"]
        assert all(0.0 <= regret <= 1.0 for regret in record.found.get("regrets", []))


# --- kinds of curves ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for names in NAMES.values() for name in names])
def test_the_best_configuration_is_that_of_the_base(name: str) -> None:
    problem = named(name)
    rng = np.random.default_rng(1)
    losses = [problem.loss(problem.space.sample(rng)) for _ in range(50)]
    assert problem.loss(problem.best) == problem.optimum <= min(losses)
    assert math.isfinite(problem.curve(problem.best, 0).losses[-1])


def test_what_differs() -> None:
    config = {"learning_rate": 0.5, "units": 64, "batch_size": 32, "dropout": 0.1}
    plain, flat, turns, explodes, coarse = (
        named(f"{kind}:curves-mlp").curve(config, 1).losses for kind in ("plain", "flat", "turns", "explodes", "coarse")
    )
    assert flat == [CHANCE] * 8 + plain[8:]
    end = next(at for at, loss in enumerate(turns) if math.isnan(loss))
    assert turns[:end] == plain[:end]
    assert explodes == plain[:end] + [1e6] * (81 - end)
    assert max(abs(a - b) for a, b in zip(coarse, plain, strict=True)) <= 0.01 + 1e-12
    assert named("turns:curves-mlp").loss(config) == math.inf


def test_with_a_cost_what_falls_is_the_negative_hypervolume(monkeypatch: pytest.MonkeyPatch) -> None:
    class Costly(WithCost):
        def __init__(self, name: str) -> None:
            super().__init__(name)
            self._latency = lambda config: (0.0, 1.0 + len(str(config)))

    monkeypatch.setattr(with_cost, "nb201", lambda dataset, device: Namespace(losses=None))
    monkeypatch.setattr(with_cost, "WithCost", Costly)
    problem_of.cache_clear()
    found = {}
    for method in ("asha", "mobster"):
        found[method] = run_with_cost(Task.of(0, "curves-mlp+device", method, workers=4, trainings=1.0), method)
        times, falls = zip(*found[method]["best"], strict=True)
        assert list(times) == sorted(times)
        assert list(falls) == sorted(falls, reverse=True)
        assert -1.0 <= falls[-1] < 0.0
        assert times[-1] <= found[method]["seconds"]
    assert found["asha"] != found["mobster"]
    problem_of.cache_clear()
