"""Kinds of training curves that the tasks over budgets do not have."""

from __future__ import annotations

import math
from argparse import Namespace

import numpy as np
import pytest

from benchmarks import kinds
from benchmarks.harness.kinds import CHANCE, NAMES, named
from benchmarks.harness.records import Record, Task
from benchmarks.harness.report import Results


@pytest.mark.parametrize("name", [name for names in NAMES.values() for name in names])
def test_the_best_configuration_is_that_of_the_base(name: str) -> None:
    problem = named(name)
    rng = np.random.default_rng(1)
    losses = [problem.loss(problem.space.sample(rng)) for _ in range(50)]
    assert problem.loss(problem.best) == problem.optimum <= min(losses)
    assert math.isfinite(problem.curve(problem.best, 0).losses[-1])
    assert problem.curve(problem.best, 3) == problem.curve(problem.best, 3)


def test_what_differs() -> None:
    config = {"learning_rate": 0.5, "units": 64, "batch_size": 32, "dropout": 0.1}
    plain, flat, turns, explodes, collapses, chance, coarse = (
        named(f"{kind}:curves-mlp").curve(config, 1).losses
        for kind in ("plain", "flat", "turns", "explodes", "collapses", "chance", "coarse")
    )
    assert flat == [CHANCE] * 8 + plain[8:]
    end = next(at for at, loss in enumerate(turns) if math.isnan(loss))
    assert 0.3 <= end / 81 <= 0.7
    assert turns[:end] == plain[:end]
    assert explodes == plain[:end] + [1e6] * (81 - end)
    assert collapses == plain[:end] + [CHANCE] * (81 - end)
    assert chance[8:] == plain[8:]
    assert 0.0 < max(abs(loss - CHANCE) for loss in chance[:8]) < 0.025
    assert max(abs(a - b) for a, b in zip(coarse, plain, strict=True)) <= 0.01 + 1e-12
    assert len(set(coarse)) < 50
    assert named("turns:curves-mlp").loss(config) == math.inf


def test_a_run_tells_what_one_has() -> None:
    options = Namespace(problems="turns:curves-mlp", methods="asha,mobster", workers="2", seeds=2, trainings=1.0)
    made = kinds.tasks("development", options)
    assert len(made) == 4
    found = kinds.run(made[0], options)
    assert len(found["regrets"]) == len(kinds.SHARES)
    assert all(0.0 <= regret <= kinds.CAP for regret in found["regrets"])
    records = {task: Record(task, {"regrets": [1.0, 0.5, 0.1 * (task.method == "asha")]}, {}) for task in made}
    text = list(kinds.report(Results(list(records), records), options))
    assert text[-1] == "| turns:curves-mlp | 1 → 0.5 → 0.1 | 1 → 0.5 → 0 | 2–0 |  |  |  |"


def test_the_rules_of_before_are_others() -> None:
    task = Task.of(0, "flat:curves-mlp", "mobster", workers=1, trainings=2.0)
    before = Task.of(0, "flat:curves-mlp", kinds.BEFORE, workers=1, trainings=2.0)
    ours, theirs = (kinds.run(each, Namespace()) for each in (task, before))
    assert ours["trials"] != theirs["trials"] or ours["regrets"] != theirs["regrets"]
