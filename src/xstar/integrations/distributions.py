"""Ranges and options of other frameworks as parameters of a :class:`~xstar.space.Space`.

``Candidates`` is the space that ``RandomizedSearchCV`` takes: lists and SciPy distributions by name. A list is a ``Choice``, or
an ``Ordinal`` if its numbers ascend: drawn at random, both are uniform, as in scikit-learn, and a model can use the order. A
distribution is converted where ``Float`` or ``Int`` has exactly the same one; any other is refused by name. Options that are no
plain data (estimators, functions) go into the space by a label, and conditions on them name a label or a class.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from keyword import iskeyword
from typing import Any

import numpy as np

from xstar.errors import InvalidSpace, Words
from xstar.space import Choice, Constant, Domain, Float, Int, Ordinal, Parameter, Space
from xstar.space.conditions import OneOf, When
from xstar.space.values import freeze

SCALES = (
    "uniform, loguniform and randint can be converted; write xs.Float or xs.Int, with prior=xs.Normal(…) for a normal"
)
ONE_OF_MANY = (
    "of a list of dictionaries make one, with a list for the case and when= for what depends on it: "
    '{"clf": [SVC(), Ridge()], "clf__C": xs.Float(1, 9, when={"clf": "SVC"})}'
)


def number_range(low: float, high: float, *, whole: bool, log: bool = False, step: float | None = None) -> Parameter:
    """A range with both ends; a constant where these are one value. Whole numbers have a step of 1 without saying so."""
    if low == high:
        return Constant(low)
    if whole:
        return Int(int(low), int(high), log=log, step=None if step is None or step == 1 else int(step))
    return Float(float(low), float(high), log=log, step=step)


def one_of(options: Sequence[Any]) -> Parameter:
    """A choice; a constant where there is nothing to choose."""
    return Choice(list(options)) if len(options) > 1 else Constant(options[0])


def identifier(name: str) -> str:
    """A name as a Python identifier: ``lr/max`` is ``lr_max``, and ``lambda`` is ``lambda_``."""
    made = re.sub(r"\W", "_", name) or "_"
    made = f"p_{made}" if made[0].isdigit() else made
    return f"{made}_" if iskeyword(made) else made


def python_names(given: Iterable[str]) -> dict[str, str]:
    """Each name as an identifier, all of them different."""
    names: dict[str, str] = {}
    for name in given:
        made = identifier(name)
        while made in names.values():
            made += "_"
        names[name] = made
    return names


class Candidates:
    """A space, and what its configurations mean to ``set_params``."""

    def __init__(self, given: Any) -> None:
        self._labelled: dict[str, dict[str, Any]] = {}
        self.space = given if isinstance(given, Space) else Space(self._converted(given))

    def _converted(self, given: Any) -> dict[str, Any]:
        if isinstance(given, list | tuple) and len(given) == 1:
            given = given[0]
        if not isinstance(given, Mapping):
            raise InvalidSpace("space", "must be an xs.Space or a dictionary", type(given).__name__, ONE_OF_MANY)
        converted = {name: self._parameter(name, value) for name, value in given.items()}
        return {name: self._by_label(name, parameter) for name, parameter in converted.items()}

    def _by_label(self, name: str, parameter: Any) -> Any:
        """A parameter whose conditions on estimators are conditions on their labels."""
        if not isinstance(parameter, Parameter) or not (parents := set(parameter.conditions) & set(self._labelled)):
            return parameter
        found = dict(parameter.conditions)
        for parent in parents:
            condition, labels = found[parent], self._labelled[parent]
            meant = {value: _named(value, labels) for value in getattr(condition, "values", (condition,))}
            if unknown := [value for value, named in meant.items() if not named]:
                rule = f"when[{parent!r}] must name options, {', '.join(map(repr, labels))}, or their classes"
                raise InvalidSpace(name, rule, unknown[0])
            found[parent] = OneOf(tuple(dict.fromkeys(label for named in meant.values() for label in named)))
        return replace(parameter, when=When(found))  # type: ignore[type-var]  # every kind is a dataclass

    def _parameter(self, name: str, value: Any) -> Any:
        if isinstance(value, Parameter | Domain):
            return value
        if hasattr(value, "rvs"):
            return from_distribution(name, value)
        if isinstance(value, list | tuple | np.ndarray | range):
            return self._options(name, list(value))
        rule = "must be a parameter of xstar, a list or a SciPy distribution"
        raise InvalidSpace(name, rule, value, f"for a constant, write [{value!r}]")

    def _options(self, name: str, options: list[Any]) -> Parameter:
        try:
            plain = [freeze(option.item() if isinstance(option, np.generic) else option) for option in options]
        except ValueError:
            labels = [_label(option) for option in options]
            count = Counter(labels)
            unlike = [f"{place}: {label}" if count[label] > 1 else label for place, label in enumerate(labels)]
            self._labelled[name] = dict(zip(unlike, options, strict=True))
            return Choice(unlike)
        return Ordinal(plain) if _ascends(plain) else Choice(plain)

    def params(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """A configuration as an estimator takes it."""
        return {
            name: self._labelled[name][value] if name in self._labelled else value for name, value in config.items()
        }


def from_distribution(name: str, frozen: Any) -> Parameter:
    """The ``Float`` or ``Int`` with the very same distribution as a frozen one of SciPy."""
    kind = getattr(getattr(frozen, "dist", None), "name", type(frozen).__name__)
    if kind in ("uniform", "loguniform", "reciprocal", "randint"):
        low, high = frozen.support()
        # A logarithmic one that was shifted by loc= has another median.
        log = low > 0 and math.isclose(frozen.median(), math.sqrt(low * high), rel_tol=1e-9)
        if kind in ("uniform", "randint") or log:
            whole = kind == "randint"
            return number_range(low, high, whole=whole, log=log and kind not in ("uniform", "randint"))
    raise InvalidSpace(name, "must be a distribution that xstar has, too", Words(kind), SCALES)


def _ascends(values: list[Any]) -> bool:
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    return numbers and len(values) > 2 and all(a < b for a, b in pairwise(values))


def _label(option: Any) -> str:
    """A name that is the same in the next run: a function's own, an estimator's with its settings."""
    if isinstance(option, str):
        return option
    return getattr(option, "__name__", None) or " ".join(repr(option).split())


def _named(wanted: Any, labels: Mapping[str, Any]) -> list[str]:
    """The labels that a value of ``when=`` means: one of them, an option that is plain data, or the class of some."""
    return [
        label
        for label, option in labels.items()
        if wanted == label or wanted is option or (not isinstance(option, str) and wanted == type(option).__name__)
    ]
