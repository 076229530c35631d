"""Searches with one worker or two: what is told of them after a share of the time."""

from __future__ import annotations

import math
from argparse import Namespace

import pytest

from benchmarks import alone
from benchmarks.harness.records import Found, Record, Task
from benchmarks.harness.report import Results
from benchmarks.workloads.budget_comparison import runs_of
from xstar.searchers import GP
from xstar.study.methods import resolve


def found(*best: tuple[float, float]) -> Found:
    return {"best": list(best), "seconds": 100.0, "trials": 3, "complete": 1, "first": 1.0, "processor": 0.1}


def record(method: str, seed: int, *best: tuple[float, float], problem: str = "p") -> Record:
    return Record(Task.of(seed, problem, method, workers=1, trainings=100.0), found(*best), {})


RECORDS = [
    *(record("gp", seed, (1.0, 9.0), (50.0, 1.0 + seed)) for seed in range(3)),
    *(record("mobster", seed, (1.0, 5.0), (90.0, 2.0)) for seed in range(3)),
    record("mobster", 3, (1.0, 0.0)),  # a seed that the other has not been run on
]


def test_a_loss_counts_from_its_time_on() -> None:
    run = found((10.0, 3.0), (50.0, 2.0))
    told = [alone.loss_at(run, share) for share in (0.05, 0.1, 0.49, 0.5, 1.0)]
    assert told == [math.inf, 3.0, 3.0, 2.0, 2.0]


@pytest.mark.parametrize(("share", "pairs", "rank"), [(0.04, "3–0", 1.0), (0.5, "0–3", 2.0), (1.0, "1–1", 1.5)])
def test_pairs_and_ranks_are_of_shared_seeds(share: float, pairs: str, rank: float) -> None:
    at = alone.At(runs_of(RECORDS), ["p"], share)
    assert at.pairs("mobster", "gp") == pairs
    assert at.rank("mobster") == rank


def test_behind_is_by_more_than_a_standard_error() -> None:
    assert alone.At(runs_of(RECORDS), ["p"], 0.5).behind("mobster", ["gp"]) == "1 (1)"
    assert alone.At(runs_of(RECORDS), ["p"], 1.0).behind("mobster", ["gp"]) == "0 (0)"
    assert alone.At(runs_of(RECORDS), ["p"], 1.0).behind("gp", ["mobster"]) == "0 (0)"


def test_the_share_of_ashas_time_is_that_of_a_search_which_ends_there() -> None:
    """ASHA comes to 4 after 40 of 100 and to 2 after 80; the other comes to a mean of 4 after 20 and to 2 after 60."""
    asha = [record("asha", seed, (1.0, 9.0), (40.0, 4.0), (80.0, 2.0)) for seed in range(2)]
    ours = [record("mobster", seed, (1.0, 8.0), (20.0, 3.0 + 2 * seed), (60.0, 2.0)) for seed in range(2)]
    runs = runs_of([*asha, *ours])
    assert [alone.At(runs, ["p"], share).share_of_asha("mobster") for share in (0.5, 1.0)] == ["0.50", "0.75"]
    assert alone.At(runs, ["p"], 1.0).share_of_asha("asha") == "1.00"


def test_the_report_needs_records_alone() -> None:
    known = {each.task: each for each in RECORDS}
    text = list(alone.report(["p", "q"], Results(list(known), known), Namespace(workers="1", trainings=100.0)))
    assert text[0].startswith("1 tasks, 3 searches")
    assert sum(line.startswith("After ") for line in text) == len(alone.TIMES["1"])
    assert "| mobster | 1.50 | 1–1 |  | 0 (0) |  |" in text


def test_the_default_is_what_whoever_names_no_method_gets() -> None:
    assert alone.METHODS["mobster"].name == "mobster"
    assert resolve("mobster", None, None, 27).searcher == GP()
    assert alone.METHODS["mobster:straight=never"].searcher == GP(straight_running=0, straight_beside="never")
