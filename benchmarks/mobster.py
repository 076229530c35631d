"""MOBSTER's Figures 3 to 5, simulated on one ladder (1, 3, 9, …): the paper's methods beside ours and Syne Tune's MOBSTER.

    python -m benchmarks.mobster [--part figure3|figure4|figure5] [--problems …] [--workers 4] [--seeds 20] [--trainings 24]
        [--limit-minutes M] [--again] [--write]

``figure3``   one bracket or all of Hyperband's, promotion or stopping, configurations at random or from the paper's model; how
              often each is ahead of its counterpart
``figure4``   the paper's method with other kernels over (x, r)
``figure5``   all methods, by their names in the paper (``ts`` is its Dragonfly, ``boca`` its Dragonfly-MF), and ours

``electricity`` is the MLP of the paper. The table of ``nb201-cifar10`` has losses after 12 and 200 epochs only: two rungs.
``--problems`` takes any problem with budgets. A run that several figures show is made once. Told is the mean regret after a
third of the time and at its end; ``harness/simulated.py`` says what time and regret are.
"""

from __future__ import annotations

import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from benchmarks import tables as problems
from benchmarks.harness.experiment import Experiment, Part, main
from benchmarks.harness.records import Found, Record, Task, best_after
from benchmarks.harness.report import Results, mean_and_error, ranks, table
from benchmarks.harness.run import Libraries
from benchmarks.harness.simulated import Comparison, run_simulated, simulated_tasks, tally

SYNE_TUNE = "syne-tune-mobster"
PAPER = "mobster-paper"
PROBLEMS = ("electricity", "nb201-cifar10")
FIGURE3 = (
    "a-rs",
    *(f"{kind}{how}" for kind in ("asha", PAPER) for how in ("", "-stop", "-hyperband", "-hyperband-stop")),
)
KERNELS = {
    PAPER: "decay, δ learned",
    **{
        f'{PAPER}~searchers.gp.searcher:PAPER_KERNEL="{name}"': told
        for name, told in {
            "decay-0": "decay, δ = 0",
            "decay-1": "decay, δ = 1",
            "matern-unwarped": "Matérn",
            "matern": "Matérn, r warped",
        }.items()
    },
}
"""Method → the kernel of Figure 4."""
FIGURE4 = ("asha", *KERNELS)
FIGURE5 = (
    *("a-rs", "s-hb", "s-bohb", "a-bo", "asha", "asha-stop", "ts", "boca"),
    *(PAPER, f"{PAPER}-stop", "mobster", "mobster-stop", SYNE_TUNE),
)
OURS = {"a-rs": "random", "s-hb": "hyperband", "s-bohb": "bohb", "a-bo": "gp"}
"""Names of the paper's table, and ours: A- asynchronous, S- synchronous; RS random search, HB Hyperband, BO a GP."""
DUELS = {
    "promotion against stopping": [(name, f"{name}-stop") for name in FIGURE3[1:] if not name.endswith("-stop")],
    "one bracket against all": [
        (name, name.removesuffix("-stop") + "-hyperband" + "-stop" * name.endswith("-stop"))
        for name in FIGURE3[1:]
        if "hyperband" not in name
    ],
    "model against random": [(name, name.replace(PAPER, "asha")) for name in FIGURE3 if name.startswith(PAPER)],
}
SHARES = (1 / 3, 1.0)


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--problems")
    parser.add_argument("--workers")
    parser.add_argument("--methods", help="some of the figure's")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--trainings")


def tasks(methods: Sequence[str], options: Namespace) -> list[Task]:
    chosen = Namespace(**{**vars(options), "methods": options.methods or ",".join(methods)})
    return simulated_tasks(problems.names(), methods, chosen)


def ladder(task: Task) -> Any:
    """From one epoch on, each rung η times the last, at budgets that the problem has."""
    from xstar.schedulers import ASHA, StoppingASHA
    from xstar.testing.simulate import fitted

    budgets = problems.get(task.problem).budgets
    kind = StoppingASHA if task.method.endswith("-stop") else ASHA
    return fitted(kind(budgets[-1], brackets=None if "hyperband" in task.method else 1), budgets)


