"""The command line of an experiment: which runs it wants, how one is made, and what is told of them.

A spec names an :class:`Experiment` and calls :func:`main`. These options are the same for all of them:

    --processes N   runs at a time; 0: in this process. All cores, but one where times are measured
    --limit-minutes M   begin nothing after these; the command given again goes on
    --records DIR   where records are kept
    --again         run xstar's methods again where their record was made by another src/
    --baseline PATH a checkout of another commit, for methods named METHOD@COMMIT
    --table-only    run nothing, show what is on record
    --write         put the tables into results/, too
    --dirty         run from a tree with changes: nothing is written; peers' runs are taken from the records where there are any
    --part NAME     one part of an experiment that has several
"""

from __future__ import annotations

import argparse
import math
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.harness import machine, records, report
from benchmarks.harness.records import Record, Store, Task
from benchmarks.harness.report import Results
from benchmarks.harness.run import Libraries, Loop
from benchmarks.harness.variants import Run, plain


@dataclass(frozen=True)
class Part:
    """One table, or several that come from the same runs."""

    title: str
    tasks: Callable[[Namespace], list[Task]]
    run: Run
    report: Callable[[Results, Namespace], Iterable[str]]
    libraries: Libraries = field(default_factory=Libraries)
    defaults: Mapping[str, object] = field(default_factory=dict)
    """For options that were not given."""
    timed: bool = False
    """Whether times are measured: then one run at a time."""
    whole: bool = False
    """Whether the report is of all that is on record, whatever was asked for."""
    fresh: bool = False
    """Each run in a process of its own: where memory is measured, or what a library leaves behind would matter."""
    records: str = ""
    """The file of its records, if not that of the experiment."""
    figures: Callable[[Results, Namespace], Mapping[Path, str]] | None = None
    """Pictures that ``--write`` makes."""


@dataclass(frozen=True)
class Experiment:
    """A question, and the runs that answer it."""

    name: str
    title: str
    result: str
    """The file in results/."""
    description: str
    parts: Mapping[str, Part]
    arguments: Callable[[ArgumentParser], object]


def parser_of(experiment: Experiment) -> ArgumentParser:
    parser = ArgumentParser(
        prog=f"python -m benchmarks.{experiment.name}",
        description=experiment.description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    experiment.arguments(parser)
    if len(experiment.parts) > 1:
        parser.add_argument("--part", choices=[*experiment.parts, "all"], default="all")
    parser.add_argument("--processes", type=int, help="runs at a time; 0: in this process; default: all cores, or one")
    parser.add_argument("--limit-minutes", type=float, default=math.inf, help="begin nothing after these")
    parser.add_argument("--baseline", type=Path, help="a checkout of another commit, for methods named METHOD@COMMIT")
    parser.add_argument("--records", type=Path, default=records.FOLDER, help="the folder of records")
    parser.add_argument("--again", action="store_true", help="run ours again where another src/ made the record")
    parser.add_argument("--table-only", action="store_true", help="run nothing, show what is on record")
    parser.add_argument("--write", action="store_true", help=f"put the tables into results/{experiment.result}, too")
    parser.add_argument("--dirty", action="store_true", help="run from a tree with changes; nothing is written")
    return parser


def main(experiment: Experiment, argv: Sequence[str] | None = None, results: Path = report.FOLDER) -> None:
    parser = parser_of(experiment)
    given = parser.parse_args(argv)
    refuse(given, parser)
    chosen = getattr(given, "part", "all")
    failed = 0
    print(f"# {experiment.title}\n")
    for name, part in experiment.parts.items():
        if chosen in ("all", name):
            failed += perform(experiment, name, with_defaults(given, part), results)
    if failed:
        raise SystemExit(f"{failed} runs failed: see above")


def refuse(given: Namespace, parser: ArgumentParser) -> None:
    """A record has to be what its commit gives; so do tables."""
    if given.dirty and (given.write or given.again or given.table_only):
        parser.error("--dirty writes nothing: leave out --write, --again and --table-only")
    if given.table_only or given.dirty:
        return
    if changed := machine.changes():
        shown = ", ".join(changed[:5]) + (f" and {len(changed) - 5} more" if len(changed) > 5 else "")
        parser.error(f"the tree is not that of a commit ({shown}): commit first, or use --dirty, which records nothing")


def with_defaults(given: Namespace, part: Part) -> Namespace:
    values = {name: part.defaults.get(name) if value is None else value for name, value in vars(given).items()}
    return Namespace(**values)


def perform(experiment: Experiment, name: str, options: Namespace, results: Path) -> int:
    """Run what is missing of a part and report it; returns how many runs failed."""
    part = experiment.parts[name]
    store = Store(options.records / f"{part.records or experiment.name}.jsonl")
    processes = (1 if part.timed else os.cpu_count() or 1) if options.processes is None else options.processes
    loop = Loop(part.run, part.libraries, processes, part.fresh, options.limit_minutes)
    tasks = part.tasks(options)
    known: dict[Task, Record] = store.read()
    failed = 0
    if not options.table_only:
        if options.again or options.dirty:
            ours = {task for task in tasks if part.libraries.ours(task) and "@" not in task.method}
            known = {task: r for task, r in known.items() if task not in ours or (options.again and _of_this_source(r))}
        made, failed = loop.complete(loop.missing(tasks, known), options, None if options.dirty else store)
        known |= {record.task: record for record in made}
    found = Results(tasks, known)
    text = block(experiment, name, found, options)
    print(text)
    if options.write:
        report.write(results / experiment.result, experiment.title, f"{experiment.name} {name}", text)
        for file, picture in (part.figures(found, options) if part.figures else {}).items():
            file.write_text(picture, encoding="utf-8")
    return failed


def _of_this_source(record: Record) -> bool:
    """Whether the library was the same when the record was made."""
    return machine.same_source(record.made["commit"])


def block(experiment: Experiment, name: str, results: Results, options: Namespace) -> str:
    """What is printed of a part, and written."""
    part = experiment.parts[name]
    lines = [f"## {part.title}", ""] if len(experiment.parts) > 1 else []
    told = Results([*results.wanted, *results.all], results.all) if part.whole else results
    lines += [f"Made by `python -m benchmarks.{experiment.name}`. {told.where()}", ""]
    lines += part.report(results, options) if told.records else ["Nothing is on record."]
    return "\n".join(lines).rstrip() + "\n"


# ---------------------------------------------------------------- options


def names(text: str) -> list[str]:
    """Of a list with commas."""
    return [name for name in text.split(",") if name]


def numbers(text: str) -> list[int]:
    return [int(number) for number in names(text)]


def chosen_from(text: str, known: Iterable[str], option: str) -> list[str]:
    """Of a list with commas; methods may have a form of their own (``variants.py``)."""
    wanted, allowed = names(text), list(known)
    if unknown := [name for name in wanted if plain(name) not in allowed and name not in allowed]:
        raise SystemExit(f"{option}: unknown: {', '.join(unknown)}. There are: {', '.join(allowed)}")
    return wanted
