"""DNGO beside the GP and other libraries: the paper's Table 1 and Figure 1, 800 workers, and honest intervals.

    python -m benchmarks.dngo --part table1      [--seeds 10] [--methods …] [--processes 1]
    python -m benchmarks.dngo --part figure1     [--sizes 100,1000,10000,100000] [--methods …]
    python -m benchmarks.dngo --part head        [--sizes 1000,10000,100000,1000000] [--device cpu,cuda]
    python -m benchmarks.dngo --part workers     [--seeds 10] [--methods …] [--workers 800] [--trials 2500]
    python -m benchmarks.dngo --part pending     [--seeds 10] [--sizes 800,400,200,100]
    python -m benchmarks.dngo --part variants    [--seeds 10] [--methods …] [--problems hartmann6]
    python -m benchmarks.dngo --part calibration [--seeds 5] [--problems branin,hartmann6] [--sizes 50,200,1000]

table1: the best loss after 200, 200, 50, 100 and 100 evaluations. The runs are those of ``benchmarks.quality``, in its file of
records; LDA's are the first 50 of 100. SMAC's design depends on how many evaluations it is told of: 100 there, too.

figure1: processor time of one suggestion on Hartmann's function, amortised: DNGO trains at counts of a schedule, so the time of
a training is divided by the number of suggestions until the next, and added to the mean time of those in between. The GP's is
the mean of a tenth of n suggestions (ten from 1,000 on), peers' the mean of ten, or of three above 1,000. Each number is
measured in a process of its own, whose peak memory is told, too.

head: the time to add an observation to the sums, to make the posterior from them, and to predict at 1,000 points; and to train
the networks, on a GPU if asked for.

variants: the searches of Table 1 by DNGO as the paper has it, as it is here, and with single settings of the one in the other:
how many networks, how many draws of θ, exploring suggestions, straightened losses, and the activation of the basis.

workers: ``workloads/captions.py``. pending: the same problem, spreading and fantasies for what runs, by the number of
workers. calibration: ``workloads/calibration.py``; ``--write`` draws the picture of the docs, too.
"""

from __future__ import annotations

