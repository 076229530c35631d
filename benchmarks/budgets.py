"""Methods over budgets in simulated time, beside each other and beside those of another commit.

    python -m benchmarks.budgets --part development|validation|unseen|kinds|kinds-validation|two-development|two-validation
        [--workers 4,8] [--trainings 4,16] [--seeds 10] [--methods …] [--baseline PATH] [--limit-minutes M] [--by-task]
        [--again] [--write]

``development`` is what constants are chosen on: twelve tasks of LCBench, Klein's CNN curves, NAS-Bench-201, and synthetic
curves, on two of which the first epochs mislead. ``validation`` is run once per claim: ten other tasks of LCBench, logistic
regression, and two other synthetic problems. ``unseen`` are eight tasks of a family that nothing was chosen on: XGBoost over
shares of its training set, with conditions (``harness/training_sets.py``). ``kinds`` are curves that none of these has
(``harness/kinds.py``): flat beginnings, divergence, coarse or noisy losses; there the true regret of the best trial is told.
``two-…`` have a second objective, a time or a latency (``harness/with_cost.py``); the loss is the negative hypervolume of what
was reported. ``harness/simulated.py`` says what time and regret are. With ``--baseline``, a checkout of another commit,
``mobster`` runs as it is there, too. Of each two methods:

    pairs     searches (same task and seed) that end with the lower loss – with the higher one
    tasks     tasks with more of the one – of the other; p: a two-sided sign test over them
    time      when the mean regret is first at most the other's last, over when the other's is: geometric mean over tasks
              (the whole time where it never is; in brackets on how many tasks it is)
    at full   pairs and tasks by the lowest loss of the trials trained to the end

``syne-tune-mobster`` runs Syne Tune's (``workloads/syne_tune_mobster.py`` says what it needs).
"""

from __future__ import annotations

