"""How good a search is after 50 and 100 evaluations at the full budget, beside other libraries.

    python -m benchmarks.quality [--methods xstar-gp,optuna-gp] [--problems branin,…] [--seeds 5] [--evaluations 100]
                                 [--processes 1] [--records benchmarks/records] [--again] [--table-only] [--write]

Each run is kept as one line of JSON in ``records/<method>.jsonl``, and a run that is on record is not repeated: the command
may be ended and given again. A record is known by problem, method, seed, evaluations and the version of the library. Our own
code changes without a new version, hence ``--again``: it drops the records of xstar's methods that were asked for, as far as
the problems, seeds and evaluations go, before it runs them. Every record also names the commit it was made at.

Seed 0 of all problems and methods comes first, then seed 1, …: an unfinished comparison is a comparison with fewer seeds.
Every process computes with one thread. The methods are described in ``peers.py``; Optuna, BoTorch and SMAC3 have to be
installed to be run, not to be shown. Set XSTAR_DATA if the tables are not in ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import statistics
import subprocess
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib.metadata import PackageNotFoundError, version
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from scipy.stats import rankdata

from benchmarks.machine import describe_machine
from benchmarks.peers import METHODS, run
from xstar import problems
from xstar.plots.regret import mean_and_error

PROBLEMS = (
    *("branin", "hartmann6", "ackley10", "rosenbrock4", "levy6"),
    *("hpolib-lda", "hpolib-svm", "hpolib-logreg"),
    *("fcnet-naval", "fcnet-parkinsons", "fcnet-protein", "fcnet-slice"),
    *("nb201-cifar10", "nb201-cifar100", "nb201-imagenet16"),
)
# Losses at which a search counts as having arrived: 0.0005, 0.005 and 0.08 above the optimum of the first three, the optimum
# itself of the SVM's table, 0.0003 above that of logistic regression's.
TARGETS = {"branin": 0.3984, "hartmann6": -3.317, "hpolib-lda": 1266.25, "hpolib-svm": 0.2411, "hpolib-logreg": 0.0688}
OURS = "xstar-gp"
ASIDE = ("smac-gp", "xstar-gp-plain", "xstar-dngo")
"""Methods that are run by name only."""
RECORDS = Path(__file__).parent / "records"
RESULT = Path(__file__).parent / "results" / "gp.md"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Record = dict[str, Any]


class Task(NamedTuple):
    """What a record is known by, but for the version of the library. In the order in which tasks are run."""

    seed: int
    problem: str
    method: str
    evaluations: int


# ---------------------------------------------------------------- runs and their records


def run_one(task: Task) -> Record:
    begun = time.perf_counter()
    steps = run(problems.get(task.problem), task.method, task.seed, task.evaluations)
    return {
        **task._asdict(),
        "version": METHODS[task.method].version,
        "seconds": time.perf_counter() - begun,
        "losses": [step.loss for step in steps],
        "processor": [round(step.processor, 6) for step in steps],
        "wall": [round(step.wall, 6) for step in steps],
    }


def task_of(record: Record) -> Task:
    return Task(record["seed"], record["problem"], record["method"], record["evaluations"])


def read(folder: Path, method: str) -> list[Record]:
    file = folder / f"{method}.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def drop(folder: Path, tasks: Iterable[Task]) -> None:
    """Forget the records of xstar's methods among ``tasks``."""
    unwanted = {task for task in tasks if METHODS[task.method].ours}
    for method in sorted({task.method for task in unwanted}):
        kept = [record for record in read(folder, method) if task_of(record) not in unwanted]
        (folder / f"{method}.jsonl").write_text("".join(map(line_of, kept)), encoding="utf-8")


def line_of(record: Record) -> str:
    return json.dumps(record) + "\n"


def commit() -> str:
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parent,
    )
    return described.stdout.strip() or "unknown"


def execute(folder: Path, tasks: Sequence[Task], processes: int) -> int:
    """Run what is not on record; returns how many runs failed."""
    known = {(task_of(r), r["version"]) for method in {t.method for t in tasks} for r in read(folder, method)}
    wanted = [task for task in tasks if (task, METHODS[task.method].version) not in known]
    for name in THREADS:
        os.environ[name] = "1"  # read when a process loads its libraries, so they are started afresh and not forked
    failed, at = 0, commit()
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        running = {pool.submit(run_one, task): task for task in wanted}
        for done, future in enumerate(as_completed(running), 1):
            task = running[future]
            try:
                record = {**future.result(), "commit": at}
            except Exception:  # one library's failure is no reason to lose the other runs
                failed += 1
                print(f"{done} of {len(wanted)}: {task} failed\n{traceback.format_exc()}", file=sys.stderr, flush=True)
                continue
            with (folder / f"{task.method}.jsonl").open("a", encoding="utf-8") as file:
                file.write(line_of(record))
            print(
                f"{done} of {len(wanted)}: {task.problem} {task.method} seed {task.seed}: {min(record['losses']):.6g} "
                f"in {record['seconds']:.1f} s",
                file=sys.stderr,
                flush=True,
            )
    return failed


