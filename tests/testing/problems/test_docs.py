"""The page about problems names all of them, with the optima they have; of LCBench it counts the tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from xstar.testing import problems

PAGE = (Path(__file__).parents[3] / "docs" / "problems.md").read_text(encoding="utf-8")
OTHERS = [name for name in problems.names() if not name.startswith("lcbench-")]


def row_of(first: str) -> list[str]:
    """The cells of the table row that starts with these words."""
    rows = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith(f"| {first} |")]
    assert len(rows) == 1, f"{first} must begin one row of docs/problems.md"
    return rows[0]


@pytest.mark.parametrize("name", OTHERS)
def test_every_problem_is_on_the_page_with_its_optimum(name: str) -> None:
    row = row_of(f"`{name}`")
    if reason := problems.missing(name):
        pytest.skip(reason)
    assert f"{problems.get(name).optimum:.4g}" in row


def test_the_tasks_of_lcbench_are_counted() -> None:
    tasks = [name for name in problems.names() if name.startswith("lcbench-")]
    tables = sum(name.startswith("lcbench-table-") for name in tasks)
    row_of(f"`lcbench-…`, {len(tasks) - tables} tasks")
    row_of(f"`lcbench-table-…`, {tables} tasks")
