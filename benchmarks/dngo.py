"""DNGO beside the GP and other libraries: the paper's Table 1 and Figure 1, 800 workers, and honest intervals.

    python -m benchmarks.dngo --part table1      [--seeds 10] [--methods …] [--processes 1] [--again] [--table-only]
    python -m benchmarks.dngo --part figure1     [--sizes 100,1000,10000,100000] [--methods …]
    python -m benchmarks.dngo --part head        [--sizes 1000,10000,100000,1000000] [--device cuda]
    python -m benchmarks.dngo --part workers     [--seeds 10] [--methods …] [--workers 800] [--trials 2500] [--again]
    python -m benchmarks.dngo --part calibration [--seeds 5] [--problems branin,hartmann6] [--sizes 50,200,1000]

``--write`` adds a part's tables to results/dngo.md.

table1: the best loss after 200, 200, 50, 100 and 100 evaluations. Runs are kept as those of ``benchmarks.quality`` are, in the
same files; LDA's are the first 50 of 100. SMAC's design depends on how many evaluations it is told of: 100 there, too.

figure1: processor time of one suggestion on Hartmann's function, amortised: DNGO trains at counts of a schedule, so the time of
a training is divided by the number of suggestions until the next, and added to the mean time of those in between. The GP's is
the mean of a tenth of n suggestions (ten from 1,000 on), peers' the mean of ten, or of three above 1,000. Each number is
measured in a process of its own, whose peak memory is told, too. Runs are kept in records/dngo-figure1.jsonl.

head: the time to add an observation to the sums, to make the posterior from them, and to predict at 1,000 points; and to train
the networks, on a GPU if asked for. Runs of ``workers`` are kept in records/dngo-workers.jsonl.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import resource
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import dngo_calibration, dngo_workers, quality
from benchmarks.machine import describe_machine
from benchmarks.peers import METHODS, Informed, Method, Xstar
from xstar import problems
from xstar.models.blas import single_threaded
from xstar.models.features import Network, initial, steps_for, taken_apart, train
from xstar.models.linear import Basis, Head, Statistics
from xstar.models.quadratic import Quadratic
from xstar.plots.regret import mean_and_error
from xstar.searchers.auto import SWITCH, Auto
from xstar.searchers.dngo.fit import last_training
from xstar.searchers.dngo.searcher import DNGO

FOLDER = Path(__file__).parent / "records"
RESULT = Path(__file__).parent / "results" / "dngo.md"
TABLE1 = {
    "branin": (200, 200, "0.398"),
    "hartmann6": (200, 200, "-3.319"),
    "hpolib-lda": (50, 100, "1266.2"),
    "hpolib-svm": (100, 100, "0.241"),
    "hpolib-logreg": (100, 100, "0.0689"),
}
"""Problem → evaluations counted, evaluations of a run, and what the paper has for DNGO (its errors in percent)."""
DEFAULTS = {
    "table1": "xstar-dngo,xstar-gp,optuna-tpe,smac",
    "figure1": "xstar-dngo,xstar-gp,optuna-gp,optuna-tpe",
    "workers": ",".join(dngo_workers.METHODS),
}
SIZES = {"figure1": "100,1000,10000,100000", "head": "1000,10000,100000,1000000", "calibration": "50,200,1000"}
SLOWEST = {"optuna-gp": 1000, "xstar-gp": 100_000, "optuna-tpe": 100_000}
"""Observations beyond which a method is not asked: at 1,000 Optuna's GP takes seconds already."""


# At import, so that processes that are started to run them know them, too.
METHODS.setdefault("xstar-auto", Method(lambda space, seed, _: Xstar(space, seed, None, Auto()), "xstar"))
METHODS.setdefault(
    "xstar-dngo-paper", Method(lambda space, seed, _: Xstar(space, seed, None, DNGO(networks=1, samples=10)), "xstar")
)


# ---------------------------------------------------------------- Table 1


