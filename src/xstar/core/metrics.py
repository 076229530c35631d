"""What an objective gives back, brought to one form: a dictionary of plain floats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xstar.core.words import is_readable
from xstar.errors import InvalidReport, MissingMetric

DEFAULT_METRIC = "value"
"""The watched metric of a study that names none: the number that an objective returns, or the only one of a dictionary."""


def parse_metrics(given: Any, metric: str) -> dict[str, float]:
    """A number or a mapping of numbers → ``{name: float}`` that contains ``metric``.

    >>> parse_metrics(0.25, "error")
    {'error': 0.25}

    A study that names no metric watches the only one there is. It is recorded under both names, so that every report has the
    watched metric, whatever the objective calls it; of several, somebody has to say which.

    >>> parse_metrics({"error": 0.25}, DEFAULT_METRIC)
    {'value': 0.25, 'error': 0.25}
    """
    if type(given) is float:  # first: asking whether something is a Mapping takes longer than all the rest
        return {metric: given}
    if isinstance(given, Mapping):
        metrics = {_name(name): _number(f"metric {name!r}", value) for name, value in given.items()}
        if metric == DEFAULT_METRIC and len(metrics) == 1:
            return {metric: next(iter(metrics.values())), **metrics}
        if metric not in metrics:
            raise MissingMetric(
                "metrics",
                f"must contain the watched metric {metric!r}",
                sorted(metrics),
                f"report it, or set metric=… to one of {sorted(metrics)}",
            )
        return metrics
    return {metric: _number("value", given)}


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise InvalidReport("metrics", "must have names that are strings", name)
    if not is_readable(name):
        raise InvalidReport(
            "metrics", "must have names that can be written as UTF-8", name, "leave out the \\ud… in it"
        )
    return name


def _number(what: str, value: Any) -> float:
    if type(value) is float:
        return value
    if value is None or isinstance(value, str | bytes | bool):
        raise InvalidReport(what, "must be a number", value, "return or yield a number, or a dictionary of numbers")
    if isinstance(value, list | tuple):
        remedy = "return one number, or name each in a dictionary and say with metric=… which one counts"
        raise InvalidReport(what, "must be a number", type(value).__name__, remedy)
    try:
        return float(value)  # NumPy scalars, zero-dimensional arrays, torch tensors
    except (TypeError, ValueError, RuntimeError):
        raise InvalidReport(what, "must be a number", type(value).__name__, "take its mean or .item() first") from None
