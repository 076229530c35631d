"""Hundreds of workers on a conditional problem most of which is infeasible: what Section 4.2 of the DNGO paper did.

The space is that of the paper's Table 7: eleven parameters of a caption generator, "factors" only for the multiplicative model.
The loss is ours, with its minimum at the paper's optimum. A configuration that diverges (a large learning rate and much
momentum) or does not fit into memory (hidden × context × batch, or factors) has none: 87% of the space. Nobody is told which.

The methods run in the simulator, where such a trial reports NaN and has failed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

import xstar as xs
from benchmarks.harness.records import Found, improvements, significant
from xstar.searchers import Searcher
from xstar.space import Config
from xstar.testing.problems import Curve
from xstar.testing.simulate import simulate

HOUR = 3600.0
SPACE = xs.Space(
    model=xs.Choice(["additive", "multiplicative"]),
    context=xs.Int(3, 25),
    lr=xs.Float(1e-3, 10.0, log=True),
    momentum=xs.Float(0.0, 0.9),
    batch=xs.Int(20, 200),
    hidden=xs.Int(100, 2000),
    embedding=xs.Ordinal([50, 100, 200]),
    dropout=xs.Float(0.0, 0.7),
    word_decay=xs.Float(1e-9, 1e-3, log=True),
    context_decay=xs.Float(1e-9, 1e-3, log=True),
    factors=xs.Int(50, 200, when={"model": "multiplicative"}),
)
BEST: Config = {
    "model": "additive",
    "context": 5,
    "lr": 0.43193,
    "momentum": 0.23269,
    "batch": 40,
    "hidden": 441,
    "embedding": 100,
    "dropout": 0.14847,
    "word_decay": 2.98456e-7,
    "context_decay": 1.09181e-8,
}
WEIGHTS = {"context": 1.0, "lr": 3.0, "momentum": 1.0, "batch": 0.5, "hidden": 1.5, "dropout": 1.0}
DECAYS = ("word_decay", "context_decay")


def _places(config: Mapping[str, Any]) -> dict[str, float]:
    """Of the numbers in their ranges, 0 to 1."""
    return {
        "context": (config["context"] - 3) / 22,
        "lr": math.log10(config["lr"] / 1e-3) / 4,
        "momentum": config["momentum"] / 0.9,
        "batch": (config["batch"] - 20) / 180,
        "hidden": (config["hidden"] - 100) / 1900,
        "dropout": config["dropout"] / 0.7,
        **{name: math.log10(config[name] / 1e-9) / 6 for name in DECAYS},
    }


CENTRE = _places(BEST)


def feasible(config: Mapping[str, Any]) -> bool:
    """It neither diverges nor needs more memory than there is."""
    at = _places(config)
    diverges = at["lr"] + 0.5 * at["momentum"] > 0.92
    size = config["hidden"] * config["context"] * math.sqrt(config["batch"])
    if config["model"] == "multiplicative":
        size *= config["factors"] / 60
    return not diverges and size < 60_000


@dataclass(frozen=True)
class Captions:
    """A problem of xstar's kind: one budget, and a loss that is NaN where there is none."""

    name: str = "captions"
    space: xs.Space = SPACE
    budgets: tuple[int, ...] = (1,)
    unit: str = "a made-up loss"
    optimum: float = 0.0

    @property
    def best(self) -> Config:
        return dict(BEST)

    def loss(self, config: Mapping[str, Any]) -> float:
        if not feasible(config):
            return math.nan
        at = _places(config)
        total = 0.0
        for name, weight in WEIGHTS.items():
            away = at[name] - CENTRE[name]
            total += weight * away * away + 0.02 * weight * (1.0 - math.cos(6.0 * math.pi * away))
        # Large learning rates want small batches, and what is regularised one way needs less of the other.
        total += 2.0 * (at["lr"] - CENTRE["lr"]) ** 2 * abs(at["batch"] - CENTRE["batch"])
        away = at["word_decay"] + at["context_decay"] - CENTRE["word_decay"] - CENTRE["context_decay"]
        total += 0.6 * away * away + 0.1 * (at["word_decay"] - CENTRE["word_decay"]) ** 2
        total += 0.08 * (config["embedding"] != 100)
        if config["model"] == "multiplicative":
            total += 0.05 + 0.3 * ((config["factors"] - 90) / 150) ** 2
        return total

    def curve(self, config: Mapping[str, Any], seed: int) -> Curve:
        size = config["hidden"] * config["context"] / (441 * 5)
        noise = np.random.default_rng(seed).lognormal(0.0, 0.3)
        return Curve([self.loss(config)], [26.6 * HOUR * float(noise) * size**0.3])


def ours(searcher: Searcher, workers: int, trials: int, seed: int) -> Found:
    """A run in the simulator."""
    begun = time.process_time()
    study = simulate(Captions(), searcher=searcher, workers=workers, trials=trials, seed=seed)
    spent = time.process_time() - begun
    ended = [study.history.trials[number].loss for number in study.history.ended]
    return kept([trial.config for trial in study.history.trials], ended, workers, spent)


def kept(configs: Sequence[Config], losses: Sequence[float | None], workers: int, spent: float) -> Found:
    """Incumbents in the order in which trials ended, infeasible suggestions by as many as there are workers, duplicates."""
    flags = [not feasible(config) for config in configs]
    edges = [*range(0, len(configs), workers), len(configs)]
    return {
        "best": improvements(loss if loss is not None and math.isfinite(loss) else None for loss in losses),
        "infeasible": [sum(flags[low:high]) for low, high in pairwise(edges)],
        "duplicates": len(configs) - len({SPACE.key(config) for config in configs}),
        "seconds": significant(spent / len(configs)),
    }
