"""Hitting times side by side are those of the core, and rivals run on what they are said to."""

from __future__ import annotations

from argparse import Namespace

import pytest

from benchmarks import igo
from benchmarks.harness.records import Task
from benchmarks.workloads.hitting_times import check_lockstep


def test_side_by_side_is_the_core() -> None:
    check_lockstep()


@pytest.mark.parametrize("name", ["OneMax-8", "LeadingOnes-8"])
def test_a_rival_gets_to_the_optimum_of_a_few_bits(name: str) -> None:
    task = Task.of(0, name, "xstar PBIL-λ, core", limit=60.0)
    found = igo.run_rivals(task, Namespace())
    assert found["arrived"]
    assert found["calls"] <= 3 * 8 * 8
