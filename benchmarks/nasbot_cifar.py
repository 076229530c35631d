"""NASBOT's Table 3 and Figure 2 on CIFAR-10, with networks that are trained for real on one GPU.

    python -m benchmarks.nasbot_cifar --part search [--methods …] [--seeds 3] [--first 0] [--evaluations 60] [--workers 4]
                                      [--minutes 9] [--launch tuned]
    python -m benchmarks.nasbot_cifar --part winners [--epochs 80] [--shifts each]
                                      [--processes 4] [--studies DIR] [--records DIR] [--write]

*Search.* The study of each search is kept in the folder ``--studies``, as ``xstar export`` writes it; one that is not done
after ``--minutes`` goes on with the next call, and is put on record when it has its evaluations. ``nasbot`` is ours as it is,
``nasbot-otmann`` has the paper's kernel alone, ``nasbot-described`` the term over descriptive features alone, ``evolution`` and
``nasbot-random`` are the paper's EA and RAND, ``treebo`` its TreeBO: networks without branches. ``workloads/cifar_training.py``
says how a network is trained. *Winners.* The network each search ended with, trained for longer, with each image shifted by
itself (``--shifts alike``: as in the search); beside it ResNet-18 and VGG-19 (with batch normalisation) of torchvision, made
for images of 32 pixels, by the same training. The paper's 150,000 iterations of 32 images are 120 epochs.

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

import xstar as xs
from benchmarks.harness.experiment import Experiment, Part, chosen_from, main
from benchmarks.harness.records import FOLDER, Found, Store, Task, best_after, improvements, significant
from benchmarks.harness.report import Results, row_of_cells, table
from benchmarks.harness.run import Libraries
from benchmarks.workloads import cifar_training as cifar
from benchmarks.workloads import kept_search
from benchmarks.workloads.architecture_search import TERMS, searcher_of
from xstar import nets
from xstar.problems import data
from xstar.trial import Trial

METHODS = ("nasbot", *TERMS, "evolution", "nasbot-random", "treebo")
PLAIN = ("resnet-18", "vgg-19")
PAPER = {
    "nasbot": (0.1209, 0.0869),
    "evolution": (0.1411, 0.0915),
    "nasbot-random": (0.1342, 0.0914),
    "treebo": (0.1533, 0.1121),
    "vgg-19": (0.1718, 0.1018),
}
"""Test errors of the paper's Table 3: after 60,000 and, for the winners, 150,000 iterations of 32 images."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--methods", help="of the searches; for winners also resnet-18 and vgg-19 (default: all)")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--evaluations", type=int, default=60)
    parser.add_argument("--workers", type=int, default=4, help="of each search")
    parser.add_argument(
        "--minutes", type=float, default=9.0, help="of this call, after which no more networks are begun"
    )
    parser.add_argument("--epochs", type=int, default=80, help="of a winner")
    parser.add_argument("--shifts", choices=("each", "alike"), default="each", help="of a winner's images in a batch")
    parser.add_argument("--studies", type=Path, default=FOLDER / "nasbot_cifar", help="where the studies are kept")
    parser.add_argument(
        "--launch", choices=cifar.LAUNCHES, default="tuned", help="how steps reach a GPU: cifar_steps.py"
    )
    parser.add_argument("--device", default="cuda")


def seeds(options: Namespace) -> range:
    return range(options.first, options.first + options.seeds)


def search_tasks(options: Namespace) -> list[Task]:
    data.path(cifar.FILE)  # refuses where it is not here
    options.until = time.time() + 60 * options.minutes
    methods = chosen_from(options.methods or ",".join(METHODS), METHODS, "--methods")
    return [
        Task.of(seed, "cifar10", method, evaluations=options.evaluations, workers=options.workers, **cifar.SCHEDULE)
        for seed in seeds(options)
        for method in methods
    ]


def search(task: Task, options: Namespace) -> Found:
    """Bring one search to its end, or as far as the time allows."""
    done, best = kept_search.search(
        partial(cifar.objective, device=options.device, epochs=task["epochs"], launch=options.launch),
        xs.Space(net=cifar.domain()),
        options.studies / f"{task.method}-{task.seed}.jsonl",
        options.until,
        trials=task["evaluations"],
        metric="error",
        workers=task["workers"],
        seed=task.seed,
        **searcher_of(task.method),
    )
    return outcome(done, best)


def outcome(done: list[Trial], best: Trial) -> Found:
    return {
        "best": improvements([1.0 if trial.value is None else trial.value for trial in done]),
        "test": best.metrics["test"],
        "weights": best.metrics["weights"],
        "pick": best["net"].to_json(),
        "failed": sum(trial.value is None for trial in done),
        "trained": significant(statistics.median(t.metrics["trained"] for t in done if t.value is not None)),
    }


