"""What a study with several objectives found: its front, the volume it covers, and one trial picked from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from xstar.core.checks import as_float, nearest
from xstar.core.goals import Goals
from xstar.core.pareto import Array, hypervolume
from xstar.core.words import last_line, plural
from xstar.errors import InvalidArgument, NoValue, SeveralObjectives
from xstar.journal import History
from xstar.journal.constraints import how_many_beyond
from xstar.journal.trial import Trial, losses_of


def reference_of(history: History, given: Mapping[str, float] | None = None) -> Array:
    """The reference point in losses: a user's, else a threshold, else a little beyond the worst of the front that was seen."""
    goals = history.goals
    if not history.observed:
        raise NoValue("no trial has a value yet")
    made = goals.reference([row[2:] for row in history.observed])
    for name, value in _known(goals, given or {}, "reference").items():
        made[goals.metrics.index(name)] = goals.signs[goals.metrics.index(name)] * value
    return made


def covered(history: History, given: Mapping[str, float] | None = None) -> tuple[float, dict[str, float]]:
    """The hypervolume of the front, and the reference point beside it in the user's own directions."""
    r = reference_of(history, given)
    front = np.array([losses_of(trial) for trial in history.front]).reshape(-1, len(r))
    named = {
        name: sign * value for name, sign, value in zip(history.goals.metrics, history.goals.signs, r, strict=True)
    }
    return hypervolume(front, r), {name: float(value) for name, value in named.items()}


def no_best(goals: Goals) -> SeveralObjectives:
    """The error when the best trial of several objectives is asked for."""
    found = f"{len(goals)} objectives: {', '.join(goals.metrics)}"
    remedy = "the best trade-offs are study.front, result.front, and result.pick() chooses one"
    return SeveralObjectives("best", "is the best trial of a study with one objective", found, remedy)


def no_value(history: History, study: str = "") -> NoValue:
    """There is no best trial: what is beyond a bound, and the last failure, often say why."""
    beyond, last = how_many_beyond(history.bounds, history.trials), last_failure(history)
    words = f"; {beyond}" if beyond else ""
    words += f"; the last failure: {last}" if last and not beyond.endswith(last) else ""
    of = f" of study {study!r}" if study else ""
    return NoValue(f"no trial{of} has a value yet ({plural(len(history.trials), 'trial')} so far){words}")


def last_failure(history: History) -> str:
    """What the last trial that went wrong ended with, in a line; empty if all went well."""
    return next((last_line(trial.reason) for trial in reversed(history.trials) if trial.reason), "")


def picked(
    front: Sequence[Trial], goals: Goals, weights: Mapping[str, float] | None, bounds: Mapping[str, float]
) -> Trial:
    """One trial of the front: the best within the bounds by the weights, or the knee where there are none.

    Objectives are scaled to the range of the front. The knee is the trial furthest from the worst of each objective, that is
    with the least augmented Chebyshev distance to the best of each; with weights it is the least weighted sum.
    """
    if not front:
        raise NoValue("no trial is in the front yet")
    signs, names = np.array(goals.signs), list(goals.metrics)
    losses = np.array([losses_of(trial) for trial in front])
    limits = np.full(len(names), np.inf)
    for name, value in _known(goals, bounds, "pick").items():
        limits[names.index(name)] = signs[names.index(name)] * value
    inside = (losses <= limits).all(axis=1)
    if not inside.any():
        nearest_one = front[int(np.argmin(np.maximum(losses - limits, 0.0).max(axis=1)))]
        asked = ", ".join(f"{name}={value:g}" for name, value in bounds.items())
        rule = "must leave a trial of the front"
        raise InvalidArgument("pick", rule, asked, f"the nearest has {goals.words(nearest_one.metrics)}")
    low, high = losses.min(axis=0), losses.max(axis=0)
    scaled = (losses - low) / np.where(high > low, high - low, 1.0)
    if weights is None:
        score = scaled.max(axis=1) + 0.05 * scaled.sum(axis=1)
    else:
        known = _known(goals, weights, "weights")
        w = np.array([known.get(name, 0.0) for name in names])
        if (w < 0.0).any() or not w.any():
            raise InvalidArgument("weights", "must be 0 or more, and not all 0", dict(weights))
        score = scaled @ w
    return front[int(np.argmin(np.where(inside, score, np.inf)))]


def _known(goals: Goals, given: Mapping[str, float], argument: str) -> dict[str, float]:
    """Numbers by the names of objectives."""
    if not isinstance(given, Mapping):
        example = ", ".join(f'"{name}": 1' for name in goals.metrics)
        raise InvalidArgument(argument, "must map names of objectives to numbers", given, f"e.g. {{{example}}}")
    for name, value in given.items():
        if name not in goals.metrics:
            rule = f"must name objectives, {', '.join(goals.metrics)}"
            raise InvalidArgument(argument, rule, name, nearest(str(name), goals.metrics))
        if as_float(value) is None:
            raise InvalidArgument(argument, f"must give a number for {name!r}", value)
    return {name: float(value) for name, value in given.items()}
