"""The sets of problems are what they say, and a search is judged by the true loss of its incumbent."""

from __future__ import annotations

import numpy as np
import pytest

import xstar as xs
from benchmarks.harness import class_ranks
from benchmarks.harness.cases import Case, search, true_after
from benchmarks.harness.development import development
from benchmarks.harness.mostly_failing import mostly_failing
from benchmarks.harness.penalties import penalised
from benchmarks.harness.records import Record, Task
from benchmarks.harness.report import Results


@pytest.mark.parametrize("name", [name for name, case in development().items() if case.kind != "tables"])
def test_a_case_is_a_function_of_the_configuration(name: str) -> None:
    case = development()[name]
    drawn = [case.space.sample(np.random.default_rng(seed)) for seed in range(5)]
    losses = [case.true(config) for config in drawn]
    assert np.isfinite(losses).all()
    assert len(set(losses)) > 1
    assert losses == [case.true(config) for config in drawn]


def test_some_configurations_fail_and_not_all() -> None:
    for name, case in development().items():
        if case.fails is not None:
            drawn = [case.space.sample(np.random.default_rng(seed)) for seed in range(200)]
            failed = sum(case.observe(config, 0, 1) is None for config in drawn)
            assert 4 < failed < 190, name


def test_the_incumbent_is_chosen_by_what_is_observed_and_judged_by_what_is_true() -> None:
    observed = iter([5.0, 3.0, 4.0])
    case = Case("noisy", xs.Space(x=xs.Float(0, 1)), lambda config: config["x"], observed=lambda config: next(observed))
    found = search(case, "xstar-random", 0, 3)
    assert [number for number, _ in found["incumbents"]] == [1, 2]
    assert true_after(found["incumbents"], 3) == found["incumbents"][1][1] <= 1.0


def test_failures_are_told_and_counted() -> None:
    space = xs.Space(x=xs.Float(0, 1))
    case = Case("failing", space, lambda config: config["x"], fails=lambda config: config["x"] > 0.5)
    found = search(case, "xstar-random", 0, 20)
    assert 0 < found["failed"] < 20


def test_ranks_are_averaged_over_seeds_and_share_what_is_equal() -> None:
    made = {"commit": "0", "machine": "", "versions": {}}

    def record(problem: str, method: str, seed: int, loss: float) -> Record:
        found = {"incumbents": [(1, loss)], "failed": 0, "processor": 1.0}
        return Record(Task.of(seed, problem, method), found, made)

    losses = {("a", 0): (1.0, 2.0, 9.0), ("a", 1): (2.0, 1.0, 9.0), ("b", 0): (1.0, 1.0 + 1e-9, 3.0)}
    methods = ["xstar-gp", "optuna-tpe", "xstar-random"]
    records = [
        record(problem, method, seed, loss)
        for (problem, seed), row in losses.items()
        for method, loss in zip(methods, row, strict=True)
    ]
    results = Results([each.task for each in records], {each.task: each for each in records})
    pairs = class_ranks.complete_pairs(results, methods)
    assert class_ranks.by_problem(pairs, methods, 25) == {"a": [1.5, 1.5, 3.0], "b": [1.5, 1.5, 3.0]}
    rows = list(class_ranks.duels(results, [25]))
    assert rows[2:] == ["| optuna-tpe | 3 | 1–1 |", "| xstar-random | 3 | 3–0 |"]
    text = "\n".join(class_ranks.per_class(pairs, methods, 25, {"a": "low d", "b": "low d"}))
    assert "| low d (2) | **1.50 ± 0.00** | **1.50 ± 0.00** | 3.00 ± 0.00 | no |" in text


def test_what_fails_returns_a_penalty_or_the_loss_of_chance() -> None:
    for name, case in penalised().items():
        failing = mostly_failing()[name.removesuffix("-by-chance")]
        assert failing.fails is not None
        assert case.fails is None
        drawn = [case.space.sample(np.random.default_rng(seed)) for seed in range(100)]
        worst = 0.9 if name.endswith("-by-chance") else 1e9
        assert [case.true(config) == worst for config in drawn] == [failing.fails(config) for config in drawn], name
