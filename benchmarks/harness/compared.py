"""Rows of the paper's numbers and claims beside ours, for ``papers.py``: records looked up, verdicts, commits of the runs.

A verdict needs three seeds: *equal* is within one percent or two standard errors of the paper's number; a claim holds *as
there* or *differs*, or the two sides are *level*. Below three seeds the numbers stand without one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from benchmarks.harness.records import FOLDER, Found, Record, Store
from benchmarks.harness.report import mean_and_error

FEWEST, SAME = 3, 0.01
Row = tuple[str, str, str, str, str, str]
"""What, the paper, here, seeds, verdict, command."""


@cache
def records(file: str) -> list[Record]:
    return list(Store(FOLDER / f"{file}.jsonl").read().values())


USED: list[Record] = []
"""The records of the row that is being made."""


def of(file: str, problem: str, method: str, **settings: Any) -> list[Found]:
    """What was found by the runs with these settings."""
    return [r.found for r in chosen(file, problem, method, **settings)]


def chosen(file: str, problem: str | None = None, method: str | None = None, **settings: Any) -> list[Record]:
    """The records with these settings, of one problem and method or of all."""
    found = [
        r
        for r in records(file)
        if problem in (None, r.task.problem)
        and method in (None, r.task.method)
        and all(r.task.get(n) == v for n, v in settings.items())
    ]
    USED.extend(found)
    return found


def number(
    what: str, paper: float, values: Sequence[float], command: str, form: str = "{:.4g}", less: bool = True
) -> Row:
    """A number of the paper beside the mean of ours."""
    mean, error = mean_and_error(values)
    shown = form.format(mean) + (f" ± {error:.2g}" if len(values) > 1 else "")
    near = abs(mean - paper) <= max(SAME * abs(paper), 2 * error)
    verdict = "equal" if near else "better" if (mean < paper) == less else "worse"
    return what, form.format(paper), shown, str(len(values)), verdict if len(values) >= FEWEST else "–", command


def claim(what: str, paper: str, here: str, seeds: int, holds: bool | None, command: str) -> Row:
    """``holds`` is None where the two sides are level."""
    verdict = "level" if holds is None else "as there" if holds else "differs"
    return what, paper, here, str(seeds), verdict if seeds >= FEWEST else "–", command


def unmade(what: str, paper: str, why: str) -> Row:
    return what, paper, why, "–", "not run", "–"


def with_commits(rows: Iterator[Row]) -> Iterator[tuple[Row, str]]:
    """Each row and the commits of its runs; a row that has looked up none is told from those of the row before it."""
    USED.clear()
    told = "–"
    for row in rows:
        if commits := sorted({record.made["commit"] for record in USED}):
            told = ", ".join(commits)
        USED.clear()
        yield row, told if row[5] != "–" else "–"
