"""Architectures that were really trained: MLPs on two data sets, and the cells of NAS-Bench-201.

    python -m benchmarks.nasbot_real --part mlp   [--seeds 3] [--first 3] [--evaluations 50] [--problems naval,protein]
    python -m benchmarks.nasbot_real --part cells [--seeds 10] [--evaluations 500]
                                     [--methods …]
                                     [--processes 1] [--records FILE] [--again] [--table-only] [--write]

*MLPs.* Naval propulsion and protein structure, two of the paper's data sets, with a training that a processor can afford: the
paper took 20,000 iterations on all rows and networks of up to 1,024 units a layer, here it is ``TRAINING`` below. As in the
paper (5, C.2): 60 % of the rows are for training (here no more than ``rows`` of them), 20 % for validation (here no more
than ``valid``), 20 % for the test; inputs and output are normalised, so that a constant predicts with an error of 1; the
objective is the lowest of the validation errors taken along the training, the test error is that of the same moment. A
seed stands for a split, for initial weights and for the search: all methods of one seed see the same function. The network
a method ends with is trained ``FINAL`` times more from other weights; the median of these test errors is reported, since a
deep network may learn from some weights and not from others. The training was chosen on seeds 0 and 1 of naval, so figures
to be quoted begin at seed 3.

*Cells.* All 15,625 cells of NAS-Bench-201 with their validation errors on CIFAR-10 after 200 epochs, the mean of two or three
runs. How many evaluations does it take until one of the six cells is evaluated whose test accuracy is ``TARGET`` % or more? A
cell that is asked for twice counts twice. The methods in ``EDGES`` see six categorical parameters, the others a cell.

Each run is one line of JSON in ``records/nasbot_real.jsonl``; what is on record is not run again: the command may be ended and
given again. A record is known by its task, the settings and the version of the library; ``--again`` drops those of
xstar's methods that were asked for. One thread. Needs torch for the MLPs and Optuna for ``optuna-tpe``; set XSTAR_DATA if
the data is not in ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import xstar as xs
from benchmarks import peers
from benchmarks.machine import describe_machine
from benchmarks.quality import THREADS, cell, chosen, commit, installed, line_of
from xstar import nets, problems
from xstar.problems import data

FILES = {
    "naval": "uci_regression/naval-propulsion-plant.npz",
    "protein": "uci_regression/protein-tertiary-structure.npz",
}
TRAINING: dict[str, Any] = {
    "rows": 2000,
    "valid": 1000,
    "optimizer": "adam",
    "rate": 0.002,  # at its highest: it rises for ``warmup`` iterations and falls to 0 in a straight line
    # Without any of this, and without clipping, a network of 23 layers that a search had chosen for naval propulsion had
    # validation errors of 0.90, 0.08, 0.16 and 0.98 from four sets of weights, with it 0.04, 0.08, 0.10 and 0.02.
    "warmup": 50,
    "clip": 1.0,
    "batch": 128,
    "iterations": 300,
    "every": 25,  # iterations between two looks at the validation error
    # He et al. (2015). With torch's own, which are smaller, six of seven networks of 13 to 27 layers learned nothing of naval
    # propulsion, with these four.
    "weights": "he",
    "units": [8, 64],
    "max_layers": 30,
}
FINAL = 3
WORST = 10.0
"""What a network that diverged counts as: ten times the error of a constant."""
MLP_METHODS = ("nasbot", "evolution", "nasbot-random", "random")

CELLS = "nb201-cifar10"
TARGET = 94.3
CELL_METHODS = ("nasbot", "evolution", "nasbot-random", "random")
EDGES = {"gp-edges": "xstar-gp", "optuna-tpe": "optuna-tpe"}
"""Methods on the six edges, and what ``peers.py`` calls them."""

FOLDER = Path(__file__).parent
RECORDS, RESULT = FOLDER / "records" / "nasbot_real.jsonl", FOLDER / "results" / "nasbot-real.md"

Record = dict[str, Any]


class Task(NamedTuple):
    """What a record is known by, but for settings and the version. In the order in which tasks are run."""

    seed: int
    part: str
    problem: str
    method: str
    evaluations: int

    @property
    def library(self) -> str:
        package = peers.METHODS[EDGES[self.method]].package if self.method in EDGES else "xstar"
        return f"{package} {version(package)}"

    @property
    def settings(self) -> dict[str, Any]:
        return TRAINING if self.part == "mlp" else {"target": TARGET}


# ---------------------------------------------------------------- MLPs


class Split(NamedTuple):
    """Normalised rows: inputs (n, d) and outputs (n, 1), both float32."""

    train: tuple[Any, Any]
    valid: tuple[Any, Any]
    test: tuple[Any, Any]


@lru_cache(maxsize=2)
def split_of(problem: str, seed: int) -> Split:
    """60, 20 and 20 % of the rows in an order that the seed gives, cut to the settings; scaled by the training rows."""
    import torch

    with np.load(data.path(FILES[problem])) as file:
        x, y = file["data"][:, file["feature_index"]], file["data"][:, file["target_index"]].reshape(-1, 1)
    order = np.random.default_rng(seed).permutation(len(x))
    first, second = int(0.6 * len(x)), int(0.8 * len(x))
    parts = order[:first][: TRAINING["rows"]], order[first:second][: TRAINING["valid"]], order[second:]

    def scaled(values: Any) -> list[Any]:
        fit = values[parts[0]]
        centre, spread = fit.mean(axis=0), fit.std(axis=0)
        spread = np.where(spread > 1e-9 * np.abs(centre), spread, 1.0)  # two inputs of naval propulsion are constant
        return [torch.tensor((values[part] - centre) / spread, dtype=torch.float32) for part in parts]

    return Split(*zip(scaled(x), scaled(y), strict=True))


class Trained(NamedTuple):
    valid: float
    test: float
    seconds: float


@lru_cache(maxsize=4096)
def train(problem: str, seed: int, graph: nets.Graph, weights: int) -> Trained:
    """One network: the lowest validation error along its training, and the test error at that moment.

    A pure function of its arguments, hence the cache: methods of one seed share the networks they all begin with.
    """
    import torch
    from torch.nn import functional

    torch.set_num_threads(1)
    begun = time.process_time()
    split = split_of(problem, seed)
    torch.manual_seed(1000 * seed + weights)
    rows = torch.Generator().manual_seed(1000 * seed + weights)  # the same mini-batches for all networks
    model: Any = graph.to_torch()
    for one in model.modules():
        if isinstance(one, torch.nn.Linear):
            torch.nn.init.kaiming_normal_(one.weight, nonlinearity="relu")
            torch.nn.init.zeros_(one.bias)
    optimizer = torch.optim.Adam(model.parameters(), lr=TRAINING["rate"])
    x, y = split.train

    def error(part: tuple[Any, Any]) -> float:
        with torch.no_grad():
            found = float(functional.mse_loss(model(part[0]), part[1]))
        return min(found, WORST) if math.isfinite(found) else WORST

    best = (WORST, WORST)
    for iteration in range(1, TRAINING["iterations"] + 1):
        rate = TRAINING["rate"] * min(1.0, iteration / TRAINING["warmup"])
        optimizer.param_groups[0]["lr"] = rate * (1.0 - (iteration - 1) / TRAINING["iterations"])
        few = torch.randint(len(x), (TRAINING["batch"],), generator=rows)
        optimizer.zero_grad()
        functional.mse_loss(model(x[few]), y[few]).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), TRAINING["clip"])
        optimizer.step()
        if iteration % TRAINING["every"] == 0:
            found = error(split.valid)
            if found < best[0]:
                best = found, error(split.test)
    return Trained(*best, time.process_time() - begun)


def run_mlp(task: Task) -> Record:
    inputs = split_of(task.problem, task.seed).train[0].shape[1]
    domain = nets.MLP(inputs=inputs, units=tuple(TRAINING["units"]), max_layers=TRAINING["max_layers"])
    study = xs.Study(xs.Space(net=domain), metric="mse", method=task.method, seed=task.seed)
    losses, seconds, decided = [], [], []
    for _ in range(task.evaluations):
        begun = time.process_time()
        trial = study.ask()
        decided.append(round(time.process_time() - begun, 4))
        if trial is None:
            raise RuntimeError(f"the study gave no trial: {study.ended}")
        found = train(task.problem, task.seed, trial["net"], 0)
        losses.append(found.valid)
        seconds.append(round(found.seconds, 3))
        study.tell(trial, found.valid)
    pick = study.best["net"]
    tests = [train(task.problem, task.seed, pick, weights).test for weights in range(1, FINAL + 1)]
    return {
        "losses": losses,
        "tests": tests,
        "pick": pick.to_json(),
        "trained": seconds,
        "decided": decided,
        "number": study.best.number,
    }


# ---------------------------------------------------------------- cells


def run_cells(task: Task) -> Record:
    problem: Any = problems.get(task.problem)
    optimiser: peers.Optimiser
    unpack: Callable[[Any], Any]
    if task.method in EDGES:
        optimiser = peers.METHODS[EDGES[task.method]].make(problem.space, task.seed, task.evaluations)
        unpack = problem.space.parse
    else:
        optimiser, unpack = peers.Xstar(xs.Space(cell=nets.Cell()), task.seed, task.method), lambda c: c["cell"].config
    losses: list[float] = []
    tests: list[float] = []
    decided: list[float] = []
    while len(losses) < task.evaluations and not (tests and tests[-1] >= TARGET):
        begun = time.process_time()
        config = optimiser.ask()
        decided.append(round(time.process_time() - begun, 4))
        found = unpack(config)
        losses.append(problem.loss(found))
        tests.append(round(100.0 - problem.test_error(found), 4))
        optimiser.tell(config, losses[-1])
    return {"losses": losses, "tests": tests, "decided": decided, "arrived": tests[-1] >= TARGET}


# ---------------------------------------------------------------- runs and their records


def run_one(task: Task) -> Record:
    begun = time.perf_counter()
    found = run_mlp(task) if task.part == "mlp" else run_cells(task)
    known = {**task._asdict(), "version": task.library, "settings": task.settings}
    return {**known, "seconds": round(time.perf_counter() - begun, 1), **found}


def read(file: Path) -> list[Record]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def task_of(record: Record) -> Task:
    return Task(*(record[name] for name in Task._fields))


def known(file: Path, tasks: Sequence[Task]) -> dict[Task, Record]:
    """The records of tasks with the present settings and versions; of several the last one counts."""
    wanted = set(tasks)
    found = {task_of(record): record for record in read(file) if task_of(record) in wanted}
    return {t: r for t, r in found.items() if r["settings"] == t.settings}


def execute(file: Path, tasks: Sequence[Task], processes: int) -> int:
    """Run what is not on record; returns how many runs failed."""
    done = known(file, tasks)
    wanted = [task for task in tasks if task not in done or done[task]["version"] != task.library]
    for name in THREADS:
        os.environ[name] = "1"  # read when a process loads its libraries, so they are started afresh and not forked
    failed, at = 0, commit()
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        running = {pool.submit(run_one, task): task for task in wanted}
        for count, future in enumerate(as_completed(running), 1):
            task = running[future]
            try:
                record = {**future.result(), "commit": at}
            except Exception:  # one failure is no reason to lose the other runs
                failed += 1
                print(f"{count} of {len(wanted)}: {task} failed\n{traceback.format_exc()}", file=sys.stderr, flush=True)
                continue
            with file.open("a", encoding="utf-8") as out:
                out.write(line_of(record))
            shown = f"{task.problem} {task.method} seed {task.seed}: {min(record['losses']):.5g}"
            print(
                f"{count} of {len(wanted)}: {shown}, {len(record['losses'])} evaluations, {record['seconds']:.0f} s",
                file=sys.stderr,
                flush=True,
            )
    return failed


def drop(file: Path, tasks: Sequence[Task]) -> None:
    """Forget the records of xstar's methods among ``tasks``."""
    unwanted = {task for task in tasks if task.library.startswith("xstar")}
    kept = [record for record in read(file) if task_of(record) not in unwanted]
    file.write_text("".join(map(line_of, kept)), encoding="utf-8")