import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from benchmarks.harness import kinds
from benchmarks.harness.experiment import Experiment, Part, main, names, numbers
from benchmarks.harness.problems import LCBENCH, NB201
from benchmarks.harness.records import Found, Task
from benchmarks.harness.report import Results, table
from benchmarks.harness.run import Libraries
from benchmarks.harness.simulated import Comparison, run_simulated, simulated_tasks, tally
from benchmarks.harness.training_sets import UNSEEN
from benchmarks.harness.variants import label, plain
from benchmarks.harness.with_cost import run_with_cost

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
TWO_DEVELOPMENT = (
    *(f"lcbench-{task}+time" for task in ("126025", "167168", "168330", "189866")),
    *("nb201-cifar10+1080ti_1", "nb201-cifar100+gold_6226"),
)
TWO_VALIDATION = (
    *(
        f"lcbench-{task}+time"
        for task in ("126026", "126029", "167083", "167149", "167152", "167161", "168329", "168910")
    ),
    *("nb201-cifar10+pixel2", "nb201-cifar100+titanxp_32", "nb201-imagenet16+samsung_a50"),
)
"""With a second objective (``harness/with_cost.py``)."""
SYNE_TUNE = "syne-tune-mobster"
METHODS = (
    *("random", "gp", "asha", "asha-stop", "hyperband", "bohb", "boca"),
    *("mobster", "mobster-stop", "mobster-hyperband", "mobster-paper", "dngo-asha", SYNE_TUNE),
)
OURS = ("mobster", "mobster-paper")
AGAINST = ("asha", "random", "gp", SYNE_TUNE)
"""What is compared, and with what: those that were asked for."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--problems", help="some of the tasks of the set")
    parser.add_argument("--methods", help=f"some of {','.join(METHODS)}")
    parser.add_argument("--workers")
    parser.add_argument("--trainings", help="on each worker")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--by-task", action="store_true", help="show the pairs of each task, too")


def tasks(known: Sequence[str], options: Namespace) -> list[Task]:
    found = simulated_tasks(known, METHODS, options)
    if options.baseline is None:
        return found
    before = Namespace(**{**vars(options), "methods": f"mobster@{label(options.baseline)}"})
    every = [*found, *(task for task in simulated_tasks(known, METHODS, before) if task not in found)]
    return sorted(every, key=lambda task: task.seed)


def run(task: Task, options: Namespace) -> Found:
    if task.method == SYNE_TUNE:
        from benchmarks.workloads.syne_tune_mobster import run_syne_tune

        return run_syne_tune(task)
    if "+" in task.problem:
        return run_with_cost(task, task.method)
    if task.method == "dngo-asha":
        from xstar.searchers import DNGO

        return run_simulated(task, "asha", DNGO())
    return run_simulated(task, task.method)


# ---------------------------------------------------------------- the report


def settings(options: Namespace) -> list[tuple[int, float]]:
    return [(count, float(length)) for count in numbers(options.workers) for length in names(options.trainings)]


def compared(methods: Sequence[str]) -> list[tuple[str, str]]:
    """Ours against each reference, those of another commit and with another constant among them."""
    ours = [method for method in methods if plain(method) in OURS]
    others = [method for method in methods if method in AGAINST]
    variants = {own: [o for o in ours if "@" in o or ours.index(o) < ours.index(own)] for own in ours}
    return [(own, other) for own in ours if "@" not in own for other in (*others, *variants[own])]


def report(known: Sequence[str], ends: Sequence[str], results: Results, options: Namespace) -> Iterator[str]:
    # y★ is that of all runs on record, whatever was asked for
    records = [record for task, record in results.all.items() if task.problem in known]
    for workers, trainings in settings(options):
        comparison = Comparison(records, workers, trainings)
        if not comparison.runs:
            continue
        methods = [method for method in results.methods if method in comparison.methods]
        rows = []
        for ours, other in compared(methods):
            cells = [cell for what in ends for cell in counted(comparison, ours, other, what)]
            time = comparison.ratio_of_times(ours, other)
            rows.append((ours, other, *cells, f"{time[0]:.2f} ({time[1]})" if time else "–"))
        if not rows:
            continue
        heads = [f"{what}{'' if end in ('best', 'regrets') else ' at full'}" for end in ends for what in COUNTED]
        told = f"{len(comparison.runs)} tasks, {workers} workers, {trainings:g} trainings on each"
        yield from ("", f"{told}:", "", *table(["method", "against", *heads, "time"], rows, left=2))
        yield from ("", f"Processor time of a search: {spent(comparison, methods)}.")
        if options.by_task:
            yield from ("", *by_task(comparison, methods, ends[0]))


COUNTED = ("pairs", "tasks", "p")


def counted(comparison: Comparison, ours: str, other: str, what: str) -> tuple[str, str, str]:
    if not (both := comparison.both(ours, other, what)):
        return "–", "–", "–"
    pairs, tasks_won, p = tally(both)
    return f"{pairs[0]}–{pairs[1]}", f"{tasks_won[0]}–{tasks_won[1]}", f"{p:.2g}"


def spent(comparison: Comparison, methods: Sequence[str]) -> str:
    every = {method: [f for of in comparison.runs.values() for f in of.get(method, {}).values()] for method in methods}
    times = {method: [found["processor"] for found in runs if "processor" in found] for method, runs in every.items()}
    return (
        ", ".join(f"{method} {statistics.mean(each):.1f} s" for method, each in times.items() if each) or "not measured"
    )


def by_task(comparison: Comparison, methods: Sequence[str], what: str) -> Iterator[str]:
    """The pairs of each task."""
    duels = compared(methods)
    every = [comparison.both(ours, other, what) for ours, other in duels]
    rows = []
    for name in comparison.runs:
        pairs = [tally({name: both[name]})[0] if name in both else None for both in every]
        rows.append((name, *(f"{pair[0]}–{pair[1]}" if pair else "–" for pair in pairs)))
    yield from table(["task", *(f"{ours} – {other}" for ours, other in duels)], rows)


DEFAULTS: dict[str, object] = {"methods": "random,asha,mobster", "workers": "4,8", "seeds": 10, "trainings": "4,16"}
OTHER_FAMILY = {**DEFAULTS, "workers": "4", "seeds": 5}
KINDS = {**DEFAULTS, "workers": "1,4", "trainings": "10"}
TWO = {**DEFAULTS, "workers": "4", "trainings": "16"}
LIBRARIES = Libraries({SYNE_TUNE: "syne-tune"}, also=("onnxruntime",))


def part_of(title: str, known: Sequence[str], defaults: dict[str, object], *ends: str) -> Part:
    listed: Callable[[Namespace], list[Task]] = partial(tasks, known)
    return Part(title, listed, run, partial(report, known, ends), LIBRARIES, defaults)


EXPERIMENT = Experiment(
    name="budgets",
    title="Methods over budgets",
    result="budgets.md",
    description=__doc__,
    parts={
        "development": part_of("Development tasks", DEVELOPMENT, DEFAULTS, "best", "full"),
        "validation": part_of("Validation tasks", VALIDATION, DEFAULTS, "best", "full"),
        "unseen": part_of("Tasks of another family", UNSEEN, OTHER_FAMILY, "best", "full"),
        "kinds": part_of("Other kinds of curves", kinds.NAMES["development"], KINDS, "regrets"),
        "two-development": part_of("Two objectives, development tasks", TWO_DEVELOPMENT, TWO, "best"),
        "two-validation": part_of("Two objectives, validation tasks", TWO_VALIDATION, TWO, "best"),
        "kinds-validation": part_of("Other kinds, two other problems", kinds.NAMES["validation"], KINDS, "regrets"),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
