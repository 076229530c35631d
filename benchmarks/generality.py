"""Is the GP ahead in every class of problems? Mean ranks after 25, 50, 100 and 200 evaluations, on two sets of problems.

    python -m benchmarks.generality --part development|validation [--methods xstar-gp,…] [--seeds 3] [--write]
    python -m benchmarks.generality --part ablation [--seeds 10] [--processes 16] [--write]
    python -m benchmarks.generality --part restarts [--seeds 10] [--processes 16] [--write]
    python -m benchmarks.generality --part stuck [--seeds 10] [--processes 16] [--write]
    python -m benchmarks.generality --part blind [--seeds 10] [--processes 16] [--write]
    python -m benchmarks.generality --part penalties|suiting [--seeds 10] [--processes 16] [--write]
    python -m benchmarks.generality --part holdout [--methods …] [--seeds 3] [--write]
    python -m benchmarks.generality --part weak [--methods …] [--seeds 30] [--write]

Constants are chosen on the development set (``harness/development.py``) and on no other. The validation set
(``harness/validation.py``: COCO's bbob, bbob-noisy and bbob-mixint, IOHprofiler's PBO, tables kept aside) is for one run per
claimed improvement. The ablation changes one default of the GP at a time, on problems of both; ``restarts`` are searches long
enough to stagnate, ``stuck`` longer ones where they often do, ``blind`` searches where nearly all trials fail
(``harness/mostly_failing.py``), ``penalties`` those where they return a penalty instead, ``suiting`` those where options raise
unless they suit each other (``harness/penalties.py``). The holdout set (``harness/holdout.py``) was made after all constants
had been chosen. ``weak`` has more instances of one class of the validation set, the functions of weak structure.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from benchmarks.harness import development, holdout, mostly_failing, penalties, validation
from benchmarks.harness.cases import Case, search
from benchmarks.harness.experiment import Experiment, Part, chosen_from, main
from benchmarks.harness.methods import LIBRARIES, METHODS
from benchmarks.harness.records import Found, Record, Task
from benchmarks.harness.report import Results
from benchmarks.workloads import gp_ablation, long_searches, stuck_searches
from benchmarks.workloads.class_ranks import (
    OURS,
    complete_pairs,
    duels,
    first_values,
    losses,
    overall,
    per_class,
    ranked,
    rest_of,
    widely_run,
    with_fewer_seeds,
)
from xstar.space import Space

USUAL = ("xstar-gp", "xstar-gp-before", "optuna-tpe", "nevergrad", "hyperopt", "cmaes", "xstar-random")
BLIND = ("xstar-gp", "xstar-gp-classifier", "optuna-tpe", "nevergrad", "xstar-random")
PENALISED = ("xstar-gp", "xstar-gp-before-level", "optuna-tpe", "nevergrad", "xstar-random")
HELD_OUT = ("xstar-gp", "optuna-gp", "optuna-tpe", "nevergrad", "xstar-random")
WITHOUT_BEFORE = tuple(method for method in USUAL if method != "xstar-gp-before")
WEAK = "bbob weak structure"
COUNTS = (25, 50, 100, 200)


APART = {"validation": validation, "holdout": holdout}
"""The sets on which nothing is chosen, whose problems depend on the seed."""
CHOSEN_ON = {
    "development": development.development,
    "blind": mostly_failing.mostly_failing,
    "penalties": penalties.penalised,
    "suiting": penalties.suiting,
}
"""The sets on which constants are chosen."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--methods", help=f"default: {','.join(USUAL)}; of the ablation all that it has")
    parser.add_argument("--problems", default="")
    parser.add_argument("--seeds", type=int, help="default: 3, of the ablation 10")
    parser.add_argument("--evaluations", type=int, help=f"default: {max(COUNTS)}, of the ablation 100")


def kinds(which: str) -> Mapping[str, str]:
    """The class of each problem of a set."""
    if which in APART:
        return APART[which].names()
    return {name: case.kind for name, case in CHOSEN_ON[which]().items()}


