"""The page about problems names all of them, with the optima they have."""

from __future__ import annotations

from pathlib import Path

import pytest

from xstar import problems

PAGE = (Path(__file__).parents[2] / "docs" / "problems.md").read_text(encoding="utf-8")


def row_of(name: str) -> list[str]:
    """The cells of the table row that starts with the name, or with the task of LCBench."""
    first = name.rpartition("-")[2] if name.startswith("lcbench-") else f"`{name}`"
    rows = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith(f"| {first} |")]
    assert len(rows) == 1, f"{name} must be in one row of docs/problems.md"
    return rows[0]


@pytest.mark.parametrize("name", problems.names())
def test_every_problem_is_on_the_page_with_its_optimum(name: str) -> None:
    row = row_of(name)
    if reason := problems.missing(name):
        pytest.skip(reason)
    problem = problems.get(name)
    if name.startswith("lcbench-"):
        assert row[2 if "table" in name else 1] == f"{problem.optimum:.4f}"
    else:
        assert f"{problem.optimum:.4g}" in row
