"""Is the GP ahead in every class of problems? Mean ranks after 25, 50, 100 and 200 evaluations, on two sets of problems.

    python -m benchmarks.generality --part development|validation|penalties [--methods xstar-gp,…] [--seeds 5]
        [--baseline PATH] [--limit-minutes M] [--again] [--write]

Constants are chosen on the development set (``harness/development.py``) and on no other. The validation set
(``harness/validation.py``: COCO's bbob, bbob-noisy and bbob-mixint, IOHprofiler's PBO, tables kept aside) is for one run per
claim; it needs coco-experiment and ioh. In ``penalties`` nearly all trials return a penalty, or the loss of chance, or raise
(``harness/penalties.py``). With ``--baseline``, a checkout of another commit, ``xstar-gp`` runs as it is there, too.

A search is judged by the true loss of its incumbent, the configuration with the lowest loss as observed.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from benchmarks.harness import development, penalties, validation
from benchmarks.harness.cases import Case, search
from benchmarks.harness.class_ranks import full_report
from benchmarks.harness.experiment import Experiment, Part, chosen_from, main
from benchmarks.harness.methods import LIBRARIES, METHODS
from benchmarks.harness.records import Found, Record, Task
from benchmarks.harness.report import Results
from benchmarks.harness.variants import label

OURS = "xstar-gp"
USUAL = (OURS, "optuna-tpe", "nevergrad", "hyperopt", "cmaes", "xstar-random")
OTHERS = (*USUAL, "optuna-gp", "smac", "botorch")
"""All that are on record; the last three on some of the problems."""
PENALISED = (OURS, "optuna-tpe", "nevergrad", "xstar-random")
COUNTS = (25, 50, 100, 200)
CHOSEN_ON = {"development": development.development, "penalties": penalties.cases}
"""The sets on which constants are chosen."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--methods")
    parser.add_argument("--problems", default="")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--evaluations", type=int)


def kinds(which: str) -> Mapping[str, str]:
    """The class of each problem of a set."""
    if which == "validation":
        return validation.names()
    return {name: case.kind for name, case in CHOSEN_ON[which]().items()}


def case_of(task: Task) -> Case:
    if task["set"] == "validation":
        return validation.case_of(task.problem, task.seed)
    return CHOSEN_ON[task["set"]]()[task.problem]


def tasks(which: str, options: Namespace) -> list[Task]:
    methods, known = chosen_from(options.methods, METHODS, "--methods"), kinds(which)
    problems = chosen_from(options.problems, known, "--problems") if options.problems else list(known)
    if options.baseline is not None:
        methods.append(f"{OURS}@{label(options.baseline)}")
    return [
        Task.of(seed, problem, method, evaluations=options.evaluations, set=which)
        for seed in range(options.seeds)
        for problem in problems
        for method in methods
    ]


def run(task: Task, options: Namespace) -> Found:
    return search(case_of(task), task.method, task.seed, task["evaluations"])


def report(which: str, results: Results, options: Namespace) -> Iterator[str]:
    counts = [count for count in COUNTS if count <= options.evaluations]
    yield from full_report(without_penalties(results), kinds(which), counts)


def without_penalties(results: Results) -> Results:
    """A penalty is no loss that was found: beside it all others would be the same."""

    def without(record: Record) -> Record:
        kept = [(at, loss) for at, loss in record.found["incumbents"] if loss < penalties.PENALTY]
        return replace(record, found={**record.found, "incumbents": kept})

    return Results(results.wanted, {task: without(record) for task, record in results.all.items()})


USUALLY = {"methods": ",".join(USUAL), "seeds": 5, "evaluations": max(COUNTS)}
FEW = {"methods": ",".join(PENALISED), "seeds": 10, "evaluations": 100}


def part_of(which: str, title: str, defaults: dict[str, object]) -> Part:
    return Part(title, partial(tasks, which), run, partial(report, which), LIBRARIES, defaults)


EXPERIMENT = Experiment(
    name="generality",
    title="The GP in every class of problems",
    result="generality.md",
    description=__doc__,
    parts={
        "development": part_of("development", "The development set", USUALLY),
        "validation": part_of("validation", "The validation set", {**USUALLY, "methods": ",".join(OTHERS)}),
        "penalties": part_of("penalties", "Where nearly all trials fail", FEW),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