def run(task: Task, options: Namespace) -> Found:
    """The name alone says what is run, whatever figure shows it."""
    from xstar.searchers import MOBSTERPaper, Random

    if task.method == SYNE_TUNE:
        from benchmarks.workloads.syne_tune_mobster import run_syne_tune

        return run_syne_tune(task)
    if task.method in FIGURE3[1:]:
        return run_simulated(task, None, MOBSTERPaper() if task.method.startswith(PAPER) else Random(), ladder(task))
    return run_simulated(task, OURS.get(task.method, task.method))


# ---------------------------------------------------------------- reports


def comparisons(records: Iterable[Record]) -> Iterator[tuple[str, Comparison]]:
    """Whatever is on record of the problems, by number of workers and length."""
    found = list(records)
    for workers, trainings in sorted({(r.task["workers"], r.task["trainings"]) for r in found}):
        yield f"{workers} workers, {trainings:g} trainings on each", Comparison(found, workers, trainings)


def regrets(comparison: Comparison, name: str, method: str) -> list[list[float]]:
    """After each share of the time, of all seeds."""
    found = comparison.runs[name].get(method, {}).values()
    return [[best_after(f["best"], s * f["seconds"]) - comparison.optimum[name] for f in found] for s in SHARES]


def report(methods: Sequence[str], results: Results, options: Namespace) -> Iterator[str]:
    yield "Mean regret after a third of the time → at the end ± its standard error (seeds)."
    for told, comparison in comparisons(results.all.values()):
        there = [method for method in methods if method in comparison.methods]
        rows, placed = [], []
        for name in comparison.runs:
            ends = [regrets(comparison, name, method) for method in there]
            if all(each[1] for each in ends):
                placed.append(ranks([statistics.mean(each[1]) for each in ends]))
            rows.append((name, *(shown(each) for each in ends)))
        means = [f"{statistics.mean(column):.2f}" for column in zip(*placed, strict=True)] if placed else []
        heads = [KERNELS[method] if methods is FIGURE4 and method in KERNELS else method for method in there]
        yield from ("", f"{told}:", "", *table(["problem", *heads], [*rows, ("mean rank", *means)]))


def shown(each: list[list[float]]) -> str:
    if not each[1]:
        return "–"
    return "{:.3g} → {:.3g} ± {:.1g} ({})".format(statistics.mean(each[0]), *mean_and_error(each[1]), len(each[1]))


def figure3_report(methods: Sequence[str], results: Results, options: Namespace) -> Iterator[str]:
    yield from report(methods, results, options)
    yield from ("", "Searches that end with the lower regret by the one – by the other:", "")
    for told, comparison in comparisons(results.all.values()):
        for what, pairs in DUELS.items():
            counts = [(one, tally(comparison.both(one, other))[0]) for one, other in pairs]
            yield f"* {told}, {what}: {', '.join(f'{one} {won}–{lost}' for one, (won, lost) in counts)}"


USUAL = {"problems": ",".join(PROBLEMS), "workers": "4", "seeds": 20, "trainings": "24"}
LIBRARIES = Libraries({SYNE_TUNE: "syne-tune"}, also=("onnxruntime",))


def part_of(number: int, methods: Sequence[str], told: Callable[..., Iterator[str]] = report) -> Part:
    of = (f"Figure {number}", partial(tasks, methods), run, partial(told, methods), LIBRARIES, USUAL)
    return Part(*of, whole=True)


EXPERIMENT = Experiment(
    name="mobster",
    title="MOBSTER's figures",
    result="mobster.md",
    description=__doc__,
    parts={
        "figure3": part_of(3, FIGURE3, figure3_report),
        "figure4": part_of(4, FIGURE4),
        "figure5": part_of(5, FIGURE5),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
