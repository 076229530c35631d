"""``xstar simulate``: methods compared on a problem, in simulated time, with a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from xstar import problems, simulation
from xstar.cli.text import console, warn
from xstar.core.words import number, plural, seconds as words
from xstar.errors import InvalidArgument
from xstar.executors.clock import wall_clock
from xstar.problems import Problem
from xstar.progress.choice import messages_to
from xstar.simulation import improvements, regret_at
from xstar.simulation.regret import mean_and_error
from xstar.study.methods import METHODS
from xstar.trial import State

SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
"""At which parts of the time the table has a column."""

TRAININGS = 10
"""How many full trainings of the best configuration the time is enough for when nothing is said about it."""

STOP, CLUSTER = "When to stop", "The cluster"


@dataclass(frozen=True)
class Comparison:
    """What is kept of a method's simulated studies, one entry per seed."""

    steps: list[list[tuple[float, float]]]
    started: list[int]
    complete: list[int]
    ended: list[float]


def simulate(
    problem: Annotated[
        str | None, typer.Argument(metavar="PROBLEM", help="One of those that --list shows.", show_default=False)
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the problems and whether their data is here.")] = False,
    method: Annotated[
        list[str] | None,
        typer.Option(help=f"May be given several times: {', '.join(METHODS)}.", show_default="random and asha"),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Studies per method, with seeds 0, 1, 2, …")] = 5,
    seconds: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=STOP, help="Simulated seconds.", show_default=f"{TRAININGS} trainings of the best"
        ),
    ] = None,
    trials: Annotated[int | None, typer.Option(rich_help_panel=STOP, help="Trials per study.")] = None,
    workers: Annotated[int, typer.Option(rich_help_panel=CLUSTER, help="Trials that train at a time.")] = 4,
) -> None:
    """Compare methods on a problem whose answers are known, on a cluster that is only simulated.

    Prints how far the best loss was from the optimum over time, mean ± standard error over seeds.
    """
    out = console()
    if listed:
        _list(out)
        return
    if problem is None:
        raise InvalidArgument("PROBLEM", "is needed", None, "`xstar simulate --list` shows which there are")
    found = problems.get(problem)
    if seconds is None and trials is None:
        seconds = TRAININGS * found.curve(found.best, 0).seconds[-1]
    methods = list(dict.fromkeys(method or ["random", "asha"]))
    if unknown := [name for name in methods if name not in METHODS]:
        raise InvalidArgument("--method", f"must be one of {', '.join(METHODS)}", unknown[0])
    begun = wall_clock()
    compared: dict[str, Comparison] = {}
    errors = console(stderr=True)
    with messages_to(warn(errors)), errors.status("simulating") as status:
        for name in methods:
            kept = compared[name] = Comparison([], [], [], [])
            for seed in range(seeds):
                status.update(f"simulating {name}, seed {seed + 1} of {seeds}")
                study = simulation.simulate(found, name, workers=workers, seconds=seconds, trials=trials, seed=seed)
                kept.steps.append(improvements(study.history))
                kept.started.append(len(study.history.trials))
                kept.complete.append(study.history.count(State.COMPLETE))
                kept.ended.append(study.clock())
    took = wall_clock() - begun
    horizon = seconds or max(max(kept.ended) for kept in compared.values())
    _print_table(out, found, compared, horizon, workers)
    simulated = sum(sum(kept.ended) for kept in compared.values())
    studies = plural(len(methods) * seeds, "study").replace("studys", "studies")
    out.print(f"{studies} of {words(simulated)} together, simulated in {words(took)}")


def _print_table(out: Console, problem: Problem, compared: dict[str, Comparison], horizon: float, workers: int) -> None:
    times = [share * horizon for share in SHARES]
    cells = {
        name: [mean_and_error(column) for column in _columns(kept, problem, times)] for name, kept in compared.items()
    }
    lowest = [min(cells[name][place][0] for name in compared) for place in range(len(times))]
    seeds = plural(len(next(iter(compared.values())).steps), "seed")
    table = Table(
        title=f"{problem.name}: regret ({problem.unit}), {plural(workers, 'worker')}, {seeds}", title_justify="left"
    )
    table.add_column("method", no_wrap=True)
    for time in times:
        table.add_column(words(time), justify="right")
    table.add_column("trials", justify="right")
    table.add_column("complete", justify="right")
    for name, kept in compared.items():
        row = [
            Text(_cell(mean, error, len(kept.steps)), "bold green" if mean == best and math.isfinite(mean) else "")
            for (mean, error), best in zip(cells[name], lowest, strict=True)
        ]
        table.add_row(name, *row, _average(kept.started), _average(kept.complete))
    out.print(table)


def _columns(kept: Comparison, problem: Problem, times: Sequence[float]) -> list[tuple[float, ...]]:
    """For each time, a regret per seed."""
    return list(zip(*(regret_at(steps, problem.optimum, times) for steps in kept.steps), strict=True))


def _cell(mean: float, error: float, seeds: int) -> str:
    if not math.isfinite(mean):
        return "-"
    return f"{number(mean, 3)} ± {number(error, 2)}" if seeds > 1 else number(mean, 3)  # of one seed nothing is known


def _average(counts: Sequence[int]) -> str:
    return number(sum(counts) / len(counts), 4)


def _list(out: Console) -> None:
    table = Table("problem", "parameters", "budgets", "loss", "data")
    table.columns[1].justify = "right"
    for name in problems.names():
        lacks = problems.missing(name)
        if lacks:
            table.add_row(name, "-", "-", "-", Text(lacks, "yellow"))
            continue
        problem = problems.get(name)
        budgets = problem.budgets
        shown = f"{budgets[0]} … {budgets[-1]}" if len(budgets) > 2 else ", ".join(map(str, budgets))
        table.add_row(name, str(len(problem.space)), shown, problem.unit, Text("here", "green"))
    out.print(table)
