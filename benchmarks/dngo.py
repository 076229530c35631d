"""DNGO beside the GP and other libraries: the paper's Table 1 and Figure 1, and hundreds of workers.

    python -m benchmarks.dngo --part table1|variants|development|figure1|workers|pending [--seeds 10] [--methods …]
        [--sizes …] [--write]

table1: the best loss after 200, 200, 50, 100 and 100 evaluations. LDA's are the first 50 of 100. SMAC's design depends on how
many evaluations it is told of: 100 there, too.

variants: the searches of Table 1 by DNGO as the paper has it, as it is here, and with single settings of the one in the other.

development: which of the paper's parts would help ``DNGO()``, on the development set (``harness/development.py``)?

figure1: processor time of one suggestion on Hartmann's function, amortised: DNGO trains at counts of a schedule, so the time
of a training is divided by the number of suggestions until the next, and added to the mean time of those in between. Each
number is measured in a process of its own, whose peak memory is told, too.

workers: ``workloads/captions.py`` with 800 workers. pending: the same problem, what DNGO does by itself and fantasies of all
that runs, by the number of workers.
"""

from __future__ import annotations

import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import replace

from benchmarks import tables as problems
from benchmarks.harness.cases import searched
from benchmarks.harness.class_ranks import complete_pairs, overall, ranked
from benchmarks.harness.development import development
from benchmarks.harness.experiment import Experiment, Part, chosen_from, main, numbers
from benchmarks.harness.methods import LIBRARIES, METHODS, Xstar, decide, run_search
from benchmarks.harness.problems import at_hand
from benchmarks.harness.records import Found, Task, best_after, improvements, significant
from benchmarks.harness.report import Results, cell, table
from benchmarks.harness.run import Libraries
from benchmarks.workloads import dngo_crowds
from benchmarks.workloads.dngo_forms import Form
from benchmarks.workloads.suggestion_time import PROBLEM, suggestion_time
from xstar.searchers import DNGO, Searcher
from xstar.searchers.dngo.fit import EVERY, PAPER, DNGOOptions, Sizes

