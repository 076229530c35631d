"""Methods over budgets side by side: who is behind whom, and which runs are compared."""

from __future__ import annotations

import pytest

from benchmarks.budgets import DEVELOPMENT, FEW, VALIDATION
from benchmarks.harness.records import Record, Task
from benchmarks.harness.report import Results
from benchmarks.workloads.at_once import AT_ONCE, CONFIGURATIONS, run_at_once
from benchmarks.workloads.budget_comparison import Comparison, late, mean_ranks, shares_by_task
from benchmarks.workloads.budget_methods import METHODS
from xstar import problems
from xstar.core.randomness import Streams
from xstar.schedulers import ASHA
from xstar.study.methods import choose


def run(problem: str, method: str, seed: int, loss: float, first: float | None = 3.0) -> Record:
    made = {"commit": "abc1234", "machine": "2 cores", "versions": {"xstar": "0.1"}}
    found = {"best": [(1.0, 9.0), (4.0, loss)], "seconds": 8.0, "trials": 5, "first": first, "processor": 0.1}
    return Record(Task.of(seed, problem, method, workers=4, trainings=4.0), found, made)


def compared(*records: Record, shared: bool = False) -> Comparison:
    results = Results([record.task for record in records], {record.task: record for record in records})
    return Comparison(results, ["one", "two"], 4, shared)


def test_no_default_is_chosen_on_validation() -> None:
    assert not set(DEVELOPMENT) & set(VALIDATION)
    assert set(FEW["development"]) <= set(DEVELOPMENT)
    assert set(FEW["validation"]) <= set(VALIDATION)


def test_whoever_names_no_method_gets_mobster_on_every_task() -> None:
    here = [problems.get(name) for name in (*DEVELOPMENT, *VALIDATION) if not problems.missing(name)]
    assert len(here) >= 6  # the synthetic ones
    chosen = {problem.name: choose(problem.space, problem.budgets[-1])[0] for problem in here}
    assert set(chosen.values()) == {"mobster"}


def test_pairs_have_the_same_task_and_seed() -> None:
    ours = [run("one", "mobster", 0, 0.1), run("one", "mobster", 1, 0.5), run("two", "mobster", 0, 0.2)]
    theirs = [run("one", "asha", 0, 0.2), run("one", "asha", 1, 0.4), run("two", "asha", 1, 0.1)]
    found = compared(*ours, *theirs)
    assert found.pairs("mobster", "asha") == "1–1"  # on the second task they have no seed in common
    assert compared(*ours, *theirs, shared=True).names == ["one"]
    assert mean_ranks(found, ["mobster", "asha"]) == {"mobster": 1.5, "asha": 1.5}


@pytest.mark.parametrize(("ours", "told"), [(0.1, "0 (0) of 1"), (0.35, "0 (1) of 1"), (0.8, "1 (1) of 1")])
def test_behind_is_by_more_than_a_standard_error(ours: float, told: str) -> None:
    others = [run("one", "asha", seed, loss) for seed, loss in enumerate((0.1, 0.5))]
    others += [run("one", "random", seed, 0.9) for seed in range(2)]
    assert compared(*others, *(run("one", "mobster", seed, ours) for seed in range(2))).behind("mobster") == told


def test_behind_is_behind_the_best_of_all_rules_of_asha() -> None:
    others = [run("one", name, seed, loss) for name, loss in (("asha", 0.5), ("asha-lately", 0.3)) for seed in range(2)]
    ours = [run("one", "mobster", seed, 0.4) for seed in range(2)]
    assert compared(*others, *ours).behind("mobster") == "1 (1) of 1"
    assert compared(*others[:2], *ours).behind("mobster") == "0 (0) of 1"
    assert compared(*ours).behind("mobster") == "–"


def test_late_is_without_a_complete_trial_by_half_of_the_time() -> None:
    firsts: tuple[float | None, ...] = (None, 3.9, 4.1)
    assert [late(run("one", "asha", 0, 0.1, first).found) for first in firsts] == [True, False, True]


def test_methods_have_the_ladder_that_they_tell_of() -> None:
    problem = problems.get("curves-mlp", max_budget=52)
    ladders = {
        name: METHODS[name].made(problem)
        for name in ("asha-before", "mobster:min_budget=1", "mobster:ladder=bottom", "asha:searcher=DNGO()", "asha-two")
    }
    rungs = {name: made.rungs for name, made in ladders.items() if isinstance(made, ASHA)}
    assert rungs == {
        "asha-before": (1, 3, 9, 27, 52),
        "mobster:min_budget=1": (1, 2, 6, 17, 52),
        "mobster:ladder=bottom": (1, 3, 9, 27, 52),
        "asha:searcher=DNGO()": (2, 6, 17, 52),
        "asha-two": (3, 52),
    }


def test_the_share_of_time_is_that_of_each_task() -> None:
    quick = run("one", "mobster", 0, 0.1)
    slow = run("one", "asha", 0, 0.1)
    slow.found["best"] = [(2.0, 9.0), (8.0, 0.1)]  # the same loss at twice the time
    found = compared(quick, slow, run("two", "asha", 0, 0.3))
    assert found.share_on("one", "mobster", "asha") == 0.5
    assert found.share_on("two", "mobster", "asha") is None
    assert found.least_share("asha") == "0.71"  # √(0.5 · 1): on the other task there is none but ASHA
    assert list(shares_by_task(found))[2:] == ["| one | 0.50 |", "| two | – |"]


def test_all_at_once_is_the_lower_envelope_of_all_curves() -> None:
    problem = problems.get("curves-mlp")
    found = run_at_once(Task.of(3, "curves-mlp", AT_ONCE, workers=4, trainings=4.0))
    rng = Streams(3).generator(0, AT_ONCE)
    curves = [problem.curve(problem.space.sample(rng), number) for number in range(CONFIGURATIONS)]
    for at in (0.05 * found["seconds"], 0.3 * found["seconds"]):
        told = [loss for when, loss in found["best"] if when <= at][-1]
        reported = (loss for c in curves for when, loss in zip(c.seconds, c.losses, strict=True) if when <= at)
        assert told == min(reported)