def table1(options: argparse.Namespace) -> list[str]:
    methods = options.methods.split(",")
    tasks = [
        quality.Task(seed, problem, method, TABLE1[problem][1])
        for seed in range(options.seeds)
        for problem in TABLE1
        for method in methods
    ]
    if not options.table_only:
        if options.again:
            quality.drop(FOLDER, tasks)
        quality.execute(FOLDER, tasks, options.processes)
    kept = {quality.task_of(record): record for method in methods for record in quality.read(FOLDER, method)}
    lines = [
        f"| problem | evaluations | the paper's DNGO | {' | '.join(methods)} |",
        "|---|---:|---:|" + "---:|" * len(methods),
    ]
    for problem, (count, evaluations, paper) in TABLE1.items():
        cells = []
        for method in methods:
            own = (kept.get(quality.Task(seed, problem, method, evaluations)) for seed in range(options.seeds))
            best = [min(record["losses"][:count]) for record in own if record is not None]
            cells.append("–" if not best else "{:.6g} ± {:.2g} ({})".format(*mean_and_error(best), len(best)))
        lines.append(f"| {problem} | {count} | {paper} | {' | '.join(cells)} |")
    return [*lines, "", "Mean ± standard error (seeds)."]


# ---------------------------------------------------------------- Figure 1