def case_of(task: Task) -> Case:
    if task["set"] in APART:
        return APART[task["set"]].case_of(task.problem, task.seed)
    return CHOSEN_ON[task["set"]]()[task.problem]


def tasks(which: str, options: Namespace) -> list[Task]:
    methods, known = chosen_from(options.methods, METHODS, "--methods"), kinds(which)
    problems = chosen_from(options.problems, known, "--problems") if options.problems else list(known)
    return [
        Task.of(seed, problem, method, evaluations=options.evaluations, set=which)
        for seed in range(options.seeds)
        for problem in problems
        for method in methods
    ]


def run(task: Task, options: Namespace) -> Found:
    return search(case_of(task), task.method, task.seed, task["evaluations"])


# ---------------------------------------------------------------- the report


def report(which: str, results: Results, options: Namespace) -> Iterator[str]:
    known = kinds(which)
    methods, counts = widely_run(results), [count for count in COUNTS if count <= options.evaluations]
    pairs = complete_pairs(results, methods)
    seeds = len({seed for _, seed in pairs})
    problems = len({problem for problem, _ in pairs})
    yield f"{problems} problems, {seeds} seeds, one trial at a time."
    yield from ("", "Ranks are averaged over the seeds of a problem; ± is the standard error over problems.", "")
    if pairs:
        yield from ("### Mean rank over all problems", "", *overall(pairs, methods, counts))
        for count in counts:
            yield from ("", f"### Mean rank in each class after {count} evaluations", "")
            yield from per_class(pairs, methods, count, known)
        yield from with_fewer_seeds(results, counts)
    if OURS in results.methods:
        yield from ("", f"### {OURS} and each method alone", "", *duels(results, counts))
    yield from ("", "### Failures and time", "", *rest_of(results, known))
    for count in counts[-2:]:
        yield from ("", f"### True loss of the incumbent after {count} evaluations, median over seeds", "")
        yield from losses(results, count)


# ---------------------------------------------------------------- one default at a time


def ablation_tasks(options: Namespace) -> list[Task]:
    """All methods on every other problem of each class of both sets."""
    methods = chosen_from(options.methods, gp_ablation.CHANGES, "--methods")
    sets = {
        which: gp_ablation.sampled(kinds(which), lambda name, which=which: len(_space(which, name).parameters))
        for which in ("development", "validation")
    }
    known = [name for own in sets.values() for name in own]
    wanted = chosen_from(options.problems, known, "--problems") if options.problems else known
    return [
        Task.of(seed, problem, method, evaluations=options.evaluations, set=which)
        for seed in range(options.seeds)
        for which, own in sets.items()
        for problem in own
        for method in methods
        if problem in wanted and gp_ablation.matters(method, own[problem])
    ]


def _space(which: str, problem: str) -> Space:
    return case_of(Task.of(0, problem, OURS, set=which)).space


def ablation_report(results: Results, options: Namespace) -> Iterator[str]:
    return gp_ablation.report(results, {which: kinds(which) for which in ("development", "validation")}, ranked)


def weak_tasks(options: Namespace) -> list[Task]:
    weak = [name for name, kind in kinds("validation").items() if kind == WEAK]
    return tasks("validation", Namespace(**{**vars(options), "problems": options.problems or ",".join(weak)}))


def blind_report(results: Results, options: Namespace) -> Iterator[str]:
    """When the first trial had a value, then the ranks."""
    yield from (*first_values(results, options.evaluations), "")
    yield from report("blind", results, options)


def penalties_report(results: Results, options: Namespace) -> Iterator[str]:
    """The ranks. A penalty is no loss that was found: beside it all others would be the same."""

    def without(record: Record) -> Record:
        kept = [(at, loss) for at, loss in record.found["incumbents"] if loss < penalties.PENALTY]
        return replace(record, found={**record.found, "incumbents": kept})

    known = {record.task: without(record) for record in results.records}
    return report("penalties", Results(list(known), known), options)


