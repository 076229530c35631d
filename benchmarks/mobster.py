"""MOBSTER against ASHA in simulated time: how much sooner it reaches the regret that ASHA ends with.

    python -m benchmarks.mobster [--part NAME] [--problems …] [--workers 2,4,8,16] [--seeds 5] [--trainings 6] [--write]

On the MLP of *electricity*, the surrogates of twelve LCBench tasks, Klein's CNN curves and NAS-Bench-201;
``harness/simulated.py`` says what time and regret are. y★ is the lowest loss that any method reported in any run on the
problem. The figure of a problem is

    (time at which MOBSTER's mean regret is first at most ASHA's final mean regret) / (time at which ASHA's is)

and of all problems the geometric mean; where MOBSTER never gets there, the whole time is taken.

The part ``kernels`` is the top of the paper's Figure 4: the final mean regret of every surrogate and both variants, on four
workers. ``large`` is ASHA, MOBSTER and DNGO under ASHA where there are many trials: on 64 workers, for three trainings each.

The part ``figure3`` is the paper's Figure 3 as a table: successive halving from one epoch on and all brackets of Hyperband,
by promotion and by stopping, with configurations at random and from the model; and how often each is ahead of its counterpart.

The part ``figure5`` is the paper's Figure 5 as a table: the mean regret of all methods that MOBSTER is compared with, by their
names in the paper, after a third of the time and at its end. ``figure3-mlp`` and ``figure5-mlp`` are the same where the paper
has them: on the MLP of *electricity*, four workers, twenty runs.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence

from benchmarks.harness.experiment import Experiment, Part, main, names, numbers
from benchmarks.harness.problems import LCBENCH, LCBENCH_FOUR, NB201, available
from benchmarks.harness.records import Found, Task
from benchmarks.harness.report import Results
from benchmarks.harness.run import Libraries
from benchmarks.harness.simulated import run_simulated
from benchmarks.workloads.mobster_reports import duel, many_trials, regret_tables, shares, surrogate_ranks, task_of
from xstar.problems import get
from xstar.schedulers import ASHA, Scheduler, StoppingASHA
from xstar.searchers import DNGO, GP, Random, Searcher
from xstar.simulation import fitted

SURROGATES = ("matern-warped", "matern", "decay", "decay-0", "decay-1")
VARIANTS = {"promotion": "", "stopping": "-stop"}
FIGURE5 = ("a-rs", "s-hb", "s-bohb", "a-bo", "asha", "asha-stop", "ts", "boca", "mobster", "mobster-stop")
"""The methods of the paper's Figure 5; ``ts`` is its Dragonfly, ``boca`` its Dragonfly-MF."""
FIGURE3 = tuple(
    f"{kind}{brackets}{variant}"
    for kind in ("asha", "mobster")
    for brackets in ("", "-hyperband")
    for variant in VARIANTS.values()
)
"""Random or from the model × one bracket or all × promotion or stopping."""
DUELS = {
    "promotion against stopping": [(name, f"{name}-stop") for name in FIGURE3 if not name.endswith("-stop")],
    "r_min = 1 against Hyperband": [
        (name, name.replace("-stop", "") + "-hyperband" + "-stop" * name.endswith("-stop"))
        for name in FIGURE3
        if "hyperband" not in name
    ],
    "model against random": [(name, name.replace("mobster", "asha")) for name in FIGURE3 if name.startswith("mobster")],
}


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--problems")
    parser.add_argument("--workers")
    parser.add_argument("--variants", default="promotion,stopping")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--trainings", type=float)


def simulations(options: Namespace, methods: Sequence[str]) -> list[Task]:
    return [
        task_of(seed, count, name, method, options.trainings)
        for seed in range(options.seeds)
        for name in available(options.problems)
        for count in numbers(options.workers)
        for method in methods
    ]


def variants(options: Namespace) -> list[str]:
    return [VARIANTS[name] for name in names(options.variants)]


# ---------------------------------------------------------------- beside ASHA


def tasks(options: Namespace) -> list[Task]:
    return simulations(options, [family + variant for family in ("asha", "mobster") for variant in variants(options)])


def kernel_tasks(options: Namespace) -> list[Task]:
    others = [f":{surrogate}" for surrogate in SURROGATES[1:]] + [":decay@reached"]
    methods = [f"mobster{variant}{other}" for variant in variants(options) for other in ("", *others)]
    return simulations(options, [*(f"asha{variant}" for variant in variants(options)), *methods])


def large_tasks(options: Namespace) -> list[Task]:
    return simulations(options, ("asha", "mobster", "dngo"))


def searcher_of(method: str) -> Searcher:
    rest, _, rule = method.partition("@")
    name, _, surrogate = rest.partition(":")
    if name.startswith("asha"):
        return Random()
    if name == "dngo":
        return DNGO()
    return GP(**({"surrogate": surrogate} if surrogate else {}), **({"acquire_at": rule} if rule else {}))


