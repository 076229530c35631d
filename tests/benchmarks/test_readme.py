"""Every figure of the README stands in a table of ``benchmarks/results/``, or is made from the records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = re.sub(r"\s+", " ", (ROOT / "README.md").read_text(encoding="utf-8"))


def tables(lines: list[str]) -> Iterator[list[list[str]]]:
    """The markdown tables among some lines, as rows of cells without the line below the heads."""
    rows: list[list[str]] = []
    for line in (*lines, ""):
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            yield [rows[0], *rows[2:]]
            rows = []


def found(file: str, mark: str, heading: str = "") -> list[list[str]]:
    """The first table of a part of a results file, after a line that begins with ``heading``."""
    text = (ROOT / "benchmarks" / "results" / file).read_text(encoding="utf-8")
    part = text.split(f"<!-- {mark} -->")[1].split(f"<!-- end of {mark} -->")[0].splitlines()
    begin = next((at for at, line in enumerate(part) if line.lstrip("# ").startswith(heading)), 0) if heading else 0
    return next(tables(part[begin:]))


def cell(table: list[list[str]], row: str, column: str) -> str:
    line = next(line for line in table[1:] if line[0] == row)
    place = table[0].index(column) - len(table[0])  # from the end: the head of the first column may be empty
    return line[place].split(" ")[0].strip("*")


def test_ranks_of_the_gp() -> None:
    table = found("generality.md", "generality validation", "Mean rank over all problems")
    ours, nevergrad, tpe = (cell(table, name, "after 100") for name in ("xstar-gp", "nevergrad", "optuna-tpe"))
    assert f"after 100 it is {ours}, nevergrad's {nevergrad}, Optuna's TPE's {tpe}" in README


def test_ranks_of_the_defaults() -> None:
    table = found("defaults.md", "defaults search", "Among the libraries")
    ranks = {name: cell(table, name, "after 100") for name in ("xstar", "optuna", "hyperopt", "smac")}
    told = "xstar's mean rank after 100 trials is {xstar}, Optuna's {optuna}, hyperopt's {hyperopt}, SMAC3's {smac}"
    assert told.format(**ranks) in README


def test_mobster() -> None:
    few, many = (found("budgets.md", f"budgets validation{which}") for which in ("", "-8"))
    shares = [cell(table, "mobster", "share of asha's time") for table in (few, many)]
    assert f"in {shares[0]} of its time (geometric mean, 4 workers, ten seeds; {shares[1]} with 8 workers)" in README
    won, lost = cell(few, "mobster", "against asha").split("–")
    assert f"ends ahead of it in {won} searches and behind in {lost}" in README
    won, lost = cell(few, "mobster", "against random").split("–")
    assert f"ahead of random search in {won} and behind in {lost}" in README
    long = found("alone.md", "alone lengths-validation", "After 30 trainings")
    rows = {row[0]: dict(zip(long[0], row, strict=False)) for row in long[1:]}  # empty cells at the end are left out
    lost, won = rows["asha"]["against mobster"].split("–")
    share = rows["mobster"]["of ASHA's time"]
    assert f"after 30 it is {share} of ASHA's time, ahead in {won} searches and behind in {lost}" in README


def test_the_time_of_a_suggestion() -> None:
    table = found("speed.md", "gp speed")
    line = next(line for line in table[1:] if line[:2] == ["6", "100"])
    ours, theirs = (float(line[table[0].index(name)].split(" ")[0]) for name in ("xstar-gp", "optuna-gp"))
    assert (
        f"takes {ours:.0f} ms of processor time with 100 trials of 6 parameters, Optuna's GPSampler {theirs:.0f} ms"
        in README
    )
    ratios = [float(line[table[0].index("over xstar-gp")].rstrip("×")) for line in table[1:]]
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
    table = found("startup.md", "startup start")
    ours, theirs = (int(cell(table, row, name)) for name in ("xstar", "Optuna"))
    assert told.format(ours, theirs) in README
