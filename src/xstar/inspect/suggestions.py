"""What a searcher knew and compared when it suggested a configuration: predictions at it and at the runners-up."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from xstar.core.words import number, plural
from xstar.inspect.explanation import Candidate, Why
from xstar.journal import History
from xstar.models.targets import Targets
from xstar.plots.network_data import graph_of
from xstar.searchers.bo.decision import DecisionTrace
from xstar.trial import Config, State

HALVINGS = 80
"""Halvings when a standardised loss is turned back into a value: more than the digits of a float."""


def known_then(history: History) -> str:
    """What there was to learn from, in words."""
    counts = ", ".join(f"{history.count(state)} {state.value}" for state in State if history.count(state))
    text = f"After {plural(history.seen, 'event')} there were {plural(len(history.trials), 'trial')}"
    text += f" ({counts})" if counts else ""
    if history.best is not None:
        best = history.best
        text += f"; the best {history.created.metric} was {number(best.value, 6)} (trial {best.number})"
    elif history.front:
        text += f"; {plural(len(history.front), 'trial')} in the front"
    return text + "."


def margin(made: Why) -> str:
    """How far the chosen configuration was ahead of the runners-up, in words."""
    rest = [each.acquisition for each in made.candidates if not each.chosen and each.acquisition is not None]
    own = next((each.acquisition for each in made.candidates if each.chosen), None)
    if own is None or not rest:
        return ""
    ahead = own - max(rest)
    return f"{made.acquisition} is {number(own, 4)} there, {number(ahead, 3)} above the best runner-up."


def compared(history: History, trace: DecisionTrace, chosen: Config) -> list[Candidate]:
    """The chosen configuration and the runners-up, with what was expected of each."""
    own = next((value for config, value in trace.leading if config == chosen), None)
    leading = [(chosen, own), *((config, value) for config, value in trace.leading if config != chosen)]
    intervals = _intervals(history, trace, [config for config, _ in leading])
    made = []
    for place, ((config, value), interval) in enumerate(zip(leading, intervals, strict=True)):
        mean, low, high = interval or (None, None, None)
        made.append(Candidate(_written(history, config), value, mean, low, high, place == 0))
    return made


Interval = tuple[float, float, float]
"""Mean, low and high."""


def _intervals(history: History, trace: DecisionTrace, configs: list[Config]) -> list[Interval | None]:
    """What the surrogate expected of each configuration; ``None`` where there was none, or one of each objective."""
    learner, inputs = trace.learner, trace.inputs
    assert learner is not None
    assert inputs is not None
    if not inputs.models or history.goals.several:
        return [None] * len(configs)
    data = learner.data
    domains = zip(data.cube.encoder.domains, data.catalogues, strict=True)
    networks = [catalogue.enter([config.get(name) for config in configs]) for name, catalogue in domains]
    rows = np.column_stack([data.cube.encoder.encode(configs)[0], *networks])
    if not data.networks_by_index:
        rows = data.described(rows)
    predictions = [model.predict(learner.with_budget(rows)) for model in inputs.models]
    mean = np.mean([each.mean.mean(axis=1) for each in predictions], axis=0)
    variance = np.mean([each.variance + each.mean.var(axis=1) for each in predictions], axis=0)
    variance += np.var([each.mean.mean(axis=1) for each in predictions], axis=0)
    pairs = zip(mean.tolist(), variance.tolist(), strict=True)
    return [_interval(history, learner.targets, each, math.sqrt(spread)) for each, spread in pairs]


def _written(history: History, config: Config) -> dict[str, Any]:
    """A configuration for reading: an architecture by its size."""
    made: dict[str, Any] = dict(history.space.dump(config))
    for name, value in config.items():
        graph = graph_of(value)
        if graph is not None:
            made[name] = f"{len(graph.layers)} layers, mass {graph.mass:,.4g}"
    return made


def _interval(history: History, targets: Targets, mean: float, deviation: float) -> Interval:
    """Mean and 95 % interval as values: quantiles pass through the monotone map from losses to targets and back."""
    losses = [
        history.goals.only.sign * _loss(targets, t) for t in (mean, mean - 1.96 * deviation, mean + 1.96 * deviation)
    ]
    return losses[0], min(losses[1:]), max(losses[1:])


def _loss(targets: Targets, target: float) -> float:
    """The loss whose target this is, by bisection; beyond what the map reaches, its end."""
    reach = 1e3 * targets.unit
    low, high = targets.centre - reach, targets.centre + reach
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if float(targets(np.array([middle]))[0]) < target:
            low = middle
        else:
            high = middle
    return (low + high) / 2
