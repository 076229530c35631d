"""Where a figure of the results page comes from: the records of an experiment."""

from __future__ import annotations

import math
import re
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path

from benchmarks.harness import records, report
from benchmarks.harness.experiment import Experiment, parser_of, with_defaults
from benchmarks.harness.records import Record, Store, Task
from benchmarks.harness.report import Results

PICTURE = re.compile(r"\]\(([\w-]+\.svg)\)")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
ASSETS = "assets/results"
"""Pictures of benchmarks/results/, copied to the documentation."""
DOCS = Path(__file__).parents[2] / "docs"


def every(task: Task) -> bool:
    return True


@dataclass(frozen=True)
class OnRecord:
    """The runs of one part of an experiment that are on record, whatever the options of the command that made them."""

    spec: str
    part: str
    given: tuple[str, ...] = ()
    """Options of the command, besides the part."""
    of: Callable[[Task], bool] = every
    """Which tasks of the file belong to the part, where several parts share it."""
    told: bool = True
    """False where only pictures of these runs are shown, and not their report."""

    @property
    def command(self) -> str:
        parts = self.experiment.parts
        chosen = [f"--part {self.part}"] if len(parts) > 1 else []
        return " ".join(["python -m", f"benchmarks.{self.spec}", *chosen, *self.given, "--write"])

    @property
    def experiment(self) -> Experiment:
        found: Experiment = import_module(f"benchmarks.{self.spec}").EXPERIMENT
        return found

    @cached_property
    def results(self) -> Results:
        part = self.experiment.parts[self.part]
        known = Store(records.FOLDER / f"{part.records or self.spec}.jsonl").read()
        return Results([task for task in known if self.of(task)], known)

    @property
    def found(self) -> list[Record]:
        return self.results.records

    @property
    def commits(self) -> list[str]:
        """Of the runs, in the order of the records."""
        return list(dict.fromkeys(record.made["commit"] for record in self.found))

    @property
    def options(self) -> Namespace:
        """Those that the report reads; as many seeds as there are."""
        parser = parser_of(self.experiment)
        options = with_defaults(parser.parse_args(" ".join(self.given).split()), self.experiment.parts[self.part])
        if hasattr(options, "seeds"):
            options.seeds = len({record.task.seed for record in self.found}) or options.seeds
        return options

    def about(self) -> str:
        seeds = sorted({record.task.seed for record in self.found})
        runs = "1 run" if len(self.found) == 1 else f"{len(self.found)} runs"
        return f"{runs} on record, {named(seeds)}. {self.results.where()}"

    def lines(self) -> list[str]:
        if not self.told:
            return []
        return lowered(self.experiment.parts[self.part].report(self.results, self.options))


def named(seeds: Sequence[int]) -> str:
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    whole = list(seeds) == list(range(seeds[0], seeds[-1] + 1))
    return f"seeds {seeds[0]} to {seeds[-1]}" if whole else f"seeds {', '.join(map(str, seeds))}"


def cell(source: OnRecord, row: str, column: str) -> float:
    """The first number of a cell, in the first table that has that row; a row is known by its first cells.

    ∞ where the cell says that a goal was not reached (``not in 400,000``).
    """
    keys = row.split(" | ")
    found = next(cells for cells in tables(source.lines()) if any(line[: len(keys)] == keys for line in cells[1:]))
    line = next(line for line in found[1:] if line[: len(keys)] == keys)
    text = line[found[0].index(column)]
    if text.startswith("not in "):
        return math.inf
    numbers = NUMBER.search(text.replace(",", "").replace("−", "-"))
    if numbers is None:
        raise LookupError(f"{row}, {column}: no number in {text!r}")
    return float(numbers.group())


def tables(lines: Sequence[str]) -> Iterator[list[list[str]]]:
    """The tables among lines of markdown: rows of cells, the heads first."""
    now: list[list[str]] = []
    for line in [*lines, ""]:
        if not line.startswith("|"):
            if now:
                yield now
            now = []
        elif not set(line) <= set("|-: "):
            now.append([cell.strip(" *") for cell in line.strip("| ").split(" | ")])


def lowered(lines: Iterable[str]) -> list[str]:
    """Headings become bold lines, and pictures are those of the documentation."""
    made = []
    for line in lines:
        text = f"**{line.lstrip('# ')}**" if line.startswith("#") else line
        made.append(PICTURE.sub(rf"]({ASSETS}/\1)", text))
    return made


def drawn(name: str) -> str:
    """A picture of the documentation, as it was last drawn."""
    file = DOCS / ASSETS / name
    return file.read_text(encoding="utf-8") if file.exists() else ""


def pictures(lines: Sequence[str]) -> list[Path]:
    """Those of results/ that the lines show."""
    names = re.findall(rf"\]\({ASSETS}/([\w-]+\.svg)\)", "\n".join(lines))
    return [report.FOLDER / name for name in names if (report.FOLDER / name).exists()]