import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness.experiment import Experiment, Part, chosen_from, main, numbers
from benchmarks.harness.methods import LIBRARIES, METHODS, Xstar, decide, run_search
from benchmarks.harness.problems import at_hand, available
from benchmarks.harness.records import Found, Task, best_after, improvements, significant
from benchmarks.harness.report import Results, cell, table
from benchmarks.harness.run import Libraries
from benchmarks.workloads import calibration, dngo_costs, dngo_crowds
from xstar import problems
from xstar.models.blas import single_threaded
from xstar.searchers import DNGO

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
PAPER = {
    "design": "sobol",
    "networks": 1,
    "samples": 10,
    "straighten": False,
    "explore_every": 0,
    "pending": "fantasies",
}
VARIANTS = {
    "ours": DNGO(),
    "ours: steps first": DNGO(design="steps"),
    "ours: ReLU": DNGO(activation="relu"),
    "ours: ReLU and tanh last": DNGO(activation="relu-tanh"),
    "ours: three draws of θ": DNGO(samples=3),
    "ours: nothing explores": DNGO(explore_every=0),
    "ours: not straightened": DNGO(straighten=False),
    "paper": DNGO(**PAPER),
    "paper: steps first": DNGO(**{**PAPER, "design": "steps"}),
    "paper: ReLU": DNGO(**PAPER, activation="relu"),
    "paper: exploring": DNGO(**{**PAPER, "explore_every": 4}),
    "paper: ten networks": DNGO(**{**PAPER, "networks": 10, "samples": 1}),
}
"""``ours`` has ten networks with a draw of θ each, ``paper`` one network with ten; both have the quadratic mean, and tanh."""
BASIN = -3.25
"""Below it a search has found the lowest basin of Hartmann's function: the second lowest ends at -3.203."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--methods")
    parser.add_argument("--sizes")
    parser.add_argument("--problems", help="of the calibration and the variants")
    parser.add_argument("--workers", type=int, default=800)
    parser.add_argument("--trials", type=int, default=2500)
    parser.add_argument("--device", default="cpu", help="of the part head: cpu, cuda or cpu,cuda")


# ---------------------------------------------------------------- Table 1


def table1_tasks(options: Namespace) -> list[Task]:
    methods = chosen_from(options.methods, METHODS, "--methods")
    return [
        Task.of(seed, problem, method, evaluations=TABLE1[problem][1])
        for seed in range(options.seeds)
        for problem in at_hand(list(TABLE1))
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


# ---------------------------------------------------------------- calibration


def calibration_tasks(options: Namespace) -> list[Task]:
    return [
        Task.of(seed, name, "models", part="calibration", n=n)
        for name in available(options.problems)
        for n in numbers(options.sizes)
        for seed in range(options.seeds)
    ]


def run_calibration(task: Task, options: Namespace) -> Found:
    with single_threaded():
        return significant(calibration.coverage(task.problem, task["n"], task.seed), 6)


def calibration_report(results: Results, options: Namespace) -> Iterator[str]:
    shares, rows = [f"{share:.0%}" for share in calibration.SHARES], []
    for problem in results.problems:
        for n in numbers(options.sizes):
            runs = [record.found for record in results.of(problem, n=n)]
            for model in runs[0] if runs else ():
                mean = {key: statistics.mean(run[model][key] for run in runs) for key in runs[0][model]}
                cells = [f"{mean[share]:.2f}" for share in shares]
                rows.append((problem, str(n), model, *cells, f"{mean['error']:.3f}", f"{mean['density']:.2f}"))
    yield from table(["problem", "n", "model", *shares, "error", "log density"], rows, left=3)


def pictures(results: Results, options: Namespace) -> dict[Path, str]:
    return {calibration.PICTURE: calibration.draw()}


EXPERIMENT = Experiment(
    name="dngo",
    title="DNGO",
    result="dngo.md",
    description=__doc__,
    parts={
        "table1": Part(
            "Table 1: the best loss found",
            *(table1_tasks, run_search, table1_report, LIBRARIES),
            defaults={"seeds": 10, "methods": "xstar-dngo,xstar-gp,optuna-tpe,smac"},
            records="quality",
        ),
        "variants": Part(
            "What of the paper's DNGO matters",
            *(variant_tasks, run_variant, variant_report),
            defaults={"seeds": 10, "methods": ",".join(VARIANTS), "problems": "hartmann6"},
        ),
        "figure1": Part(
            "Figure 1: processor time of a suggestion, and peak memory",
            *(dngo_costs.figure1_tasks, dngo_costs.run_figure1, dngo_costs.figure1_report, LIBRARIES),
            defaults={"sizes": "100,1000,10000,100000", "methods": "xstar-dngo,xstar-gp,optuna-gp,optuna-tpe"},
            fresh=True,
        ),
        "head": Part(
            "The linear part, and training",
            *(dngo_costs.head_tasks, dngo_costs.run_head, dngo_costs.head_report, Libraries(also=("torch",))),
            defaults={"sizes": "1000,10000,100000,1000000"},
        ),
        "workers": Part(
            "Hundreds of workers, most of the space infeasible",
            *(
                dngo_crowds.worker_tasks,
                dngo_crowds.run_workers,
                dngo_crowds.worker_report,
                Libraries({"optuna-tpe": "optuna"}),
            ),
            defaults={"seeds": 10, "methods": ",".join(dngo_crowds.CROWD)},
        ),
        "pending": Part(
            "What runs: spreading and fantasies",
            *(dngo_crowds.pending_tasks, dngo_crowds.run_workers, dngo_crowds.pending_report),
            defaults={"seeds": 10, "sizes": ",".join(map(str, sorted(dngo_crowds.CROWDS, reverse=True)))},
        ),
        "calibration": Part(
            "How often the truth lies within predictive intervals",
            *(calibration_tasks, run_calibration, calibration_report),
            defaults={"seeds": 5, "sizes": "50,200,1000", "problems": "branin,hartmann6"},
            figures=pictures,
        ),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
