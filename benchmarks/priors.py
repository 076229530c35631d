"""What a search gains from a good prior of its parameters, and what it loses by a wrong one (πBO).

    python -m benchmarks.priors --part priors  [--problems branin,…] [--methods gp] [--seeds 10] [--evaluations 60] [--write]
    python -m benchmarks.priors --part budgets [--problems curves-mlp,…] [--seeds 5] [--workers 8] [--trainings 4] [--write]

A good prior of a number is a normal with σ = 0.15 of its range around the optimum, itself misplaced by σ/2; of an Ordinal its
weights are such a normal at its options, misplaced by σ; of a Choice one option has a weight of 0.7, and it is the best one
with that probability. A wrong prior is as wide, and near the end of the range that is farther from the optimum; of a Choice it
favours an option that is not the best. The loss that searches without priors have reached after 20 and 40 evaluations (the
median over the seeds) is the target; a cell is the median number of evaluations until it is reached, and the share of what it
takes without priors.

``gp`` learns how far it trusts priors; ``gp-placed`` uses them for the first trials only; ``gp-constant`` is πBO with β = 10
and the first trials from the priors. How trust is learned was chosen on the first four problems, not on the others.

``budgets`` asks the same of MOBSTER in simulated time (``harness/simulated.py``): the targets are the lowest losses, at any
budget, that searches without priors have reported after a third and two thirds of the time, and cells are medians of the time
until they are reached, as shares of the whole.
"""

from __future__ import annotations

import math
import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from typing import Any

import numpy as np

import xstar as xs
from benchmarks.harness.experiment import Experiment, Part, chosen_from, main
from benchmarks.harness.problems import at_hand
from benchmarks.harness.records import Found, Task, arrival, best_after, improvements
from benchmarks.harness.report import Results, mean_and_error, table
from benchmarks.harness.run import Libraries
from benchmarks.harness.simulated import run_simulated
from xstar import problems
from xstar.problems.synthetic import Function
from xstar.searchers import GP

CHOSEN_ON = ("branin", "hartmann6", "rosenbrock4", "levy6")
METHODS: dict[str, Callable[[], GP]] = {
    "gp": GP,
    "gp-placed": lambda: GP(prior_weight=0.0),
    "gp-constant": lambda: GP(prior_weight=10.0, prior_trust="constant"),
}
PRIORS = ("none", "good", "wrong")
SIGMA, MISPLACED, FAVOURED = 0.15, 0.5, 0.7
EDGE = 0.02
"""Of the range: no prior is centred closer to its end."""
MARKS = (20, 40)
LATE = 1.25
"""A search that did not reach the target counts as this many times its evaluations, or its time."""
TRAINED = ("curves-mlp", "curves-optimizer", "curves-regularised", "lcbench-126025", "lcbench-167168")
"""Problems of the part ``budgets``."""
MOMENTS = (1 / 3, 2 / 3)
"""Of the time of a search without priors: what it has found by then is a target."""

# ---------------------------------------------------------------- problems that nothing was chosen on


def camel(x: Sequence[float]) -> float:
    """The six-hump camel function; two global minima."""
    a, b = x
    return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (4 * b**2 - 4) * b**2


def hartmann3(x: Sequence[float]) -> float:
    widths = ((3.0, 10.0, 30.0), (0.1, 10.0, 35.0), (3.0, 10.0, 30.0), (0.1, 10.0, 35.0))
    centres = ((0.3689, 0.117, 0.2673), (0.4699, 0.4387, 0.747), (0.1091, 0.8732, 0.5547), (0.0381, 0.5743, 0.8828))
    total = 0.0
    for height, width, centre in zip((1.0, 1.2, 3.0, 3.2), widths, centres, strict=True):
        total -= height * exp(-sum(w * (v - c) ** 2 for w, v, c in zip(width, x, centre, strict=True)))
    return total


def styblinski5(x: Sequence[float]) -> float:
    """Styblinski and Tang's: 2⁵ local minima."""
    return 0.5 * sum(v**4 - 16 * v**2 + 5 * v for v in x)


def _styblinski5() -> Function:
    return Function("styblinski5", styblinski5, [(-5, 5)] * 5, -195.83083, (-2.903534,) * 5)