def search_report(results: Results, options: Namespace) -> Iterator[str]:
    schedule = cifar.SCHEDULE
    yield f"{options.evaluations} evaluations by {options.workers} workers; networks of at most {schedule['max_layers']} layers"
    yield f"of {schedule['fewest_units']} to {schedule['most_units']} units, trained for {schedule['epochs']} epochs."
    yield "Validation errors of the best network so far, and the test error of the last of them; mean ± standard error over"
    yield "seeds."
    counts = sorted({min(options.evaluations, count) for count in (10, 20, 40, options.evaluations)})
    runs = {method: results.of("cifar10", method) for method in results.methods}
    columns = [row_of_cells([[best_after(r.found["best"], n) for r in of] for of in runs.values()]) for n in counts]
    columns.append(row_of_cells([[r.found["test"] for r in of] for of in runs.values()]))
    lines = [
        (method, str(len(of)), *cells, f"{PAPER[method][0]:.4f}" if method in PAPER else "–")
        for (method, of), cells in zip(runs.items(), zip(*columns, strict=True), strict=True)
    ]
    heads = ["method", "seeds", *(f"best of {count}" for count in counts), "test", "paper's test"]
    yield from ("", *table(heads, lines))
    ended = {f"{method}-{record.task.seed}" for method, of in runs.items() for record in of}
    if begun := kept_search.under_way(options.studies, ended, "error"):
        yield from ("", "Searches that are under way:", "")
        yield from table(["search", "evaluations", "best so far", "its test error"], begun)


# ---------------------------------------------------------------- winners


def winner_tasks(options: Namespace) -> list[Task]:
    methods = chosen_from(options.methods or ",".join((*METHODS, *PLAIN)), (*METHODS, *PLAIN), "--methods")
    schedule = cifar.SCHEDULE | {"epochs": options.epochs}
    settings = {name: schedule[name] for name in ("epochs", "batch", "rate", "warmup", "decay")}
    if options.shifts == "each":
        settings["shifts"] = "each image"
    found = [
        Task.of(seed, "winner", method, evaluations=options.evaluations, **settings)
        for seed in seeds(options)
        for method in methods
    ]
    picks = picked(options)
    return [task for task in found if task.method in PLAIN or (task.method, task.seed) in picks]


def picked(options: Namespace) -> dict[tuple[str, int], Any]:
    """The networks that searches on record ended with."""
    known = Store(options.records / "nasbot_cifar.jsonl").read()
    wanted = {task: record for task, record in known.items() if task.problem == "cifar10"}
    return {
        (task.method, task.seed): record.found["pick"]
        for task, record in wanted.items()
        if task["evaluations"] == options.evaluations
    }


def train_winner(task: Task, options: Namespace) -> Found:
    import torch

    torch.manual_seed(1000 + task.seed)
    if task.method in PLAIN:
        module = plain(task.method)
    else:
        module = nets.Graph.from_json(picked(options)[task.method, task.seed]).to_torch(inputs=(3, 32, 32), outputs=10)
    apart, seed = options.shifts == "each", 1000 + task.seed
    found = cifar.train(module, task["epochs"], seed, options.device, each_image=apart, launch=options.launch)
    return {name: significant(value) for name, value in found.items()}


def plain(name: str) -> Any:
    """A network that people know, made for images of 32 pixels as is usual."""
    import torch
    from torchvision import models

    if name == "resnet-18":
        network = models.resnet18(num_classes=10)
        network.conv1 = torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False)
        network.maxpool = torch.nn.Identity()
        return network
    network = models.vgg19_bn(num_classes=10)
    network.avgpool = torch.nn.Identity()
    network.classifier = torch.nn.Linear(512, 10)
    return network


def winner_report(results: Results, options: Namespace) -> Iterator[str]:
    shifted = "each image shifted by itself" if options.shifts == "each" else "all images of a batch shifted alike"
    yield f"Trained for {options.epochs} epochs, from weights of their own, {shifted}."
    yield "Mean ± standard error over seeds."
    runs = {method: results.of("winner", method) for method in results.methods}
    columns = [row_of_cells([[r.found[name] for r in of] for of in runs.values()]) for name in ("error", "test")]
    columns.append([f"{statistics.median(r.found['weights'] for r in of) / 1e6:.2f} M" for of in runs.values()])
    lines = [
        (method, str(len(of)), *cells, f"{PAPER[method][1]:.4f}" if method in PAPER else "–")
        for (method, of), cells in zip(runs.items(), zip(*columns, strict=True), strict=True)
    ]
    yield from ("", *table(["network of", "seeds", "validation", "test", "weights", "paper's test"], lines))


EXPERIMENT = Experiment(
    name="nasbot_cifar",
    title="NASBOT on CIFAR-10",
    result="nasbot-cifar.md",
    description=__doc__,
    parts={
        "search": Part("Search", search_tasks, search, search_report, Libraries(also=("torch",))),
        "winners": Part(
            "Winners, trained for longer", winner_tasks, train_winner, winner_report, Libraries(also=("torch",))
        ),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
