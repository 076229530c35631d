"""Problems whose trials do not raise where they fail, but return a penalty; and options that raise unless they suit each other.

Constants may be chosen on them, as on the development set. A penalty is what many users return instead of raising, and what an
accuracy is where nothing was learned: the same value nearly everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

import xstar as xs
from benchmarks.harness.cases import Case
from benchmarks.harness.mostly_failing import mostly_failing

PENALTY = 1e9
CHANCE, BELOW, SCALE, NOISE = 0.9, 0.85, 20.0, 0.02
"""The error rate of chance, the largest of a model that has learned something, the loss at which it has learned most, and the
standard deviation of a validation set of two hundred."""
BY_CHANCE = ("box2-sphere", "box3-cusp", "box4-levy", "ball4-cusp", "slab3-sphere", "corner3-cusp", "corner6-sphere")
SOLVERS = {
    "lbfgs": ("l2", "none"),
    "liblinear": ("l1", "l2"),
    "newton-cg": ("l2", "none"),
    "sag": ("l2", "none"),
    "saga": ("l1", "l2", "elasticnet", "none"),
}
"""The penalties that each solver of scikit-learn's logistic regression knows."""


def returned(case: Case) -> Case:
    """The same problem, where trials return a penalty instead of raising."""
    fails = case.fails
    assert fails is not None
    return Case(case.kind, case.space, lambda config: PENALTY if fails(config) else case.true(config))


def by_chance(case: Case) -> Case:
    """The same problem, where trials have the loss of chance instead of raising; all losses are noisy."""
    fails = case.fails
    assert fails is not None

    def true(config: Mapping[str, Any]) -> float:
        return CHANCE if fails(config) else float(BELOW * (1 - np.exp(-case.true(config) / SCALE)))

    return Case("chance", case.space, true, noise=NOISE)


@cache
def penalised() -> dict[str, Case]:
    """Those of ``mostly_failing.py``, all of whose trials have a value."""
    penalties = {name: returned(case) for name, case in mostly_failing().items()}
    return penalties | {f"{name}-by-chance": by_chance(mostly_failing()[name]) for name in BY_CHANCE}


def suited(parameters: int, options: int, share: float, numbers: int) -> Case:
    """Options in a ring, of which each suits that share of its neighbour's; the others raise."""
    rng = np.random.default_rng([parameters, options, numbers])
    worth, suits = rng.standard_normal((parameters, options)), rng.random((parameters, options, options)) < share
    at = rng.uniform(0.2, 0.8, numbers)
    choices = {f"c{place}": xs.Choice([f"o{each}" for each in range(options)]) for place in range(parameters)}
    space = xs.Space(choices | {f"x{place}": xs.Float(0, 1) for place in range(numbers)})

    def chosen(config: Mapping[str, Any]) -> list[int]:
        return [int(config[name][1:]) for name in choices]

    def fails(config: Mapping[str, Any]) -> bool:
        own = chosen(config)
        return not all(suits[i, own[i], own[(i + 1) % parameters]] for i in range(parameters))

    def true(config: Mapping[str, Any]) -> float:
        far = sum((config[f"x{place}"] - at[place]) ** 2 for place in range(numbers))
        return float(sum(worth[i, own] for i, own in enumerate(chosen(config))) + 3 * far)

    return Case("options", space, true, fails=fails)


def logistic_regression() -> Case:
    """The options of scikit-learn's ``LogisticRegression``, and which of them raise together. Its losses are made up."""
    space = xs.Space(
        solver=xs.Choice(list(SOLVERS)),
        penalty=xs.Choice(["l1", "l2", "elasticnet", "none"]),
        dual=xs.Bool(),
        classes=xs.Choice(["ovr", "multinomial"]),
        C=xs.Float(1e-5, 1e5, log=True),
        ratio=xs.Float(0, 1, when={"penalty": "elasticnet"}),
        tol=xs.Float(1e-6, 1e-1, log=True),
    )
    worth = {"l1": 0.02, "l2": 0.03, "elasticnet": 0.0, "none": 0.05}

    def fails(config: Mapping[str, Any]) -> bool:
        own = config["solver"], config["penalty"]
        unknown = own[1] not in SOLVERS[own[0]] or (config["dual"] and own != ("liblinear", "l2"))
        return bool(unknown or (own[0] == "liblinear" and config["classes"] == "multinomial"))

    def true(config: Mapping[str, Any]) -> float:
        loss = 0.2 + 0.01 * (np.log10(config["C"]) - 0.7) ** 2 + 0.004 * (np.log10(config["tol"]) + 4) ** 2
        loss += worth[config["penalty"]] + (0.015 if config["classes"] == "ovr" else 0.0)
        loss += {"saga": 0.01, "sag": 0.02}.get(config["solver"], 0.0)
        return float(loss + 0.05 * (config.get("ratio", 0.4) - 0.4) ** 2)

    return Case("options", space, true, fails=fails)


def out_of_memory() -> Case:
    """Large batches of wide and deep networks fail, whatever the option; the best is just within the limit."""
    space = xs.Space(
        batch=xs.Int(8, 1024, log=True),
        width=xs.Int(32, 4096, log=True),
        depth=xs.Int(1, 24),
        rate=xs.Float(1e-5, 1e-1, log=True),
        activation=xs.Choice(["relu", "gelu", "silu"]),
    )
    worth = {"relu": 0.03, "gelu": 0.0, "silu": 0.01}

    def true(config: Mapping[str, Any]) -> float:
        rate = np.log10(config["rate"]) + 3 - 0.3 * np.log10(config["batch"] / 64)
        size = 0.06 * np.log2(config["width"]) + 0.03 * np.log2(config["batch"]) + 0.08 * np.log2(config["depth"] + 1)
        return float(1.0 - size + 0.1 * rate**2 + worth[config["activation"]])

    def fails(config: Mapping[str, Any]) -> bool:
        return bool(config["batch"] * config["width"] ** 1.5 * config["depth"] > 6e5)

    return Case("memory", space, true, fails=fails)


@cache
def cases() -> dict[str, Case]:
    """All of them."""
    return mostly_failing() | penalised() | suiting()


@cache
def suiting() -> dict[str, Case]:
    """Options that raise unless they suit each other or the numbers beside them."""
    return {
        "suited4x3": suited(4, 3, 0.6, 2),
        "suited3x6": suited(3, 6, 0.5, 3),
        "suited6x3": suited(6, 3, 0.65, 1),
        "suited5x4": suited(5, 4, 0.6, 1),
        "logistic-regression": logistic_regression(),
        "out-of-memory": out_of_memory(),
        **{name: mostly_failing()[name] for name in ("few-fit", "narrow-rates")},
    }
