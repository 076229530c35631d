"""MOBSTER's Figures 3 to 5, simulated on one ladder (1, 3, 9, …): the paper's methods beside ours and Syne Tune's MOBSTER.

    python -m benchmarks.mobster [--part figure3|figure4|figure5] [--problems …] [--workers 4] [--seeds 20] [--trainings 24]
        [--limit-minutes M] [--again] [--write]

``figure3``   one bracket or all of Hyperband's, promotion or stopping, configurations at random or from the model; and how
              often each is ahead of its counterpart
``figure4``   the kernels over budgets, by promotion
``figure5``   all methods, by their names in the paper; ``ts`` is its Dragonfly, ``boca`` its Dragonfly-MF

``electricity`` is the MLP of the paper's Figures 3 and 5; ``--problems`` takes any problem with budgets. Told is the mean
regret after a third of the time and at its end; ``harness/simulated.py`` says what time and regret are.
"""

from __future__ import annotations

import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from benchmarks.harness.experiment import Experiment, Part, main
from benchmarks.harness.problems import LCBENCH_FOUR
from benchmarks.harness.records import Found, Task, best_after
from benchmarks.harness.report import Results, mean_and_error, ranks, table
from benchmarks.harness.run import Libraries
from benchmarks.harness.simulated import Comparison, run_simulated, simulated_tasks, tally
from xstar import problems

SYNE_TUNE = "syne-tune-mobster"
KERNELS = ("matern", "decay")
PROBLEMS = ("electricity", "curves-mlp", "curves-optimizer", *LCBENCH_FOUR, "nb201-cifar10")
FIGURE3 = tuple(
    f"{kind}{brackets}{variant}"
    for kind in ("asha", "mobster")
    for brackets in ("", "-hyperband")
    for variant in ("", "-stop")
)
FIGURE4 = ("asha", *(f"mobster:{kernel}" for kernel in KERNELS), "mobster-paper")
FIGURE5 = (
    *("a-rs", "s-hb", "s-bohb", "a-bo", "asha", "asha-stop", "ts", "boca"),
    *("mobster-paper", "mobster", "mobster-stop", SYNE_TUNE),
)
DUELS = {
    "promotion against stopping": [(name, f"{name}-stop") for name in FIGURE3 if not name.endswith("-stop")],
    "one bracket against all": [
        (name, name.removesuffix("-stop") + "-hyperband" + "-stop" * name.endswith("-stop"))
        for name in FIGURE3
        if "hyperband" not in name
    ],
    "model against random": [(name, name.replace("mobster", "asha")) for name in FIGURE3 if name.startswith("mobster")],
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
    from xstar.simulation import fitted

    budgets = problems.get(task.problem).budgets
    kind = StoppingASHA if task.method.endswith("-stop") else ASHA
    return fitted(kind(budgets[-1], brackets=None if "hyperband" in task.method else 1), budgets)


def run_figure3(task: Task, options: Namespace) -> Found:
    from xstar.searchers import GP, Random

    return run_simulated(task, None, GP() if task.method.startswith("mobster") else Random(), ladder(task))


def run_figure4(task: Task, options: Namespace) -> Found:
    from xstar.searchers import GP

    _, _, kernel = task.method.partition(":")
    if not kernel:
        return run_simulated(task, task.method)
    return run_simulated(task, None, GP(budget_kernel=kernel), ladder(task))


def run_figure5(task: Task, options: Namespace) -> Found:
    if task.method == SYNE_TUNE:
        from benchmarks.workloads.syne_tune_mobster import run_syne_tune

        return run_syne_tune(task)
    return run_simulated(task, task.method)


# ---------------------------------------------------------------- reports


def comparisons(results: Results) -> Iterator[tuple[str, Comparison]]:
    """Whatever is on record of the problems, by number of workers and length."""
    records = list(results.all.values())
    for workers, trainings in sorted({(r.task["workers"], r.task["trainings"]) for r in records}):
        yield f"{workers} workers, {trainings:g} trainings on each", Comparison(records, workers, trainings)


def regrets(comparison: Comparison, name: str, method: str) -> list[list[float]]:
    """After each share of the time, of all seeds."""
    found = comparison.runs[name].get(method, {}).values()
    return [[best_after(f["best"], s * f["seconds"]) - comparison.optimum[name] for f in found] for s in SHARES]


def report(results: Results, options: Namespace) -> Iterator[str]:
    yield "Mean regret after a third of the time → at the end ± its standard error."
    for told, comparison in comparisons(results):
        methods, rows, placed = comparison.methods, [], []
        for name in comparison.runs:
            ends = [regrets(comparison, name, method) for method in methods]
            if all(each[1] for each in ends):
                placed.append(ranks([statistics.mean(each[1]) for each in ends]))
            rows.append((name, *(shown(each) for each in ends)))
        means = [f"{statistics.mean(column):.2f}" for column in zip(*placed, strict=True)] if placed else []
        yield from ("", f"{told}:", "", *table(["problem", *methods], [*rows, ("mean rank", *means)]))


def shown(each: list[list[float]]) -> str:
    if not each[1]:
        return "–"
    return "{:.3g} → {:.3g} ± {:.1g}".format(statistics.mean(each[0]), *mean_and_error(each[1]))


def figure3_report(results: Results, options: Namespace) -> Iterator[str]:
    yield from report(results, options)
    yield from ("", "Searches that end with the lower regret by the one – by the other:", "")
    for told, comparison in comparisons(results):
        for what, pairs in DUELS.items():
            counts = [(one, tally(comparison.both(one, other))[0]) for one, other in pairs]
            yield f"* {told}, {what}: {', '.join(f'{one} {won}–{lost}' for one, (won, lost) in counts)}"


USUAL = {"problems": ",".join(PROBLEMS), "workers": "4", "seeds": 20, "trainings": "24"}
LIBRARIES = Libraries({SYNE_TUNE: "syne-tune"}, also=("onnxruntime",))


def part_of(number: int, methods: Sequence[str], run: Callable[[Task, Namespace], Found], told: Any = report) -> Part:
    name = f"mobster-figure{number}"
    return Part(f"Figure {number}", partial(tasks, methods), run, told, LIBRARIES, USUAL, whole=True, records=name)


EXPERIMENT = Experiment(
    name="mobster",
    title="MOBSTER's figures",
    result="mobster.md",
    description=__doc__,
    parts={
        "figure3": part_of(3, FIGURE3, run_figure3, figure3_report),
        "figure4": part_of(4, FIGURE4, run_figure4),
        "figure5": part_of(5, FIGURE5, run_figure5),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
