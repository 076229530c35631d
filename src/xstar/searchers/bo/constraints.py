"""The constraints of a decision: where trials have a value, and where bounded metrics are within their bounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xstar.journal.trial import Trial
from xstar.models.kernels import Array
from xstar.models.model import with_pending
from xstar.searchers.acquisition.criterion import LogProbability, averaged, below
from xstar.searchers.bo.failures import Outcomes
from xstar.searchers.bo.networks import on_positions
from xstar.searchers.bo.surrogate import CONSTRAINT, Data, Sample, Surrogate


def constraints_of(
    data: Data, surrogate: Surrogate, doubtful: Sequence[Trial], rng: np.random.Generator
) -> list[LogProbability]:
    """Return a classifier of failed trials, and a model of each bounded metric.

    ``doubtful`` are the pending trials while no feasible trial is known: they count as failed and are assigned their expected
    metrics. Otherwise workers that ask at the same time would all receive the same region.
    """
    observed = data.observed
    made: list[LogProbability] = []
    if observed.has_failed or (doubtful and len(observed.measured) >= 2):
        classifier = data.failures.counting(doubtful) if doubtful else data.failures.classifier
        made.append(on_positions(observed, classifier.log_probability))
    return made + bounded_metrics(data, surrogate, observed.positions(observed.rows(doubtful)), rng)


def bounded_metrics(data: Data, surrogate: Surrogate, pending: Array, rng: np.random.Generator) -> list[LogProbability]:
    """Return, for each constraint metric that two trials have reported, the probability that it is within its bound."""
    observed, bounds = data.observed, data.history.created.constraints or {}
    if len(observed.measured) < 2:
        return []
    measured = Outcomes.of(data.history, observed).measured.rows
    X = observed.positions(measured[:, : observed.width])
    made = []
    for y, (name, bound) in zip(measured[:, observed.width :].T, bounds.items(), strict=True):
        fitted = surrogate.fit(data, Sample(CONSTRAINT + name, X, y, np.ones(len(y)), None))
        level = float(fitted.targets(np.array([bound]))[0])
        models = [with_pending(model, pending, 0, rng) for model in fitted.models]
        made.append(on_positions(observed, averaged([below(model, level) for model in models])))
    return made
