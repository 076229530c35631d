"""MOBSTER against ASHA in simulated time: how much sooner it reaches the regret that ASHA ends with.

    python -m benchmarks.mobster [--problems …] [--workers 2,4,8,16] [--seeds 5] [--trainings 6] [--kernels] [--large] [--write]

On the surrogates of all LCBench tasks at hand, Klein's CNN curves and NAS-Bench-201. A comparison lasts as long as
``--trainings`` full trainings one after the other on each worker, at the median time of a full training.

The regret is the immediate one of the MOBSTER paper, Section 4: the lowest loss reported by a time, at any budget, less y★, the
lowest loss that any method reported in any run on the problem. The figure of a problem is

    (time at which MOBSTER's mean regret is first at most ASHA's final mean regret) / (time at which ASHA's is)

and of all problems the geometric mean; where MOBSTER never gets there, the whole time is taken. With ``--kernels``, the paper's
Figure 4: the final mean regret of every surrogate and both variants, on four workers. With ``--large``, ASHA, MOBSTER and DNGO
under ASHA where there are many trials: on 64 workers, for three trainings each.

Runs are kept in benchmarks/records/mobster.jsonl with the commit and not repeated; ``--again`` drops all but ASHA's first.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.machine import describe_machine
from benchmarks.quality import commit
from xstar import problems
from xstar.core.randomness import Streams
from xstar.searchers import DNGO, GP, Random, Searcher
from xstar.simulation import improvements, simulate

RECORDS = Path(__file__).parent / "records" / "mobster.jsonl"
RESULT = Path(__file__).parent / "results" / "mobster.md"
SURROGATES = ("matern-warped", "matern", "decay", "decay-0", "decay-1")
SAMPLES = 200
LARGE = ("lcbench-167168", "lcbench-167201", "lcbench-189909", "nb201-cifar100")
CROWD, SHORTER = 64, 3.0
"""Workers and trainings of ``--large``."""

Steps = list[tuple[float, float]]
"""(time, lowest loss by then)"""


@dataclass(frozen=True, order=True)
class Task:
    seed: int
    workers: int
    problem: str
    method: str
    """``asha`` or ``asha-stop``; ``mobster`` or ``mobster-stop``, with ``:surrogate`` and ``@rule`` if not the default;
    ``dngo``: that searcher under ASHA."""
    trainings: float


def searcher_of(method: str) -> Searcher:
    rest, _, rule = method.partition("@")
    name, _, surrogate = rest.partition(":")
    if name.startswith("asha"):
        return Random()
    if name == "dngo":
        return DNGO()
    return GP(**({"surrogate": surrogate} if surrogate else {}), **({"acquire_at": rule} if rule else {}))


def full_training(name: str) -> float:
    """The median time of a full training, over configurations drawn at random."""
    problem, rng = problems.get(name), Streams(0).generator(0, "benchmark")
    return statistics.median(problem.curve(problem.space.sample(rng), seed).seconds[-1] for seed in range(SAMPLES))


def run(task: Task) -> dict[str, object]:
    problem = problems.get(task.problem)
    seconds = full_training(task.problem) * task.trainings
    scheduler = "asha-stop" if "-stop" in task.method else "asha"
    start = time.process_time()
    study = simulate(
        problem, scheduler, searcher=searcher_of(task.method), workers=task.workers, seconds=seconds, seed=task.seed
    )
    spent = time.process_time() - start
    steps = [(at, loss) for at, loss in improvements(study.history) if at <= seconds]
    return {
        **task.__dict__,
        "seconds": seconds,
        "steps": steps,
        "trials": len(study.history.trials),
        "processor": spent,
        "commit": commit(),
    }


# ---------------------------------------------------------------- records


def recorded() -> dict[Task, dict[str, object]]:
    if not RECORDS.exists():
        return {}
    lines = [json.loads(line) for line in RECORDS.read_text().splitlines()]
    return {Task(**{name: line[name] for name in Task.__dataclass_fields__}): line for line in lines}


def complete(tasks: Iterable[Task], processes: int) -> dict[Task, dict[str, object]]:
    """Run what is not on record."""
    known = recorded()
    missing = sorted(set(tasks) - set(known))
    with ProcessPoolExecutor(processes) as pool:
        for number, line in enumerate(pool.map(run, missing), 1):
            with RECORDS.open("a") as file:
                file.write(json.dumps(line) + "\n")
            print(
                f"{number} of {len(missing)}: {line['problem']} {line['method']} {line['workers']} workers", flush=True
            )
    return recorded()


# ---------------------------------------------------------------- figures


def regret_curve(runs: list[dict], grid: np.ndarray, best: float) -> np.ndarray:
    """The mean regret at each time of the grid; infinite while a run has reported nothing."""
    curves = []
    for line in runs:
        times, losses = np.array(line["steps"], dtype=float).reshape(-1, 2).T
        place = np.searchsorted(times, grid, side="right") - 1
        curves.append(np.where(place >= 0, losses[np.maximum(place, 0)], np.inf))
    return np.mean(curves, axis=0) - best


def share_of_time(ours: np.ndarray, theirs: np.ndarray, grid: np.ndarray) -> tuple[float, bool]:
    """The time at which ``ours`` reaches the end of ``theirs``, over the time at which ``theirs`` does; whether it does."""
    goal = theirs[-1] + 1e-12
    reached = np.flatnonzero(ours <= goal)
    at = grid[reached[0]] if len(reached) else grid[-1]
    return float(at / grid[np.flatnonzero(theirs <= goal)[0]]), bool(len(reached))


def headline(
    known: dict[Task, dict], names: list[str], columns: list[tuple[str, int]], seeds: int, trainings: float
) -> Iterator[str]:
    yield "| problem | " + " | ".join(f"mobster{variant}, {count}" for variant, count in columns) + " |"
    yield "|---|" + "---:|" * len(columns)
    ratios: dict[tuple[str, int], list[float]] = {column: [] for column in columns}
    for name in names:
        cells = []
        best = min(
            (loss for task, line in known.items() if task.problem == name for _, loss in line["steps"]),
            default=math.nan,
        )
        for variant, count in columns:
            pairs = [
                [Task(seed, count, name, method + variant, trainings) for method in ("mobster", "asha")]
                for seed in range(seeds)
            ]
            pairs = [pair for pair in pairs if all(task in known for task in pair)]
            if not pairs:
                cells.append("")
                continue
            sides = [[known[task] for task in side] for side in zip(*pairs, strict=True)]
            fewer = f" [{len(pairs)}]" if len(pairs) < seeds else ""
            grid = np.linspace(0.0, sides[0][0]["seconds"], 2001)[1:]
            ratio, reached = share_of_time(*(regret_curve(side, grid, best) for side in sides), grid)
            ratios[variant, count].append(ratio)
            cells.append((f"{ratio:.2f}" if reached else f"never ({ratio:.2f})") + fewer)
        yield f"| {name} | {' | '.join(cells)} |"
    means = [math.exp(statistics.mean(map(math.log, found))) if found else math.nan for found in ratios.values()]
    yield "| **geometric mean** | " + " | ".join(f"**{mean:.2f}**" for mean in means) + " |"


def kernels(known: dict[Task, dict], names: list[str], seeds: int, trainings: float) -> Iterator[str]:
    methods = sorted({task.method for task in known if task.workers == 4 and task.trainings == trainings})
    yield "Of each problem, the seeds that all have been run on."
    yield ""
    yield "| method | mean rank of the final regret | problems |"
    yield "|---|---:|---:|"
    ranks: dict[str, list[float]] = {method: [] for method in methods}
    for name in names:
        runs = {
            method: {seed for seed in range(seeds) if Task(seed, 4, name, method, trainings) in known}
            for method in methods
        }
        shared = set.intersection(*(found for found in runs.values() if found))
        finals = {
            method: statistics.mean(known[Task(seed, 4, name, method, trainings)]["steps"][-1][1] for seed in shared)
            for method, found in runs.items()
            if found and shared
        }
        for method, value in finals.items():
            ranks[method].append(sum(other < value for other in finals.values()) + 1)
    for method, found in sorted(ranks.items(), key=lambda pair: statistics.mean(pair[1]) if pair[1] else math.inf):
        if found:
            yield f"| {method} | {statistics.mean(found):.2f} | {len(found)} |"


def large(known: dict[Task, dict], seeds: int) -> Iterator[str]:
    yield "| problem | method | seeds | trials | a trial's decisions | best loss after a third of the time | at the end |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for name in LARGE:
        for method in ("asha", "mobster", "dngo"):
            tasks = [Task(seed, CROWD, name, method, SHORTER) for seed in range(seeds)]
            if not (runs := [known[task] for task in tasks if task in known]):
                continue
            trials = statistics.mean(line["trials"] for line in runs)
            each = statistics.mean(line["processor"] / line["trials"] for line in runs)
            marks = [
                [min(loss for at, loss in line["steps"] if at <= share * line["seconds"]) for line in runs]
                for share in (1 / 3, 1.0)
            ]
            losses = " | ".join(mean_and_error(found) for found in marks)
            yield f"| {name} | {method} | {len(runs)} | {trials:,.0f} | {1000 * each:.0f} ms | {losses} |"


def mean_and_error(values: list[float]) -> str:
    error = f" ± {statistics.stdev(values) / math.sqrt(len(values)):.2f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.2f}{error}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = [name for name in problems.names() if name.startswith("lcbench-") and "table" not in name]
    every += ["klein-cnn", "nb201-cifar10", "nb201-cifar100", "nb201-imagenet16"]
    parser.add_argument("--problems", default=",".join(every))
    parser.add_argument("--workers", default="2,4,8,16")
    parser.add_argument("--variants", default="promotion,stopping")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--trainings", type=float, default=6.0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--table-only", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    names, workers = options.problems.split(","), [int(count) for count in options.workers.split(",")]
    variants = [{"promotion": "", "stopping": "-stop"}[name] for name in options.variants.split(",")]
    if options.again and RECORDS.exists():
        lines = [line for line in RECORDS.read_text().splitlines() if json.loads(line)["method"].startswith("asha")]
        RECORDS.write_text("".join(line + "\n" for line in lines))
    seeds, trainings = range(options.seeds), options.trainings
    methods = [family + variant for family in ("asha", "mobster") for variant in variants]
    tasks = [
        Task(s, w, name, method, trainings) for s in seeds for w in workers for name in names for method in methods
    ]
    if options.kernels:
        others = [f"mobster{variant}:{surrogate}" for variant in variants for surrogate in SURROGATES[1:]]
        others += [f"mobster{variant}:decay@reached" for variant in variants]
        tasks += [Task(s, 4, name, method, trainings) for s in seeds for name in names for method in others]
    if options.large:
        methods = ["asha", "mobster", "dngo"]
        tasks = [Task(s, CROWD, name, method, SHORTER) for s in seeds for name in LARGE for method in methods]
    columns = [(variant, count) for variant in variants for count in workers]
    known = recorded() if options.table_only else complete(tasks, options.processes)
    commits = sorted({str(line["commit"]) for line in known.values()})
    lines = [
        "# MOBSTER against ASHA",
        "",
        describe_machine().removeprefix("# "),
        f"Runs of commits {', '.join(commits)}.",
        "",
    ]
    lines += [
        f"Share of ASHA's time until its final regret; {options.seeds} seeds (fewer where brackets say so),"
        f" {trainings:g} trainings per worker.",
        "",
    ]
    lines += [*headline(known, names, columns, options.seeds, trainings), "", "Surrogates, four workers:", ""]
    lines += [*kernels(known, names, options.seeds, trainings), ""]
    lines += [f"Many trials, {CROWD} workers, {SHORTER:g} trainings per worker:", "", *large(known, options.seeds), ""]
    print("\n".join(lines))
    if options.write:
        RESULT.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
