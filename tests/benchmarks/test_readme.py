"""Every figure of the README stands in a table of ``benchmarks/results/``, or is made from the records."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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


def test_ranks_of_the_gp() -> None:
    table = found("generality.md", "generality validation", "Mean rank over all problems")
    ours, nevergrad, tpe = (cell(table, name, "after 100") for name in ("xstar-gp", "nevergrad", "optuna-tpe"))
    assert f"after 100 it is {ours}, nevergrad's {nevergrad}, Optuna's TPE's {tpe}" in README


def test_ranks_of_the_defaults() -> None:
    table = found("search.md", "search defaults", "Among the libraries")
    ranks = {name: cell(table, name, "after 100") for name in ("xstar", "optuna", "hyperopt", "smac")}
    told = "xstar's mean rank after 100 trials is {xstar}, Optuna's {optuna}, hyperopt's {hyperopt}, SMAC3's {smac}"
    assert told.format(**ranks) in README


def lines(lengths: list[str], part: str = "validation") -> dict[str, dict[str, list[str]]]:
    """Heading of a table over budgets → other method → MOBSTER's line against it."""
    text = (ROOT / "benchmarks" / "results" / "budgets.md").read_text(encoding="utf-8")
    part = text.split(f"<!-- budgets {part} -->")[1].split("<!-- end")[0]
    blocks = {length: part.split(f"{length}:")[1].splitlines()[2:] for length in lengths}
    return {
        length: {row[1]: row for row in next(pages.tables(block)) if row[0] == "mobster"}
        for length, block in blocks.items()
    }


def test_mobster() -> None:
    few, many, long = (
        "4 workers, 4 trainings on each",
        "8 workers, 4 trainings on each",
        "4 workers, 30 trainings on each",
    )
    told = lines([few, many, long])
    time = {length: told[length]["asha"][-1].split(" ")[0] for length in told}
    pairs = {(length, other): told[length][other][2].split("–") for length in told for other in ("asha", "random")}
    assert f"in {time[few]} of its time (geometric mean, 4 workers, ten seeds; {time[many]} with 8 workers)" in README
    assert "ends ahead of it in {} searches and behind in {}".format(*pairs[few, "asha"]) in README
    assert "ahead of random search in {} and behind in {}".format(*pairs[few, "random"]) in README
    shown = "after 30 it is {} of ASHA's time, ahead in {} searches and behind in {}"
    assert shown.format(time[long], *pairs[long, "asha"]) in README


def test_the_time_of_a_suggestion() -> None:
    table = found("speed.md", "speed gp")
    line = next(line for line in table[1:] if line[:2] == ["6", "100"])
    ours, theirs = (float(line[table[0].index(name)].split(" ")[0]) for name in ("xstar-gp", "optuna-gp"))
    assert (
        f"takes {ours:.0f} ms of processor time with 100 trials of 6 parameters, Optuna's GPSampler {theirs:.0f} ms"
        in README
    )
    ratios = [float(line[-1].rstrip("×")) for line in table[1:]]
    assert f"it takes {min(ratios):.1f} to {max(ratios):.1f} times as long" in README


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("import", "`import xstar` takes {0} ms, `import optuna` {1} ms"),
        ("first trials", "the first trials come after {0} ms to Optuna's {1} ms"),
        ("first model", "the first model, which loads SciPy, after {0} ms to {1} ms"),
    ],
)
def test_starting(row: str, told: str) -> None:
    table = found("cost.md", "cost startup")
    ours, theirs = (int(cell(table, row, name)) for name in ("xstar", "Optuna"))
    assert told.format(ours, theirs) in README


def test_the_pages_are_those_of_the_records() -> None:
    """Otherwise: ``python -m benchmarks.pages``."""
    results, compared = (file.read_text(encoding="utf-8") for file in (papers.PAGE, pages.PAGE))
    assert results == papers.page()
    assert compared == pages.page(compared)
    assert len(results.splitlines()) <= 200
    assert len(results.splitlines()) + len(compared.splitlines()) <= 500


def test_a_verdict_needs_three_seeds() -> None:
    assert papers.number("a", 1.0, [2.0, 2.0], "b")[3:5] == ("2", "–")
    assert papers.number("a", 1.0, [2.0, 2.1, 2.0], "b")[4] == "worse"
    assert papers.number("a", 1.0, [2.0, 2.1, 2.0], "b", less=False)[4] == "better"
    assert papers.number("a", 1.0, [1.0, 1.1, 0.95], "b")[4] == "equal"