TABLE1 = {
    "branin": (200, 200, "0.398"),
    "hartmann6": (200, 200, "-3.319"),
    "hpolib-lda": (50, 100, "1266.2"),
    "hpolib-svm": (100, 100, "0.241"),
    "hpolib-logreg": (100, 100, "0.0689"),
}
"""Problem → evaluations counted, evaluations of a run, and what the paper has for DNGO (its errors in percent)."""
OTHERS = {
    "branin": {"SMAC": 0.655, "TPE": 0.526, "Spearmint": 0.398},
    "hartmann6": {"SMAC": -2.977, "TPE": -2.823, "Spearmint": -3.3166},
    "hpolib-lda": {"SMAC": 1269.6, "TPE": 1271.5, "Spearmint": 1266.2},
    "hpolib-svm": {"SMAC": 0.241, "TPE": 0.242, "Spearmint": 0.241},
    "hpolib-logreg": {"SMAC": 0.086, "TPE": 0.082, "Spearmint": 0.0688},
}
"""What the paper has for the other methods."""
OURS = {
    "ours": DNGO(),
    "ours: ReLU": DNGO(activation="relu"),
    "ours: one network": DNGO(networks=1, samples=10),
    "ours: nothing explores": DNGO(explore_every=0),
    "ours: not straightened": DNGO(transform=False),
    "ours: 1/β in the variance": Form(DNGOOptions(of_observations=True)),
    "ours: lowest observed": Form(DNGOOptions(lowest_observed=True)),
    "ours: both": Form(DNGOOptions(lowest_observed=True, of_observations=True)),
    "ours: trained twice as often": Form(DNGOOptions(), Sizes(growth=8)),
}
"""``DNGO()``: ten networks with a draw of θ each."""
CANDIDATES = (
    *("ours", "ours: 1/β in the variance", "ours: lowest observed", "ours: both"),
    "ours: trained twice as often",
)
EACH = Sizes(growth=EVERY)
MEAN, FUNCTION = {"lowest_observed": False}, {"of_observations": False}
PAPERS = {
    "paper: none of the three": Form(replace(PAPER, **MEAN, **FUNCTION)),
    "paper: eq. 2 alone": Form(replace(PAPER, **FUNCTION)),
    "paper: eq. 5 alone": Form(replace(PAPER, **MEAN)),
    "paper: eqs. 2 and 5": Form(PAPER),
    "paper: trained each time alone": Form(replace(PAPER, **MEAN, **FUNCTION), EACH),
    "paper: trained each time and eq. 2": Form(replace(PAPER, **FUNCTION), EACH),
    "paper: trained each time and eq. 5": Form(replace(PAPER, **MEAN), EACH),
    "paper: all three": Form(PAPER, EACH),
}
"""``dngo-paper`` and what it is without eq. 2's incumbent, eq. 5's variance and a training after every trial."""
VARIANTS: dict[str, Searcher] = {**PAPERS, **OURS}
DEVELOPMENT = (25, 50)
"""Evaluations after which the development set is looked at."""
BASIN = -3.25
"""Below it a search has found the lowest basin of Hartmann's function: the second lowest ends at -3.203."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--methods")
    parser.add_argument("--sizes")
    parser.add_argument("--problems")
    parser.add_argument("--workers", type=int, default=800)
    parser.add_argument("--trials", type=int, default=2500)


# ---------------------------------------------------------------- Table 1


def table1_tasks(options: Namespace) -> list[Task]:
    methods = chosen_from(options.methods, METHODS, "--methods")
    return [
        Task.of(seed, problem, method, evaluations=TABLE1[problem][1])
        for seed in range(options.seeds)
        for problem in at_hand(chosen_from(options.problems, TABLE1, "--problems"))
        for method in methods
    ]


def table1_report(results: Results, options: Namespace) -> Iterator[str]:
    rows = []
    for problem, (count, _, paper) in TABLE1.items():
        runs = [results.of(problem, method) for method in results.methods]
        best = [[best_after(record.found["best"], count) for record in of] for of in runs]
        others = [f"{value:g}" for value in OTHERS[problem].values()]
        rows.append((problem, str(count), paper, *others, *(cell(each, most=options.seeds) for each in best)))
    theirs = [f"its {name}" for name in OTHERS["branin"]]
    yield from table(["problem", "evaluations", "the paper's DNGO", *theirs, *results.methods], rows)
    yield from ("", f"Mean ± standard error of {options.seeds} seeds.")


# ---------------------------------------------------------------- variants


def variant_tasks(options: Namespace) -> list[Task]:
    methods = chosen_from(options.methods, VARIANTS, "--methods")
    return [
        Task.of(seed, problem, method, part="variants", evaluations=TABLE1[problem][1])
        for seed in range(options.seeds)
        for problem in chosen_from(options.problems, TABLE1, "--problems")
        for method in methods
    ]


def run_variant(task: Task, options: Namespace) -> Found:
    problem = problems.get(task.problem)
    optimiser = Xstar(problem.space, task.seed, None, VARIANTS[task.method])
    steps = [decide(optimiser, problem) for _ in range(task["evaluations"])]
    spent = statistics.mean(1e3 * step.processor for step in steps)
    return {"best": improvements(step.loss for step in steps), "processor": significant(spent)}


def variant_report(results: Results, options: Namespace) -> Iterator[str]:
    for problem in results.problems:
        count, _, paper = TABLE1[problem]
        rows = []
        for method in results.methods:
            of = [record.found for record in results.of(problem, method)]
            ends = [[best_after(found["best"], n) for found in of] for n in (count // 2, count)]
            row = [method, *(cell(end, "{:.4f} ± {:.4f}", most=options.seeds) for end in ends)]
            if problem == "hartmann6":
                row.append(f"{sum(end < BASIN for end in ends[1])} of {len(of)}")
            rows.append((*row, f"{statistics.mean(found['processor'] for found in of):.0f}" if of else "–"))
        heads = ["variant", f"after {count // 2}", f"after {count}"]
        heads += ["in the lowest basin"] * (problem == "hartmann6") + ["ms per decision"]
        yield from (f"{problem}, {options.seeds} seeds; the paper's DNGO: {paper}.", "", *table(heads, rows), "")


def development_tasks(options: Namespace) -> list[Task]:
    return [
        Task.of(seed, problem, method, part="development", evaluations=DEVELOPMENT[-1])
        for seed in range(options.seeds)
        for problem in development()
        for method in chosen_from(options.methods, VARIANTS, "--methods")
    ]


def run_development(task: Task, options: Namespace) -> Found:
    case = development()[task.problem]
    return searched(case, Xstar(case.space, task.seed, None, VARIANTS[task.method]), task.seed, task["evaluations"])


def development_report(results: Results, options: Namespace) -> Iterator[str]:
    pairs = complete_pairs(results, results.methods)
    count = len({name for name, _ in pairs})
    yield f"{count} problems, {len(pairs)} searches by each. Mean ranks ± standard error over problems:"
    yield from ("", *overall(pairs, results.methods, DEVELOPMENT))
    first, *others = results.methods
    for method in others:
        both = [
            ranked(found, (first, method), DEVELOPMENT[-1])
            for found in complete_pairs(results, (first, method)).values()
        ]
        ahead = sum(theirs < ours for ours, theirs in both), sum(theirs > ours for ours, theirs in both)
        yield from ("", f"{method}: {ahead[0]} searches lower than {first}, {ahead[1]} higher.")


# ---------------------------------------------------------------- Figure 1

SLOWEST = {"optuna-gp": 1000, "xstar-gp": 100_000, "optuna-tpe": 100_000}
"""Observations beyond which a method is not asked: at 1,000 Optuna's GP takes seconds already."""


