"""Co-training on CIFAR-10: the activation of each channel of a CNN is searched while its weights are trained. Not in the paper.

    python -m benchmarks.cotrain_cifar [--methods …] [--seeds 3] [--epochs 30] [--processes 4] [--minutes 9] [--write]

``workloads/cotraining_cifar.py`` has the network: 896 bits. cGA, PBIL-λ and PBIL-ε of the library (``CoTraining``), which
train one network with changing structures; and the networks with ReLU or tanh everywhere, by the same training. cGA and PBIL-ε
evaluate two structures a step, so an epoch takes them twice as long. All runs have the same number of steps of the weights.
Test errors with the structure θ ≥ ½. Each run is a line of the records; runs that would begin after ``--minutes`` wait for the
next call.
"""

from __future__ import annotations

import statistics
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from benchmarks.harness.experiment import Experiment, Part, chosen_from, main
from benchmarks.harness.machine import peer
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import Results, row_of_cells, table
from benchmarks.harness.run import Libraries

METHODS = ("PBIL-λ", "PBIL-ε", "cGA", "ReLU", "tanh")


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--minutes", type=float, default=9.0, help="of this call, after which no run begins")
    parser.add_argument("--device", default="cuda")


def tasks(options: Namespace) -> list[Task]:
    options.until = time.time() + 60.0 * options.minutes
    methods = chosen_from(options.methods, METHODS, "--methods")
    return [
        Task.of(seed, "cifar10", method, epochs=options.epochs) for seed in range(options.seeds) for method in methods
    ]


def run(task: Task, options: Namespace) -> Found:
    peer("torch").set_num_threads(1)
    from benchmarks.workloads import cotraining_cifar

    if time.time() > options.until:
        raise SystemExit("no time is left: call again")
    found: Found = significant(cotraining_cifar.run(task.method, task["epochs"], task.seed, options.device))
    return found


def report(results: Results, options: Namespace) -> Iterator[str]:
    runs = {method: results.of(method=method) for method in METHODS if results.of(method=method)}
    bits = results.records[0].found["bits"]
    yield f"{results.records[0].task['epochs']} epochs of 40,000 images. Errors, mean ± standard error over seeds; how many of"
    yield f"the {bits} channels are ReLU, and how decided θ is (mean of max(θ, 1 − θ))."
    columns = [row_of_cells([[r.found[name] for r in of] for of in runs.values()]) for name in ("error", "test")]
    lines = []
    for (method, of), cells in zip(runs.items(), zip(*columns, strict=True), strict=True):
        ones = ", ".join(str(record.found["ones"]) for record in of)
        decided = [record.found["decided"] for record in of if "decided" in record.found]
        sure = f"{statistics.mean(decided):.3f}" if decided else "–"
        took = f"{statistics.median(record.found['trained'] for record in of):.0f} s"
        lines.append((method, str(len(of)), *cells, ones, sure, took))
    yield from ("", *table(["method", "seeds", "validation", "test", "ReLU", "decided", "took"], lines))


EXPERIMENT = Experiment(
    name="cotrain_cifar",
    title="Co-training on CIFAR-10",
    result="cotrain-cifar.md",
    description=__doc__,
    parts={"activations": Part("Activations", tasks, run, report, Libraries(also=("torch",)))},
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