def run(task: Task, options: Namespace) -> Found:
    return run_simulated(task, "asha-stop" if "-stop" in task.method else "asha", searcher_of(task.method))


def report(results: Results, options: Namespace) -> Iterator[str]:
    columns = [(variant, count) for variant in variants(options) for count in numbers(options.workers)]
    seeds = "one seed" if options.seeds == 1 else f"{options.seeds} seeds (fewer where brackets say so)"
    yield f"Share of ASHA's time until its final regret; {seeds},"
    yield from (f"{options.trainings:g} trainings per worker.", "", *shares(results, columns, options))


def kernel_report(results: Results, options: Namespace) -> Iterator[str]:
    yield f"{options.workers} workers, {options.trainings:g} trainings per worker; of each problem, the seeds that all have."
    yield from ("", *surrogate_ranks(results))


def large_report(results: Results, options: Namespace) -> Iterator[str]:
    yield f"{options.workers} workers, {options.trainings:g} trainings per worker."
    yield from ("", *many_trials(results))


# ---------------------------------------------------------------- Figures 3 and 5


def figure3_tasks(options: Namespace) -> list[Task]:
    return simulations(options, FIGURE3)


def run_figure3(task: Task, options: Namespace) -> Found:
    searcher, budgets = GP() if task.method.startswith("mobster") else Random(), get(task.problem).budgets
    return run_simulated(task, None, searcher, fitted(ladder_of(task.method, budgets[-1]), budgets))


def ladder_of(method: str, budget: int) -> Scheduler:
    """With the rules of the paper: from one epoch on, each rung η times the last."""
    rules = {"min_budget": 1, "ladder": "bottom", "last_rung": "eta", "brackets": None if "hyperband" in method else 1}
    if method.endswith("-stop"):
        return StoppingASHA(budget, **rules)
    return ASHA(budget, **rules, repeats="each", long_steps="eta")


def figure3_report(results: Results, options: Namespace) -> Iterator[str]:
    yield from regret_tables(results, options, FIGURE3)
    yield from (
        "",
        "Of all problems, workers and seeds, how many end with the lower regret by the one – by the other:",
        "",
    )
    for what, pairs in DUELS.items():
        told = [f"{one} {wins}–{losses}" for one, wins, losses in (duel(results, *pair) for pair in pairs)]
        yield f"* {what}: {', '.join(told)}"


def figure5_tasks(options: Namespace) -> list[Task]:
    return simulations(options, FIGURE5)


def run_figure5(task: Task, options: Namespace) -> Found:
    return run_simulated(task, task.method)


def figure5_report(results: Results, options: Namespace) -> Iterator[str]:
    yield from regret_tables(results, options, FIGURE5)


ALL = ("electricity", *LCBENCH, "klein-cnn", *NB201)
USUAL = {"problems": ",".join(ALL), "workers": "2,4,8,16", "seeds": 5, "trainings": 6.0}
FEW: dict[str, object] = {
    "problems": ",".join(("curves-mlp", "curves-optimizer", *LCBENCH_FOUR, "nb201-cifar10")),
    "workers": "8",
    "seeds": 10,
    "trainings": 4.0,
}
KERNELS = {**USUAL, "workers": "4"}
LARGE_PROBLEMS = ("lcbench-167168", "lcbench-167201", "lcbench-189909", "nb201-cifar100")
LARGE = {"problems": ",".join(LARGE_PROBLEMS), "workers": "64", "seeds": 2, "trainings": 3.0}
MLP: dict[str, object] = {"problems": "electricity", "workers": "4", "seeds": 20, "trainings": 6.0}
SURROGATE = Libraries(also=("onnxruntime",))


def figure3(title: str, defaults: dict[str, object]) -> Part:
    return Part(title, figure3_tasks, run_figure3, figure3_report, SURROGATE, defaults, records="mobster-figure3")


def figure5(title: str, defaults: dict[str, object]) -> Part:
    return Part(title, figure5_tasks, run_figure5, figure5_report, SURROGATE, defaults, records="mobster-figure5")


EXPERIMENT = Experiment(
    name="mobster",
    title="MOBSTER against ASHA",
    result="mobster.md",
    description=__doc__,
    parts={
        "time": Part("Share of ASHA's time", tasks, run, report, SURROGATE, USUAL),
        "kernels": Part("Figure 4: surrogates", kernel_tasks, run, kernel_report, SURROGATE, KERNELS),
        "large": Part("Many trials", large_tasks, run, large_report, SURROGATE, LARGE),
        "figure3": figure3("Figure 3", FEW),
        "figure5": figure5("Figure 5", FEW),
        "figure3-mlp": figure3("Figure 3 on the MLP of electricity", MLP),
        "figure5-mlp": figure5("Figure 5 on the MLP of electricity", MLP),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
