"""What a study searches for: which metrics of a report count, in which direction, and how trials compare by them.

Inside, lower is better: the user's direction is turned here, and nowhere else. All that other parts ask of objectives is one of
five things: is a report complete (``parse``) and finite (``unusable``), in what order do trials stand (``ordered``), which
numbers does a model learn (``losses``), is one better than another (``ordered``, the front), and how is it said (``words``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xstar.core.checks import as_float
from xstar.core.words import is_readable
from xstar.errors import InvalidArgument, InvalidReport, MissingMetric, SeveralObjectives

DEFAULT_METRIC = "value"
"""The watched metric of a study that names none: the number that an objective returns, or the only one of a dictionary."""

Losses = tuple[float, ...]
"""One loss for each objective, lower is better."""


@dataclass(frozen=True, slots=True)
class Goal:
    """One metric that is minimised or maximised."""

    metric: str
    direction: str = "minimize"
    threshold: float | None = None
    """Beyond it a trial is of no interest, however good its other objectives are; in the user's own direction."""
    known: bool = False
    """Whether it is a function of the configuration (:class:`Known`)."""

    @property
    def sign(self) -> float:
        """A loss is the metric times this."""
        return -1.0 if self.direction == "maximize" else 1.0

    def __str__(self) -> str:
        return f"{self.direction} {self.metric}{_limit(self)}"

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Goal:
        return cls(data["metric"], data["direction"], data.get("threshold"), data.get("known", False))

    def to_json(self) -> dict[str, Any]:
        made: dict[str, Any] = {"metric": self.metric, "direction": self.direction}
        if self.threshold is not None:
            made["threshold"] = self.threshold
        return {**made, "known": True} if self.known else made


@dataclass(frozen=True, slots=True)
class Known:
    """An objective that is a function of the configuration, known before training: parameters, a price, the latency of a graph.

    ``metric={"error": "min", "size": xs.Known(count_parameters, "min", 1e6)}``: trials need not report it, no model learns it,
    and what lies beyond the threshold is never suggested. The function is called for thousands of candidates of a suggestion,
    so it should take microseconds. It is not stored: pass it again to go on with a study.
    """

    function: Callable[[dict[str, Any]], float]
    direction: str = "min"
    threshold: float | None = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidArgument("Known", "needs a function of the configuration", self.function, EXAMPLE)


def known_functions(metric: Metric | None) -> dict[str, Callable[[dict[str, Any]], float]]:
    """The functions of the known objectives among a user's ``metric``, by name."""
    given = metric if isinstance(metric, Mapping) else {}
    return {name: each.function for name, each in given.items() if isinstance(each, Known)}