# ---------------------------------------------------------------- the report


class Results:
    """The records of a comparison; of several for the same task the last one counts."""

    def __init__(self, folder: Path, tasks: Sequence[Task]) -> None:
        wanted = set(tasks)
        found = [record for method in dict.fromkeys(t.method for t in tasks) for record in read(folder, method)]
        self.by_task = {task_of(record): record for record in found if task_of(record) in wanted}
        self.evaluations = tasks[0].evaluations
        self.methods = [m for m in dict.fromkeys(t.method for t in tasks) if any(t.method == m for t in self.by_task)]
        self.problems = [
            p for p in dict.fromkeys(t.problem for t in tasks) if any(t.problem == p for t in self.by_task)
        ]
        self.peers = [method for method in self.methods if not METHODS[method].ours]

    def records(self, problem: str | None, method: str) -> list[Record]:
        return [r for t, r in self.by_task.items() if t.method == method and problem in (None, t.problem)]

    def best(self, problem: str, method: str, count: int) -> list[float]:
        """The lowest loss of the first ``count`` evaluations, one per seed."""
        return [min(record["losses"][:count]) for record in self.records(problem, method)]


def tables(results: Results, count: int) -> Iterator[str]:
    yield f"| problem | {' | '.join(results.methods)} |"
    yield "|---|" + "---:|" * len(results.methods)
    for problem in results.problems:
        columns = [results.best(problem, method, count) for method in results.methods]
        most = max(map(len, columns))
        least = min(mean_and_error(column)[0] for column in columns if column)
        yield f"| {problem} | {' | '.join(cell(column, least, most) for column in columns)} |"


def cell(column: list[float], least: float, most: int) -> str:
    if not column:
        return "–"
    mean, error = mean_and_error(column)
    text = f"{mean:.6g} ± {error:.2g}"
    if len(column) < most:
        text += f" ({len(column)} seeds)"
    return f"**{text}**" if mean == least else text


def ranks(results: Results, counts: Sequence[int]) -> Iterator[str]:
    """Mean rank over all pairs of problem and seed that every method has a record of; equals share their ranks."""
    pairs: dict[tuple[str, int], dict[str, Record]] = {}
    for task, record in results.by_task.items():
        pairs.setdefault((task.problem, task.seed), {})[task.method] = record
    complete = [of for of in pairs.values() if len(of) == len(results.methods)]
    yield f"Over {len(complete)} pairs of problem and seed that all methods were run on; equals share their ranks.\n"
    if not complete:
        return
    yield f"| method | {' | '.join(f'after {count}' for count in counts)} |"
    yield "|---|" + "---:|" * len(counts)
    means = []
    for count in counts:
        best = [[min(of[method]["losses"][:count]) for method in results.methods] for of in complete]
        means.append(rankdata(best, axis=1).mean(axis=0))
    for place, method in enumerate(results.methods):
        yield f"| {method} | {' | '.join(f'{mean[place]:.2f}' for mean in means)} |"


def verdicts(results: Results, count: int) -> Iterator[str]:
    yield f"| problem | best peer | {OURS} less best peer | one standard error | within |"
    yield "|---|---|---:|---:|---|"
    held, compared = 0, 0
    for problem in results.problems:
        mine = results.best(problem, OURS, count)
        others = {peer: results.best(problem, peer, count) for peer in results.peers}
        summary = {peer: mean_and_error(column) for peer, column in others.items() if column}
        if not mine or not summary:
            continue
        peer = min(summary, key=lambda name: summary[name][0])
        mean, error = mean_and_error(mine)
        difference, allowed = mean - summary[peer][0], math.hypot(error, summary[peer][1])
        held, compared = held + (difference <= allowed), compared + 1
        answer = "better" if difference < -allowed else "yes" if difference <= allowed else "**no**"
        yield f"| {problem} | {peer} | {difference:+.3g} | {allowed:.2g} | {answer} |"
    yield f"\nWithin one standard error of the best peer, or better: {held} of {compared}."