MADE: dict[str, Callable[[], problems.Problem]] = {
    "camel": lambda: Function("camel", camel, [(-3, 3), (-2, 2)], -1.031628, (0.089842, -0.712656)),
    "hartmann3": lambda: Function("hartmann3", hartmann3, [(0, 1)] * 3, -3.862782, (0.114614, 0.555649, 0.852547)),
    "styblinski5": _styblinski5,
}
"""Definitions and optima as in Surjanovic & Bingham (2013)."""
OTHERS = (*MADE, "ackley10", "hpolib-svm", "fcnet-naval", "fcnet-protein", "nb201-cifar100")


def problem_of(name: str) -> problems.Problem:
    return MADE[name]() if name in MADE else problems.get(name)


# ---------------------------------------------------------------- priors


def believed(problem: problems.Problem, kind: str, seed: int) -> xs.Space:
    """The space with good, wrong or no priors."""
    if kind == "none":
        return problem.space
    rng = np.random.default_rng([seed, 18])
    return xs.Space({name: _with_prior(given, problem.best[name], kind, rng) for name, given in parameters(problem)})


def parameters(problem: problems.Problem) -> list[tuple[str, Any]]:
    return list(problem.space.parameters.items())


def _with_prior(given: Any, best: Any, kind: str, rng: np.random.Generator) -> Any:
    normal, uniform, other = rng.standard_normal(), rng.random(), int(rng.integers(1, 1_000))
    if isinstance(given, xs.Choice):
        misled = kind == "wrong" or uniform > FAVOURED
        at = given.options.index(best)
        at = (at + 1 + other % (len(given.options) - 1)) % len(given.options) if misled else at
        rest = (1.0 - FAVOURED) / (len(given.options) - 1)
        return replace(given, prior=[FAVOURED if place == at else rest for place in range(len(given.options))])
    if isinstance(given, xs.Constant):
        return given
    position = float(given.encode(best)[0])
    centre = position if kind == "good" else float(position < 0.5)
    away = normal * SIGMA * (1.0 if isinstance(given, xs.Ordinal) else MISPLACED)
    centre = min(max(centre + away, EDGE), 1.0 - EDGE)
    if isinstance(given, xs.Ordinal):
        places = (np.arange(len(given.options)) + 0.5) / len(given.options)
        return replace(given, prior=(np.exp(-0.5 * ((places - centre) / SIGMA) ** 2) + 1e-3).tolist())
    return replace(given, prior=xs.Normal(given.decoder(0)((centre,)), SIGMA))


# ---------------------------------------------------------------- runs


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--problems")
    parser.add_argument("--methods", default="gp")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--evaluations", type=int, default=60)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--trainings", type=float, default=4.0)


def tasks(options: Namespace) -> list[Task]:
    names = chosen_from(options.problems, [*MADE, *problems.names()], "--problems")
    at_hand([name for name in names if name not in MADE])
    methods = chosen_from(options.methods, METHODS, "--methods")
    return [
        Task.of(seed, name, method if prior != "none" else "gp", prior=prior, evaluations=options.evaluations)
        for name in names
        for method in methods
        for prior in PRIORS
        for seed in range(options.seeds)
    ]


def run(task: Task, options: Namespace) -> Found:
    problem = problem_of(task.problem)
    study = xs.Study(believed(problem, task["prior"], task.seed), searcher=METHODS[task.method](), seed=task.seed)
    losses = []
    for _ in range(task["evaluations"]):
        trial = study.ask()
        assert trial is not None, study.ended
        losses.append(problem.loss(trial.config))
        study.tell(trial, losses[-1])
    return {"best": improvements(losses)}


# ---------------------------------------------------------------- the report


def report(results: Results, options: Namespace) -> Iterator[str]:
    for title, names in (("Problems not used for choosing", OTHERS), ("Problems that it was chosen on", CHOSEN_ON)):
        shown = [name for name in results.problems if name in names]
        if shown:
            yield from (f"### {title}", "", *_table(results, shown, options), "")


