"""Errors for what a trial does not have: a parameter, an attribute, a number of epochs."""

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
    """The error for ``trial.lr`` and for ``trial.suggest_float``."""
    if name in config:
        return UnknownAttribute(f"trial.{name}: parameters are read by name, trial[{name!r}]")
    if name.startswith("suggest"):
        own = "here the space says what may be tried, and trial['lr'] reads it"
        return UnknownAttribute(
            f"trial.{name} is Optuna's: {own}; xs.from_optuna(objective) takes an objective as it is"
        )
    known = ", ".join(f"trial[{each!r}]" for each in config)
    return UnknownAttribute(f"a trial has no attribute {name!r}; its parameters are {known}")


def no_epochs() -> InvalidReport:
    """The error for ``trial.epochs()`` of a study without ``max_budget``."""
    rule = "trial.epochs() needs to know how many epochs there are"
    return InvalidReport("max_budget", rule, None, "pass max_budget=… to the study")
