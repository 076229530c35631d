"""What the tests of searchers share: a space, losses, a loop, and a domain without columns."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import xstar as xs
from xstar.space import register_domain

SQUARE = xs.Space(x=xs.Float(0, 1), y=xs.Float(0, 1))


def bowl(config: dict[str, Any]) -> float:
    return float((config["x"] - 0.3) ** 2 + (config["y"] - 0.8) ** 2)


def ask(study: xs.Study) -> xs.Trial:
    trial = study.ask()
    assert trial is not None, study.ended
    for value in trial.config.values():
        assert not isinstance(value, float) or math.isfinite(value)
    return trial


def run(study: xs.Study, trials: int, loss: Callable[[dict[str, Any]], float] = bowl) -> list[xs.Trial]:
    """``loss`` may raise Infeasible or ArithmeticError."""
    made = []
    for _ in range(trials):
        trial = ask(study)
        try:
            study.tell(trial, loss(trial.config))
        except xs.Infeasible as error:
            study.fail(trial, str(error), kind="infeasible")
        except ArithmeticError as error:
            study.fail(trial, str(error))
        made.append(trial)
    return made


def best_value(found: xs.Study | xs.Result) -> float:
    value = found.best.value
    assert value is not None
    return value


def of_the_model(trials: list[xs.Trial]) -> list[xs.Trial]:
    return [trial for trial in trials if re.match(r"gp: (?!initial)", trial.origin)]


def awkward(config: dict[str, Any]) -> float:
    if config["x"] > 0.7:
        raise xs.Infeasible("too large")
    if config["y"] < 0.1:
        raise ArithmeticError("crashed")
    return bowl(config)


class Words:
    """A domain: permutations of two letters."""

    kind = "test-two-words"
    when: Mapping[str, Any] | None = None

    def sample(self, rng: np.random.Generator) -> str:
        return "ab" if rng.random() < 0.5 else "ba"

    def contains(self, value: object) -> bool:
        return value in ("ab", "ba")

    def mutate(self, value: str, rng: np.random.Generator) -> str:
        return value[::-1]

    def dump(self, value: str) -> dict[str, str]:
        return {"word": value}

    def parse(self, data: dict[str, str]) -> str:
        return data["word"]

    def to_json(self) -> dict[str, str]:
        return {}


register_domain(Words.kind, lambda data: Words())
