"""Many short trials, and long ones, on a Ray cluster: xstar's Ray executor beside Ray Tune.

    python -m benchmarks.cluster [--slots 8] [--trials 800] [--tune-trials 64] [--rounds 3] [--write]

Both run the same objective on a cluster of two raylets on this machine, with one CPU per trial as Ray counts them, by random
search. *Short* trials report three times and do nothing else: trials per second are counted once every slot has had two trials.
*Long* trials take 0.5 s per report: the gap is the median time from the end of a trial to the beginning of the next one in the
same process. *Reports*: one trial that reports 300 times, and what each costs it. Ray Tune reuses its actors. Rounds alternate
between the libraries, so that a busy machine slows both down alike; medians are shown.
"""

from __future__ import annotations

import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from benchmarks.harness.experiment import Experiment, Part, main
from benchmarks.harness.records import Found, Task
from benchmarks.harness.report import Results, ratio, table
from benchmarks.harness.run import Libraries
from benchmarks.workloads.cluster_trials import EPOCHS, measure

SHORT, LONG, REPORTS = "short", "long", "reports"
SECONDS = {SHORT: 0.0, LONG: 0.5, REPORTS: 0.0}
MANY = 300
"""Reports of the one trial that reports much."""
METHODS = ("xstar", "ray-tune")


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--slots", type=int, nargs="+", default=[8], help="trials at a time")
    parser.add_argument("--trials", type=int, default=800, help="short trials of xstar")
    parser.add_argument(
        "--tune-trials", type=int, default=64, help="short trials of Ray Tune, which runs a few per second"
    )
    parser.add_argument("--rounds", type=int, default=3, help="runs of each")


def tasks(options: Namespace) -> list[Task]:
    found = []
    for round_ in range(options.rounds):
        for slots in options.slots:
            for method, trials in zip(METHODS, (options.trials, options.tune_trials), strict=True):
                found.append(Task.of(round_, SHORT, method, slots=slots, trials=max(trials, 4 * slots)))
                found.append(Task.of(round_, LONG, method, slots=slots, trials=4 * slots))
        found += [Task.of(round_, REPORTS, method, slots=2, trials=1) for method in METHODS]
    return found


def run(task: Task, options: Namespace) -> Found:
    epochs = MANY if task.problem == REPORTS else EPOCHS
    return measure(task.method, task["trials"], task["slots"], epochs, SECONDS[task.problem])


def report(results: Results, options: Namespace) -> Iterator[str]:
    rows = []
    for slots in options.slots:
        for problem, key, unit in ((SHORT, "rate", "trials/s"), (SHORT, "gap", "ms"), (LONG, "gap", "ms")):
            ours, theirs = (middle(results, problem, method, key, slots) for method in METHODS)
            if ours is not None and theirs is not None:
                better = ratio(ours, theirs) if unit == "trials/s" else ratio(theirs, ours)
                what = f"{problem} trials, {'per second' if key == 'rate' else 'freed slot to next start'}"
                rows.append((str(slots), what, shown(ours, unit), shown(theirs, unit), better))
    yield from table(["slots", "", "xstar", "Ray Tune", "better by"], rows, left=2)
    ours, theirs = (middle(results, REPORTS, method, "span", 2) for method in METHODS)
    if ours is not None and theirs is not None:
        each = [shown(span / MANY, "ms") for span in (ours, theirs)]
        yield ""
        yield f"A report costs the trial that makes it {each[0]}; with Ray Tune {each[1]}."


def middle(results: Results, problem: str, method: str, key: str, slots: int) -> float | None:
    found = [record.found[key] for record in results.of(problem, method, slots=slots) if record.found[key] is not None]
    return statistics.median(found) if found else None


def shown(value: float, unit: str) -> str:
    return f"{value:,.3g}" if unit == "trials/s" else f"{value * 1e3:,.3g} ms"


EXPERIMENT = Experiment(
    name="cluster",
    title="Trials on a Ray cluster",
    result="cluster.md",
    description=__doc__,
    parts={"trials": Part("Beside Ray Tune", tasks, run, report, Libraries({"ray-tune": "ray"}, ("ray",)), fresh=True)},
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
