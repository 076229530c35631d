"""NASBOT on the synthetic functions of its paper (C.4), its ablations (Figure 7), and how long a suggestion takes.

    python -m benchmarks.nasbot [--part time|search|ablation|kernels|spectra] [--functions f1,f2,f3] [--workers 1,4]
                                [--seeds 10] [--evaluations 100] [--draws 3] [--repeats 5] [--processes 1] [--write]

``time``      processor time of one suggestion after t = 25, 50, 100, 200 evaluated networks, with the paper's number of
              evaluations of the acquisition, 25 √t. The median of several suggestions; a refit is counted at the share of
              suggestions that have one. The paper reports 46 s on average.
``search``    the highest value of f1 (CNNs), f2 and f3 (MLPs) found by NASBOT, evolution (EA), random networks (RAND), TreeBO.
              Workers finish in the order in which they began: with four, a suggestion does not know of the last three.
``ablation``  NASBOT with parts of its kernel, with some of the modifiers, and with other powers p, p̄.
``kernels``   how well models with other terms predict: fitted to the first 60 networks of a search, asked for the next 40.
``spectra``   the lowest eigenvalue of matrices of the kernel's normalised term, over random networks, for p̄ = 1, 1.5 and 2
              and many scales. A covariance has none below 0.

Inside, lower is better: records hold the negated values of the functions.
"""

from __future__ import annotations

import statistics
import time
from argparse import ArgumentParser, Namespace
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import xstar as xs
from benchmarks.harness.experiment import Experiment, Part, chosen_from, main, numbers
from benchmarks.harness.records import Found, Task, improvements, significant
from benchmarks.harness.report import Results, cell, table
from benchmarks.workloads.nasbot_models import (
    DOMAINS,
    KERNELS,
    POWERS,
    SCALES,
    SEEN,
    SPECTRA,
    kernel_errors,
    lowest_eigenvalues,
    suggestion_time,
)
from xstar.nets import synthetic
from xstar.searchers import DNGO, NASBOT, Evolution, NetworkRandom, Searcher, TreeBO

PAPER = {"describe": False, "samples": 4}
METHODS: dict[str, Searcher] = {
    "nasbot": NASBOT(),
    "evolution": Evolution(),
    "nasbot-random": NetworkRandom(),
    "treebo": TreeBO(),
    "dngo": DNGO(),
    "paper's kernel": NASBOT(**PAPER),
    "paper's kernel, p̄ = 2": NASBOT(**PAPER, powers=(1.0, 2.0)),
    "paper's kernel, p̄ = 2, projected": NASBOT(**PAPER, powers=(1.0, 2.0), project=True),
    "only d": NASBOT(**{**PAPER, "distances": "plain"}),
    "only d̄": NASBOT(**{**PAPER, "distances": "normalised"}),
    "only described": NASBOT(distances="none"),
    "d̄ and described": NASBOT(distances="normalised"),
    "modifiers of units": NASBOT(modifiers="units"),
    "modifiers of structure": NASBOT(modifiers="structure"),
}
MAIN = ("nasbot", "evolution", "nasbot-random", "treebo")
ABLATION = ("nasbot", *(method for method in METHODS if method not in MAIN))
NETWORKS = 120
ROUNDING = 1e-9
"""An eigenvalue above minus this is none."""
TIMES = (25, 50, 100, 200)
PAPER_SECONDS = 46.0


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--functions", default="f1,f2,f3")
    parser.add_argument("--workers", default="1,4")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--evaluations", type=int, default=100)
    parser.add_argument("--draws", type=int, default=3, help="of random networks for the spectra")
    parser.add_argument("--repeats", type=int, default=5, help="suggestions whose median time is taken")


def functions(options: Namespace) -> list[str]:
    return chosen_from(options.functions, DOMAINS, "--functions")


# ---------------------------------------------------------------- search and ablation


def search_tasks(options: Namespace) -> list[Task]:
    return searches(options, MAIN, numbers(options.workers))


