"""What the tests of searchers share: a space, losses, a loop, checks, and a domain without columns."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import xstar as xs
from xstar.look.audit import audit
from xstar.searchers import Searcher

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


def of_the_model(trials: list[xs.Trial], method: str = "gp") -> list[xs.Trial]:
    return [trial for trial in trials if re.match(rf"{method}: (?!initial)", trial.origin)]


def awkward(config: dict[str, Any]) -> float:
    if config["x"] > 0.7:
        raise xs.Infeasible("too large")
    if config["y"] < 0.1:
        raise ArithmeticError("crashed")
    return bowl(config)


# ---------------------------------------------------------------- what every searcher with a model has to stand


def check_cache(searcher: Searcher, loss: Callable[..., float]) -> None:
    """What is cached does not matter: it is kept in one study, emptied before each trial in the other."""
    kept, emptied = (xs.Study(SQUARE, searcher=searcher, seed=7) for _ in range(2))
    expected = run(kept, 30, loss)
    for trial in expected:
        emptied.history.memo.clear()
        other = run(emptied, 1, loss)[0]
        assert (other.config, other.origin) == (trial.config, trial.origin)
    assert audit(kept).findings == []
