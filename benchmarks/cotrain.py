"""Weights and structure at once on MNIST: the two experiments of the paper's "Hyper-Parameter Optimization".

    python -m benchmarks.cotrain --part mnist|fixed --mnist mnist.npz [--experiments layers activations] [--iterations N]
        [--minutes 8] [--seeds 5] [--first 0] [--rate 0.01] [--init LeCun] [--rates 0.01,0.03,0.1] [--device cuda] [--write]

Layer selection (31 bits): 32 hidden layers of 128 ReLU units, X_(k+2) = X_(k+1) + m_k H_(k+1)(X_(k+1)), gradients clipped to
norm 2. Activation selection (3,072 bits): 3 hidden layers of 1,024 units, each tanh (0) or ReLU (1). cGA, PBIL-λ and PBIL-ε; in
the second experiment also all ReLU and all tanh. Test errors with the structure θ ≥ ½.

From the paper: mini-batches of 64, Nesterov's momentum 0.9, weight decay 1e-4, the rate divided by 10 at 1/2 and 3/4 of the
iterations, one iteration = one step of the weights, 30 trials. It leaves to its reference: the number of iterations, the first
rate, the initial weights. Here: as many iterations as the time allows (``--iterations``, or ``--minutes`` for all experiments
together), a first rate (``--rate``), normal weights (``--init``: of variance 1/fan-in, LeCun's, the default of Chainer, which
the paper used; He's; Glorot's) and biases 0, all 60,000 training images in shuffled epochs, pixels / 255. ``fixed`` trains all
tanh and all ReLU from each of these weights with each of ``--rates``: which of them end as the paper's?

All methods and seeds of a run are trained side by side (``workloads/cotraining.py``) and are one line of the records. A machine
with a GPU needs numpy and torch only, and no repository: name the commit in XSTAR_COMMIT and a folder with ``--records``.
"""

from __future__ import annotations

import statistics
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.harness.experiment import Experiment, Part, main, names
from benchmarks.harness.machine import peer
from benchmarks.harness.records import Found, Record, Store, Task, significant
from benchmarks.harness.report import Results, table
from benchmarks.harness.run import Libraries

BATCH = 64
TITLES = {"layers": "Layer selection, 31 bits", "activations": "Activation selection, 3,072 bits"}
PAPER = {
    "layers": {"cGA": (2.240, 2.130, 2.298), "PBIL-λ": (1.855, 1.790, 1.932), "PBIL-ε": (1.795, 1.752, 1.838)},
    "activations": {
        "cGA": (1.450, 1.430, 1.488),
        "PBIL-λ": (1.370, 1.343, 1.420),
        "PBIL-ε": (1.385, 1.332, 1.437),
        "ReLU": (1.610, 1.560, 1.627),
        "tanh": (1.520, 1.490, 1.545),
    },
}
"""Median and quartiles of the final test error in %, 30 trials."""
TOLERANCE = 1e-9
"""Between the cores on the device and those of the library."""
USUAL = "LeCun"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--mnist", help="the .npz with x_train, y_train, x_test, y_test; needed to run")
    parser.add_argument("--experiments", nargs="+", choices=list(PAPER), default=list(PAPER))
    parser.add_argument("--iterations", type=int, help="of each experiment; without it, what --minutes allow")
    parser.add_argument("--minutes", type=float, default=8.0, help="for all experiments together, start included")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--rate", type=float, default=0.01, help="the first step size of the weights")
    parser.add_argument("--rates", default="0.01,0.03,0.1", help="those of the part fixed")
    parser.add_argument("--init", choices=["LeCun", "He", "Glorot"], default=USUAL, help="the initial weights")
    parser.add_argument("--device", default="", help="cuda where there is one, else cpu")


def length(options: Namespace, parts: int) -> dict[str, Any]:
    """Of a run, by its steps or by its time."""
    if not options.mnist:
        raise SystemExit("--mnist is needed to run: an .npz with x_train, y_train, x_test, y_test")
    if options.iterations is not None:
        return {"iterations": options.iterations}
    return {"minutes": options.minutes / parts}


def tasks(options: Namespace) -> list[Task]:
    """The runs asked for after those on record, whose tables are to stay beside theirs."""
    kept = on_record(options, options.experiments)
    if options.table_only:
        return kept
    how = {"rate": options.rate} | ({} if options.init == USUAL else {"init": options.init})
    asked = [
        Task.of(
            options.first, key, "side by side", seeds=options.seeds, **how, **length(options, len(options.experiments))
        )
        for key in options.experiments
    ]
    return asked if options.again else list(dict.fromkeys([*kept, *asked]))


def fixed_tasks(options: Namespace) -> list[Task]:
    kept = on_record(options, ["fixed"])
    if options.table_only:
        return kept
    how = {"seeds": options.seeds, "rates": options.rates, **length(options, 1)}
    return list(dict.fromkeys([*kept, Task.of(options.first, "fixed", "side by side", **how)]))


def on_record(options: Namespace, keys: Sequence[str]) -> list[Task]:
    known = Store(options.records / f"{EXPERIMENT.name}.jsonl").read()
    return [task for task in known if task.problem in keys]


