"""DNGO on CIFAR-10: the fourteen hyperparameters of its paper's convolutional network, trained for real on one GPU.

    python -m benchmarks.dngo_cifar --part search [--methods dngo,random] [--seeds 1] [--evaluations 80] [--epochs 10]
                                    [--workers 8] [--minutes 9] [--processes 1] [--studies DIR]
    python -m benchmarks.dngo_cifar --part final  [--final-epochs 100] [--records DIR] [--write]

*Search.* The study of each search is kept in the folder ``--studies``; one that is not done after ``--minutes`` goes on with
the next call, and is put on record when it has its evaluations. ``workloads/cifar_hyperparameters.py`` has the network, its
training and the space, which are the paper's, but for the number of epochs: 200 there, with 40 trials at a time. *Final.* The
best configuration of each search, and ``paper``, the one that the paper found, trained for longer on all 50,000 images (350
epochs there): the test error beside 6.37 %.

A machine with a GPU needs no repository: name the commit in XSTAR_COMMIT, and the folder of ``cifar10`` in XSTAR_DATA.
"""

from __future__ import annotations

import statistics
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness.experiment import Experiment, Part, chosen_from, main
from benchmarks.harness.records import FOLDER, Found, Store, Task, best_after, improvements, significant
from benchmarks.harness.report import Results, row_of_cells, table
from benchmarks.harness.run import Libraries
from benchmarks.workloads import cifar_hyperparameters as cnn
from benchmarks.workloads import cifar_training as cifar
from benchmarks.workloads import kept_search
from xstar.problems import data

METHODS = ("dngo", "random")
PAPER = 0.0637
"""The test error of the paper's Table 4."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--evaluations", type=int, default=80)
    parser.add_argument("--epochs", type=int, default=10, help="of a network of the search")
    parser.add_argument("--final-epochs", type=int, default=100, help="of the network that is kept")
    parser.add_argument("--workers", type=int, default=8, help="of each search")
    parser.add_argument("--minutes", type=float, default=9.0, help="of this call, after which no networks are begun")
    parser.add_argument("--studies", type=Path, default=FOLDER / "dngo_cifar", help="where the studies are kept")
    parser.add_argument("--device", default="cuda")


def search_tasks(options: Namespace) -> list[Task]:
    data.path(cifar.FILE)  # refuses where it is not here
    options.until = time.time() + 60 * options.minutes
    how = {"evaluations": options.evaluations, "epochs": options.epochs, "workers": options.workers}
    return [
        Task.of(seed, "cifar10", method, **how)
        for seed in range(options.seeds)
        for method in chosen_from(options.methods, METHODS, "--methods")
    ]


def search(task: Task, options: Namespace) -> Found:
    """Bring one search to its end, or as far as the time allows."""
    done, best = kept_search.search(
        partial(cnn.objective, device=options.device, epochs=task["epochs"]),
        cnn.SPACE,
        options.studies / f"{task.method}-{task['epochs']}-{task.seed}.jsonl",
        options.until,
        trials=task["evaluations"],
        metric="error",
        workers=task["workers"],
        seed=task.seed,
        method=task.method,
    )
    known = [trial for trial in done if trial.value is not None]
    return {
        "best": improvements([trial.value for trial in done]),
        "test": best.metrics["test"],
        "pick": {name: significant(best[name], 6) for name in cnn.OPTIMUM},
        "failed": len(done) - len(known),
        "diverged": sum(trial.value >= cnn.CHANCE for trial in known if trial.value is not None),
        "trained": significant(statistics.median(trial.metrics["trained"] for trial in known)),
    }


def search_report(results: Results, options: Namespace) -> Iterator[str]:
    yield "The lowest validation error so far and the test error of the last network, mean ± standard error over seeds; how"
    yield "many networks were no better than chance."
    for epochs in sorted({record.task["epochs"] for record in results.records}):
        runs = {method: results.of("cifar10", method, epochs=epochs) for method in results.methods}
        runs = {method: of for method, of in runs.items() if of}
        most = max(record.task["evaluations"] for of in runs.values() for record in of)
        counts = sorted({min(most, count) for count in (20, 40, most)})
        columns = [row_of_cells([[best_after(r.found["best"], n) for r in of] for of in runs.values()]) for n in counts]
        columns.append(row_of_cells([[r.found["test"] for r in of] for of in runs.values()]))
        columns.append([f"{statistics.mean(r.found['diverged'] for r in of):g}" for of in runs.values()])
        lines = [
            (method, str(len(of)), *cells)
            for (method, of), cells in zip(runs.items(), zip(*columns, strict=True), strict=True)
        ]
        heads = ["method", "seeds", *(f"best of {count}" for count in counts), "test", "at chance"]
        yield from ("", f"{epochs} epochs a network:", "", *table(heads, lines))
    ended = {f"{record.task.method}-{record.task['epochs']}-{record.task.seed}" for record in results.records}
    if begun := kept_search.under_way(options.studies, ended, "error"):
        yield from ("", "Searches that are under way:", "")
        yield from table(["search", "evaluations", "best so far", "its test error"], begun)


# ---------------------------------------------------------------- the network that is kept


def picked(options: Namespace) -> dict[tuple[str, int], Any]:
    """The configurations that searches on record ended with, and the paper's."""
    known = Store(options.records / "dngo_cifar.jsonl").read()
    wanted = {task: record for task, record in known.items() if task.problem == "cifar10"}
    return {("paper", 0): cnn.OPTIMUM} | {
        (task.method, task.seed): record.found["pick"]
        for task, record in wanted.items()
        if (task["evaluations"], task["epochs"]) == (options.evaluations, options.epochs)
    }


def final_tasks(options: Namespace) -> list[Task]:
    data.path(cifar.FILE)
    methods = (*chosen_from(options.methods, METHODS, "--methods"), "paper")
    return [
        Task.of(
            seed,
            "final",
            method,
            searched=0 if method == "paper" else options.evaluations,
            search_epochs=0 if method == "paper" else options.epochs,
            epochs=options.final_epochs,
        )
        for method, seed in picked(options)
        if method in methods and seed < options.seeds
    ]


def final(task: Task, options: Namespace) -> Found:
    config = picked(options)[task.method, task.seed]
    rows = cifar.TRAIN + cifar.VALID
    found = cnn.train(config, task["epochs"], 1000 + task.seed, options.device, rows, cnn.FINAL_SAMPLES)
    return {"test": found["test"], "trained": significant(found["trained"])}


def final_report(results: Results, options: Namespace) -> Iterator[str]:
    yield "All 50,000 images, predictions averaged over 100 changes of each image. The paper: 350 epochs,"
    yield f"a test error of {PAPER:.4f}."
    lines = []
    for record in results.records:
        task, minutes = record.task, record.found["trained"] / 60.0
        whose = "the paper's optimum" if task.method == "paper" else f"{task.method}, seed {task.seed}"
        lines.append((whose, str(task["epochs"]), f"{record.found['test']:.4f}", f"{minutes:.1f} min"))
    yield from ("", *table(["configuration", "epochs", "test", "took"], lines))


EXPERIMENT = Experiment(
    name="dngo_cifar",
    title="DNGO on CIFAR-10",
    result="dngo-cifar.md",
    description=__doc__,
    parts={
        "search": Part("Search", search_tasks, search, search_report, Libraries(also=("torch",))),
        "final": Part("Trained for longer", final_tasks, final, final_report, Libraries(also=("torch",))),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