def ablation_tasks(options: Namespace) -> list[Task]:
    return searches(options, ABLATION, [1])


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
    study = xs.Study(space, searcher=METHODS[task.method], direction="maximize", seed=task.seed)
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


# ---------------------------------------------------------------- time


def time_tasks(options: Namespace) -> list[Task]:
    return [Task.of(0, name, "nasbot", t=t, repeats=options.repeats) for t in TIMES for name in functions(options)[:2]]


def run_time(task: Task, options: Namespace) -> Found:
    return suggestion_time(task.problem, task["t"], task["repeats"])


def time_report(results: Results, options: Namespace) -> Iterator[str]:
    rows = []
    for t in TIMES:
        found = [record.found for record in results.of(t=t)]
        if len(found) == len(results.problems):
            cells = [f"{each['seconds']:.2f} s | {each['refit']:.2f} s | {each['layers']}" for each in found]
            ratio = PAPER_SECONDS / statistics.mean(each["seconds"] for each in found)
            rows.append((str(t), *cells, f"{ratio:.0f}"))
    yield f"Processor time per suggestion; the paper: {PAPER_SECONDS:g} s."
    heads = [head for name in results.problems for head in (f"{name}: suggestion", "its refit", "layers")]
    yield from ("", *table(["t", *heads, "paper / ours"], rows, left=0))


# ---------------------------------------------------------------- kernels


def kernel_tasks(options: Namespace) -> list[Task]:
    """One search by random networks, one by evolution."""
    both = enumerate(("nasbot-random", "evolution"))
    return [Task.of(seed, name, method, seen=SEEN) for seed, method in both for name in functions(options)]


def run_kernels(task: Task, options: Namespace) -> Found:
    return {"errors": kernel_errors(task.problem, task.method, task.seed)}


def kernel_report(results: Results, options: Namespace) -> Iterator[str]:
    rows = [
        (
            name,
            *(", ".join(f"{r.found['errors'][name]:.2f}" for r in results.of(problem)) for problem in results.problems),
        )
        for name in KERNELS
    ]
    yield "Errors of predictions, in standard deviations of the values (a search by random networks, and one by evolution)."
    yield from ("", *table(["kernel", *results.problems], rows))


# ---------------------------------------------------------------- spectra


def spectrum_tasks(options: Namespace) -> list[Task]:
    return [Task.of(seed, domain, "spectra", networks=NETWORKS) for seed in range(options.draws) for domain in SPECTRA]


def run_spectra(task: Task, options: Namespace) -> Found:
    return {"lowest": lowest_eigenvalues(task.problem, task["networks"], task.seed)}


def spectrum_report(results: Results, options: Namespace) -> Iterator[str]:
    yield f"The lowest eigenvalue of exp(-Σ β d̄^p̄), β from {SCALES[0]:g} to {SCALES[-1]:g}, over {NETWORKS} random networks,"
    yield "as a share of the diagonal: the lowest over β of each draw, and in brackets at how many β it is below 0."
    rows = []
    for domain in results.problems:
        cells = []
        for power in POWERS:
            found = [record.found["lowest"][f"{power:g}"] for record in results.of(domain)]
            below = [sum(value < -ROUNDING for value in each) for each in found]
            cells.append(", ".join(f"{min(each):.1%} ({n})" for each, n in zip(found, below, strict=True)))
        rows.append((domain, *cells))
    yield from ("", *table(["networks", *(f"p̄ = {power:g}" for power in POWERS)], rows))


EXPERIMENT = Experiment(
    name="nasbot",
    title="NASBOT",
    result="nasbot.md",
    description=__doc__,
    parts={
        "time": Part("Time of a suggestion", time_tasks, run_time, time_report),
        "search": Part("Search", search_tasks, search, search_report),
        "ablation": Part("Ablations", ablation_tasks, search, search_report),
        "kernels": Part("Kernels", kernel_tasks, run_kernels, kernel_report),
        "spectra": Part("Eigenvalues", spectrum_tasks, run_spectra, spectrum_report),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
