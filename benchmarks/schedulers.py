"""What a scheduling decision costs when a study is large, beside Optuna's successive-halving pruner in the same run.

    python -m benchmarks.schedulers [--ladder 1000000] [--reports 1000000] [--workers 10000] [--write]

1. Verdicts per second of stopping ASHA with 10⁴ … 10⁶ records in the ladder, and of the same verdicts with the record put
   in its place (what a study does); promotions per second of ASHA likewise.
2. Optuna's ``SuccessiveHalvingPruner`` on the same 10⁴ records, as a ratio. It goes through all trials for every verdict, so
   more records would only take longer.
3. A simulated cluster: time per report while the study grows to 10⁶ reports.

Times are those of the processor, not of the clock on the wall: everything here computes on one core, and the machine is shared.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

import numpy as np

from benchmarks.harness.experiment import Experiment, Part, main
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import Results, ratio, table
from benchmarks.harness.run import Libraries
from benchmarks.workloads.scheduling import SIZES, VERDICTS, cluster, optuna_seconds, rates

PRUNER, PRUNED = "optuna", 100
"""Optuna's pruner, and how many of its verdicts are timed."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--ladder", type=int, default=SIZES[-1], help="most records in the ladder")
    parser.add_argument("--reports", type=int, default=SIZES[-1], help="most reports of the simulated cluster")
    parser.add_argument("--workers", type=int, default=10_000)


def tasks(options: Namespace) -> list[Task]:
    """At least the smallest size of each."""
    wanted = [Task.of(0, "ladder", "asha", records=n) for n in SIZES if n <= max(options.ladder, SIZES[0])]
    wanted.append(Task.of(0, "ladder", PRUNER, records=SIZES[0]))
    reports = max(options.reports, SIZES[0])
    both = ("asha", "asha-stop")
    return wanted + [Task.of(0, "cluster", method, workers=options.workers, reports=reports) for method in both]


def run(task: Task, options: Namespace) -> Found:
    if task.problem == "cluster":
        return cluster(task.method, task["workers"], task["reports"])
    losses, fresh = np.random.default_rng(0).random(task["records"]), np.random.default_rng(1).random(VERDICTS)
    if task.method == PRUNER:
        return {"verdicts": significant(1 / optuna_seconds(losses, fresh[:PRUNED].tolist()))}
    return {name: significant(rate) for name, rate in rates(losses, fresh.tolist()).items()}


def report(results: Results, options: Namespace) -> Iterator[str]:
    ours, rows = results.of("ladder", "asha"), []
    for record in ours:
        each = [f"{record.found[name]:,.0f}/s" for name in ("verdicts", "recorded", "promotions")]
        rows.append((f"{record.task['records']:,}", *each))
    heads = ["records in the ladder", "verdicts", "with the record put in place", "promotions, each carried out"]
    yield from (*table(heads, rows), "")
    for record in results.of("ladder", PRUNER):
        mine = [r.found["verdicts"] for r in ours if r.task["records"] == record.task["records"]]
        times = f": {ratio(mine[0], record.found['verdicts'])} as many of ours on the same records" if mine else ""
        yield f"Optuna's SuccessiveHalvingPruner, {record.task['records']:,} records: {record.found['verdicts']:,.0f}/s{times}."
    rows = []
    for record in results.of("cluster"):
        times = record.found["seconds"]
        shown = ", ".join(f"{int(mark):,}: {spent * 1e6:.1f} µs" for mark, spent in times.items())
        spread = f"{max(times.values()) / min(times.values()):.2f}×"
        totals = f"{record.found['trials']:,}", f"{record.found['processor']:.0f} s"
        rows.append((record.task.method, f"{record.task['workers']:,}", shown, spread, *totals))
    heads = ["method", "workers", "time per report at so many", "largest/smallest", "trials", "in all"]
    yield from ("", *table(heads, rows))


EXPERIMENT = Experiment(
    name="schedulers",
    title="What a scheduling decision costs",
    result="schedulers.md",
    description=__doc__,
    parts={"decisions": Part("Decisions", tasks, run, report, Libraries({PRUNER: "optuna"}, ("sortedcontainers",)))},
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