def run(task: Task, options: Namespace) -> Found:
    torch, begun = peer("torch"), time.perf_counter()
    from benchmarks.workloads import cotraining, fixed_networks, pairs

    device = torch.device(options.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    torch.set_float32_matmul_precision("high")
    worst = pairs.compare_with_the_core(device)
    if worst > TOLERANCE:
        raise RuntimeError(f"Pairs differ from the core by {worst:g}")
    data, (seeds, first) = cotraining.load(options.mnist, device), (task["seeds"], task.seed)
    experiment: Any
    if task.problem == "fixed":
        rates = [float(rate) for rate in names(task["rates"])]
        experiment = fixed_networks.Grid(cotraining.Activations(), data, seeds, rates, device, first)
    else:
        net = {"layers": cotraining.Layers, "activations": cotraining.Activations}[task.problem]()
        init = task.get("init") or USUAL
        experiment = cotraining.Experiment(net, data, seeds, task["rate"], device, first, init)
    if device.type == "cuda":
        experiment.capture()
    iterations = task.get("iterations")
    if iterations is None:
        each = experiment.seconds_per_step(1000 if device.type == "cuda" else 5)
        remaining = 60.0 * task["minutes"] - (time.perf_counter() - begun)
        # A tenth is left for the tests, and for steps that get slower than the first ones.
        iterations = int(0.9 * remaining / each) // 1000 * 1000 or 1000
    experiment.reset()
    found = experiment.run(iterations)
    where = torch.cuda.get_device_name() if device.type == "cuda" else "CPU"
    precision = "TF32" if device.type == "cuda" else "float32"
    return {**significant(found), "device": where, "precision": precision, "images": len(data["x_train"])}


def quartiles(values: list[float]) -> str:
    if len(values) < 2:
        return "–"
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{low:.3f} – {high:.3f}"


def finals(key: str, last: dict[str, Any]) -> Iterator[str]:
    rows = []
    for method, (middle, low, high) in PAPER[key].items():
        errors = last[method]["error"]
        each = ", ".join(f"{error:.2f}" for error in errors)
        paper, ones = f"{middle:.3f} ({low:.3f} – {high:.3f})", ", ".join(map(str, last[method]["ones"]))
        rows.append((method, f"{statistics.median(errors):.3f}", quartiles(errors), each, paper, ones))
    heads = ["method", "median", "quartiles", "each seed", "the paper: median (quartiles)", "ones in the structure"]
    yield from table(heads, rows)


def pooled(records: list[Record]) -> list[tuple[Task, Found, int]]:
    """Runs of the same length, rate and weights, of whatever seeds, as one: its first task, what was found, how many seeds."""
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        groups.setdefault(alike(record), []).append(record)
    found = []
    for of in groups.values():
        curves = [record.found["curve"] for record in of]
        curve = [joined(list(moments)) for moments in zip(*curves, strict=True)]
        found.append((of[0].task, {**of[0].found, "curve": curve}, sum(record.task["seeds"] for record in of)))
    return found


def alike(record: Record) -> tuple[Any, ...]:
    """What runs have in common whose seeds are told together."""
    return record.task.problem, record.found["iterations"], record.task["rate"], record.task.get("init") or USUAL


def joined(moments: list[dict[str, Any]]) -> dict[str, Any]:
    """The same moment of several runs: the numbers of all seeds, one after the other; seconds are added."""
    one: dict[str, Any] = {"iteration": moments[0]["iteration"], "seconds": sum(each["seconds"] for each in moments)}
    for method in moments[0]:
        if method not in one:
            one[method] = {
                name: [value for each in moments for value in each[method][name]] for name in moments[0][method]
            }
    return one


def counted(seeds: int) -> str:
    return "1 seed" if seeds == 1 else f"{seeds} seeds"


def report(results: Results, options: Namespace) -> Iterator[str]:
    yield "The paper: 30 trials; its number of iterations, first rate and initial weights are not in its text."
    for task, found, seeds in pooled(results.records):
        key = task.problem
        last, count = found["curve"][-1], found["iterations"]
        epochs = count * BATCH / found["images"]
        yield from ("", f"## {TITLES[key]}", "")
        yield f"{counted(seeds)} on {found['device']}, matrix products in {found['precision']}, first rate {task['rate']:g},"
        yield f"weights of {task.get('init') or USUAL}, {count:,} iterations ({epochs:.0f} epochs) in {last['seconds']:.0f} s"
        yield "for all methods and seeds together. Final test errors in %:"
        yield from ("", *finals(key, last))


def fixed_report(results: Results, options: Namespace) -> Iterator[str]:
    tanh, relu = (PAPER["activations"][kind][0] for kind in ("tanh", "ReLU"))
    yield f"Median test errors in % of networks with fixed activations; the paper: tanh {tanh:.3f}, ReLU {relu:.3f}."
    for record in results.records:
        found, cells = record.found, record.found["curve"][-1]["cells"]
        ends = {(each["rate"], each["init"], each["kind"]): statistics.median(each["error"]) for each in cells}
        rows = []
        for rate, init, kind in ends:
            if kind == "tanh":
                both = [ends[rate, init, each] for each in ("tanh", "ReLU")]
                off = max(abs(both[0] - tanh), abs(both[1] - relu))
                rows.append((f"{rate:g}", init, *(f"{each:.3f}" for each in both), f"{off:.3f}"))
        told = f"{counted(record.task['seeds'])} on {found['device']}, matrix products in {found['precision']}"
        yield from ("", f"{told}, {found['iterations']:,} iterations:", "")
        yield from table(["first rate", "weights", "tanh", "ReLU", "farther one from the paper"], rows, left=2)


TORCH = Libraries(also=("torch",))
EXPERIMENT = Experiment(
    name="cotrain",
    title="Co-training on MNIST",
    result="cotrain.md",
    description=__doc__,
    parts={
        "mnist": Part("MNIST", tasks, run, report, TORCH),
        "fixed": Part(
            "Fixed activations: which weights and rate are the paper's?", fixed_tasks, run, fixed_report, TORCH
        ),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
