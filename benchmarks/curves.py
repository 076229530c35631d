"""How well models over configurations and budgets predict the loss at the full budget, in states of real searches.

    python -m benchmarks.curves [--part development|validation|unseen] [--methods …] [--problems …] [--seeds 2] [--write]

A search by ASHA and one by ``mobster``, four workers each, are stopped after 20, 60 and 180 trials. Each model is fitted to
what is known by then, and predicts losses at the full budget: of trials that were not trained to the end (``begun``), of random
configurations (``unseen``), and of neighbours of the best (``near``). Told are, as means over the states:

    rank      Spearman's correlation of predicted means and losses
    nll       the mean negative log likelihood of losses in units of their spread (that of a normal distribution with the
              quartiles of the unseen); the median over states, as a single loss may cost any number of units
    50, 90    the share of losses within intervals of 50 and 90 %
    regret    the loss of the configuration with the lowest prediction, above the lowest, as a share of what the median is above

``workloads/curve_models.py`` has the models, ``workloads/curve_states.py`` the states. The part ``unseen`` has six tasks of a
family that nothing was chosen on: XGBoost over shares of its training set, with conditions (``harness/training_sets.py``).
"""

from __future__ import annotations

import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial

import numpy as np

from benchmarks.harness.experiment import Experiment, Part, chosen_from, main
from benchmarks.harness.problems import at_hand
from benchmarks.harness.records import Found, Task
from benchmarks.harness.report import Results, table
from benchmarks.harness.training_sets import UNSEEN
from benchmarks.workloads.curve_models import METHODS as METHODS, Fitted, fitted
from benchmarks.workloads.curve_states import COUNTS, State, states
from xstar.models.kernels import Array

SETS = {
    "development": (
        *(f"lcbench-{task}" for task in ("126025", "146212", "167184", "168330", "189866")),
        *("klein-cnn", "nb201-cifar100", "electricity", "curves-mlp", "curves-optimizer", "curves-late", "curves-deep"),
        *("flatter:curves-mlp", "chancy:curves-mlp", "falls:curves-optimizer", "noisy:curves-optimizer"),
    ),
    "validation": (
        *(f"lcbench-{task}" for task in ("126026", "167083", "167152", "168329", "189906", "7593")),
        *("hpolib-logreg", "curves-schedule", "curves-regularised"),
        *("flatter:curves-schedule", "chancy:curves-regularised", "falls:curves-schedule", "noisy:curves-regularised"),
    ),
    "unseen": (*UNSEEN[:2], *UNSEEN[3:6], UNSEEN[-1]),
}
SOURCES = ("asha", "mobster")
ASKED = ("begun", "unseen", "near")
FEWEST = 5
"""Losses of which something is told."""
NORMAL_50, NORMAL_90 = 0.6745, 1.6449
QUARTILES = 1.349
"""Of a standard normal distribution, the distance between them."""
SLOPE = 1e-4
"""The step of the derivative of targets by losses, in units of their spread."""
WORST = 20.0
"""The most that a loss may cost: of one outside of all that the scale of a model knows, the likelihood is 0."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--problems")
    parser.add_argument("--methods", help=f"some of {', '.join(METHODS)}")
    parser.add_argument("--seeds", type=int)


def tasks(known: Sequence[str], options: Namespace) -> list[Task]:
    wanted = chosen_from(options.problems, known, "--problems") if options.problems else list(known)
    chosen = chosen_from(options.methods, METHODS, "--methods") if options.methods else list(METHODS)
    at_hand([name for name in wanted if ":" not in name])
    return [
        Task.of(seed, name, method, source=source)
        for seed in range(options.seeds)
        for name in wanted
        for source in SOURCES
        for method in chosen
    ]


@lru_cache(maxsize=4)
def _states(name: str, source: str, seed: int) -> tuple[State, ...]:
    return tuple(states(name, source, seed))


def run(task: Task, options: Namespace) -> Found:
    each = _states(task.problem, task["source"], task.seed)
    return {str(count): measured(state, fitted(task.method, state)) for count, state in zip(COUNTS, each, strict=True)}


def measured(state: State, model: Fitted) -> dict[str, list[float]]:
    """Rank, nll, the two coverages and regret of each set of configurations."""
    unit = _spread(state.asked["unseen"][1])
    found = {}
    for asked in ASKED:
        X, losses = state.asked[asked]
        if len(losses) >= FEWEST and np.ptp(losses) > 0.0:
            found[asked] = [round(value, 4) for value in _scores(*model.predict(X), losses, model.scale, unit)]
    return found


def _spread(losses: Array) -> float:
    low, middle, high = np.quantile(losses, (0.25, 0.5, 0.75))
    return float(max((high - low) / QUARTILES, 1e-3 * abs(middle), 1e-9))


def _scores(mean: Array, variance: Array, losses: Array, scale: Callable[[Array], Array], unit: float) -> list[float]:
    std = np.sqrt(variance)
    z = (scale(losses) - mean) / std
    step = SLOPE * unit
    slope = np.maximum((scale(losses + step) - scale(losses - step)) / (2.0 * SLOPE), 1e-12)
    nll = np.minimum(0.5 * z**2 + np.log(std) + 0.5 * np.log(2.0 * np.pi) - np.log(slope), WORST)
    above = float(np.median(losses) - losses.min())
    regret = float(losses[mean.argmin()] - losses.min()) / above if above > 0.0 else 0.0
    covered = [float(np.mean(np.abs(z) <= width)) for width in (NORMAL_50, NORMAL_90)]
    return [rank_correlation(mean, losses), float(nll.mean()), *covered, min(regret, WORST)]


def rank_correlation(a: Array, b: Array) -> float:
    """Spearman's; 0 where one of them is constant."""
    ranks = [_ranks(each) for each in (a, b)]
    if any(np.ptp(each) == 0.0 for each in ranks):
        return 0.0
    return float(np.corrcoef(*ranks)[0, 1])


def _ranks(values: Array) -> Array:
    """Places, shared by equal values."""
    ordered = np.sort(values)
    made: Array = (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")) / 2.0
    return made


# ---------------------------------------------------------------- the report

TOLD = ("rank", "nll", "50", "90", "regret")


def report(results: Results, options: Namespace) -> Iterator[str]:
    for count in (*COUNTS, None):
        states_told = "all states" if count is None else f"{count} trials"
        rows = [(method, *_cells(results, method, count)) for method in results.methods]
        heads = [f"{asked} {what}" for asked in ASKED for what in TOLD]
        yield from ("", f"{states_told}:", "", *table(["model", *heads], rows, left=1))


def _cells(results: Results, method: str, count: int | None) -> Iterator[str]:
    counts = [str(each) for each in (COUNTS if count is None else (count,))]
    records = [record for record in results.records if record.task.method == method]
    for asked in ASKED:
        found = [r.found[c][asked] for r in records for c in counts if asked in r.found[c]]
        for place, what in enumerate(TOLD):
            values = [each[place] for each in found]
            if not values:
                yield "–"
            else:
                yield f"{(statistics.median if what == 'nll' else statistics.mean)(values):.2f}"


def part_of(title: str, known: Sequence[str]) -> Part:
    return Part(title, partial(tasks, known), run, report, defaults={"seeds": 2})


EXPERIMENT = Experiment(
    name="curves",
    title="Predictions at the full budget",
    result="curves.md",
    description=__doc__,
    parts={
        "development": part_of("Development tasks", SETS["development"]),
        "validation": part_of("Validation tasks", SETS["validation"]),
        "unseen": part_of("Tasks of another family", SETS["unseen"]),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
