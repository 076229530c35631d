"""What a searcher knew and compared when it suggested a configuration: predictions at it and at the runners-up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xstar.core.words import number, plural
from xstar.journal import History
from xstar.journal.trial import Config
from xstar.look.describe import say_counts, size_of
from xstar.look.explanation import Candidate, Why
from xstar.look.plots.networks import graph_of
from xstar.models.kernels import Array
from xstar.models.predictive import Mixture, forest_over_budgets, with_budget
from xstar.models.targets import Targets, choose
from xstar.searchers.bo.observations import Observations
from xstar.searchers.bo.surrogate import Data
from xstar.searchers.bo.trace import DecisionTrace
from xstar.study.naming import counts_of

MOST_FOREST = 500
"""Observations of the forest beside a model over budgets: as many as a Gaussian process has."""


def known_then(history: History) -> str:
    """What there was to learn from, in words."""
    text = f"After {plural(history.seen, 'event')} there were {plural(len(history.trials), 'trial')}"
    text += f" ({say_counts(counts_of(history))})" if history.trials else ""
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
    configs = [config for config, _ in leading]
    intervals, feasible = _intervals(history, trace, configs), _feasible(trace, configs)
    made = []
    for place, ((config, value), interval, holds) in enumerate(zip(leading, intervals, feasible, strict=True)):
        mean, low, high = interval or (None, None, None)
        made.append(Candidate(_written(history, config), value, mean, low, high, place == 0, holds))
    return made


Interval = tuple[float, float, float]
"""Mean, low and high."""


def _intervals(history: History, trace: DecisionTrace, configs: list[Config]) -> Sequence[Interval | None]:
    """What was expected of each configuration: by the surrogate, over budgets together with a forest; ``None`` where there was
    none, or one of each objective."""
    data, known = trace.data, trace.known
    assert data is not None
    assert known is not None
    if not known.models or known.fitted is None or history.goals.several:
        return [None] * len(configs)
    targets, rows = known.fitted.targets, _rows(data.observed, configs)
    each = [(model.predict(data.with_budget(rows)), model.noise) for model in known.models]
    means = np.array([at.mean.mean(axis=1) for at, _ in each])
    variances = np.array([at.variance + at.mean.var(axis=1) + noise for at, noise in each])
    parts = [(means.mean(axis=0), variances.mean(axis=0) + means.var(axis=0))]
    if data.over_budgets:
        parts.append(_by_forest(data, targets, rows))
    mean, *ends = (history.goals.only.sign * each for each in Mixture.of(*parts).losses(targets, data.observed.loss))
    return list(zip(mean.tolist(), np.minimum(*ends).tolist(), np.maximum(*ends).tolist(), strict=True))


def _rows(data: Observations, configs: list[Config]) -> Array:
    """Configurations as the acquisition function is handed them."""
    domains = zip(data.cube.encoder.domains, data.catalogues, strict=True)
    networks = [catalogue.enter([config.get(name) for config in configs]) for name, catalogue in domains]
    rows: Array = np.column_stack([data.cube.encoder.encode(configs)[0], *networks])
    return rows if data.networks_by_index else data.described(rows)


def _feasible(trace: DecisionTrace, configs: list[Config]) -> Sequence[float | None]:
    """What the model makes of whether each configuration has a value and is within all bounds; ``None`` where none says."""
    if not trace.feasible:
        return [None] * len(configs)
    assert trace.data is not None
    rows = _rows(trace.data.observed, configs)
    made: list[float] = np.exp(np.sum([each(rows)[0] for each in trace.feasible], axis=0)).tolist()
    return made


def _by_forest(given: Data, targets: Targets, rows: Array) -> tuple[Array, Array]:
    """Means and variances of targets by a forest of the observations at all budgets."""
    data, full = given.observed, given.history.levels[-1]
    X, share = data.positions(data.X), data.budget / full
    chosen = choose(X, data.loss, data.budget, MOST_FOREST)
    made = forest_over_budgets(X[chosen], share[chosen], targets(data.loss[chosen]))
    at = made.predict(with_budget(data.positions(rows), given.acquisition_budget))
    return at.mean[:, 0], at.variance


def _written(history: History, config: Config) -> dict[str, Any]:
    """A configuration for reading: an architecture by its size."""
    made: dict[str, Any] = dict(history.space.dump(config))
    for name, value in config.items():
        graph = graph_of(value)
        if graph is not None:
            made[name] = size_of(graph)
    return made
