"""Methods over budgets in simulated time, on tasks to choose defaults on and on tasks that no default was chosen on.

    python -m benchmarks.budgets [--part NAME] [--methods …] [--workers 4] [--seeds 10] [--write]

``DEVELOPMENT`` is what constants are chosen on: the twelve tasks of LCBench that were always here, Klein's CNN curves,
NAS-Bench-201, and synthetic curves, on two of which the first epochs mislead. ``VALIDATION`` is run once per claim: ten other
tasks of LCBench, logistic regression, and two other synthetic problems. ``harness/simulated.py`` says what time and regret are;
y★ is the lowest loss that any method reported in any run on the problem. Of each set and number of workers, one row per method:

    share of … time        when its mean regret is first at most the other's last, over when that one's is; geometric mean
    against …              pairs of task and seed with the lower regret at the end – with the higher
    behind …               tasks whose mean regret at the end is above the lowest of ASHA and random search, by more than one
                           standard error of the difference in pairs (in brackets: by anything)
    no complete trial      searches without one by half of the time

``asha`` and ``mobster`` are those of today. With the rules of ``lately`` no quick trial goes up first, and 1/η of trials go on
from a rung that is far below the next; those of ``before`` are nearly the rules of the paper. The part ``ablation`` changes one
default of MOBSTER at a time, on four tasks of each set.
``syne-tune-mobster`` runs Syne Tune's MOBSTER on the validation tasks (``workloads/syne_tune_mobster.py`` says what it needs),
``syne-tune-mobster-development`` on the others. ``dngo`` is DNGO under ASHA on the development tasks, with several numbers of
fantasies. ``many`` and ``many-validation`` are its default with 32 workers, which make hundreds of trials (``many`` with the
rules of lately, ``many-development`` with those of today), ``many-paused`` is the same with fantasies of twelve paused trials,
on ten of the tasks. ``repeats`` is MOBSTER with and without the rules for equal trials, on the tables in which configurations
train exactly alike; ``copies`` and ``copies-validation`` are MOBSTER with and without suggestions that keep away from copies,
on the tables that this was chosen on and on others.
``exploring`` and ``exploring-validation`` compare searches that explore with others as both were when that was decided, and so
do ``dngo`` and ``many-paused`` with fantasies of paused trials.
``long-steps`` is NAS-Bench-201, whose two budgets are far apart, with and without the rule for that, and ``two-rungs`` and
``two-rungs-validation`` are the other tasks with two such rungs alone. ``bound`` has what hundreds of random configurations
reach that are all trained at once (``workloads/at_once.py``).
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from types import ModuleType

from benchmarks.harness.experiment import Experiment, Part, main, numbers
from benchmarks.harness.problems import LCBENCH, NB201
from benchmarks.harness.records import Found, Task
from benchmarks.harness.report import Results, table
from benchmarks.harness.run import Libraries
from benchmarks.harness.simulated import run_simulated, simulated_tasks
from benchmarks.workloads.at_once import AT_ONCE, run_at_once
from benchmarks.workloads.budget_comparison import Comparison, by_task, mean_ranks, shares_by_task
from benchmarks.workloads.budget_methods import (
    ABLATION,
    ASHA_LATELY,
    DNGO_LATELY,
    DNGOS,
    IGNORING,
    LATELY,
    METHODS,
    NEVER_STRAIGHT,
    SYNE_TUNE,
    THEN,
    TWO_RUNGS,
)
from benchmarks.workloads.syne_tune_mobster import run_syne_tune
from xstar import problems
from xstar.problems.lcbench import TABLED
from xstar.searchers.gp import fit

DEVELOPMENT = (
    *LCBENCH,
    "klein-cnn",
    *NB201,
    "curves-mlp",
    "curves-optimizer",
    "curves-late",
    "curves-deep",
)
VALIDATION = (
    *(f"lcbench-{task}" for task in ("126026", "126029", "167083", "167149", "167152", "167161", "168329", "168910")),
    *("lcbench-189906", "lcbench-7593", "hpolib-logreg", "curves-schedule", "curves-regularised"),
)
FEW = {
    "development": ("lcbench-126025", "lcbench-168330", "nb201-cifar100", "curves-late"),
    "validation": ("lcbench-167152", "lcbench-167161", "lcbench-7593", "curves-regularised"),
}
"""The tasks of the ablation."""
OTHERS = {SYNE_TUNE: run_syne_tune, AT_ONCE: run_at_once}
"""What is no study of ours."""
CHOSEN_ON = ("126025", "167200", "168330")
"""The tables of LCBench on which it was chosen how suggestions keep away from copies, beside two others."""
SETS = {
    "development": DEVELOPMENT,
    "validation": VALIDATION,
    "copies": ("klein-cnn", "electricity", *(f"lcbench-table-{task}" for task in CHOSEN_ON)),
    "copies-validation": tuple(f"lcbench-table-{task}" for task in TABLED if task not in CHOSEN_ON),
}
USUAL = (
    "random",
    "asha-before",
    ASHA_LATELY,
    "asha",
    "mobster-before",
    "mobster-hyperband",
    LATELY,
    NEVER_STRAIGHT,
    "mobster",
)


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--problems", help="some of the tasks of the set")
    parser.add_argument("--methods")
    parser.add_argument("--workers")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--trainings", type=float)


def tasks(known: Sequence[str], options: Namespace) -> list[Task]:
    return simulated_tasks(known, METHODS, options)


def run(task: Task, options: Namespace) -> Found:
    if task.method in OTHERS:
        return OTHERS[task.method](task)
    method = METHODS[task.method]
    scheduler = method.made(problems.get(task.problem))
    with changed(fit, "UNFINISHED", method.unfinished):
        return run_simulated(task, method.name or None, method.searcher, scheduler)


@contextmanager
def changed(module: ModuleType, name: str, value: object) -> Iterator[None]:
    """With another value of a constant that is no setting: the ablation alone asks for it. None: the usual one."""
    usual = getattr(module, name)
    setattr(module, name, usual if value is None else value)
    try:
        yield
    finally:
        setattr(module, name, usual)


# ---------------------------------------------------------------- the report


def report(names: Sequence[str], shared: bool, results: Results, options: Namespace) -> Iterator[str]:
    yield f"{options.trainings:g} trainings per worker, seeds 0 to {options.seeds - 1}, as far as they are on record: the last"
    yield "column but one has the number of runs."
    if shared:
        yield "Of each task, the seeds that all of these methods have been run on."
    for count in numbers(options.workers):
        comparison = Comparison(results, names, count, shared)
        yield from ("", f"{len(comparison.names)} tasks, {count} workers:", "", *table(*comparison.rows()))
        yield from ("", "Mean regret at the end:", "", *by_task(comparison))
        if (other := next((each for each in ("asha", ASHA_LATELY) if each in comparison.methods), None)) is not None:
            yield from ("", f"Share of the time of `{other}`:", "", *shares_by_task(comparison, other))
            least = comparison.least_share(other)
            yield from ("", f"With the method that has the least on each task, as only hindsight can tell: {least}.")


# ---------------------------------------------------------------- the ablation


def ablation_tasks(options: Namespace) -> list[Task]:
    found = [task for known in FEW.values() for task in tasks(known, options)]
    return sorted(found, key=lambda task: task.seed)  # what is unfinished has fewer seeds, of both sets


def ablation_report(results: Results, options: Namespace) -> Iterator[str]:
    yield f"{options.trainings:g} trainings per worker, seeds 0 to {options.seeds - 1}, {options.workers} workers. Mean rank of"
    yield "the regret at the end over tasks and seeds, pairs with the lower regret – the higher one against the first, share"
    yield "of ASHA's time, and searches without a complete trial by half of the time. All but the default were run before"
    yield "trials went straight to the end beside others."
    (count,) = numbers(options.workers)
    sets = {name: Comparison(results, known, count) for name, known in FEW.items()}
    methods = next(iter(sets.values())).methods
    placed = {name: mean_ranks(comparison, methods) for name, comparison in sets.items()}
    rows = []
    for method in methods:
        cells = [METHODS[method].what]
        for name, comparison in sets.items():
            lates = comparison.lates(method)
            cells += [
                f"{placed[name][method]:.2f}",
                comparison.pairs(method, NEVER_STRAIGHT),
                comparison.share(method, "asha"),
                f"{sum(lates)} of {len(lates)}",
            ]
        rows.append((method, *cells))
    heads = [f"{what}, {name}" for name in sets for what in ("rank", "against the first", "share", "none by half")]
    yield from ("", *table(["method", "what differs", *heads], rows, left=2))


DEFAULTS = {"methods": ",".join(USUAL), "workers": "4", "seeds": 10, "trainings": 4.0}
BESIDE = {**DEFAULTS, "methods": f"random,asha,{SYNE_TUNE},mobster", "seeds": 3}
FEW_TRIALS = {**DEFAULTS, "methods": f"random,{ASHA_LATELY},{LATELY},{','.join(DNGOS)}", "seeds": 3}
MANY_TRIALS = {
    **DEFAULTS,
    "methods": f"random,{ASHA_LATELY},{LATELY},{DNGO_LATELY}",
    "workers": "32",
    "seeds": 3,
}
MANY_TODAY = {**MANY_TRIALS, "methods": "random,asha,mobster,asha:searcher=DNGO()"}
# On validation tasks MOBSTER was run before trials went straight to the end beside others.
MANY_VALIDATED = {**MANY_TODAY, "methods": f"random,asha,{NEVER_STRAIGHT},asha:searcher=DNGO()"}
EQUAL = {
    **DEFAULTS,
    "methods": f"random,asha,{NEVER_STRAIGHT},mobster:repeats=once,mobster:repeats=each",
    "problems": ",".join(("klein-cnn", *NB201)),
}
PAUSED = {
    **MANY_TRIALS,
    "methods": f"random,{ASHA_LATELY},{DNGO_LATELY},{DNGO_LATELY}:unfinished=12",
    "problems": ",".join((*LCBENCH[:4], "lcbench-168330", "lcbench-189865", *NB201, "curves-late")),
}
COPIED = {**DEFAULTS, "methods": f"random,asha,{IGNORING},{NEVER_STRAIGHT}"}
EXPLORING = {**DEFAULTS, "methods": f"random,{ASHA_LATELY},{THEN},{THEN}:explore", "workers": "4,8"}
LONG = {
    **DEFAULTS,
    "methods": f"random,{ASHA_LATELY},asha,{LATELY},mobster:long_steps=eta,{NEVER_STRAIGHT}",
    "problems": ",".join(NB201),
    "workers": "4,8",
}
TWO = {**DEFAULTS, "methods": ",".join(("random", *TWO_RUNGS))}
BOUND = {**DEFAULTS, "methods": f"asha,mobster,{AT_ONCE}", "workers": "4,8"}
EIGHT = {**DEFAULTS, "methods": f"random,{ASHA_LATELY},asha,{LATELY},{NEVER_STRAIGHT},mobster", "workers": "8"}
SURROGATE = Libraries({SYNE_TUNE: "syne-tune"}, also=("onnxruntime",))


def part_of(name: str, title: str, defaults: dict[str, object] = DEFAULTS, shared: bool = False) -> Part:
    listed: Callable[[Namespace], list[Task]] = partial(tasks, SETS[name])
    return Part(title, listed, run, partial(report, SETS[name], shared), SURROGATE, defaults)


EXPERIMENT = Experiment(
    name="budgets",
    title="Methods over budgets, on tasks to choose on and tasks kept aside",
    result="budgets.md",
    description=__doc__,
    parts={
        "development": part_of("development", "Development tasks"),
        "validation": part_of("validation", "Validation tasks"),
        "development-8": part_of("development", "Development tasks, eight workers", EIGHT),
        "validation-8": part_of("validation", "Validation tasks, eight workers", EIGHT),
        SYNE_TUNE: part_of("validation", "Beside Syne Tune's MOBSTER, validation tasks", BESIDE, shared=True),
        f"{SYNE_TUNE}-development": part_of(
            "development", "Beside Syne Tune's MOBSTER, development tasks", BESIDE, shared=True
        ),
        "dngo": part_of("development", "DNGO under ASHA, development tasks", FEW_TRIALS, shared=True),
        "many": part_of("development", "Many trials: 32 workers, development tasks", MANY_TRIALS, shared=True),
        "many-development": part_of(
            "development", "Many trials: 32 workers, the rules of today", MANY_TODAY, shared=True
        ),
        "many-validation": part_of(
            "validation", "Many trials: 32 workers, validation tasks", MANY_VALIDATED, shared=True
        ),
        "many-paused": part_of("development", "Many trials: DNGO with fantasies of paused ones", PAUSED, shared=True),
        "repeats": part_of("development", "Trials that repeat each other", EQUAL),
        "copies": part_of("copies", "Away from copies: tables it was chosen on", COPIED),
        "copies-validation": part_of("copies-validation", "Away from copies: other tables", COPIED),
        "exploring": part_of("development", "Exploring over budgets, development tasks", EXPLORING),
        "exploring-validation": part_of("validation", "Exploring over budgets, validation tasks", EXPLORING),
        "long-steps": part_of("development", "Rungs far below the next: NAS-Bench-201", LONG),
        "two-rungs": part_of(
            "development",
            "Rungs far below the next: two rungs, development tasks",
            {**TWO, "problems": ",".join(name for name in DEVELOPMENT if name not in NB201)},
        ),
        "two-rungs-validation": part_of("validation", "Rungs far below the next: two rungs, validation tasks", TWO),
        "bound": part_of("development", "Hundreds of configurations at once, development tasks", BOUND),
        "ablation": Part(
            "Ablations",
            ablation_tasks,
            run,
            ablation_report,
            SURROGATE,
            {"methods": ",".join(ABLATION), "workers": "4", "seeds": 10, "trainings": 4.0},
        ),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