def one_time(method: str, n: int, seed: int = 0) -> dict[str, float]:
    """Seconds of a suggestion after ``n`` observations, and the most memory of this process."""
    problem = problems.get("hartmann6")
    rng = np.random.default_rng(seed)
    dngo = method.startswith("xstar-dngo") or (method == "xstar-auto" and n >= SWITCH)
    count = last_training(n) if dngo else n
    with warnings.catch_warnings():
        if not METHODS[method].ours:
            warnings.simplefilter("ignore")
        optimiser = METHODS[method].make(problem.space, seed, 10**6)
        assert isinstance(optimiser, Informed)
        for _ in range(12):  # imports, and whatever else happens once
            config = problem.space.sample(rng)
            optimiser.know(config, problem.loss(config))
        optimiser.tell(optimiser.ask(), 0.0)
        for _ in range(count - 13):
            config = problem.space.sample(rng)
            optimiser.know(config, problem.loss(config))
        times = []
        if dngo:
            asked = 1 + min(30, count // 5)
        elif METHODS[method].ours:
            asked = min(count // 10, 9) + 1 if n >= 1000 else count // 10 + 1
        else:
            asked = 10 if n <= 1000 else 3
        for _ in range(asked):
            begun = time.process_time()
            config = optimiser.ask()
            spent = time.process_time() - begun
            loss = problem.loss(problem.space.parse(config))
            begun = time.process_time()
            optimiser.tell(config, loss)
            times.append(spent + time.process_time() - begun)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if not dngo:
        return {"seconds": float(np.mean(times)), "megabytes": memory}
    until = next(later for later in range(count + 1, 2 * count + 2) if last_training(later) == later) - count
    usual = float(np.mean(times[1:]))
    training = max(0.0, times[0] - usual)
    return {"seconds": usual + training / until, "usual": usual, "training": training, "megabytes": memory}


def figure1(options: argparse.Namespace) -> list[str]:
    file = FOLDER / "dngo-figure1.jsonl"
    sizes, methods = [int(size) for size in options.sizes.split(",")], options.methods.split(",")
    wanted = [(method, n) for n in sizes for method in methods if n <= SLOWEST.get(method, 10**9)]
    kept = _read(file, ("method", "n"), wanted if options.again else ())
    for key in wanted:
        if key not in kept and not options.table_only:
            kept[key] = {"method": key[0], "n": key[1], **_apart(one_time, *key), "commit": quality.commit()}
            _append(file, kept[key])
            print(kept[key], flush=True)
    lines = [f"| n | {' | '.join(methods)} |", "|---:|" + "---:|" * len(methods)]
    for n in sizes:
        cells = []
        for method in methods:
            found = kept.get((method, n))
            told = "–" if found is None else f"{found['seconds'] * 1e3:.0f} ms, {found['megabytes']:.0f} MB"
            if found is not None and "training" in found:
                told += f" ({found['usual'] * 1e3:.0f} ms, {found['training']:.1f} s a training)"
            cells.append(told)
        lines.append(f"| {n:,} | {' | '.join(cells)} |")
    first, last = kept.get(("xstar-dngo", 1000)), kept.get(("xstar-dngo", 100_000))
    if first and last:
        lines += ["", f"DNGO at 100,000: {last['seconds'] / first['seconds']:.2f} times what it is at 1,000."]
    return lines


# ---------------------------------------------------------------- the linear part


def head(options: argparse.Namespace) -> list[str]:
    d, kinds = 6, ("tanh",) * 3
    rng = np.random.default_rng(0)
    basis = Basis(taken_apart(initial(d, kinds, rng), kinds)[0], Quadratic(tuple(range(d))))
    theta = np.concatenate([[0.0], basis.mean.start(), [np.log(1e-3)]])
    A = rng.random((1000, d))
    trained_at = "train 10 networks, GPU" if options.device == "cuda" else "train 10 networks"
    lines = [f"| n | add one | add 4,096, each | posterior | predict 1,000 | features of all | {trained_at} | steps |"]
    lines.append("|---:|" + "---:|" * 7)
    for n in (int(size) for size in options.sizes.split(",")):
        X = rng.random((n, d))
        y = np.sin(5.0 * X[:, 0]) + X[:, 1] ** 2
        with single_threaded():
            begun = time.perf_counter()
            sums = Statistics.none(basis.width + basis.mean.size)
            featured = 0.0
            for at in range(0, n, 4096):
                start = time.perf_counter()
                Z = basis.design(X[at : at + 4096])
                featured += time.perf_counter() - start
                sums = sums.extended(Z, y[at : at + 4096])
            each = (time.perf_counter() - begun - featured) / n
            Z = basis.design(X[:1])
            add = _timed(lambda sums=sums, Z=Z, one=y[:1]: sums.extended(Z, one))
            posterior = _timed(lambda sums=sums: Head.of(sums, basis, theta))
            after = Head.of(sums, basis, theta)
            predict = _timed(lambda after=after: after.predict(A + 1e-9 * rng.random()))
            training = _training(X, y, options.device)
        lines.append(
            f"| {n:,} | {add * 1e6:.1f} µs | {each * 1e6:.2f} µs | {posterior * 1e6:.0f} µs | {predict * 1e3:.2f} ms | "
            f"{featured:.2f} s | {training:.2f} s | {steps_for(n):,} |"
        )
        print(lines[-1], flush=True)
    return lines


def _training(X: Any, y: Any, device: str) -> float:
    t, rng = (y - y.mean()) / y.std(), np.random.default_rng(0)
    if device == "cuda":
        import torch

        from xstar.models.features_torch import train_on

        train_on("cuda", X[:1000], t[:1000], rng, networks=10, steps=20)  # kernels are loaded at first use
        torch.cuda.synchronize()
        begun = time.perf_counter()
        made: list[Network] = train_on("cuda", X, t, rng, networks=10)
    else:
        begun = time.perf_counter()
        made = train(X, t, rng, networks=10)
    assert len(made) == 10
    return time.perf_counter() - begun


def _timed(function: Any, repeats: int = 50) -> float:
    begun = time.perf_counter()
    for _ in range(repeats):
        function()
    return (time.perf_counter() - begun) / repeats


# ---------------------------------------------------------------- 800 workers


def one_search(method: str, seed: int, workers: int, trials: int) -> dict[str, Any]:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # a line for each of two thousand failures
    return dngo_workers.METHODS[method](workers, trials, seed)


def workers(options: argparse.Namespace) -> list[str]:
    file = FOLDER / "dngo-workers.jsonl"
    wanted = [
        (method, seed, options.workers, options.trials)
        for seed in range(options.seeds)
        for method in options.methods.split(",")
    ]
    names = ("method", "seed", "workers", "trials")
    kept = _read(file, names, wanted if options.again else ())
    missing = [key for key in wanted if key not in kept and not options.table_only]
    with ProcessPoolExecutor(options.processes, multiprocessing.get_context("spawn")) as pool:
        running = {pool.submit(one_search, *key): key for key in missing}
        for future in as_completed(running):
            key = running[future]
            kept[key] = {**dict(zip(names, key, strict=True)), **future.result(), "commit": quality.commit()}
            _append(file, kept[key])
            found = min((loss for loss in kept[key]["losses"] if loss is not None), default=math.inf)
            print(f"{key}: {found:.4f}, {kept[key]['seconds']:.3f} s a suggestion", flush=True)
    found = sorted(
        (kept[key] for key in wanted if key in kept), key=lambda record: DEFAULTS["workers"].find(record["method"])
    )
    return dngo_workers.table(found, options.trials, options.workers)


# ---------------------------------------------------------------- records and the command


def _read(
    file: Path, names: Sequence[str], without: Sequence[tuple[Any, ...]]
) -> dict[tuple[Any, ...], dict[str, Any]]:
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    found = {tuple(record[name] for name in names): record for record in map(json.loads, lines)}
    if without:
        found = {key: record for key, record in found.items() if key not in set(without)}
        file.write_text("".join(json.dumps(record) + "\n" for record in found.values()), encoding="utf-8")
    return found


def _append(file: Path, record: dict[str, Any]) -> None:
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps(record) + "\n")


def _apart(function: Any, *arguments: Any) -> Any:
    """What ``function`` returns in a process of its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def _place(section: str, titles: Sequence[str]) -> int:
    """Where a section stands: with the title that its own begins with, or last."""
    return next((place for place, title in enumerate(titles) if section.startswith(title)), len(titles))


PARTS = {
    "table1": (table1, "Table 1: the best loss found"),
    "figure1": (figure1, "Figure 1: processor time of a suggestion, and peak memory"),
    "head": (head, "The linear part, and training"),
    "workers": (workers, "Hundreds of workers, most of the space infeasible"),
    "calibration": (dngo_calibration.main, "How often the truth lies within predictive intervals"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=list(PARTS), required=True)
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--methods")
    parser.add_argument("--sizes")
    parser.add_argument("--problems", default="branin,hartmann6")
    parser.add_argument("--workers", type=int, default=800)
    parser.add_argument("--trials", type=int, default=2500)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--again", action="store_true", help="run again what is on record")
    parser.add_argument("--table-only", action="store_true", help="run nothing, show what is on record")
    parser.add_argument("--write", action="store_true", help=f"write the tables to {RESULT.name}, too")
    options = parser.parse_args()
    options.seeds = options.seeds or (5 if options.part == "calibration" else 10)
    options.methods = options.methods or DEFAULTS.get(options.part, "")
    options.sizes = options.sizes or SIZES.get(options.part, "")
    for name in quality.THREADS:
        os.environ[name] = "1"  # for the processes that are started
    FOLDER.mkdir(exist_ok=True)
    part, title = PARTS[options.part]
    machine = describe_machine()
    print(machine)
    lines = part(options)
    print("\n".join(lines))
    if options.write:
        before = RESULT.read_text(encoding="utf-8") if RESULT.exists() else "# DNGO\n"
        sections = {text.partition("\n")[0]: text for text in before.split("\n## ")[1:]}
        sections[title] = "\n".join([title, "", machine.removeprefix("# "), "", *lines, ""])
        titles = [name for _, name in PARTS.values()]
        # Sections that were measured on another machine have titles of their own.
        ordered = sorted(sections.values(), key=lambda text: _place(text, titles))
        RESULT.write_text("# DNGO\n\n" + "\n".join(f"## {text}" for text in ordered), encoding="utf-8")


if __name__ == "__main__":
    main()
