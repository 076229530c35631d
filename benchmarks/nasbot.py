"""NASBOT on the synthetic functions of its paper (C.4), and its ablations (Figure 7).

    python -m benchmarks.nasbot [--part search|ablation|kernel] [--functions f1,f2,f3] [--workers 1,4] [--methods …]
                                [--seeds 10] [--evaluations 100] [--write]

``search``    the highest value of f1 (CNNs), f2 and f3 (MLPs) found by NASBOT, evolution (EA), random networks (RAND), TreeBO.
              Workers finish in the order in which they began: with four, a suggestion does not know of the last three.
``ablation``  Figure 7: NASBOT as the paper has it, with one of its distances, some of its modifiers, other powers; beside it
              the default and parts of that (``paper's kernel``: both distances, p = p̄ = 1, and our priors).
``kernel``    is exp(−β d^p) a kernel? Its lowest eigenvalue on the networks of an evolution, 70 a seed, over β.

Inside, lower is better: records hold the negated values of the functions.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

import xstar as xs
from benchmarks.harness.experiment import Experiment, Part, chosen_from, main, numbers
from benchmarks.harness.records import Found, Task, improvements, significant
from benchmarks.harness.report import Results, cell, table
from benchmarks.workloads.architecture_search import DOMAINS, PaperVariant
from xstar import nets
from xstar.nets import synthetic
from xstar.searchers import DNGO, NASBOT, Evolution, NetworkRandom, Searcher, TreeBO

METHODS: dict[str, Callable[[], Searcher]] = {
    "nasbot": NASBOT,
    "evolution": Evolution,
    "nasbot-random": NetworkRandom,
    "treebo": TreeBO,
    "dngo": DNGO,
    "paper's kernel": lambda: NASBOT(features=False, samples=4),
    "only d": lambda: NASBOT(features=False, samples=4, distances="plain"),
    "only d̄": lambda: NASBOT(features=False, samples=4, distances="normalised"),
    "only described": lambda: NASBOT(distances="none"),
    "d̄ and described": lambda: NASBOT(distances="normalised"),
    "paper: only d̄": lambda: PaperVariant(distances="normalised"),
    "paper: only d": lambda: PaperVariant(distances="plain"),
    "paper: modifiers of units": lambda: PaperVariant(modifiers="units"),
    "paper: modifiers of structure": lambda: PaperVariant(modifiers="structure"),
    "paper: p = p̄ = 1": lambda: PaperVariant(powers=(1.0, 1.0)),
    "paper: p = p̄ = 2": lambda: PaperVariant(powers=(2.0, 2.0)),
}
MAIN = ("nasbot", "evolution", "nasbot-random", "treebo")
ABLATION = ("nasbot-paper", *(method for method in METHODS if method.startswith("paper:")))
OURS = ("nasbot", "dngo", "paper's kernel", "only d", "only d̄", "only described", "d̄ and described")


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--functions", default="f1,f2,f3")
    parser.add_argument("--workers", default="1,4")
    parser.add_argument("--methods", help="of the ablations")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--evaluations", type=int, default=100)


def functions(options: Namespace) -> list[str]:
    return chosen_from(options.functions, DOMAINS, "--functions")


# ---------------------------------------------------------------- search and ablation


def search_tasks(options: Namespace) -> list[Task]:
    return searches(options, MAIN, numbers(options.workers))


def ablation_tasks(options: Namespace) -> list[Task]:
    wanted = chosen_from(options.methods, (*ABLATION, *OURS), "--methods") if options.methods else (*ABLATION, *OURS)
    return searches(options, wanted, [1])


def searches(options: Namespace, methods: Iterable[str], counts: list[int]) -> list[Task]:
    return [
        Task.of(seed, function, method, workers=workers, evaluations=options.evaluations)
        for seed in range(options.seeds)
        for function in functions(options)
        for workers in counts
        for method in methods
    ]


def search(task: Task, options: Namespace) -> Found:
    value, space = getattr(synthetic, task.problem), xs.Space(net=DOMAINS[task.problem])
    named = task.method not in METHODS
    how: dict[str, Any] = {"method": task.method} if named else {"searcher": METHODS[task.method]()}
    study = xs.Study(space, **how, direction="maximize", seed=task.seed)
    running, values, spent = deque[Any](), [], 0.0
    while len(values) < task["evaluations"]:
        while len(running) < task["workers"] and len(values) + len(running) < task["evaluations"]:
            begun = time.process_time()
            running.append(study.ask())
            spent += time.process_time() - begun
        trial = running.popleft()
        values.append(value(trial["net"]))
        study.tell(trial, values[-1])
    fallbacks = sum(trial.origin.startswith("random:") for trial in study.history.trials)
    return {"best": improvements(-each for each in values), "processor": significant(spent), "fallbacks": fallbacks}


def search_report(results: Results, options: Namespace) -> Iterator[str]:
    yield f"Best value after {options.evaluations} evaluations; mean ± standard error of {options.seeds} seeds"
    yield "(higher is better)."
    columns = list(dict.fromkeys((task.problem, task["workers"]) for task in results.wanted))
    rows = []
    for method in results.methods:
        found = [results.of(function, method, workers=workers) for function, workers in columns]
        best = [[-record.found["best"][-1][1] for record in records] for records in found]
        rows.append((method, *(cell(each, "{:.3f} ± {:.3f}", most=options.seeds) for each in best)))
    heads = ["method", *(f"{function}, {workers} at a time" for function, workers in columns)]
    yield from ("", *table(heads, rows))


# ---------------------------------------------------------------- the kernel

FORMS = {"exp(−β d)": (False, 1.0), "exp(−β d̄)": (True, 1.0), "exp(−β d̄²)": (True, 2.0)}
SCALES = tuple(10.0 ** (each / 4.0) for each in range(-12, 13))
"""β, for distances divided by their mean."""
NETWORKS = 70


def kernel_tasks(options: Namespace) -> list[Task]:
    return [
        Task.of(seed, function, form, part="kernel", networks=NETWORKS)
        for seed in range(options.seeds)
        for function in functions(options)
        for form in FORMS
    ]


def lowest_eigenvalue(task: Task, options: Namespace) -> Found:
    drawn = xs.Study(xs.Space(net=DOMAINS[task.problem]), method="evolution", direction="maximize", seed=task.seed)
    value, networks = getattr(synthetic, task.problem), []
    while len(networks) < task["networks"]:
        trial: Any = drawn.ask()
        networks.append(trial["net"])
        drawn.tell(trial, value(networks[-1]))
    normalised, power = FORMS[task.method]
    between = nets.distances(networks, structure=(0.5,), normalised=normalised)[:, :, 0]
    lowest, scale = min(
        (float(np.linalg.eigvalsh(np.exp(-beta * (between / between.mean()) ** power))[0]), beta) for beta in SCALES
    )
    return {"lowest": significant(lowest), "beta": significant(scale)}


def kernel_report(results: Results, options: Namespace) -> Iterator[str]:
    yield f"The lowest eigenvalue of {NETWORKS} × {NETWORKS} similarities of networks: the least over {len(SCALES)} values of β"
    yield f"and {options.seeds} seeds. Below 0 beyond rounding, the similarity is no kernel."
    rows = [
        (form, *(f"{min(r.found['lowest'] for r in results.of(function, form)):.2g}" for function in results.problems))
        for form in results.methods
    ]
    yield from ("", *table(["similarity", *results.problems], rows))


EXPERIMENT = Experiment(
    name="nasbot",
    title="NASBOT",
    result="nasbot.md",
    description=__doc__,
    parts={
        "search": Part("Search", search_tasks, search, search_report, defaults={"seeds": 10}),
        "ablation": Part("Ablations", ablation_tasks, search, search_report, defaults={"seeds": 10}),
        "kernel": Part("Is it a kernel?", kernel_tasks, lowest_eigenvalue, kernel_report, defaults={"seeds": 3}),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