# ---------------------------------------------------------------- the report


def mlp_tables(found: dict[Task, Record]) -> Iterator[str]:
    names = {task.problem: None for task in found}
    most = max(task.evaluations for task in found)
    trained = statistics.median(seconds for record in found.values() for seconds in record["trained"])
    low, high = TRAINING["units"]
    yield "## MLPs\n"
    yield (
        f"{most} evaluations. Training: at most {TRAINING['rows']:,} rows, Adam with a rate of at most {TRAINING['rate']:g}, "
        f"{TRAINING['iterations']} iterations of {TRAINING['batch']} rows, {trained:.2g} s of the processor at the median; "
        f"networks of at most {TRAINING['max_layers']} layers of {low} to {high} units. Mean squared errors of normalised "
        "outputs, mean ± standard error over seeds; the lowest is bold. *Test* is the median of "
        f"{FINAL} new trainings of the network that was chosen by its validation error. The paper's test errors, with larger "
        "networks, all rows and another training: naval 0.0075, protein 0.902.\n"
    )
    counts = sorted({min(most, count) for count in (10, 25, most)})
    for problem in names:
        yield f"### {problem}\n"
        rows: dict[str, list[Record]] = {}
        for task, record in found.items():
            if task.problem == problem:
                rows.setdefault(task.method, []).append(record)
        columns = [[[min(r["losses"][:count]) for r in of] for of in rows.values()] for count in counts]
        columns.append([[statistics.median(r["tests"]) for r in of] for of in rows.values()])
        yield f"| method | {' | '.join(f'best of {count}' for count in counts)} | test | ms per decision |"
        yield "|---|" + "---:|" * (len(counts) + 2)
        for place, (method, of) in enumerate(rows.items()):
            seeds = max(map(len, rows.values()))
            cells = [cell(c[place], min(map(statistics.mean, c)), seeds) for c in columns]
            decided = 1e3 * statistics.mean(seconds for r in of for seconds in r["decided"])
            yield f"| {method} | {' | '.join(cells)} | {decided:.3g} |"
        yield ""


