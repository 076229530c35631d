"""What is said where a trial is asked for something that it does not have."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from xstar.errors import InvalidReport, UnknownAttribute, UnknownParameter


def value_of(config: Mapping[str, Any], name: str) -> Any:
    """``trial[name]``, or an error that says what there is."""
    try:
        return config[name]
    except KeyError:
        close = difflib.get_close_matches(str(name), config)
        absent = f"one whose condition does not hold is absent, so use trial.config.get({name!r}, …) where it may be"
        remedy = f"did you mean {' or '.join(map(repr, close))}? If not, {absent}" if close else absent
        there = f"must be a parameter of this trial, which has {', '.join(config)}"
        raise UnknownParameter(f"trial[{name!r}]", there, name, remedy) from None


def no_attribute(config: Mapping[str, Any], name: str) -> UnknownAttribute:
    """What is said of ``trial.lr`` and of ``trial.suggest_float``."""
    if name in config:
        return UnknownAttribute(f"trial.{name}: parameters are read by name, trial[{name!r}]")
    if name.startswith("suggest"):
        own = "here the space says what may be tried, and trial['lr'] reads it"
        return UnknownAttribute(
            f"trial.{name} is Optuna's: {own}; xs.from_optuna(objective) takes an objective as it is"
        )
    known = ", ".join(f"trial[{each!r}]" for each in config)
    return UnknownAttribute(f"a trial has no attribute {name!r}; its parameters are {known}")


OF_RESULTS = {
    "trials": "study.trials",
    "best_trial": "best",
    "best_value": "value",
    "best_params": "config",
    "best_config": "config",
    "best_trials": "front",
}
"""What Optuna and others call what a result has by another name."""


def not_in_result(name: str) -> UnknownAttribute:
    """What is said of ``result.best_value``."""
    there = (
        f"here it is result.{OF_RESULTS[name]}" if name in OF_RESULTS else "it has best, value, config, front, study"
    )
    return UnknownAttribute(f"a result has no attribute {name!r}; {there}")


def no_epochs() -> InvalidReport:
    """What is said when epochs are asked for and nobody said how many there are."""
    rule = "trial.epochs() needs to know how many epochs there are"
    return InvalidReport("max_budget", rule, None, "pass max_budget=… to the study")
