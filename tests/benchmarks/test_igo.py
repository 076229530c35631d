"""Hitting times side by side are those of the core."""

from __future__ import annotations

from benchmarks.workloads.hitting_times import check_lockstep


def test_side_by_side_is_the_core() -> None:
    check_lockstep()
