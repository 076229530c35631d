"""NASBOT's Table 3 on naval propulsion and protein structure, at the paper's size: all rows, 20,000 iterations a network.

    python -m benchmarks.nasbot_uci [--problems naval,protein] [--methods …] [--seeds 3] [--evaluations 60] [--workers 4]
                                    [--minutes 9] [--processes 4] [--studies DIR] [--records DIR] [--write]

The study of each search is kept in the folder ``--studies``; one that is not done after ``--minutes`` goes on with the next
call, and is put on record when it has its evaluations. ``workloads/mlp_graph_training.py`` says how a network is trained. A
seed stands for a split, for initial weights, for mini-batches and for the search: all methods of one seed see the same
function. The network a method ends with is trained ``FINAL`` times more from other weights; the median of these test errors is
reported. ``nasbot`` is ours as it is, ``nasbot-otmann`` has the paper's kernel alone, ``nasbot-described`` the term over
descriptive features alone; ``evolution``, ``nasbot-random`` and ``treebo`` are the paper's EA, RAND and TreeBO.

A training is 20,000 times some 200 kernels of a few microseconds: alone, a network of 21 layers takes 14 s on an H200; of
twenty at once, those of 10 to 15 layers took half a minute. Beside CNNs that eight processes trained on the same GPU they took
6 to 8 minutes: give it a GPU of its own.

A machine with a GPU needs no repository: name the commit in XSTAR_COMMIT, and the folder of ``uci_regression`` in XSTAR_DATA.
"""

from __future__ import annotations

import statistics
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import xstar as xs
from benchmarks.harness.experiment import Experiment, Part, chosen_from, main
from benchmarks.harness.records import FOLDER, Found, Task, best_after, improvements, significant
from benchmarks.harness.report import Results, row_of_cells, table
from benchmarks.harness.run import Libraries
from benchmarks.workloads import kept_search
from benchmarks.workloads import mlp_graph_training as training
from benchmarks.workloads.architecture_search import TERMS, searcher_of
from benchmarks.workloads.mlp_training import FILES, WORST
from xstar import nets
from xstar.problems import data

METHODS = ("nasbot", *TERMS, "evolution", "nasbot-random", "treebo")
FINAL = 3
PAPER = {
    "naval": {"nasbot": 0.0075, "evolution": 0.0079, "nasbot-random": 0.0103, "treebo": 0.0102},
    "protein": {"nasbot": 0.902, "evolution": 1.010, "nasbot-random": 0.948, "treebo": 0.998},
}
"""Test errors of the paper's Table 3."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--problems", default=",".join(FILES))
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--evaluations", type=int, default=60)
    parser.add_argument("--workers", type=int, default=4, help="of each search")
    parser.add_argument("--minutes", type=float, default=9.0, help="of this call, after which no networks are begun")
    parser.add_argument("--studies", type=Path, default=FOLDER / "nasbot_uci", help="where the studies are kept")
    parser.add_argument("--device", default="cuda")


def tasks(options: Namespace) -> list[Task]:
    names = chosen_from(options.problems, FILES, "--problems")
    for name in names:
        data.path(FILES[name])  # refuses where it is not here
    options.until = time.time() + 60 * options.minutes
    return [
        Task.of(
            seed,
            name,
            method,
            evaluations=options.evaluations,
            workers=options.workers,
            **training.TRAINING,
        )
        for seed in range(options.seeds)
        for name in names
        for method in chosen_from(options.methods, METHODS, "--methods")
    ]


def run(task: Task, options: Namespace) -> Found:
    """Bring one search to its end, or as far as the time allows."""
    done, best = kept_search.search(
        partial(training.objective, problem=task.problem, seed=task.seed, device=options.device),
        xs.Space(net=training.domain(task.problem, task.seed)),
        options.studies / f"{task.problem}-{task.method}-{task.seed}.jsonl",
        options.until,
        trials=task["evaluations"],
        metric="mse",
        workers=task["workers"],
        seed=task.seed,
        **searcher_of(task.method),
    )
    again = trained_again(best["net"], task, options.device)
    return {
        "best": improvements([WORST if trial.value is None else trial.value for trial in done]),
        "test": best.metrics["test"],
        "tests": [each["test"] for each in again],
        "pick": best["net"].to_json(),
        "failed": sum(trial.value is None for trial in done),
        "trained": significant(statistics.median(t.metrics["trained"] for t in done if t.value is not None)),
    }


def trained_again(net: nets.Graph, task: Task, device: str) -> list[dict[str, float]]:
    """The network from other weights; on a GPU at once, in processes of their own."""
    once = partial(train_again, net, task.problem, task.seed, device)
    weights = range(1, FINAL + 1)
    if not device.startswith("cuda"):
        return [once(number) for number in weights]
    with ProcessPoolExecutor(FINAL, get_context("spawn")) as pool:
        return list(pool.map(once, weights))


def train_again(net: nets.Graph, problem: str, seed: int, device: str, weights: int) -> dict[str, float]:
    return training.train(net, training.rows_on(problem, seed, device), 1000 * seed + weights, device)


def report(results: Results, options: Namespace) -> Iterator[str]:
    t = training.TRAINING
    trained = statistics.median(record.found["trained"] for record in results.records)
    count, workers = (max(record.task[name] for record in results.records) for name in ("evaluations", "workers"))
    yield f"{count} evaluations by {workers} workers. Training: all rows, Adam with a rate of at most"
    yield f"{t['rate']:g}, {t['iterations']:,} iterations of {t['batch']} rows, {trained:.2g} s at the median, several at once;"
    yield f"networks of at most {t['max_layers']} layers of {t['fewest_units']} to {t['most_units']} units. Mean squared errors"
    yield "of normalised outputs (a constant errs by 1), mean ± standard error over seeds; the lowest is bold. *Test* is the"
    yield f"median of {FINAL} new trainings of the network that was chosen by its validation error."
    counts = sorted({min(count, some) for some in (10, 20, 40, count)})
    for problem in results.problems:
        runs = {method: results.of(problem, method) for method in results.methods}
        columns = [row_of_cells([[best_after(r.found["best"], n) for r in of] for of in runs.values()]) for n in counts]
        columns.append(row_of_cells([[statistics.median(r.found["tests"]) for r in of] for of in runs.values()]))
        papers = [f"{PAPER[problem][method]:g}" if method in PAPER[problem] else "–" for method in runs]
        lines = [
            (method, str(len(of)), *cells, paper)
            for (method, of), cells, paper in zip(runs.items(), zip(*columns, strict=True), papers, strict=True)
        ]
        heads = ["method", "seeds", *(f"best of {count}" for count in counts), "test", "paper's test"]
        yield from ("", f"### {problem}", "", *table(heads, lines))
    ended = {f"{record.task.problem}-{record.task.method}-{record.task.seed}" for record in results.records}
    if begun := kept_search.under_way(options.studies, ended, "mse"):
        yield from ("", "Searches that are under way:", "")
        yield from table(["search", "evaluations", "best so far", "its test error"], begun)


EXPERIMENT = Experiment(
    name="nasbot_uci",
    title="NASBOT on naval propulsion and protein structure",
    result="nasbot-uci.md",
    description=__doc__,
    parts={"search": Part("Search", tasks, run, report, Libraries(also=("torch",)))},
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
