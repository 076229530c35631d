"""The validation set: problems on which no constant of the GP was chosen. Look at it once per claimed improvement.

=============  ========================================================================================================
class          problems
=============  ========================================================================================================
bbob …         the 24 functions of COCO's bbob in d = 5, in its five groups, and eight of them in d = 20; seed s is
               instance s + 1
bbob-large     three of bbob-largescale in d = 40
noisy          six of bbob-noisy in d = 5 with Gaussian or Cauchy noise; the true loss is the median of 201 evaluations
mixint         eight of bbob-mixint in d = 5 and 10
bits           six of IOHprofiler's PBO with 25 bits
tables         four data sets of LCBench at the full budget
failing        three of bbob in d = 5 where another of them is above its median
conditional    a choice among three of bbob, each with numbers of its own
=============  ========================================================================================================
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

import xstar as xs
from benchmarks import tables as problems
from benchmarks.harness.cases import Case, of_vector
from benchmarks.harness.machine import peer

GROUPS = {"separable": range(1, 6), "moderate": range(6, 10), "ill-conditioned": range(10, 15)}
GROUPS |= {"multimodal": range(15, 20), "weak structure": range(20, 25)}
IN_TWENTY = (2, 3, 6, 8, 12, 15, 20, 21)
LARGE = (3, 8, 15)
NOISY = (101, 103, 104, 107, 113, 119)
MIXED = (1, 3, 6, 8, 11, 15, 20, 21)
PSEUDO_BOOLEAN = {1: "OneMax", 2: "LeadingOnes", 5: "OneMaxDummy2", 18: "LABS", 19: "IsingRing", 23: "NQueens"}
BITS = 25
ASIDE = ("lcbench-146212", "lcbench-167184", "lcbench-168331", "lcbench-189909")
REPEATS = 201
"""An odd number: the median of multiplicative Gaussian noise is the function without it."""


@cache
def _suite(name: str, d: int) -> Any:
    # Unasked, bbob offers instances 1 to 5 and then those of the year; the other suites go on to 15.
    instances = "instances:1-30" if name == "bbob" else ""
    return peer("cocoex", "coco-experiment").Suite(name, instances, f"dimensions:{d}")


@cache
def _coco(name: str, function: int, d: int, instance: int) -> Any:
    return _suite(name, d).get_problem_by_function_dimension_instance(function, d, instance)


def bbob(kind: str, function: int, d: int, seed: int, suite: str = "bbob", **rest: Any) -> Case:
    problem = _coco(suite, function, d, seed + 1)
    return of_vector(kind, problem, -5.0, 5.0, d, **rest)


def noisy(function: int, seed: int) -> Case:
    problem = _coco("bbob-noisy", function, 5, seed + 1)

    def observed(config: Mapping[str, Any]) -> float:
        return float(problem(np.fromiter(config.values(), float)))

    def true(config: Mapping[str, Any]) -> float:
        return statistics.median(observed(config) for _ in range(REPEATS))

    space = xs.Space({f"x{place}": xs.Float(-5.0, 5.0) for place in range(5)})
    return Case("noisy", space, true, observed=observed)


def mixint(function: int, d: int, seed: int) -> Case:
    problem = _coco("bbob-mixint", function, d, seed + 1)
    whole = int(problem.number_of_integer_variables)
    bounds = zip(problem.lower_bounds, problem.upper_bounds, strict=True)
    space = xs.Space(
        {
            f"x{place}": xs.Int(int(low), int(high)) if place < whole else xs.Float(float(low), float(high))
            for place, (low, high) in enumerate(bounds)
        }
    )
    return Case("mixint", space, lambda config: float(problem(np.fromiter(config.values(), float))))


def bits(function: int, seed: int) -> Case:
    ioh = peer("ioh")
    problem = ioh.get_problem(function, seed + 1, BITS, ioh.ProblemClass.PBO)
    space = xs.Space({f"b{place}": xs.Bool() for place in range(BITS)})
    return Case("bits", space, lambda config: -float(problem([int(value) for value in config.values()])))


def failing(function: int, guard: int, seed: int) -> Case:
    """``function`` fails where ``guard`` is above its median."""
    other = _coco("bbob", guard, 5, seed + 1)
    middle = float(np.median([other(x) for x in np.random.default_rng(seed).uniform(-5, 5, (401, 5))]))
    return bbob("failing", function, 5, seed, fails=lambda config: other(np.fromiter(config.values(), float)) > middle)


def conditional(functions: tuple[int, int, int], seed: int) -> Case:
    """Which of three functions, and three numbers for it; each is scaled by its median above its lowest value at random."""
    chosen = {}
    for letter, function in zip("abc", functions, strict=True):
        problem = _coco("bbob", function, 3, seed + 1)
        at_random = [problem(x) for x in np.random.default_rng(seed).uniform(-5, 5, (401, 3))]
        chosen[letter] = (problem, min(at_random), float(np.median(at_random)) - min(at_random))
    own = {f"{letter}{place}": xs.Float(-5.0, 5.0, when={"branch": letter}) for letter in chosen for place in range(3)}

    def true(config: Mapping[str, Any]) -> float:
        problem, low, scale = chosen[config["branch"]]
        return float((problem([config[f"{config['branch']}{place}"] for place in range(3)]) - low) / scale)

    return Case("conditional", xs.Space({"branch": xs.Choice(list(chosen)), **own}), true)


def names() -> dict[str, str]:
    """All problems, and the class of each."""
    found = {f"bbob-f{n}-d5": f"bbob {group}" for group, numbers in GROUPS.items() for n in numbers}
    found |= {f"bbob-f{n}-d20": "bbob d=20" for n in IN_TWENTY}
    found |= {f"bbob-f{n}-d40": "bbob-large" for n in LARGE}
    found |= {f"noisy-f{n}": "noisy" for n in NOISY}
    found |= {f"mixint-f{n}-d{d}": "mixint" for n, d in zip(MIXED, (5, 10) * 4, strict=True)}
    found |= {f"bits-{name}": "bits" for name in PSEUDO_BOOLEAN.values()}
    found |= {name: "tables" for name in ASIDE if not problems.missing(name)}
    found |= {f"failing-f{n}": "failing" for n in (1, 8, 15)}
    return found | {f"conditional-{n}": "conditional" for n in (1, 2)}


def case_of(name: str, seed: int) -> Case:
    """The problem of that name as seed ``seed`` meets it."""
    kind = names()[name]
    if name.startswith("lcbench"):
        problem = problems.get(name)
        return Case(kind, problem.space, problem.loss)
    family, _, rest = name.partition("-")
    if family == "bits":
        return bits({label: number for number, label in PSEUDO_BOOLEAN.items()}[rest], seed)
    if family == "conditional":
        return conditional({"1": (8, 15, 21), "2": (1, 3, 20)}[rest], seed)
    function, _, dimension = rest.removeprefix("f").partition("-d")
    number, d = int(function), int(dimension or 5)
    match family:
        case "noisy":
            return noisy(number, seed)
        case "mixint":
            return mixint(number, d, seed)
        case "failing":
            return failing(number, {1: 15, 8: 21, 15: 1}[number], seed)
    return bbob(kind, number, d, seed, "bbob-largescale" if d > 20 else "bbob")