def cell_tables(found: dict[Task, Record]) -> Iterator[str]:
    cap = max(task.evaluations for task in found)
    yield "## NAS-Bench-201\n"
    yield (
        f"Evaluations until a cell with a test accuracy of {TARGET} % or more on CIFAR-10 was evaluated: the six best of "
        f"15,625. The search sees validation errors. At most {cap} evaluations; a run that did not arrive counts as "
        "infinite.\n"
    )
    yield "| method | sees | median | quartiles | arrived | ms per decision |"
    yield "|---|---|---:|---:|---:|---:|"
    for method in dict.fromkeys(task.method for task in found):
        records = [record for task, record in found.items() if task.method == method]
        numbers = [len(r["losses"]) if r["arrived"] else math.inf for r in records]
        low, middle, high = quartile(numbers, 0.25), statistics.median(numbers), quartile(numbers, 0.75)
        decided = 1e3 * statistics.mean(seconds for r in records for seconds in r["decided"])
        shown = [f"{value:g}" if math.isfinite(value) else f"> {cap}" for value in (low, middle, high)]
        yield (
            f"| {method} | {'six edges' if method in EDGES else 'a cell'} | {shown[1]} | {shown[0]} … {shown[2]} "
            f"| {sum(map(math.isfinite, numbers))} of {len(numbers)} | {decided:.3g} |"
        )
    yield ""


