"""Kinds of training curves that the tasks of ``budgets.py`` do not have, as variations of their synthetic problems.

=============  =============================================================================================================
kind           what is changed
=============  =============================================================================================================
``plain``      nothing
``flat``       the first tenth of the epochs is at chance for all, as while a learning rate warms up
``flatter``    the first three tenths are
``chance``     the first tenth of the epochs is at chance, give or take 0.005
``chancy``     the first three tenths are
``diverges``   a learning rate above three times the best one ends a training: the higher, the sooner, at most after 40 %
``blows-up``   as ``diverges``, but what it reports from there on is a million, and it goes on
``falls``      as ``diverges``, but what it reports from there on is the loss of chance, and it goes on
``turns``      nearly half of the space ends after 30 to 70 % of the training, and has been good until then
``explodes``   as ``turns``, but what it reports from there on is a million, and it goes on
``collapses``  as ``turns``, but what it reports from there on is the loss of chance, and it goes on
``coarse``     losses in steps of 0.02: a validation set of fifty
``noisy``      each report has ten times the noise
``spikes``     one report in ten lies above the curve, by up to 1
=============  =============================================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks import tables as problems
from xstar.testing.problems import Curve
from xstar.testing.problems.base import Noise

Losses = np.ndarray
Change = Callable[[Mapping[str, Any], Losses, np.random.Generator], Losses]

BEST_RATE: dict[str, tuple[str, Callable[[Mapping[str, Any]], float]]] = {
    "curves-mlp": ("learning_rate", lambda config: 1e-2),
    "curves-optimizer": ("learning_rate", lambda config: 0.05 if config["optimizer"] == "sgd" else 1e-3),
    "curves-schedule": ("peak_rate", lambda config: 0.2),
    "curves-regularised": ("learning_rate", lambda config: 1e-2),
}
"""Of each problem that is varied, the parameter that is a learning rate, and the rate that ends lowest."""
SETS = {"development": ("curves-mlp", "curves-optimizer"), "validation": ("curves-schedule", "curves-regularised")}
"""Those that rules are chosen on, and those that none was chosen on."""
CHANCE = 0.9
FATAL = ("diverges", "blows-up", "falls", "turns", "explodes", "collapses")
"""Kinds with trainings that do not end well."""


def flat(share: float) -> Change:
    def change(config: Mapping[str, Any], losses: Losses, rng: np.random.Generator) -> Losses:
        losses[: int(share * len(losses))] = CHANCE
        return losses

    return change


def around_chance(share: float) -> Change:
    def change(config: Mapping[str, Any], losses: Losses, rng: np.random.Generator) -> Losses:
        first = int(share * len(losses))
        losses[:first] = CHANCE + 0.005 * rng.standard_normal(first)
        return losses

    return change


def from_epoch(last: Callable[[float], float], above: float, value: float) -> Callable[[str], Change]:
    """From the share ``last(x)`` of the training on, all reports are ``value``, where the learning rate is 10^x times more than
    ``above`` times the best."""

    def of(base: str) -> Change:
        rate, best = BEST_RATE[base]

        def change(config: Mapping[str, Any], losses: Losses, rng: np.random.Generator) -> Losses:
            over = math.log10(config[rate] / (above * best(config)))
            if over > 0.0:
                losses[max(1, int(last(over) * len(losses))) - 1 :] = value
            return losses

        return change

    return of


def coarse(config: Mapping[str, Any], losses: Losses, rng: np.random.Generator) -> Losses:
    return np.round(losses / 0.02) * 0.02


def noisy(config: Mapping[str, Any], losses: Losses, rng: np.random.Generator) -> Losses:
    return losses + 0.05 * rng.standard_normal(len(losses))


def spikes(config: Mapping[str, Any], losses: Losses, rng: np.random.Generator) -> Losses:
    return losses + (rng.random(len(losses)) < 0.1) * rng.random(len(losses))


def early(over: float) -> float:
    return 0.4 * math.exp(-2.0 * over)


def late(over: float) -> float:
    return 0.7 - 0.2 * min(over, 2.0)


KINDS: dict[str, Callable[[str], Change]] = {
    "plain": lambda base: flat(0.0),
    "flat": lambda base: flat(0.1),
    "flatter": lambda base: flat(0.3),
    "chance": lambda base: around_chance(0.1),
    "chancy": lambda base: around_chance(0.3),
    "diverges": from_epoch(early, 3.0, math.nan),
    "blows-up": from_epoch(early, 3.0, 1e6),
    "falls": from_epoch(early, 3.0, CHANCE),
    "turns": from_epoch(late, 1.2, math.nan),
    "explodes": from_epoch(late, 1.2, 1e6),
    "collapses": from_epoch(late, 1.2, CHANCE),
    "coarse": lambda base: coarse,
    "noisy": lambda base: noisy,
    "spikes": lambda base: spikes,
}


class Changed:
    """A problem of this kind; its ``loss`` is without noise, and infinite where a training does not end well."""

    unit = "validation error as a fraction"

    def __init__(self, kind: str, base: str) -> None:
        self._base, self._change = problems.get(base), KINDS[kind](base)
        self.name, self.space, self.budgets = f"{kind}:{base}", self._base.space, self._base.budgets
        self.optimum, self.best = self._base.optimum, self._base.best
        self._noise = Noise(self.name, self.space)
        self._fatal = kind in FATAL

    def curve(self, config: Mapping[str, Any], seed: int) -> Curve:
        plain = self._base.curve(config, seed)
        losses = self._change(config, np.array(plain.losses), self._noise.generator(config, seed))
        return Curve(losses.tolist(), plain.seconds)

    def loss(self, config: Mapping[str, Any]) -> float:
        end = self._change(config, np.zeros(len(self.budgets)), np.random.default_rng(0))[-1]
        return math.inf if self._fatal and end != 0.0 else self._base.loss(config)


def named(name: str) -> Changed:
    """The problem ``kind:base``."""
    kind, base = name.split(":")
    return Changed(kind, base)


NAMES = {which: tuple(f"{kind}:{base}" for kind in KINDS for base in bases) for which, bases in SETS.items()}
"""The problems of each set."""
