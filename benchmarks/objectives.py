"""Several objectives: how much of the best front a search covers after 25, 50, 100 and 200 evaluations.

    python -m benchmarks.objectives [--part development|validation|many] [--methods …] [--problems …] [--seeds 10] [--write]

The regret is the share of the hypervolume of the best front that feasible trials do not cover, up to a reference point that is
as far beyond the worst of that front as the front is wide. Problems: ``harness/trade_offs.py`` and ``trade_off_tables.py``;
methods: ``harness/front_methods.py``. ``many`` is DTLZ2 with four and five objectives, for the cost of a decision.
"""

from __future__ import annotations

import time
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from functools import lru_cache, partial

from benchmarks.harness.experiment import Experiment, Part, chosen_from, main
from benchmarks.harness.front_methods import LIBRARIES, METHODS
from benchmarks.harness.front_ranks import full_report
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import Results
from benchmarks.harness.run import OURS
from benchmarks.harness.trade_off_tables import fcnet, nb201, xgboost
from benchmarks.harness.trade_offs import Case, bnh, c2_dtlz2, dtlz, osy, wfg, zdt

COUNTS = (25, 50, 100, 200)

CASES: dict[str, dict[str, Callable[[], Case]]] = {
    "development": {
        "zdt1": partial(zdt, 1, 6),
        "zdt4": partial(zdt, 4, 4),
        "dtlz2": partial(dtlz, 2, 3, 3),
        "wfg4": partial(wfg, 4, 2),
        "c2-dtlz2": partial(c2_dtlz2, 4),
        "nb201-cifar10-1080ti": partial(nb201, 0, "1080ti_1"),
        "nb201-cifar100-gold": partial(nb201, 1, "gold_6226"),
        "fcnet-parkinsons-time": partial(fcnet, "parkinsons", "time"),
        "xgboost-29": partial(xgboost, 29),
        "xgboost-113": partial(xgboost, 113),
    },
    "validation": {
        "zdt2": partial(zdt, 2, 6),
        "zdt3": partial(zdt, 3, 6),
        "zdt6": partial(zdt, 6, 6),
        "dtlz1": partial(dtlz, 1, 3, 3),
        "wfg4-3": partial(wfg, 4, 3),
        "wfg9": partial(wfg, 9, 2),
        "wfg9-3": partial(wfg, 9, 3),
        "bnh": bnh,
        "osy": osy,
        "nb201-cifar10-pixel2": partial(nb201, 0, "pixel2"),
        "nb201-cifar100-titan": partial(nb201, 1, "titanxp_32"),
        "nb201-imagenet16-samsung": partial(nb201, 2, "samsung_a50"),
        "fcnet-naval-size": partial(fcnet, "naval", "size"),
        "fcnet-protein-time": partial(fcnet, "protein", "time"),
        "fcnet-slice-size": partial(fcnet, "slice", "size"),
        "xgboost-17": partial(xgboost, 17),
        "xgboost-49": partial(xgboost, 49),
        "xgboost-89": partial(xgboost, 89),
    },
    "many": {"dtlz2-4": partial(dtlz, 2, 4, 3), "dtlz2-5": partial(dtlz, 2, 5, 3)},
}

KINDS = {
    "zdt": "ZDT",
    "dtlz": "DTLZ",
    "wfg": "WFG",
    "c2": "constrained",
    "bnh": "constrained",
    "osy": "constrained",
    "nb201": "NB201",
    "fcnet": "FCNet",
    "xgboost": "XGBoost",
}
"""The class of a problem, by how its name begins."""


def kind_of(name: str) -> str:
    return next(kind for begin, kind in KINDS.items() if name.startswith(begin))


@lru_cache(maxsize=32)
def case_of(name: str) -> Case:
    return next(cases[name] for cases in CASES.values() if name in cases)()


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--methods")
    parser.add_argument("--problems", default="")
    parser.add_argument("--seeds", type=int)


def tasks(which: str, options: Namespace) -> list[Task]:
    methods = chosen_from(options.methods, METHODS, "--methods")
    problems = chosen_from(options.problems or ",".join(CASES[which]), CASES[which], "--problems")
    return [Task.of(seed, p, m, set=which) for seed in range(options.seeds) for p in problems for m in methods]


def run(task: Task, options: Namespace) -> Found:
    case, method = case_of(task.problem), METHODS[task.method]
    seen: list[tuple[float, ...]] = []
    feasible, spent = [], 0.0
    with warnings.catch_warnings():
        if method.package != OURS:
            warnings.simplefilter("ignore")
        optimiser = method.make(case, task.seed)
        for _ in range(COUNTS[-1]):
            begun = time.process_time()
            config = optimiser.ask()
            spent += time.process_time() - begun
            losses = case.losses(config)
            excess = case.excess(config) if case.excess else ()
            seen.append(losses)
            feasible.append(max(excess, default=0.0) <= 0.0)
            begun = time.process_time()
            optimiser.tell(config, losses, excess)
            spent += time.process_time() - begun
    kept = [[y for y, good in zip(seen[:count], feasible, strict=False) if good] for count in COUNTS]
    return {
        "regrets": [significant(case.missing(each)) for each in kept],
        "processor": significant(1e3 * spent / len(seen)),
    }


def report(which: str, results: Results, options: Namespace) -> Iterator[str]:
    yield from full_report(results, {name: kind_of(name) for name in CASES[which]}, COUNTS)


USUAL = {"methods": ",".join(METHODS), "seeds": 10}
FEW = {**USUAL, "seeds": 3}
TITLES = {"development": "The development set", "validation": "The validation set", "many": "Four and five objectives"}

EXPERIMENT = Experiment(
    name="objectives",
    title="Several objectives",
    result="objectives.md",
    description=__doc__,
    parts={
        name: Part(title, partial(tasks, name), run, partial(report, name), LIBRARIES, FEW if name == "many" else USUAL)
        for name, title in TITLES.items()
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
