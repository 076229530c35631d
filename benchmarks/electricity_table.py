"""A table of learning curves: MOBSTER's MLP on *electricity*, thousands of configurations for 81 epochs, trained on one GPU.

    python -m benchmarks.electricity_table [--minutes 8] [--waves 2] [--wave 2048] [--processes 4] [--parts DIR] [--device cuda]
    python -m benchmarks.electricity_table --gather benchmarks/tables/electricity.npz

Configurations are those of a Sobol sequence over the paper's space; a wave is 2,048 of them, so that one alone is a table.
They are trained in groups with the same batch size and about the same widths (``workloads/electricity_training.py``). Each
group that is done is a file in ``--parts`` and a line of the records, and is not trained again; after ``--minutes`` no more are
begun, and the next call goes on. ``--gather`` joins the waves that are complete into the table that the problem ``electricity``
reads: configurations, and how many rows of the validation and the test set are wrong after each epoch.

A machine with a GPU needs numpy, scipy and torch only, and no repository: name the commit in XSTAR_COMMIT and the folder of
``electricity`` in XSTAR_DATA.
"""

from __future__ import annotations

import os
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.experiment import Experiment, Part, main
from benchmarks.harness.machine import peer
from benchmarks.harness.records import FOLDER, Found, Task, significant
from benchmarks.harness.report import Results, table
from benchmarks.harness.run import Libraries

ARRAYS = ("configs", "valid", "test")
"""Of a part and of the table, a row per configuration. Configurations are kept, not drawn again: SciPy may change."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--waves", type=int, default=2)
    parser.add_argument("--wave", type=int, default=2048, help="configurations of a wave, a power of two")
    parser.add_argument("--epochs", type=int, default=81)
    parser.add_argument("--minutes", type=float, default=8.0, help="of this call, after which no more groups are begun")
    parser.add_argument(
        "--parts", type=Path, default=FOLDER / "electricity", help="where the curves of groups are kept"
    )
    parser.add_argument("--data", type=Path, help="the file elec.csv.gz, if not that of XSTAR_DATA")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--gather", type=Path, metavar="FILE", help="train nothing, make the table from what is there")


def training() -> Any:
    """The workload, which needs torch."""
    peer("torch")
    from benchmarks.workloads import electricity_training

    return electricity_training


def tasks(options: Namespace) -> list[Task]:
    """The groups of the first wave, then those of the second; in each the longest first."""
    if options.gather:
        count = gather(options)
        raise SystemExit(f"{options.gather} has {count} configurations.")
    options.until = time.time() + 60 * options.minutes
    found = []
    for wave in range(options.waves):
        names = {group_name(group) for group in groups(options, wave)}
        found += [
            Task.of(wave, "electricity", name, epochs=options.epochs, wave=options.wave)
            for name in sorted(names, key=longest_first)
        ]
    return found


def group_name(group: tuple[int, int, int]) -> str:
    return "{} rows, {} and {} units".format(*group)


def longest_first(name: str) -> tuple[float, str]:
    """By the weights that are moved in an epoch, roughly."""
    batch, first, second = (int(word) for word in name.replace(",", "").split() if word.isdigit())
    return -(50_000.0 + first * second) / batch, name


def groups(options: Namespace, wave: int) -> dict[tuple[int, int, int], list[int]]:
    """Batch size and padded widths → numbers of configurations."""
    workload = training()
    found: dict[tuple[int, int, int], list[int]] = {}
    design = workload.design((wave + 1) * options.wave)
    for number in range(wave * options.wave, len(design)):
        found.setdefault(workload.group_of(design[number]), []).append(number)
    return found


def run(task: Task, options: Namespace) -> Found:
    """Train a group and keep its curves."""
    if time.time() > options.until:
        raise SystemExit("no time is left: call again")
    workload, torch = training(), peer("torch")
    device = torch.device(options.device)
    torch.set_float32_matmul_precision("high")
    data = workload.load(options.data or folder() / workload.FILE, device)
    numbers = next(of for group, of in groups(options, task.seed).items() if group_name(group) == task.method)
    design = workload.design(max(numbers) + 1)
    configs = [design[number] for number in numbers]
    begun = time.perf_counter()
    found = workload.train(configs, numbers, data, task["epochs"], device)
    seconds = time.perf_counter() - begun
    part = part_of(options, task)
    part.parent.mkdir(parents=True, exist_ok=True)
    drawn = np.array([[config[name] for name in workload.NAMES] for config in configs], dtype=np.float32)
    sizes = [len(data.x[name]) for name in ("valid", "test")]
    np.savez_compressed(part, numbers=numbers, configs=drawn, sizes=sizes, **found)
    best = found["valid"].min() / len(data.x["valid"])
    where = torch.cuda.get_device_name() if device.type == "cuda" else "CPU"
    return {
        "networks": len(numbers),
        "trained": significant(seconds),
        "error": significant(float(best)),
        "device": where,
    }


def folder() -> Path:
    return Path(os.environ.get("XSTAR_DATA") or "../shared/data").absolute()


def part_of(options: Namespace, task: Task) -> Path:
    words = "-".join(word for word in task.method.replace(",", "").split() if word.isdigit())
    return Path(options.parts) / f"{task['wave']}-{task['epochs']}-{task.seed}-{words}.npz"


def gather(options: Namespace) -> int:
    """Join the parts of complete waves into one file; returns how many configurations it has."""
    workload, sizes = training(), np.zeros(2)
    rows: dict[int, dict[str, Any]] = {}
    for part in sorted(options.parts.glob(f"{options.wave}-{options.epochs}-*.npz")):
        with np.load(part) as found:
            sizes = found["sizes"]
            for at, number in enumerate(found["numbers"].tolist()):
                rows[number] = {name: found[name][at] for name in ARRAYS}
    waves = [range(wave * options.wave, (wave + 1) * options.wave) for wave in range(options.waves)]
    done = [number for wave in waves if all(number in rows for number in wave) for number in wave]
    if not done:
        raise SystemExit(
            f"no wave of {options.wave} configurations is complete in {options.parts}: {len(rows)} are there"
        )
    options.gather.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        options.gather,
        names=np.array(workload.NAMES),
        **{name: np.array([rows[number][name] for number in done]) for name in ARRAYS},
        sizes=sizes,
    )
    return len(done)


def report(results: Results, options: Namespace) -> Iterator[str]:
    rows = []
    for wave in sorted({record.task.seed for record in results.all.values()}):
        found = [record.found for task, record in results.all.items() if task.seed == wave]
        trained, seconds = sum(each["networks"] for each in found), sum(each["trained"] for each in found)
        rows.append((str(wave), str(len(found)), f"{trained:,}", f"{seconds:.0f} s", f"{seconds / trained:.2g} s"))
    yield "Seconds of all groups, several of which are trained at a time."
    yield from ("", *table(["wave", "groups", "networks", "trained in", "per network"], rows))


EXPERIMENT = Experiment(
    name="electricity_table",
    title="Learning curves of MLPs on electricity",
    result="electricity-table.md",
    description=__doc__,
    parts={"table": Part("Trainings", tasks, run, report, Libraries(also=("torch",)))},
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
