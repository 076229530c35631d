"""What a search gains from a prior of its parameters or from a related study, and what it loses by a wrong one.

    python -m benchmarks.knowledge [--part priors|sources] [--problems …] [--seeds 10] [--write]

``priors``   a good prior has its centre near the best configuration, a wrong one on the other side. Told is the number of
             evaluations until what a search without priors has found after 20 and 40 of them
``sources``  a source is 40 trials of GP search: of the same function ``shifted`` by a twentieth of each side, times 100, plus
             1,000; of its negation (``opposite``); or of a bowl around a random place (``unrelated``). ``cold`` is without one.
             Told are regrets: geometric means over the seeds, and the factor of one standard error
"""

from __future__ import annotations

import math
import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import exp
from typing import Any

import numpy as np

import xstar as xs
from benchmarks import tables as problems
from benchmarks.harness.experiment import Experiment, Part, chosen_from, main
from benchmarks.harness.problems import at_hand
from benchmarks.harness.records import Found, Task, arrival, best_after, improvements, significant
from benchmarks.harness.report import Results, mean_and_error, table
from benchmarks.harness.run import Libraries
from xstar.testing.problems.synthetic import Function

CHOSEN_ON = ("branin", "hartmann6", "rosenbrock4", "levy6")
PRIORS = ("none", "good", "wrong")
SIGMA, MISPLACED, FAVOURED = 0.15, 0.5, 0.7
EDGE = 0.02
"""Of the range: no prior is centred closer to its end."""
MARKS = (20, 40)
LATE = 1.25
"""A search that did not reach the target counts as this many times its evaluations, or its time."""
SOURCES = ("cold", "shifted", "opposite", "unrelated")
SOURCE_TRIALS = 40
SHIFT = 0.05
MARKED = (5, 10, 20, 30)
LEAST = 1e-6
"""Regrets below count as this: a geometric mean of zeros would be zero."""
LIBRARIES = Libraries({}, ("numpy", "scipy"))

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
    return xs.Space(
        {name: _with_prior(given, problem.best[name], kind, rng) for name, given in problem.space.parameters.items()}
    )


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
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--evaluations", type=int, default=60)


def tasks(options: Namespace) -> list[Task]:
    names = chosen_from(options.problems, [*MADE, *problems.names()], "--problems")
    at_hand([name for name in names if name not in MADE])
    return [
        Task.of(seed, name, "gp", prior=prior, evaluations=options.evaluations)
        for name in names
        for prior in PRIORS
        for seed in range(options.seeds)
    ]


def run(task: Task, options: Namespace) -> Found:
    problem = problem_of(task.problem)
    study = xs.Study(believed(problem, task["prior"], task.seed), method="gp", seed=task.seed)
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
    rows: list[list[str]] = []
    logs: dict[str, list[float]] = {prior: [] for prior in PRIORS[1:]}
    for name in names:
        found = {prior: [record.found["best"] for record in results.of(name, prior=prior)] for prior in PRIORS}
        for mark in MARKS if all(found.values()) else ():
            target = statistics.median(best_after(best, mark) for best in found["none"])
            usual, *taken = (_median(found[prior], target, options.evaluations) for prior in PRIORS)
            for prior, each in zip(logs, taken, strict=True):
                logs[prior].append(math.log(each / usual))
            rows.append(
                [name, f"{target:.4g} ({mark})", f"{usual:g}", *(f"{each:g} ({each / usual:.2f})" for each in taken)]
            )
    means = [mean_and_error(each) for each in logs.values() if each]
    told = [f"**{math.exp(mean):.2f}** × {math.exp(error):.2f}^±1" for mean, error in means]
    rows.append(["geometric mean of the shares", "", "", *told])
    yield from table(["problem", "target", "no prior", "good", "wrong"], rows, left=2)


def _median(found: list[Any], target: float, evaluations: int) -> float:
    """The median number of evaluations until the target."""
    return statistics.median(min(arrival(best, target), LATE * evaluations) for best in found)


# ---------------------------------------------------------------- a related study


def source_tasks(options: Namespace) -> list[Task]:
    return [
        Task.of(seed, problem, "gp", source=source, trials=MARKED[-1])
        for problem in chosen_from(options.problems, CHOSEN_ON, "--problems")
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


def run_source(task: Task, options: Namespace) -> Found:
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
    losses = np.minimum.accumulate([trial.scores[0] for trial in study.trials])
    return {"regret": {str(n): significant(losses[n - 1] - problem.optimum) for n in MARKED}}


def source_report(results: Results, options: Namespace) -> Iterator[str]:
    found = {(p, s): [r.found["regret"] for r in results.of(p, source=s)] for p in results.problems for s in SOURCES}
    rows = [
        (*key, *(_geometric([max(each[str(n)], LEAST) for each in of]) for n in MARKED))
        for key, of in found.items()
        if of
    ]
    yield from table(["problem", "source", *(f"after {n}" for n in MARKED)], rows, left=2)


def _geometric(values: list[float]) -> str:
    mean, error = mean_and_error([math.log(value) for value in values])
    return f"{math.exp(mean):.3g} ×÷ {math.exp(error):.2g}"


EXPERIMENT = Experiment(
    name="knowledge",
    title="What is known before a search",
    result="knowledge.md",
    description=__doc__,
    parts={
        "priors": Part(
            "Priors",
            *(tasks, run, report, LIBRARIES),
            defaults={"problems": ",".join((*CHOSEN_ON, *OTHERS)), "seeds": 10},
            records="priors",
        ),
        "sources": Part(
            "Related studies",
            *(source_tasks, run_source, source_report, LIBRARIES),
            defaults={"problems": ",".join(CHOSEN_ON), "seeds": 10},
            records="warm_start",
        ),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