def arrivals(results: Results) -> Iterator[str]:
    named = [problem for problem in TARGETS if problem in results.problems]
    yield f"| method | {' | '.join(f'{problem} ≤ {TARGETS[problem]}' for problem in named)} |"
    yield "|---|" + "---:|" * len(named)
    for method in results.methods:
        cells = []
        for problem in named:
            numbers = [arrival(record["losses"], TARGETS[problem]) for record in results.records(problem, method)]
            if not numbers:
                cells.append("–")
                continue
            median = statistics.median(numbers)
            shown = f"{median:g}" if math.isfinite(median) else f"> {results.evaluations}"
            cells.append(f"{shown} ({sum(map(math.isfinite, numbers))} of {len(numbers)})")
        yield f"| {method} | {' | '.join(cells)} |"


def arrival(losses: list[float], target: float) -> float:
    """The number of the first evaluation at or below the target, counted from one; ∞ if there was none."""
    return next((number for number, best in enumerate(accumulate(losses, min), 1) if best <= target), math.inf)


def times(results: Results) -> Iterator[str]:
    yield "| method | library | commit of the run | processor, mean | processor, median | wall, mean | runs |"
    yield "|---|---|---|---:|---:|---:|---:|"
    for method in results.methods:
        records = results.records(None, method)
        processor = [seconds * 1e3 for record in records for seconds in record["processor"]]
        wall = [seconds * 1e3 for record in records for seconds in record["wall"]]
        versions = ", ".join(sorted({record["version"] for record in records}))
        commits = ", ".join(sorted({record["commit"] for record in records}))
        yield (
            f"| {method} | {versions} | {commits} | {statistics.mean(processor):.3g} | {statistics.median(processor):.3g} "
            f"| {statistics.mean(wall):.3g} | {len(records)} |"
        )


def installed(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        try:
            version(name)
        except PackageNotFoundError:
            continue
        yield name


def report(results: Results, seeds: int) -> str:
    counts = sorted({min(50, results.evaluations), results.evaluations})
    lines = [
        "# Searchers at the full budget, one trial at a time",
        "",
        describe_machine(*installed(("optuna", "botorch", "gpytorch", "torch", "smac", "ConfigSpace"))).removeprefix(
            "# "
        ),
        "",
        f"Seeds 0 to {seeds - 1}, {results.evaluations} evaluations each, one thread. Made by `python -m benchmarks.quality`; "
        "the methods and their settings are described in `benchmarks/peers.py`.",
        "",
        "## Mean rank",
        "",
        *ranks(results, counts),
    ]
    for count in counts:
        lines += ["", f"## Best loss after {count} evaluations", ""]
        lines += ["Mean ± standard error over seeds; the lowest mean is bold.", "", *tables(results, count)]
    if OURS in results.methods and results.peers:
        for count in counts:
            lines += ["", f"## {OURS} and the best peer after {count} evaluations", ""]
            lines += [
                "The best peer is the one with the lowest mean. One standard error is that of the difference of the two means, "
                "√(se² + se²).",
                "",
                *verdicts(results, count),
            ]
    lines += ["", "## Evaluations until a target", ""]
    lines += [
        "Median over seeds, and how many seeds arrived; one that did not counts as infinite.",
        "",
        *arrivals(results),
    ]
    lines += ["", "## Time per decision", "", "Milliseconds for one ask and one tell, over all problems.", ""]
    lines += times(results)
    return "\n".join(lines) + "\n"


def chosen(text: str, known: Iterable[str], what: str) -> list[str]:
    names = text.split(",")
    if unknown := sorted(set(names) - set(known)):
        raise SystemExit(f"unknown {what}: {', '.join(unknown)}; known are {', '.join(known)}")
    return names


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default=",".join(name for name in METHODS if name not in ASIDE))
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--evaluations", type=int, default=100)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--records", type=Path, default=RECORDS)
    parser.add_argument("--again", action="store_true", help="run xstar's methods again, though they are on record")
    parser.add_argument("--table-only", action="store_true", help="run nothing, show what is on record")
    parser.add_argument("--write", action="store_true", help=f"write the tables to {RESULT.name}, too")
    options = parser.parse_args()
    methods = chosen(options.methods, METHODS, "methods")
    names = chosen(options.problems, problems.names(), "problems")
    tasks = [
        Task(seed, problem, method, options.evaluations)
        for seed in range(options.seeds)
        for problem in names
        for method in methods
    ]
    options.records.mkdir(parents=True, exist_ok=True)
    failed = 0
    if not options.table_only:
        if options.again:
            drop(options.records, tasks)
        failed = execute(options.records, tasks, options.processes)
    results = Results(options.records, tasks)
    if results.by_task:
        text = report(results, options.seeds)
        if options.write:
            RESULT.write_text(text, encoding="utf-8")
        print(text)
    if failed:
        raise SystemExit(f"{failed} runs failed: see above")


if __name__ == "__main__":
    main()
