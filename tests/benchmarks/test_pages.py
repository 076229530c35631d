"""Every figure of the README stands in a table of ``benchmarks/results/``, or is made from the records."""

from __future__ import annotations

import json
import re
from pathlib import Path

from benchmarks import pages, papers

ROOT = Path(__file__).parents[2]
README = re.sub(r"\s+", " ", (ROOT / "README.md").read_text(encoding="utf-8"))


def found(file: str, mark: str, heading: str = "") -> list[list[str]]:
    """The first table of a part of a results file, after a line that begins with ``heading``."""
    return pages.table_of(file, mark, heading)


def cell(table: list[list[str]], row: str, column: str) -> str:
    line = next(line for line in table[1:] if line[0] == row)
    place = table[0].index(column) - len(table[0])  # from the end: the head of the first column may be empty
    return line[place].split(" ")[0].strip("*")


def test_few_trials() -> None:
    table = found("generality.md", "generality validation", "Mean rank over all problems")
    ranks = {row[0]: float(cell(table, row[0], "after 100")) for row in table[1:]}
    ours, *others = sorted(ranks.values())
    assert ours == ranks["xstar-gp"]
    assert f"the best mean rank of six methods after 100 trials: {ours:.2f}, the next one {others[0]:.2f}" in README
    assert len(ranks) == 6


def test_short_trials() -> None:
    table = found("budgets.md", "budgets validation", "13 tasks, 4 workers, 4 trainings")
    line = next(row for row in table[1:] if row[:2] == ["mobster", "asha"])
    assert f"reaches what successive halving (ASHA) ends with in {line[-1].split(' ')[0]} of its time" in README


def test_quick_decisions() -> None:
    table = found("speed.md", "speed gp")
    line = next(line for line in table[1:] if line[:2] == ["6", "100"])
    ours, theirs = (float(line[table[0].index(name)].split(" ")[0]) for name in ("xstar-gp", "optuna-gp"))
    assert f"a suggestion takes {ours:.0f} ms, that of Optuna's Gaussian process {theirs:.0f} ms" in README


def test_nothing_lost() -> None:
    kills = 0
    for file in (ROOT / "tests" / "crash").glob("record*.json"):
        record = json.loads(file.read_text(encoding="utf-8"))
        kills += sum(record["total"]["hits"].values())
    assert f"In {kills:,} kills of programs, workers and servers" in README


def test_the_pages_are_those_of_the_records() -> None:
    """Otherwise: ``python -m benchmarks.pages``."""
    results, *others = (file.read_text(encoding="utf-8") for file in (papers.PAGE, *pages.PAGES))
    assert results == papers.page()
    assert others == [pages.page(text) for text in others]
