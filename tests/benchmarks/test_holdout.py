"""The holdout set, and the table of searches that began anew."""

from __future__ import annotations

import numpy as np
import pytest

import xstar as xs
from benchmarks.harness import holdout, holdout_models
from benchmarks.harness.cases import Case
from benchmarks.harness.records import Record, Task
from benchmarks.harness.report import Results
from benchmarks.workloads import long_searches, stuck_searches

OURS = ("rounded", "constant", "cliff", "counts", "idle", "mostly-failing")
"""Those that need no other library."""


def test_every_problem_has_a_class() -> None:
    known = holdout.names()
    assert len(known) == 30
    assert set(holdout_models.MODELS) <= set(known)
    assert len(set(known.values())) == 9


@pytest.mark.parametrize("name", OURS)
def test_a_problem_depends_on_its_seed_alone(name: str) -> None:
    first, again = (holdout.case_of(name, 1) for _ in range(2))
    other = holdout.case_of(name, 2)
    configs = [first.space.sample(np.random.default_rng(number)) for number in range(40)]
    losses = [first.observe(config, 1, 1) for config in configs]
    assert first.kind == holdout.names()[name]
    assert losses == [again.observe(config, 1, 1) for config in configs]
    assert (losses == [other.observe(config, 1, 1) for config in configs]) == (name == "constant")
    assert all(loss is None or np.isfinite(loss) for loss in losses)


def test_beyond_the_cliff_losses_are_large() -> None:
    case = holdout.case_of("cliff", 0)
    base = {"momentum": 0.5, "decay": 1e-4}
    low, high = (case.true({"rate": rate, **base}) for rate in (1e-3, 5.0))
    assert low < 5.0
    assert high > 1e3


def test_some_losses_are_spoilt_by_chance() -> None:
    case = Case("spoilt", xs.Space(x=xs.Float(0, 1)), lambda config: 1.0, spoilt=(0.1, 1e6))
    found = [case.observe({"x": 0.5}, 3, number) for number in range(300)]
    assert set(found) == {1.0, 1e6}
    assert 15 < found.count(1e6) < 50
    assert found == [case.observe({"x": 0.5}, 3, number) for number in range(300)]


def test_searches_that_began_anew_are_told_from_the_others() -> None:
    flat = Case("flat", xs.Space(x=xs.Float(0, 1), c=xs.Choice(["a", "b"])), lambda config: float(config["c"] == "a"))
    found = long_searches.run(flat, 1, 110)
    assert found["anew"] == 5
    short = long_searches.run(flat, 1, 40)
    assert short["anew"] == 0
    assert short["without"] is short["incumbents"]


def test_restarts_are_counted_by_class() -> None:
    records = {}
    for seed, (ours, without) in enumerate([(1.0, 2.0), (3.0, 3.0), (2.0, 1.999)]):
        task = Task.of(seed, "levy6", "xstar-gp", evaluations=250, set="development")
        ends = {"incumbents": [(1, 9.0), (120, ours)], "without": [(1, 9.0), (120, without)]}
        records[task] = Record(task, {**ends, "anew": int(ours != without)}, {})
    kinds = {"development": {"levy6": "low d"}, "validation": {}}
    text = "\n".join(long_searches.report(Results(list(records), records), kinds))
    assert "| development: low d | 1 | 3 | 2 | 1–1 (1–0) | 1–1 (1–0) | 1–1 (1–0) |" in text
    assert "| **development** | 1 | 3 | 2 |" in text


def test_rules_for_restarts_are_compared_where_all_were_run() -> None:
    ends: dict[str, tuple[float, ...]] = {
        "xstar-gp-patience0": (2.0, 3.0, 1.0),
        "xstar-gp-patience100": (1.0, 3.1, 1.0),
    }
    ends |= {"xstar-gp-patience200": (2.0, 2.0)}
    records = {}
    for method, losses in ends.items():
        for seed, loss in enumerate(losses):
            task = Task.of(seed, "levy6", method, evaluations=500, set="development")
            found = {"incumbents": [(1, 9.0), (350, loss)], "anew": int("00" in method and seed == 0), "processor": 2.0}
            records[task] = Record(task, found, {})
    text = "\n".join(stuck_searches.report(Results(list(records), records), {"levy6": "low d"}))
    assert "| low d | 1 | 2 | 1 | 0–0 (0–0) | 0–0 (0–0) | 1–1 (1–1) | 1–1 (1–1) | 1.0× |" in text
    assert "| low d | 1 | 2 | 1 | 0–0 (0–0) | 0–0 (0–0) | 1–0 (1–0) | 1–0 (1–0) | 1.0× |" in text
    assert "| levy6 | 2 | 2.5 | 2.05 | 2 |" in text


def test_a_stuck_search_begins_anew_by_its_own_rule() -> None:
    flat = Case("flat", xs.Space(x=xs.Float(0, 1), c=xs.Choice(["a", "b"])), lambda config: float(config["c"] == "a"))
    found = [stuck_searches.run(flat, method, 1, 105)["anew"] for method in stuck_searches.RULES]
    assert found == [0, 2, 0]