class Goals(Sequence[Goal]):
    """The objectives of a study, one or several."""

    def __init__(self, every: Iterable[Goal]) -> None:
        self._every = tuple(every)
        self.metrics = tuple(each.metric for each in self._every)
        if len(set(self.metrics)) < len(self.metrics):
            raise InvalidArgument("metric", "must name each objective once", self.metrics, EXAMPLE)
        self.signs = tuple(each.sign for each in self._every)
        self.several = len(self._every) > 1
        self.known = tuple(place for place, each in enumerate(self._every) if each.known)
        """The places of those that are functions of the configuration."""
        self.learned = tuple(place for place, each in enumerate(self._every) if not each.known)
        """The places of those that a model learns, and a trial reports."""
        self.reported = tuple(self.metrics[place] for place in self.learned)
        self._metric, self._sign = self.metrics[0], self.signs[0]

    def __len__(self) -> int:
        return len(self._every)

    def __getitem__(self, index: Any) -> Any:
        return self._every[index]

    # ------------------------------------------------------------ reports

    def parse(self, given: Any) -> dict[str, float]:
        """What an objective returned, yielded or reported → ``{name: float}`` that has every metric that counts; known ones may
        be missing.

        >>> Goals([Goal("error"), Goal("size")]).parse({"error": 0.25, "size": 10, "seconds": 3})
        {'error': 0.25, 'size': 10.0, 'seconds': 3.0}
        """
        if not self.several:
            return parse_metrics(given, self._metric)
        if len(self.reported) == 1:
            return parse_metrics(given, self.reported[0])
        if not isinstance(given, Mapping):
            rule = f"must be a dictionary with {' and '.join(map(repr, self.reported))}"
            raise InvalidReport("metrics", rule, type(given).__name__, f"e.g. {{{self.reported[0]!r}: …}}")
        parsed = parse_metrics(given, self.reported[0])
        if missing := [name for name in self.reported if name not in parsed]:
            rule = f"must contain the objective {missing[0]!r}"
            raise MissingMetric("metrics", rule, sorted(parsed), "report every objective each time")
        return parsed

    def unusable(self, metrics: Mapping[str, float]) -> str | None:
        """The first objective that is no finite number, in words; ``None``: all are."""
        if not self.several:
            value = metrics[self._metric]
            return None if math.isfinite(value) else f"{self._metric} is {value}"
        return next((f"{name} is {metrics[name]}" for name in self.metrics if not math.isfinite(metrics[name])), None)

    def losses(self, metrics: Mapping[str, float]) -> Losses:
        """The objectives of a report, lower is better."""
        if not self.several:
            return (self._sign * metrics[self._metric],)
        return tuple(sign * metrics[name] for sign, name in zip(self.signs, self.metrics, strict=True))

    @property
    def only(self) -> Goal:
        """The one objective; :class:`SeveralObjectives` if there are several."""
        if self.several:
            rule = "needs a study with one objective"
            raise SeveralObjectives(
                "metric", rule, f"{len(self)} objectives: {', '.join(self.metrics)}", "name one of them"
            )
        return self._every[0]

    def loss(self, metrics: Mapping[str, float]) -> float:
        """The only objective of a report, lower is better."""
        return self.only.sign * metrics[self._metric]

    # ------------------------------------------------------------ order

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The highest losses of interest; ∞ where no threshold is set."""
        return tuple(math.inf if each.threshold is None else each.sign * each.threshold for each in self._every)

    def ordered(self, rows: Sequence[Losses] | NDArray[np.float64]) -> NDArray[np.intp]:
        """The indices of rows of losses, best first; those beyond a threshold stand behind all others."""
        from xstar.core import pareto

        Y = np.array(rows, dtype=np.float64).reshape(len(rows), len(self))
        order = pareto.ordered(Y)
        beyond = np.asarray((np.array(self.thresholds) < Y).any(axis=1))
        return order[np.argsort(beyond[order], kind="stable")] if beyond.any() else order

    def reference(self, rows: Sequence[Losses]) -> NDArray[np.float64]:
        """Up to where a hypervolume is measured: a threshold, else a little beyond the worst of the front of ``rows``."""
        from xstar.core import pareto

        Y = np.array(rows, dtype=np.float64).reshape(-1, len(self))
        made: NDArray[np.float64] = np.minimum(pareto.reference(Y), self.thresholds)
        return made

    # ------------------------------------------------------------ words

    @property
    def goal(self) -> str:
        """E.g. ``minimize error`` or ``maximize accuracy, minimize latency (40 at most)``."""
        return ", ".join(map(str, self._every))

    def words(self, metrics: Mapping[str, float], digits: int = 6) -> str:
        """The objectives of a report, e.g. ``error=0.031, size=1200``."""
        return ", ".join(f"{name}={metrics[name]:.{digits}g}" for name in self.metrics if name in metrics)


def _limit(each: Goal) -> str:
    if each.threshold is None:
        return ""
    return f" ({each.threshold:g} at {'least' if each.direction == 'maximize' else 'most'})"


DEFAULT = Goals([Goal(DEFAULT_METRIC)])

DIRECTIONS = {"minimize": "minimize", "maximize": "maximize", "min": "minimize", "max": "maximize"}
MOST = 5
"""Objectives of a study. Nearly all trials are in the front of more, so that an order of them says little."""

Metric = str | Sequence[str] | Mapping[str, Any]
"""What a user writes: the name of a metric; a list of names; or names and directions, ``{"accuracy": "max", "latency": ("min",
40)}``, where a number is the threshold of interest."""


def read_goals(metric: Metric | None, direction: str | None) -> Goals:
    """The goals that a user's ``metric`` means; a ``direction`` is that of all metrics without one of their own.

    >>> read_goals({"accuracy": "max", "latency": ("min", 40)}, None).goal
    'maximize accuracy, minimize latency (40 at most)'
    """
    usual = direction or "minimize"
    if metric is None or isinstance(metric, str):
        return Goals([Goal(_named(DEFAULT_METRIC if metric is None else metric), usual)])
    if isinstance(metric, Mapping):
        made = [_goal(_named(name), given) for name, given in metric.items()]
    elif isinstance(metric, list | tuple):
        made = [Goal(_named(name), usual) for name in metric]
    else:
        made = []
    names = [each.metric for each in made]
    if all(each.known for each in made) and made:
        rule = "must name an objective besides those that are known: there would be nothing to try"
        raise InvalidArgument("metric", rule, names, EXAMPLE)
    if not made or len(made) > MOST:
        raise InvalidArgument("metric", f"must name one to {MOST} metrics", metric, EXAMPLE)
    return Goals(made)


EXAMPLE = 'e.g. metric="error", metric=["error", "size"] or metric={"accuracy": "max", "latency": ("min", 40)}'


def _named(name: object) -> str:
    if not isinstance(name, str) or not name or not is_readable(name):
        raise InvalidArgument("metric", "must be the name of a metric", name, EXAMPLE)
    return name


def _goal(name: str, given: Any) -> Goal:
    if isinstance(given, Known):
        limit = () if given.threshold is None else (given.threshold,)
        return replace(_goal(name, (given.direction, *limit)), known=True)
    word, *rest = given if isinstance(given, list | tuple) and given else (given,)
    threshold = as_float(rest[0]) if rest else None
    if not isinstance(word, str) or word not in DIRECTIONS or len(rest) > 1 or (rest and threshold is None):
        rule = f"{name!r} must be min or max, or one of the two and the value beyond which nothing is of interest"
        raise InvalidArgument("metric", rule, given, EXAMPLE)
    return Goal(name, DIRECTIONS[word], threshold)


def parse_metrics(given: Any, metric: str) -> dict[str, float]:
    """A number or a mapping of numbers → ``{name: float}`` that contains ``metric``.

    >>> parse_metrics(0.25, "error")
    {'error': 0.25}

    A study that names no metric watches the only one there is. It is recorded under both names, so that every report has the
    watched metric, whatever the objective calls it; of several, the user has to name one.

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
