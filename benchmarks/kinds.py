"""Methods over budgets on kinds of training curves that users meet and that the tasks of ``budgets.py`` do not have.

    python -m benchmarks.kinds [--part NAME] [--problems flat:curves-mlp,…] [--methods …] [--workers 1,4] [--seeds 10] [--write]

``harness/kinds.py`` says what the kinds are. Each is a variation of ``curves-mlp`` and of ``curves-optimizer``, on which rules
were chosen (``--part development``), and of two problems on which none was (``--part validation``). A search lasts ten median
trainings on each worker. Told is what whoever ends it then has: the noise-free regret of the best trial, the complete one with
the lowest loss (before any is complete, the lowest at the highest budget reached), and ``CAP`` where there is none, or where
that one does not end well.

``mobster-before`` and ``asha-before`` let the earliest of equal trials go on, and the model of the former keeps rungs that say
nothing. ``mobster-lately`` and ``asha-lately`` have the rules for equal trials, but none for trials that diverge, nor for rungs
whose losses differ by noise; none of those goes straight to the end beside others, nor does ``mobster:straight=never``.
"""

from __future__ import annotations

import statistics
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from functools import partial

from benchmarks.harness.experiment import Experiment, Part, chosen_from, main, numbers
from benchmarks.harness.kinds import NAMES, named
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import Results, table
from benchmarks.harness.run import Libraries
from benchmarks.workloads.budget_methods import NEVER_STRAIGHT, BudgetMethod, mobster, of_ladder
from xstar.core.randomness import Streams
from xstar.problems import Problem
from xstar.searchers import Random
from xstar.searchers.gp.earlier import BEFORE_DIVERGED, BEFORE_STRAIGHT
from xstar.simulation import simulate
from xstar.trial import State

BEFORE, LATELY = "mobster-before", "mobster-lately"
RULES_LATELY = {"diverged": "keep", "silent": "compare"}
MODEL_LATELY = {**BEFORE_DIVERGED, **{f"rule_{name}": rule for name, rule in RULES_LATELY.items()}}
METHODS = {
    "random": BudgetMethod("random search at the full budget", "random"),
    "asha-before": of_ladder("ASHA, the earliest of equal trials go on", Random(), **RULES_LATELY, ties="earliest"),
    "asha-lately": of_ladder("ASHA, the latest of equal trials go on", Random(), **RULES_LATELY),
    "asha": BudgetMethod("random configurations under ASHA", "asha"),
    "gp": BudgetMethod("every trial is trained to the end", "gp"),
    BEFORE: mobster(
        "the earliest of equal trials go on, no rung is left out",
        **{**MODEL_LATELY, "silent": "keep"},
        rule_ties="earliest",
    ),
    LATELY: mobster("the latest of equal trials go on, rungs at which all are equal are left out", **MODEL_LATELY),
    NEVER_STRAIGHT: mobster("no trial goes straight to the end", **BEFORE_STRAIGHT),
    "mobster": BudgetMethod("the default", "mobster"),
}
AGAINST = ("asha", NEVER_STRAIGHT, LATELY, BEFORE)
SHARES = (0.25, 0.5, 1.0)
CAP = 1.0
"""The regret of a search without an answer: more than that of any configuration that ends well."""
SAMPLES = 201


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--problems", help="some of the tasks of the set")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--workers", default="1,4")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--trainings", type=float, default=10.0)


def tasks(which: str, options: Namespace) -> list[Task]:
    names = NAMES[which]
    return [
        Task.of(seed, name, method, workers=count, trainings=options.trainings)
        for seed in range(options.seeds)
        for count in numbers(options.workers)
        for name in (chosen_from(options.problems, names, "--problems") if options.problems else names)
        for method in chosen_from(options.methods, METHODS, "--methods")
    ]


def full_training(problem: Problem) -> float:
    """The median time of a full training, over configurations drawn at random."""
    rng = Streams(0).generator(0, "benchmark")
    return statistics.median(problem.curve(problem.space.sample(rng), seed).seconds[-1] for seed in range(SAMPLES))


def run(task: Task, options: Namespace) -> Found:
    problem, method = named(task.problem), METHODS[task.method]
    seconds, begun = full_training(problem) * task["trainings"], time.process_time()
    study = simulate(
        problem,
        method.name or None,
        searcher=method.searcher,
        scheduler=method.made(problem),
        workers=task["workers"],
        seconds=seconds,
        seed=task.seed,
    )
    history = study.history
    regrets = []
    for share in SHARES:
        step = next((each for each in reversed(history.best_over_time) if each.at <= share * seconds), None)
        regret = CAP if step is None else min(problem.loss(step.trial.config) - problem.optimum, CAP)
        regrets.append(significant(regret))
    return {
        "regrets": regrets,
        "trials": len(history.trials),
        "complete": history.count(State.COMPLETE),
        "failed": history.count(State.FAILED),
        "processor": significant(time.process_time() - begun),
    }


def report(results: Results, options: Namespace) -> Iterator[str]:
    runs: dict[tuple[int, str, str], dict[int, Found]] = {}
    for record in results.records:
        task = record.task
        runs.setdefault((task["workers"], task.problem, task.method), {})[task.seed] = record.found
    methods = [method for method in METHODS if any(which == method for _, _, which in runs)]
    yield f"{options.trainings:g} trainings per worker. Mean regret after a quarter, half and all of the time; in the last"
    others = ", ".join(f"`{other}`" for other in AGAINST)
    yield f"columns searches of `mobster` that end lower – higher than those of {others}."
    for count in sorted({workers for workers, _, _ in runs}):
        rows = []
        for name in (each for names in NAMES.values() for each in names if (count, each, methods[-1]) in runs):
            of = {method: runs.get((count, name, method), {}) for method in methods}
            means = ["" if not of[method] else _means(of[method]) for method in methods]
            rows.append((name, *means, *(_pairs(of, other) for other in AGAINST)))
        heads = ["task", *methods, *(f"against {other}" for other in AGAINST)]
        yield from ("", f"{count} worker{'s' if count > 1 else ''}:", "", *table(heads, rows))


def _means(of: dict[int, Found]) -> str:
    return " → ".join(f"{statistics.mean(each):.3g}" for each in zip(*(f["regrets"] for f in of.values()), strict=True))


def _pairs(of: dict[str, dict[int, Found]], other: str) -> str:
    ours, theirs = of.get("mobster", {}), of.get(other, {})
    both = [(ours[seed]["regrets"][-1], theirs[seed]["regrets"][-1]) for seed in sorted({*ours} & {*theirs})]
    return f"{sum(a < b for a, b in both)}–{sum(a > b for a, b in both)}" if both else ""


EXPERIMENT = Experiment(
    name="kinds",
    title="Other kinds of training curves",
    result="kinds.md",
    description=__doc__,
    parts={
        "development": Part("All kinds", partial(tasks, "development"), run, report, Libraries()),
        "validation": Part("The same of two other problems", partial(tasks, "validation"), run, report, Libraries()),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
