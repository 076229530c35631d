"""Records → markdown: cells with mean ± standard error, ranks, ratios, and the place of a table in its file."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.harness import machine
from benchmarks.harness.records import Found, Record, Task

FOLDER = Path(__file__).parents[1] / "results"


class Results:
    """All records of an experiment, and those of the tasks that were asked for."""

    def __init__(self, wanted: Sequence[Task], known: Mapping[Task, Record]) -> None:
        self.all = dict(known)
        self.wanted = list(dict.fromkeys(wanted))
        self.records = [known[task] for task in self.wanted if task in known]
        self.methods = list(dict.fromkeys(record.task.method for record in self.records))
        self.problems = list(dict.fromkeys(record.task.problem for record in self.records))

    def found(self, task: Task) -> Found | None:
        record = self.all.get(task)
        return None if record is None else record.found

    def of(self, problem: str | None = None, method: str | None = None, **settings: object) -> list[Record]:
        """Those of the tasks asked for that are on record, in their order."""
        return [
            record
            for record in self.records
            if problem in (None, record.task.problem)
            and method in (None, record.task.method)
            and all(record.task.get(name) == value for name, value in settings.items())
        ]

    def where(self) -> str:
        return machine.describe([record.made for record in self.records])


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> Iterator[str]:
    """A markdown table; all columns but the first ``left`` are aligned to the right."""
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * left + "---:|" * (len(heads) - left)
    for row in rows:
        yield f"| {' | '.join(row)} |"


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """The mean and its standard error, s / √n; 0 for a single value, nan where the mean is infinite."""
    mean = math.fsum(values) / len(values)  # `sum` rounds otherwise from Python 3.12 on
    if not math.isfinite(mean):
        return mean, math.nan
    if len(values) == 1:
        return mean, 0.0
    return mean, statistics.stdev(values) / math.sqrt(len(values))


def cell(values: Sequence[float], form: str = "{:.6g} ± {:.2g}", least: float = math.nan, most: int = 0) -> str:
    """Mean ± standard error; bold where the mean is ``least``; the number of values where it is less than ``most``."""
    if not values:
        return "–"
    mean, error = mean_and_error(values)
    if not math.isfinite(mean):
        return "–"
    text = form.format(mean, error)
    if len(values) < most:
        text += f" ({len(values)} seed{'s' if len(values) > 1 else ''})"
    return f"**{text}**" if mean == least else text


def row_of_cells(columns: Sequence[Sequence[float]], form: str = "{:.6g} ± {:.2g}") -> list[str]:
    """A row of cells in which the lowest mean is bold."""
    least = min((mean_and_error(column)[0] for column in columns if column), default=math.nan)
    most = max(map(len, columns), default=0)
    return [cell(column, form, least, most) for column in columns]


def ranks(values: Sequence[float]) -> list[float]:
    """From 1 for the lowest; equals share their ranks.

    >>> ranks([0.3, 0.1, 0.1])
    [3.0, 1.5, 1.5]
    """
    return [
        1.0 + sum(other < value for other in values) + (sum(other == value for other in values) - 1) / 2
        for value in values
    ]


def ratio(theirs: float, ours: float) -> str:
    """How many times as long the peer takes."""
    return f"{theirs / ours:,.1f}×" if ours else "–"


def mean_ranks(
    results: Results, value: Callable[[Found], float], methods: Sequence[str], **settings: object
) -> tuple[list[float], int]:
    """Mean rank of each method over the pairs of problem and seed that all of them have a record of, and how many these are."""
    pairs: dict[tuple[str, int], dict[str, float]] = {}
    for record in results.of(**settings):
        pairs.setdefault((record.task.problem, record.task.seed), {})[record.task.method] = value(record.found)
    complete = [ranks([of[method] for method in methods]) for of in pairs.values() if set(methods) <= set(of)]
    return [statistics.mean(column) for column in zip(*complete, strict=True)], len(complete)


def duration(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:,.0f} µs"
    return f"{seconds * 1e3:,.1f} ms" if seconds < 1 else f"{seconds:,.1f} s"


# ---------------------------------------------------------------- files


def placed(text: str, key: str, block: str) -> str:
    """``text`` with ``block`` between the marks of ``key``: in the place of what stood there, else after the last block.

    What stands outside of marks is left alone.
    """
    begin, end = f"<!-- {key} -->", f"<!-- end of {key} -->"
    marked = f"{begin}\n{block.rstrip()}\n{end}\n"
    if begin in text:
        before, _, rest = text.partition(begin)
        return before + marked + rest.partition(end + "\n")[2]
    last = text.rfind("<!-- end of ")
    if last >= 0:
        place = text.index("\n", last) + 1
        return f"{text[:place]}\n{marked}{text[place:]}"
    return f"{marked}\n{text}" if text.strip() else marked


def write(file: Path, title: str, key: str, block: str) -> None:
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    if "<!-- end of " not in text:
        text = f"# {title}\n\n{placed(text, key, block)}"
    else:
        text = placed(text, key, block)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
