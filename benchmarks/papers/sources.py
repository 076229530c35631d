"""Where a figure of the results page comes from: the records of an experiment, or a table made before records were kept."""

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
from benchmarks.workloads.kept_search import under_way

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


@dataclass(frozen=True)
class Begun:
    """Searches that are kept from call to call and have not come to their end; nothing once there are records of them."""

    records: OnRecord
    metric: str
    """That is minimised."""

    @property
    def spec(self) -> str:
        return self.records.spec

    @property
    def command(self) -> str:
        return self.records.command

    @cached_property
    def found(self) -> list[tuple[str, str, str, str]]:
        return [] if self.records.found else under_way(records.FOLDER / self.spec, set(), self.metric)

    def about(self) -> str:
        return "under way; no search has all of its evaluations yet, and a later call goes on with them."

    def lines(self) -> list[str]:
        return list(report.table(["search", "evaluations", "best so far", "its test error"], self.found))


@dataclass(frozen=True)
class Earlier:
    """A section of a file in results/ whose runs are gone; ``heading`` is a heading or the start of a line of text.

    Of several such lines it is the last: new tables stand above what was made before.
    """

    file: str
    heading: str
    command: str

    @property
    def found(self) -> list[str]:
        return self.lines()

    def lines(self) -> list[str]:
        text = (report.FOLDER / self.file).read_text(encoding="utf-8").splitlines()
        begin = max(at for at, line in enumerate(text) if line.lstrip("# ").startswith(self.heading))
        level = len(text[begin]) - len(text[begin].lstrip("#"))
        section = text[begin + 1 :] if level else text[begin:]
        kept = []
        for line in section:
            marks = len(line) - len(line.lstrip("#"))
            if 0 < marks <= (level or 9) or line.startswith("<!--"):
                break
            kept.append(line)
        if not level:
            kept = first_table(kept)
        return lowered("\n".join(kept).strip().splitlines())

    def about(self) -> str:
        where = f"`benchmarks/results/{self.file}`, *{self.heading}*"
        return f"made before records were kept; the runs are gone. As it stands in {where}."


Source = OnRecord | Begun | Earlier


def newest(records: OnRecord, before: Earlier) -> Source:
    """The runs on record, or where there are none the table made before."""
    return records if records.found else before


def cell(source: Source, row: str, column: str) -> float:
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


def first_table(lines: Sequence[str]) -> list[str]:
    """The lines up to the end of the first table."""
    kept: list[str] = []
    for line in lines:
        if kept and kept[-1].startswith("|") and not line.startswith("|"):
            break
        kept.append(line)
    return kept


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
