"""Learning curves whose beginning misleads: what is ahead after the first epochs is behind at the end.

``curves.py`` has the notation and the law of the curves. There, speed and quality are nearly independent and a low rung is
noisy; here the best configurations are among the slowest, and the rank correlation of the first epoch with the last is
negative. A scheduler that compares at that epoch drops what it should keep.

======================  ===================================================================================================
problem                 what misleads
======================  ===================================================================================================
``curves-late``         a low learning rate and much dropout end lowest and begin slowest: correlation −0.5 after 1 of 81
``curves-deep``         deep networks start slowly and end lowest; the other parameters are honest
``curves-schedule``     a long warm-up and a late decay of the learning rate pay off at the end alone
``curves-regularised``  weight decay, augmentation and label smoothing: each costs at first
======================  ===================================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import log
from typing import Any

from xstar.problems.base import Entry
from xstar.problems.curves import MAX_BUDGET, NOISE, LearningCurves, Shape
from xstar.space import Choice, Config, Float, Int, Space


def late_shape(config: Mapping[str, Any]) -> tuple[float, float, float]:
    rate = log(config["learning_rate"] / 1e-3) / log(1e4)  # −1/4 … 3/4
    dropout = config["dropout"] - 0.6  # −0.6 … 0.2
    units = log(config["units"] / 512) / log(64)  # −5/6 … 1/6
    q = 0.9 * rate * rate + 0.6 * dropout * dropout + 0.2 * units * units
    speed = 3 * rate - 2 * dropout - 0.6 * units
    return q, speed, 0.2 + 0.002 * config["units"]


def deep_shape(config: Mapping[str, Any]) -> tuple[float, float, float]:
    layers = config["layers"] - 9  # −8 … 1
    rate = log(config["learning_rate"] / 3e-2) / log(1e4)
    units = log(config["units"] / 128) / log(32)
    q = 0.01 * layers * layers + rate * rate + 0.3 * units * units
    speed = -0.4 * layers - 0.5 * abs(rate)
    return q, speed, 0.1 + 0.0015 * config["units"] * config["layers"]


def schedule_shape(config: Mapping[str, Any]) -> tuple[float, float, float]:
    warm_up, decay = config["warm_up"] - 0.4, config["decay_from"] - 0.7
    rate = log(config["peak_rate"] / 0.2) / log(1e3)
    cosine = config["schedule"] == "cosine"
    q = 1.2 * warm_up * warm_up + 0.5 * decay * decay + rate * rate + (0.0 if cosine else 0.05)
    speed = -5 * warm_up - 2 * decay - rate + (0.0 if cosine else 0.6)
    return q, speed, 1.0


def regularised_shape(config: Mapping[str, Any]) -> tuple[float, float, float]:
    decay = log(config["weight_decay"] / 1e-2) / log(1e5)  # −4/5 … 1/5
    augmentation, smoothing = config["augmentation"] - 0.8, config["label_smoothing"] - 0.15
    rate = log(config["learning_rate"] / 1e-2) / log(1e4)
    width = log(config["width"] / 4) / log(16)
    q = 0.6 * decay * decay + 0.5 * augmentation**2 + 8 * smoothing * smoothing + rate * rate + 0.2 * width * width
    speed = -2.5 * decay - 2.5 * augmentation - 5 * smoothing + 2 * rate
    return q, speed, 0.2 + 0.3 * config["width"] * (1 + config["augmentation"])


LATE = Space(learning_rate=Float(1e-4, 1.0, log=True), dropout=Float(0.0, 0.8), units=Int(16, 1024, log=True))
DEEP = Space(layers=Int(1, 10), learning_rate=Float(1e-4, 1.0, log=True), units=Int(16, 512, log=True))
SCHEDULE = Space(
    schedule=Choice(["cosine", "step"]),
    warm_up=Float(0.0, 0.5),
    decay_from=Float(0.0, 0.9),
    peak_rate=Float(1e-3, 1.0, log=True),
)
REGULARISED = Space(
    weight_decay=Float(1e-6, 1e-1, log=True),
    augmentation=Float(0.0, 1.0),
    label_smoothing=Float(0.0, 0.2),
    learning_rate=Float(1e-4, 1.0, log=True),
    width=Int(1, 16, log=True),
)
# name: (space, shape, best)
PROBLEMS: dict[str, tuple[Space, Shape, Config]] = {
    "curves-late": (LATE, late_shape, {"learning_rate": 1e-3, "dropout": 0.6, "units": 512}),
    "curves-deep": (DEEP, deep_shape, {"layers": 9, "learning_rate": 3e-2, "units": 128}),
    "curves-schedule": (
        SCHEDULE,
        schedule_shape,
        {"schedule": "cosine", "warm_up": 0.4, "decay_from": 0.7, "peak_rate": 0.2},
    ),
    "curves-regularised": (
        REGULARISED,
        regularised_shape,
        {"weight_decay": 1e-2, "augmentation": 0.8, "label_smoothing": 0.15, "learning_rate": 1e-2, "width": 4},
    ),
}


def make(name: str, *, max_budget: int = MAX_BUDGET, noise: float = NOISE, crossing: float = 1.0) -> LearningCurves:
    space, shape, best = PROBLEMS[name]
    return LearningCurves(name, space, shape, best, max_budget=max_budget, noise=noise, crossing=crossing)


ENTRIES = {name: Entry(partial(make, name)) for name in PROBLEMS}