def figure1_tasks(options: Namespace) -> list[Task]:
    methods = chosen_from(options.methods, METHODS, "--methods")
    return [
        Task.of(0, PROBLEM, method, part="figure1", n=n)
        for n in numbers(options.sizes)
        for method in methods
        if n <= SLOWEST.get(method, 10**9)
    ]


def run_figure1(task: Task, options: Namespace) -> Found:
    return suggestion_time(task.method, task["n"], task.seed)


def figure1_report(results: Results, options: Namespace) -> Iterator[str]:
    rows = []
    for n in numbers(options.sizes):
        row = [f"{n:,}"]
        for method in results.methods:
            found = next((record.found for record in results.of(method=method, n=n)), None)
            told = "–" if found is None else f"{found['seconds'] * 1e3:.0f} ms, {found['megabytes']:.0f} MB"
            if found is not None and "training" in found:
                told += f" ({found['usual'] * 1e3:.0f} ms, {found['training']:.1f} s a training)"
            row.append(told)
        rows.append(row)
    yield from table(["n", *results.methods], rows, left=0)


EXPERIMENT = Experiment(
    name="dngo",
    title="DNGO",
    result="dngo.md",
    description=__doc__,
    parts={
        "table1": Part(
            "Table 1: the best loss found",
            *(table1_tasks, run_search, table1_report, LIBRARIES),
            defaults={
                "seeds": 10,
                "methods": "xstar-dngo,xstar-dngo-paper,xstar-gp,optuna-tpe,smac",
                "problems": ",".join(TABLE1),
            },
            records="quality",
        ),
        "variants": Part(
            "What of the paper's DNGO matters",
            *(variant_tasks, run_variant, variant_report),
            defaults={"seeds": 10, "methods": ",".join(VARIANTS), "problems": "hartmann6"},
        ),
        "development": Part(
            "What of the paper's DNGO would help ours",
            *(development_tasks, run_development, development_report),
            defaults={"seeds": 3, "methods": ",".join(CANDIDATES)},
        ),
        "figure1": Part(
            "Figure 1: processor time of a suggestion, and peak memory",
            *(figure1_tasks, run_figure1, figure1_report, LIBRARIES),
            defaults={"sizes": "100,1000,10000,100000", "methods": "xstar-dngo,xstar-gp,optuna-gp,optuna-tpe"},
            timed=True,
            fresh=True,
        ),
        "workers": Part(
            "Hundreds of workers, most of the space infeasible",
            *(
                dngo_crowds.worker_tasks,
                dngo_crowds.run_workers,
                dngo_crowds.worker_report,
                Libraries(),
            ),
            defaults={"seeds": 10, "methods": ",".join(dngo_crowds.CROWD)},
        ),
        "pending": Part(
            "What runs: spreading and fantasies",
            *(dngo_crowds.pending_tasks, dngo_crowds.run_workers, dngo_crowds.pending_report),
            defaults={"seeds": 10, "sizes": ",".join(map(str, sorted(dngo_crowds.CROWDS, reverse=True)))},
        ),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
