"""What a search gains from a related one, and what it loses by one that misleads.

    python -m benchmarks.warm_start [--seeds 10] [--problems branin,…] [--methods gp] [--trials 30] [--write]

A source is 40 trials of GP search: of the same function ``shifted`` by a twentieth of each side, times 100, plus 1,000; of
its negation (``opposite``), so that the best there is the worst here; or of a bowl around a random place (``unrelated``).
``cold`` is without a source. Cells are regrets after 5, 10, 20 and 30 trials: geometric means over the seeds, and the factor of
one standard error, e to the standard error of the logarithms.
"""

from __future__ import annotations

import math
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import xstar as xs
from benchmarks.harness.experiment import Experiment, Part, chosen_from, main, names
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import Results, mean_and_error, table
from benchmarks.harness.run import Libraries
from xstar import problems

PROBLEMS = ("branin", "hartmann6", "rosenbrock4", "levy6")
SOURCES = ("cold", "shifted", "opposite", "unrelated")
SOURCE_TRIALS = 40
SHIFT = 0.05
MARKS = (5, 10, 20, 30)
LEAST = 1e-6
"""Regrets below count as this: a geometric mean of zeros would be zero."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    parser.add_argument("--methods", default="gp")
    parser.add_argument("--trials", type=int, default=MARKS[-1])


def tasks(options: Namespace) -> list[Task]:
    return [
        Task.of(seed, problem, method, source=source, trials=options.trials)
        for problem in chosen_from(options.problems, PROBLEMS, "--problems")
        for method in names(options.methods)
        for source in SOURCES
        for seed in range(options.seeds)
    ]


def source_of(problem: problems.Problem, kind: str, seed: int) -> Callable[[xs.Trial], float]:
    """The objective of the related problem."""
    rng = np.random.default_rng([seed, 18])
    space: Any = problem.space
    sides = {name: space[name].high - space[name].low for name in space}
    away = {name: SHIFT * side * rng.choice([-1.0, 1.0]) for name, side in sides.items()}
    centre = {name: space[name].low + side * rng.random() for name, side in sides.items()}

    def shifted(trial: xs.Trial) -> float:
        moved = {n: min(max(v + away[n], space[n].low), space[n].high) for n, v in trial.config.items()}
        return 100.0 * problem.loss(moved) + 1_000.0

    def unrelated(trial: xs.Trial) -> float:
        return float(sum(((v - centre[n]) / sides[n]) ** 2 for n, v in trial.config.items()))

    return {"shifted": shifted, "opposite": lambda trial: -problem.loss(trial.config), "unrelated": unrelated}[kind]


def run(task: Task, options: Namespace) -> Found:
    problem = problems.get(task.problem)
    known = None
    if task["source"] != "cold":
        objective = source_of(problem, task["source"], task.seed)
        known = xs.minimize(
            objective, problem.space, trials=SOURCE_TRIALS, method="gp", seed=task.seed + 1_000, progress=False
        ).study
    study = xs.minimize(
        lambda trial: problem.loss(trial.config),
        problem.space,
        trials=task["trials"],
        method=task.method,
        seed=task.seed,
        warm_start=known,
        progress=False,
    ).study
    losses = np.minimum.accumulate([trial.known_loss for trial in study.trials])
    return {"regret": {str(n): significant(losses[n - 1] - problem.optimum) for n in MARKS if n <= len(losses)}}


def report(results: Results, options: Namespace) -> Iterator[str]:
    rows = []
    marks = [n for n in MARKS if n <= options.trials]
    for problem in results.problems:
        for method in results.methods:
            for source in SOURCES:
                found = [record.found["regret"] for record in results.of(problem, method, source=source)]
                if found:
                    cells = [_geometric([max(each[str(n)], LEAST) for each in found]) for n in marks]
                    rows.append((problem, method, source, *cells))
    yield from table(["problem", "method", "source", *(f"after {n}" for n in marks)], rows, left=3)


def _geometric(values: list[float]) -> str:
    mean, error = mean_and_error([math.log(value) for value in values])
    return f"{math.exp(mean):.3g} ×÷ {math.exp(error):.2g}"


EXPERIMENT = Experiment(
    name="warm_start",
    title="What a search gains from a related one",
    result="warm-start.md",
    description=__doc__,
    parts={"sources": Part("Sources", tasks, run, report, Libraries({}, ("numpy", "scipy")))},
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
