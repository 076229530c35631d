"""The holdout set: problems that were made after all constants of the GP had been chosen. ``holdout_models.py`` has its models.

=============  ========================================================================================================
class          problems
=============  ========================================================================================================
functions      COCO's bbob in d = 2, 3 and 10, instances from 51 on
bits, mixint   functions of IOHprofiler's PBO (20 bits) and of bbob-mixint that the validation set does not have
models         scikit-learn's models with the data that come with it, by cross-validation
noisy          noise that grows with the loss; one loss in ten is a million
steps          a rounded function, one that is constant, a rate beyond which a loss is far larger, counts up to thousands
scales         a function times 10⁻¹², times 10¹², and with 10⁹ added to it
branches       one branch has a single parameter and the other six; parameters that nothing depends on
failing        nine places in ten raise
=============  ========================================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import xstar as xs
from benchmarks.harness import holdout_models
from benchmarks.harness.cases import Case, of_vector
from benchmarks.harness.machine import peer

FIRST_INSTANCE = 51
FUNCTIONS = {"f4-d10": (4, 10), "f7-d10": (7, 10), "f11-d10": (11, 10), "f17-d10": (17, 10)}
FUNCTIONS |= {"f18-d3": (18, 3), "f13-d2": (13, 2), "f22-d10": (22, 10), "f24-d3": (24, 3)}
PSEUDO_BOOLEAN = {7: "OneMaxEpistasis", 22: "MIS", 24: "ConcatenatedTrap"}
BITS = 20
MIXED = {"f7-d5": (7, 5), "f17-d10": (17, 10), "f24-d5": (24, 5)}

Vector = NDArray[np.float64]
Numbers = Callable[[Vector], float]


@cache
def _coco(suite: str, function: int, d: int, instance: int) -> Any:
    instances = f"instances:{instance}" if suite == "bbob" else ""
    made = peer("cocoex", "coco-experiment").Suite(suite, instances, f"dimensions:{d}")
    return made.get_problem_by_function_dimension_instance(function, d, instance)


def bbob(function: int, d: int, seed: int) -> Numbers:
    problem: Numbers = _coco("bbob", function, d, seed + FIRST_INSTANCE)
    return problem


def functions(which: str, seed: int) -> Case:
    function, d = FUNCTIONS[which]
    return of_vector("functions", bbob(function, d, seed), -5.0, 5.0, d)


def mixint(which: str, seed: int) -> Case:
    function, d = MIXED[which]
    problem = _coco("bbob-mixint", function, d, seed + 1)
    whole = int(problem.number_of_integer_variables)
    bounds = enumerate(zip(problem.lower_bounds, problem.upper_bounds, strict=True))
    numbers = {
        f"x{place}": xs.Int(int(low), int(high)) if place < whole else xs.Float(float(low), float(high))
        for place, (low, high) in bounds
    }
    return Case("mixint", xs.Space(numbers), lambda config: float(problem(np.fromiter(config.values(), float))))


def bits(which: str, seed: int) -> Case:
    ioh = peer("ioh")
    number = next(number for number, name in PSEUDO_BOOLEAN.items() if name == which)
    problem = ioh.get_problem(number, seed + 1, BITS, ioh.ProblemClass.PBO)
    space = xs.Space({f"b{place}": xs.Bool() for place in range(BITS)})
    return Case("bits", space, lambda config: -float(problem([int(value) for value in config.values()])))


# ---------------------------------------------------------------- noise, scales, steps


def heteroscedastic(seed: int) -> Case:
    """The standard deviation of the noise is a third of the loss above the optimum."""
    problem, rng = _coco("bbob", 8, 3, seed + FIRST_INSTANCE), np.random.default_rng([seed, 8])
    low = _lowest(problem, 3)
    case = of_vector("noisy", problem, -5.0, 5.0, 3)

    def observed(config: Mapping[str, Any]) -> float:
        loss = case.true(config)
        return float(loss + (loss - low) / 3 * rng.standard_normal())

    return Case("noisy", case.space, case.true, observed=observed)


def spoilt(seed: int) -> Case:
    """One loss in ten is a million, wherever it is."""
    return of_vector("noisy", bbob(6, 3, seed), -5.0, 5.0, 3, spoilt=(0.1, 1e6))


def _lowest(problem: Any, d: int) -> float:
    """The value at the optimum, which COCO tells nobody but by its largest number of digits: near enough, from a search."""
    from scipy.optimize import differential_evolution

    return float(differential_evolution(problem, [(-5.0, 5.0)] * d, seed=0, maxiter=300, tol=1e-12).fun)


def scaled(factor: float, offset: float, seed: int) -> Case:
    problem = bbob(10, 5, seed)
    return of_vector("scales", lambda x: offset + factor * problem(x), -5.0, 5.0, 5)


def rounded(seed: int) -> Case:
    """A distance in steps of a twentieth of what it is at most."""
    at = np.random.default_rng([seed, 1]).uniform(0.1, 0.9, 4)
    return of_vector("steps", lambda x: float(np.floor(20 * np.abs(x - at).sum() / 4)), 0.0, 1.0, 4)


def constant(seed: int) -> Case:
    return of_vector("steps", lambda x: 1.0, 0.0, 1.0, 3)


def cliff(seed: int) -> Case:
    """The best rate is just below the one from which on losses are thousands of times larger."""
    shift = np.random.default_rng([seed, 2]).uniform(-0.5, 0.5, 3)
    space = xs.Space(
        rate=xs.Float(1e-6, 10.0, log=True), momentum=xs.Float(0.0, 0.999), decay=xs.Float(1e-8, 1e-1, log=True)
    )

    def true(config: Mapping[str, Any]) -> float:
        rate = np.log10(config["rate"]) - np.log10(1.0 - config["momentum"])
        if rate > -1.0 + shift[0]:
            return float(1e3 * (2.0 + rate - shift[0]))
        slow = 1.0 - np.exp(0.8 * (rate + 1.0 - shift[0]))
        return float(0.1 + slow + 0.02 * (np.log10(config["decay"]) + 4.5 + 2 * shift[1]) ** 2)

    return Case("steps", space, true)


def counts(seed: int) -> Case:
    """Eight counts, of which three go to thousands, with neighbours that have to fit."""
    rng = np.random.default_rng([seed, 3])
    at = rng.uniform(0.15, 0.85, 8)
    small = {f"n{place}": xs.Int(1, 6) for place in range(5)}
    large = {f"n{place}": xs.Int(1, 4096, log=True) for place in range(5, 8)}

    def true(config: Mapping[str, Any]) -> float:
        values = np.fromiter(config.values(), float)
        z = np.concatenate([(values[:5] - 1) / 5, np.log(values[5:]) / np.log(4096)]) - at
        return float((z * z).sum() + 0.8 * (z[:-1] * z[1:]).sum() + 0.05 * np.abs(np.sin(9 * z)).sum())

    return Case("steps", xs.Space({**small, **large}), true)


# ---------------------------------------------------------------- branches and failures


def unequal(seed: int) -> Case:
    """A branch with one parameter that is quickly good, and one with six that is better in the end."""
    problem = bbob(14, 5, seed)
    low = _lowest(problem, 5)
    own = {f"b{place}": xs.Float(-5.0, 5.0, when={"branch": "large"}) for place in range(5)}
    scale = xs.Float(0.1, 10.0, log=True, when={"branch": "large"})
    space = xs.Space({"branch": xs.Choice(["small", "large"]), "a": xs.Float(0.0, 1.0, when={"branch": "small"})} | own)
    space = xs.Space({**space.parameters, "scale": scale})

    def true(config: Mapping[str, Any]) -> float:
        if config["branch"] == "small":
            return float(1.0 + 3.0 * (config["a"] - 0.7) ** 2)
        x = np.array([config[f"b{place}"] for place in range(5)])
        return float(np.log1p(problem(x) - low) + 0.5 * np.log10(config["scale"] / 2.0) ** 2)

    return Case("branches", space, true)


def idle(seed: int) -> Case:
    """Two of eight parameters matter, one of them only with one option of a third; others have two or three values."""
    at = np.random.default_rng([seed, 4]).uniform(0.2, 0.8, 2)
    space = xs.Space(
        kind=xs.Choice(["a", "b", "c"]),
        x=xs.Float(0.0, 1.0),
        y=xs.Float(0.0, 1.0, when={"kind": "b"}),
        flag=xs.Bool(),
        level=xs.Int(1, 3),
        u=xs.Float(0.0, 1.0),
        v=xs.Float(0.0, 1.0),
        w=xs.Choice(["p", "q"]),
    )

    def true(config: Mapping[str, Any]) -> float:
        own = 4.0 * (config["y"] - at[1]) ** 2 - 0.3 if config["kind"] == "b" else 0.1
        return float((config["x"] - at[0]) ** 2 + own)

    return Case("branches", space, true)


def mostly_failing(seed: int) -> Case:
    """Trials raise outside of a ball with a tenth of the volume, whose middle is not the place of the optimum."""
    rng = np.random.default_rng([seed, 5])
    at = rng.uniform(-2.0, 2.0, 4)
    middle = at + rng.normal(size=4)
    case = of_vector("failing", lambda x: float((np.abs(x - at) ** 1.5).sum()), -5.0, 5.0, 4)
    return Case(
        "failing", case.space, case.true, fails=lambda c: np.linalg.norm(np.fromiter(c.values(), float) - middle) > 4
    )


MADE: Mapping[str, tuple[str, Callable[[int], Case]]] = {
    "heteroscedastic": ("noisy", heteroscedastic),
    "spoilt": ("noisy", spoilt),
    "tiny": ("scales", lambda seed: scaled(1e-12, 0.0, seed)),
    "huge": ("scales", lambda seed: scaled(1e12, 0.0, seed)),
    "offset": ("scales", lambda seed: scaled(1e-3, 1e9, seed)),
    "rounded": ("steps", rounded),
    "constant": ("steps", constant),
    "cliff": ("steps", cliff),
    "counts": ("steps", counts),
    "unequal": ("branches", unequal),
    "idle": ("branches", idle),
    "mostly-failing": ("failing", mostly_failing),
}
FAMILIES: Mapping[str, tuple[str, Mapping[str, Any], Callable[[str, int], Case]]] = {
    "bbob": ("functions", FUNCTIONS, functions),
    "mixint": ("mixint", MIXED, mixint),
    "bits": ("bits", dict.fromkeys(PSEUDO_BOOLEAN.values()), bits),
}


def names() -> dict[str, str]:
    """All problems, and the class of each."""
    found = {f"{family}-{which}": kind for family, (kind, known, _) in FAMILIES.items() for which in known}
    return found | dict.fromkeys(holdout_models.MODELS, "models") | {name: kind for name, (kind, _) in MADE.items()}


def case_of(name: str, seed: int) -> Case:
    """The problem of that name as seed ``seed`` meets it."""
    if name in MADE:
        return MADE[name][1](seed)
    if name in holdout_models.MODELS:
        return holdout_models.case_of(name, seed)
    family, _, which = name.partition("-")
    return FAMILIES[family][2](which, seed)
