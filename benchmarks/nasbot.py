"""NASBOT on the synthetic functions of its paper (C.4), its ablations (Figure 7), and how long a suggestion takes.

    python -m benchmarks.nasbot [--part time|search|ablation|kernels] [--functions f1,f2,f3] [--workers 1,4] [--seeds 10]
                                [--evaluations 100] [--processes 1] [--again] [--table-only] [--write]

``time``      processor time of one suggestion after t = 25, 50, 100, 200 evaluated networks, with the paper's number of
              evaluations of the acquisition, 25 √t. The median of several suggestions; a refit is counted at the share of
              suggestions that have one. The paper reports 46 s on average.
``search``    the highest value of f1 (CNNs), f2 and f3 (MLPs) found by NASBOT, by evolution (EA) and by random networks (RAND).
              Workers finish in the order in which they began: with four, a suggestion does not know of the last three.
``kernels``   how well models with other terms predict: fitted to the first 60 networks of a search, asked for the next 40.
``ablation``  NASBOT with parts of its kernel, with some of the modifiers, and with other powers p, p̄.

Runs are kept in benchmarks/records/nasbot.jsonl with the commit and not repeated; ``--again`` drops those of NASBOT first.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import xstar as xs
from benchmarks.machine import describe_machine
from benchmarks.quality import commit
from xstar.models.gp import Posterior, fit
from xstar.models.standardise import Targets
from xstar.models.surrogate import Inputs, at_full_budget
from xstar.nets import synthetic
from xstar.searchers import DNGO, GP, NASBOT, Evolution, NetworkRandom, Searcher
from xstar.searchers.gp.fit import last_refit
from xstar.searchers.model_based.networks import kernels
from xstar.searchers.model_based.observations import Observations

RECORDS = Path(__file__).parent / "records" / "nasbot.jsonl"
RESULT = Path(__file__).parent / "results" / "nasbot.md"

DOMAINS: dict[str, Any] = {
    "f1": xs.nets.CNN(image=32, channels=3, classes=10),
    "f2": xs.nets.MLP(inputs=16, outputs=1),
    "f3": xs.nets.MLP(inputs=16, outputs=1),
}
PAPER = {"describe": False, "samples": 4}
METHODS: dict[str, Searcher] = {
    "nasbot": NASBOT(),
    "evolution": Evolution(),
    "nasbot-random": NetworkRandom(),
    "dngo": DNGO(),
    "paper's kernel": GP(**PAPER),
    "paper's kernel, p̄ = 2": GP(**PAPER, powers=(1.0, 2.0)),
    "only d": GP(**{**PAPER, "distances": "plain"}),
    "only d̄": GP(**{**PAPER, "distances": "normalised"}),
    "only described": GP(distances="none"),
    "d̄ and described": GP(distances="normalised"),
    "modifiers of units": NASBOT(modifiers="units"),
    "modifiers of structure": NASBOT(modifiers="structure"),
}
MAIN = ("nasbot", "evolution", "nasbot-random")
TIMES = (25, 50, 100, 200)
PAPER_SECONDS = 46.0
SEEN, ASKED = 60, 40


class Task(NamedTuple):
    """One search."""

    seed: int
    evaluations: int
    workers: int
    function: str
    method: str


def run(task: Task) -> dict[str, Any]:
    function = getattr(synthetic, task.function)
    space = xs.Space(net=DOMAINS[task.function])
    study = xs.Study(space, searcher=METHODS[task.method], direction="maximize", seed=task.seed)
    running: deque[Any] = deque()
    values: list[float] = []
    spent = 0.0
    while len(values) < task.evaluations:
        while len(running) < task.workers and len(values) + len(running) < task.evaluations:
            begun = time.process_time()
            running.append(study.ask())
            spent += time.process_time() - begun
        trial = running.popleft()
        values.append(function(trial["net"]))
        study.tell(trial, values[-1])
    fallbacks = sum(trial.origin.startswith("random:") for trial in study.history.trials)
    return {**task._asdict(), "values": values, "processor": spent, "fallbacks": fallbacks, "commit": commit()}


# ---------------------------------------------------------------- records


def recorded() -> dict[Task, dict[str, Any]]:
    if not RECORDS.exists():
        return {}
    lines = [json.loads(line) for line in RECORDS.read_text(encoding="utf-8").splitlines()]
    return {Task(*(line[name] for name in Task._fields)): line for line in lines}


def complete(tasks: Iterable[Task], processes: int) -> None:
    """Run what is not on record, lower seeds first."""
    missing = sorted(set(tasks) - set(recorded()))
    RECORDS.parent.mkdir(exist_ok=True)
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(run, task) for task in missing]
        for number, done in enumerate(as_completed(waiting), 1):
            line = done.result()
            with RECORDS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            print(
                f"{number} of {len(missing)}: {line['function']} {line['method']}, {line['workers']} workers,"
                f" seed {line['seed']}: {max(line['values']):.3f} in {line['processor']:.0f} s",
                flush=True,
            )


# ---------------------------------------------------------------- tables


def cell(found: dict[Task, dict[str, Any]], tasks: Iterable[Task]) -> str:
    """Mean ± standard error of the best value; the number of runs if some are missing."""
    wanted = list(tasks)
    best = [max(found[task]["values"]) for task in wanted if task in found]
    if not best:
        return ""
    error = statistics.stdev(best) / len(best) ** 0.5 if len(best) > 1 else 0.0
    told = f"{statistics.mean(best):.3f} ± {error:.3f}"
    return told if len(best) == len(wanted) else f"{told} ({len(best)})"


def table(
    found: dict[Task, dict[str, Any]],
    methods: Iterable[str],
    columns: list[tuple[str, int]],
    seeds: int,
    evaluations: int,
) -> Iterator[str]:
    yield "| method | " + " | ".join(f"{function}, {workers} at a time" for function, workers in columns) + " |"
    yield "|---|" + "---:|" * len(columns)
    for method in methods:
        cells = [
            cell(found, (Task(seed, evaluations, workers, function, method) for seed in range(seeds)))
            for function, workers in columns
        ]
        if any(cells):
            yield f"| {method} | {' | '.join(cells)} |"


# ---------------------------------------------------------------- time


def seconds(function: str, t: int, repeats: int) -> tuple[float, float, int]:
    """Processor time of a suggestion after t networks with its share of a refit, of the refit alone, and the mean layers."""
    space = xs.Space(net=DOMAINS[function])
    value = getattr(synthetic, function)
    drawn = xs.Study(space, method="evolution", direction="maximize", seed=0)
    networks = []
    for _ in range(t):
        trial = drawn.ask()
        assert trial is not None
        drawn.tell(trial, value(trial["net"]))
        networks.append(trial["net"])
    spent = []
    for seed in range(repeats):
        study = xs.Study(space, searcher=METHODS["nasbot"], direction="maximize", seed=seed)
        for network in networks:
            study.add({"net": network}, value(network))
        # In a search each of these pairs is computed when its network is new, not all at once.
        data = Observations.of(study.history)
        data.networks[0].between(data.X[:, 0].astype(np.int64), data.X[:, 0].astype(np.int64))
        first = _timed(study)
        spent.append((first, _timed(study)))
    refits = len({last_refit(count) for count in range(t, t + t // 10 + 1)})
    share = refits / (t // 10 + 1)
    with_refit, without = (statistics.median(times) for times in zip(*spent, strict=True))
    layers = round(statistics.mean(len(network.layers) for network in networks))
    return without + share * max(with_refit - without, 0.0), max(with_refit - without, 0.0), layers


def _timed(study: xs.Study) -> float:
    begun = time.process_time()
    trial = study.ask()
    spent = time.process_time() - begun
    assert trial is not None
    assert trial.origin.startswith("nasbot: log EI"), trial.origin
    return spent


def time_table(functions: list[str], repeats: int) -> Iterator[str]:
    yield "| t | " + " | ".join(f"{name}: suggestion | its refit | layers" for name in functions) + " | paper / ours |"
    yield "|---:|" + "---:|" * (3 * len(functions) + 1)
    for t in TIMES:
        found = [seconds(name, t, repeats) for name in functions]
        cells = [f"{each:.2f} s | {refit:.2f} s | {layers}" for each, refit, layers in found]
        ratio = PAPER_SECONDS / np.mean([each for each, _, _ in found])
        yield f"| {t} | {' | '.join(cells)} | {ratio:.0f} |"


# ---------------------------------------------------------------- kernels


KERNELS: dict[str, tuple[str, tuple[float, float], bool]] = {
    "d and d̄, p = p̄ = 1": ("both", (1.0, 1.0), False),
    "the same with p̄ = 2": ("both", (1.0, 2.0), False),
    "z alone": ("none", (1.0, 1.0), True),
    "all three, p = p̄ = 1": ("both", (1.0, 1.0), True),
}


def kernel_table(functions: list[str]) -> Iterator[str]:
    """Root mean square errors in standard deviations of the targets; one search by random networks, one by evolution."""
    yield "| kernel | " + " | ".join(functions) + " |"
    yield "|---|" + "---:|" * len(functions)
    found: dict[str, list[str]] = {name: [] for name in KERNELS}
    for function in functions:
        errors: dict[str, list[str]] = {name: [] for name in KERNELS}
        for seed, method in enumerate(("nasbot-random", "evolution")):
            study = xs.Study(xs.Space(net=DOMAINS[function]), method=method, seed=seed)
            for _ in range(SEEN + ASKED):
                trial = study.ask()
                assert trial is not None
                study.tell(trial, -getattr(synthetic, function)(trial["net"]))
            data = Observations.of(study.history)
            targets = Targets.of(data.loss[:SEEN], straighten=True)(data.loss)
            for name, (parts, powers, describe) in KERNELS.items():
                surrogate = at_full_budget(
                    Inputs((), (), (), frozenset(), kernels(data, parts, powers, describe, "matern52"))
                )
                theta = fit(surrogate, data.X[:SEEN], targets[:SEEN], np.random.default_rng(0))
                mean = Posterior.of(surrogate, theta, data.X[:SEEN], targets[:SEEN]).means(data.X[SEEN:])[:, 0]
                errors[name].append(f"{np.sqrt(np.mean((mean - targets[SEEN:]) ** 2)):.2f}")
        for name in KERNELS:
            found[name].append(", ".join(errors[name]))
    for name, cells in found.items():
        yield f"| {name} | {' | '.join(cells)} |"


# ---------------------------------------------------------------- the whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("time", "search", "ablation", "kernels"), default=None)
    parser.add_argument("--functions", default="f1,f2,f3")
    parser.add_argument("--workers", default="1,4")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--evaluations", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--table-only", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    functions, seeds, evaluations = options.functions.split(","), options.seeds, options.evaluations
    parts = [options.part] if options.part else ["time", "search", "ablation", "kernels"]
    if options.again and RECORDS.exists():
        blind = ("evolution", "nasbot-random")
        kept = [
            line for line in RECORDS.read_text(encoding="utf-8").splitlines() if json.loads(line)["method"] in blind
        ]
        RECORDS.write_text("".join(line + "\n" for line in kept), encoding="utf-8")
    columns = [(name, int(count)) for name in functions for count in options.workers.split(",")]
    alone = [(name, 1) for name in functions]
    rest = ("nasbot", *(method for method in METHODS if method not in MAIN))
    tasks: list[Task] = []
    for part, methods, where in (("search", MAIN, columns), ("ablation", rest, alone)):
        if part in parts:
            tasks += [
                Task(seed, evaluations, workers, function, method)
                for seed in range(seeds)
                for function, workers in where
                for method in methods
            ]
    if tasks and not options.table_only:
        complete(tasks, options.processes)
    found = recorded()
    commits = ", ".join(sorted({line["commit"] for line in found.values()})) or "none"
    lines = ["# NASBOT", "", describe_machine().removeprefix("# "), ""]
    if "time" in parts:
        lines += [
            "Processor time per suggestion; the paper: 46 s.",
            "",
            *time_table(functions[:2], options.repeats),
            "",
        ]
    told = f"after {evaluations} evaluations; mean ± standard error of {seeds} seeds (higher is better)"
    if "search" in parts:
        lines += [f"Best value {told}. Runs of commits {commits}.", ""]
        lines += [*table(found, MAIN, columns, seeds, evaluations), ""]
    if "ablation" in parts:
        lines += [f"Ablations: best value {told}.", "", *table(found, rest, alone, seeds, evaluations), ""]
    if "kernels" in parts:
        lines += ["Errors of predictions (two searches each).", "", *kernel_table(functions), ""]
    print("\n".join(lines))
    if options.write:
        RESULT.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