def _table(results: Results, names: list[str], options: Namespace) -> Iterator[str]:
    columns = [(method, prior) for method in results.methods for prior in PRIORS[1:]]
    rows, logs = [], {column: [] for column in columns}  # type: ignore[var-annotated]
    for name in names:
        without = [record.found["best"] for record in results.of(name, "gp", prior="none")]
        for mark in MARKS:
            target = statistics.median(best_after(best, mark) for best in without)
            usual = _median(without, target, options.evaluations)
            row = [name, f"{target:.4g} ({mark})", f"{usual:g}"]
            for method, prior in columns:
                found = [record.found["best"] for record in results.of(name, method, prior=prior)]
                if not found:
                    row.append("–")
                    continue
                taken = _median(found, target, options.evaluations)
                logs[method, prior].append(math.log(taken / usual))
                shown = f"{taken:g}" if taken <= options.evaluations else f"over {options.evaluations}"
                row.append(f"{shown} ({taken / usual:.2f})")
            rows.append(row)
    means = [mean_and_error(each) if each else (math.nan, math.nan) for each in logs.values()]
    shares = [f"**{math.exp(mean):.2f}** × {math.exp(error):.2f}^±1" for mean, error in means]
    rows.append(["geometric mean of the shares", "", "", *shares])
    yield from table(["problem", "target", "no prior", *(f"{m}, {prior}" for m, prior in columns)], rows, left=2)


def _median(found: list[Any], target: float, evaluations: int) -> float:
    """The median number of evaluations until the target."""
    return statistics.median(min(arrival(best, target), LATE * evaluations) for best in found)


# ---------------------------------------------------------------- budgets


@dataclass(frozen=True)
class Believed:
    """A problem whose space has priors."""

    problem: problems.Problem
    space: xs.Space

    def __getattr__(self, name: str) -> Any:
        return getattr(self.problem, name)


def budget_tasks(options: Namespace) -> list[Task]:
    names = at_hand(chosen_from(options.problems, problems.names(), "--problems"))
    return [
        Task.of(seed, name, "mobster", prior=prior, workers=options.workers, trainings=options.trainings)
        for seed in range(options.seeds)
        for name in names
        for prior in PRIORS
    ]


def run_budgets(task: Task, options: Namespace) -> Found:
    problem = problems.get(task.problem)
    with_priors = Believed(problem, believed(problem, task["prior"], task.seed))
    return run_simulated(task, task.method, problem=with_priors)


def budget_report(results: Results, options: Namespace) -> Iterator[str]:
    rows: list[Sequence[str]] = []
    logs: dict[str, list[float]] = {prior: [] for prior in PRIORS[1:]}
    for name in results.problems:
        runs = {prior: [record.found for record in results.of(name, prior=prior)] for prior in PRIORS}
        whole = runs["none"][0]["seconds"]
        for moment in MOMENTS:
            target = statistics.median(best_after(found["best"], moment * whole) for found in runs["none"])
            taken = {
                prior: statistics.median(min(arrival(f["best"], target) / whole, LATE) for f in found)
                for prior, found in runs.items()
            }
            rows.append((name, f"{target:.4g} ({moment:.2f})", f"{taken['none']:.2f}", *_shares(taken, logs)))
    means = [mean_and_error(each) for each in logs.values()]
    told = [f"**{math.exp(mean):.2f}** × {math.exp(error):.2f}^±1" for mean, error in means]
    rows.append(("geometric mean of the shares", "", "", *told))
    yield f"`mobster`, {options.workers} workers, the time of {options.trainings:g} trainings each, {options.seeds} seeds."
    yield from ("", *table(["problem", "target", "no prior", "good", "wrong"], rows, left=2))


def _shares(taken: Mapping[str, float], logs: Mapping[str, list[float]]) -> Iterator[str]:
    for prior, known in logs.items():
        known.append(math.log(taken[prior] / taken["none"]))
        shown = f"{taken[prior]:.3f}" if taken[prior] <= 1 else "not within the time"
        yield f"{shown} ({taken[prior] / taken['none']:.2f})"


EXPERIMENT = Experiment(
    name="priors",
    title="What a search gains from a prior",
    result="priors.md",
    description=__doc__,
    parts={
        "priors": Part(
            "At full budget",
            *(tasks, run, report, Libraries({}, ("numpy", "scipy"))),
            defaults={"problems": ",".join((*CHOSEN_ON, *OTHERS)), "seeds": 10},
        ),
        "budgets": Part(
            "Under budgets",
            *(budget_tasks, run_budgets, budget_report, Libraries({}, ("numpy", "scipy"))),
            defaults={"problems": ",".join(TRAINED), "seeds": 5},
        ),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
