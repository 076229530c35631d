"""Learning curves that need no file: their optimum is known by construction, and they cross.

Notation

=========  ======================================================================  =======
symbol     meaning                                                                 shape
=========  ======================================================================  =======
``r``      budgets 1 … R                                                           (R,)
``q``      badness of a configuration, a weighted sum of squares: 0 at the best    float
``final``  the loss at R, ``F + (S - F) q / (1 + q)``: F at the best, below S      float
``speed``  how fast a configuration learns, 0 at the best                          float
``alpha``  exponent of the power law, ``RATE · exp(speed)``                        float
``D(r)``   what is left to learn: 1 at r = 0 and 0 at r = R                        (R,)
=========  ======================================================================  =======

``loss(r) = final + (S - final) · D(r)`` with ``D(r) = ((1+r)^-alpha - (1+R)^-alpha) / (1 - (1+R)^-alpha)``.

*The optimum is known*: D(R) = 0, so that the expected loss at the full budget is ``final`` itself, whatever the speed. It is
least where q = 0, at ``best``, and F there.

*Curves cross*: a large learning rate, a small network or Adam learns faster and ends higher, as in practice. Between such
a configuration and the best one the order at a small budget is the wrong one. In the other direction (a learning rate
too small) slow is simply bad.

======================  ===================================================================================================
problem                 what is hard about it
======================  ===================================================================================================
``curves-mlp``          four numbers; seconds per epoch spread over a factor of 80
``curves-optimizer``    conditional parameters; at its best Adam is ahead for a third of the curve, and SGD with the right
                        momentum ends lower: who stops early picks Adam
``curves-late``         a low learning rate and much dropout end lowest and begin slowest: correlation −0.5 after 1 of 81
``curves-deep``         deep networks start slowly and end lowest; the other parameters are honest
``curves-schedule``     a long warm-up and a late decay of the learning rate pay off at the end alone
``curves-regularised``  weight decay, augmentation and label smoothing: each costs at first
======================  ===================================================================================================

In the last four the best configurations are among the slowest: a scheduler that compares after the first epoch drops what it
should keep.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import exp, log
from typing import Any

import numpy as np

from xstar.core.checks import as_float, as_int
from xstar.errors import InvalidArgument
from xstar.space import Choice, Config, Float, Int, Space, at_least
from xstar.testing.problems.base import Curve, Noise

# Eta = 3 divides 81 four times: five rungs, the ladder of MOBSTER's and Hyperband's examples.
MAX_BUDGET = 81
# A guess among ten classes, before anything is learned; and what the best configuration ends at.
START, FLOOR = 0.9, 0.05
# Half of the way after two epochs, four fifths after ten. Together with the speeds below, 7 to 10 % of all pairs are in the
# wrong order at a third of the budget and 15 to 22 % at a ninth; of Klein's real curves (``klein.py``) it is 11 % and 17 %.
RATE = 0.6
# Standard deviation of each report: a validation set of some 2,000 examples at an error of 5 %.
NOISE = 0.005
# A run is up to this share faster or slower than its configuration says, as machines are. Twins do not finish together.
JITTER = 0.1
# How far above SGD's best Adam's best lies, in q: 0.048 in the final loss, ten times the noise.
ADAM_GAP = 0.06

#: (q, speed, seconds per unit of budget) of a configuration.
Shape = Callable[[Mapping[str, Any]], tuple[float, float, float]]


def mlp_shape(config: Mapping[str, Any]) -> tuple[float, float, float]:
    rate = log(config["learning_rate"] / 1e-2) / log(1e4)
    units = log(config["units"] / 256) / log(64)
    batch = log(config["batch_size"] / 32) / log(32)
    dropout = config["dropout"] - 0.2
    q = 4 * rate * rate + 1.2 * units * units + 0.6 * batch * batch + dropout * dropout
    speed = 4 * rate - 2.5 * units - 1.5 * batch
    # 0.13 … 10.3 s: linear in the weights, and a small batch uses the machine badly.
    seconds = 0.1 + 0.005 * config["units"] * (32 / config["batch_size"]) ** 0.5
    return q, speed, seconds


def optimizer_shape(config: Mapping[str, Any]) -> tuple[float, float, float]:
    layers = config["layers"]
    units = log(config["units"] / 128) / log(32)
    q = 0.1 * (layers - 3) ** 2 + units * units
    speed = -0.4 * (layers - 3) - 2 * units
    if layers >= 2:  # dropout stands between layers; a single one has none
        dropout = config["dropout"] - 0.3
        q += dropout * dropout
    if config["optimizer"] == "sgd":
        rate = log(config["learning_rate"] / 0.05) / log(1e5)
        momentum = config["momentum"] - 0.9
        q += 5 * rate * rate + 0.6 * momentum * momentum
        speed += 4 * rate + momentum
    else:
        rate = log(config["learning_rate"] / 1e-3) / log(1e5)
        q += ADAM_GAP + 5 * rate * rate
        speed += 4 * rate + 0.8
    # 0.2 … 17 s; Adam keeps two moments and pays for them.
    seconds = (0.1 + 0.008 * config["units"] * layers) * (1.0 if config["optimizer"] == "sgd" else 1.2)
    return q, speed, seconds


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


class LearningCurves:
    """Simulated training runs with a known best configuration."""

    unit = "validation error as a fraction"
    optimum = FLOOR

    def __init__(
        self,
        name: str,
        space: Space,
        shape: Shape,
        best: Config,
        *,
        max_budget: int = MAX_BUDGET,
        noise: float = NOISE,
    ) -> None:
        count = as_int(max_budget)
        if count is None or count < 1:
            raise InvalidArgument("max_budget", "must be an integer of at least 1", max_budget, "try 81")
        self.name = name
        self.space = space
        self.best = best
        self.budgets = tuple(range(1, count + 1))
        level = as_float(noise)
        if level is None or not 0.0 <= level <= 1.0:
            raise InvalidArgument("noise", "must be a number in 0 ... 1", noise, "0 switches it off")
        self.noise = level
        self._shape = shape
        self._noise = Noise(name, space)
        self._budgets = np.arange(1, count + 1, dtype=np.float64)  # r
        self._log = np.log1p(self._budgets)  # log(1 + r)

    def loss(self, config: Mapping[str, Any]) -> float:
        return _final(self._describe(config)[0])

    def curve(self, config: Mapping[str, Any], seed: int) -> Curve:
        q, speed, per_unit = self._describe(config)
        final = _final(q)
        # In place and by methods: on 81 numbers a call costs more than its arithmetic.
        losses = self._log * (-RATE * exp(speed))
        np.exp(losses, out=losses)  # (1 + r)^-alpha
        end = losses.item(-1)
        scale = (START - final) / (1.0 - end)
        losses *= scale
        losses += final - scale * end
        rng = self._noise.generator(config, seed)
        # Seconds first, so that they do not depend on whether there is noise.
        seconds = self._budgets * (per_unit * (1.0 + JITTER * (2.0 * rng.random() - 1.0)))
        if self.noise:
            noise = rng.standard_normal(len(self.budgets))
            noise *= self.noise
            losses += noise
        return Curve(losses.tolist(), seconds.tolist())

    def _describe(self, config: Mapping[str, Any]) -> tuple[float, float, float]:
        try:
            return self._shape(config)
        except KeyError:
            self.space.parse(config)  # says in words what is missing
            raise


def _final(q: float) -> float:
    return FLOOR + (START - FLOOR) * q / (1.0 + q)


MLP = Space(
    learning_rate=Float(1e-4, 1.0, log=True),
    units=Int(16, 1024, log=True),
    batch_size=Int(8, 256, log=True),
    dropout=Float(0.0, 0.8),
)
OPTIMIZER = Space(
    optimizer=Choice(["sgd", "adam"]),
    learning_rate=Float(1e-5, 1.0, log=True),
    momentum=Float(0.0, 0.99, when={"optimizer": "sgd"}),
    layers=Int(1, 4),
    units=Int(16, 512, log=True),
    dropout=Float(0.0, 0.8, when={"layers": at_least(2)}),
)
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
    "curves-mlp": (MLP, mlp_shape, {"learning_rate": 1e-2, "units": 256, "batch_size": 32, "dropout": 0.2}),
    "curves-optimizer": (
        OPTIMIZER,
        optimizer_shape,
        {"optimizer": "sgd", "learning_rate": 0.05, "momentum": 0.9, "layers": 3, "units": 128, "dropout": 0.3},
    ),
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


def make(name: str, *, max_budget: int = MAX_BUDGET, noise: float = NOISE) -> LearningCurves:
    space, shape, best = PROBLEMS[name]
    return LearningCurves(name, space, shape, best, max_budget=max_budget, noise=noise)


ENTRIES = {name: partial(make, name) for name in PROBLEMS}