def restart_tasks(options: Namespace) -> list[Task]:
    chosen = Namespace(**{**vars(options), "methods": OURS})
    return ablation_tasks(chosen)


def run_long(task: Task, options: Namespace) -> Found:
    return long_searches.run(case_of(task), task.seed, task["evaluations"])


def restart_report(results: Results, options: Namespace) -> Iterator[str]:
    return long_searches.report(results, {which: kinds(which) for which in ("development", "validation")})


def stuck_tasks(options: Namespace) -> list[Task]:
    methods = chosen_from(options.methods, stuck_searches.RULES, "--methods")
    problems = [name for name in stuck_searches.PROBLEMS if name in development.development()]
    wanted = chosen_from(options.problems, problems, "--problems") if options.problems else problems
    return [
        Task.of(seed, problem, method, evaluations=options.evaluations, set="development")
        for seed in range(options.seeds)
        for problem in wanted
        for method in methods
    ]


def run_stuck(task: Task, options: Namespace) -> Found:
    return stuck_searches.run(case_of(task), task.method, task.seed, task["evaluations"])


def stuck_report(results: Results, options: Namespace) -> Iterator[str]:
    return stuck_searches.report(results, kinds("development"))


USUALLY = {"methods": ",".join(USUAL), "seeds": 3, "evaluations": max(COUNTS)}
EXPERIMENT = Experiment(
    name="generality",
    title="The GP in every class of problems",
    result="generality.md",
    description=__doc__,
    parts={
        **{
            which: Part(f"The {which} set", partial(tasks, which), run, partial(report, which), LIBRARIES, USUALLY)
            for which in ("development", "validation")
        },
        "holdout": Part(
            "The holdout set",
            partial(tasks, "holdout"),
            run,
            partial(report, "holdout"),
            LIBRARIES,
            {**USUALLY, "methods": ",".join(HELD_OUT), "evaluations": 100},
            records="generality-holdout",
        ),
        "weak": Part(
            "Weak structure, more instances",
            weak_tasks,
            run,
            partial(report, "validation"),
            LIBRARIES,
            {**USUALLY, "methods": ",".join(WITHOUT_BEFORE), "seeds": 30},
            records="generality-weak",
        ),
        "restarts": Part(
            "Searches that began anew",
            restart_tasks,
            run_long,
            restart_report,
            LIBRARIES,
            {"methods": OURS, "seeds": 10, "evaluations": max(long_searches.COUNTS)},
            records="generality-restarts",
        ),
        "blind": Part(
            "Where nearly all trials fail",
            partial(tasks, "blind"),
            run,
            blind_report,
            LIBRARIES,
            {"methods": ",".join(BLIND), "seeds": 10, "evaluations": 100},
            records="generality-blind",
        ),
        **{
            which: Part(
                title,
                partial(tasks, which),
                run,
                shown,
                LIBRARIES,
                {"methods": ",".join(PENALISED), "seeds": 10, "evaluations": 100},
                records=f"generality-{which}",
            )
            for which, title, shown in (
                ("penalties", "Where nearly all trials return a penalty", penalties_report),
                ("suiting", "Options that have to suit each other", partial(report, "suiting")),
            )
        },
        "stuck": Part(
            "Long searches that get stuck",
            stuck_tasks,
            run_stuck,
            stuck_report,
            LIBRARIES,
            {
                "methods": ",".join(stuck_searches.RULES),
                "seeds": 10,
                "evaluations": max(stuck_searches.COUNTS),
            },
            records="generality-stuck",
        ),
        "ablation": Part(
            "The defaults of the GP, one at a time",
            ablation_tasks,
            run,
            ablation_report,
            LIBRARIES,
            {"methods": ",".join(gp_ablation.CHANGES), "seeds": 10, "evaluations": 100},
            records="generality-ablation",
        ),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