def quartile(numbers: list[float], share: float) -> float:
    """One of the numbers: some may be infinite, and nothing lies between them and the others."""
    return sorted(numbers)[min(len(numbers) - 1, math.floor(share * len(numbers)))]


def report(found: dict[Task, Record]) -> str:
    machine = describe_machine(*installed(("torch", "optuna", "POT"))).removeprefix("# ")
    commits = ", ".join(sorted({record["commit"] for record in found.values()}))
    lines = ["# Architectures that were trained", "", machine, ""]
    lines += [f"Made by `python -m benchmarks.nasbot_real`, one thread. Commit of the runs: {commits}.", ""]
    for part, tables in (("mlp", mlp_tables), ("cells", cell_tables)):
        of_part = {task: record for task, record in found.items() if task.part == part}
        if of_part:
            lines += tables(of_part)
    return "\n".join(lines).rstrip() + "\n"


def tasks_of(part: str, options: argparse.Namespace) -> list[Task]:
    mlp = part == "mlp"
    names = [*MLP_METHODS] if mlp else [*CELL_METHODS, *EDGES]
    asked = (
        chosen(options.methods, sorted({*MLP_METHODS, *CELL_METHODS, *EDGES}), "methods") if options.methods else names
    )
    methods = [method for method in asked if method in names]
    where = chosen(options.problems, FILES, "problems") if mlp else [CELLS]
    seeds, evaluations = options.seeds or (3 if mlp else 10), options.evaluations or (50 if mlp else 500)
    return [
        Task(seed, part, problem, method, evaluations)
        for seed in range(options.first, options.first + seeds)
        for problem in where
        for method in methods
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("mlp", "cells", "all"), default="all")
    parser.add_argument("--methods", default="", help="of the part; all where nothing is said")
    parser.add_argument("--problems", default=",".join(FILES))
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--evaluations", type=int)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--records", type=Path, default=RECORDS)
    parser.add_argument("--again", action="store_true", help="run xstar's methods again, though they are on record")
    parser.add_argument("--table-only", action="store_true", help="run nothing, show what is on record")
    parser.add_argument("--write", action="store_true", help=f"write the tables to {RESULT.name}, too")
    options = parser.parse_args()
    parts = ("mlp", "cells") if options.part == "all" else (options.part,)
    tasks = [task for part in parts for task in tasks_of(part, options)]
    options.records.parent.mkdir(parents=True, exist_ok=True)
    failed = 0
    if not options.table_only:
        needed = {
            "torch": any(task.part == "mlp" for task in tasks),
            "optuna": any("optuna" in t.method for t in tasks),
        }
        if missing := [name for name, wanted in needed.items() if wanted and find_spec(name) is None]:
            raise SystemExit(f"not installed: {', '.join(missing)}")
        if options.again:
            drop(options.records, tasks)
        failed = execute(options.records, tasks, options.processes)
    found = known(options.records, tasks)
    if found:
        text = report(found)
        if options.write:
            RESULT.write_text(text, encoding="utf-8")
        print(text)
    if failed:
        raise SystemExit(f"{failed} runs failed: see above")


if __name__ == "__main__":
    main()
