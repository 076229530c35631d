"""What a surrogate is handed and what it returns: ``surrogate.fit(data, sample) → Fitted``.

To add one, write a model (``models.model.Model``: the posterior) and a frozen dataclass of its settings with the method
``fit``; ``suggest.py`` does the rest, with any surrogate.

Notation

===============  ====================================================================================  ==========
symbol           meaning                                                                               shape
===============  ====================================================================================  ==========
``X``            inputs: encoded configurations, the budget's position in the last column where a      (n, w)
                 scheduler has rungs
``y``            losses of one objective, or values of one bounded metric                              (n,)
``budget``       the budgets themselves                                                                (n,)
===============  ====================================================================================  ==========
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from xstar.journal import History
from xstar.journal.trial import Trial
from xstar.models.gp import Posterior
from xstar.models.kernels import Array
from xstar.models.model import Model
from xstar.models.targets import Targets
from xstar.nets.catalogue import EXACT_NEIGHBOURS
from xstar.searchers.acquisition.criterion import LogProbability
from xstar.searchers.bo.failures import Failures
from xstar.searchers.bo.observations import Observations

BAD = 0.9
"""Infeasible trials and expected failures count as this quantile of all targets. Otherwise the model would predict low
losses there, and no classifier is ever certain enough to outweigh them: with half of the unit square infeasible and the
optimum in the middle of the other half, 13 of the last 14 of 36 suggestions were infeasible without it, 2 with it."""
PROBABLY = 0.5
"""The probability of a value below which a trial would probably fail."""
NAMES = {"ei": "log EI", "ucb": "-LCB", "thompson": "-draw"}
LOCAL_CENTRES = 10
"""The number of best known configurations around which local candidates are placed."""
MOST_FANTASISED = 64
"""The number of tried configurations (the most promising) whose outcome at the acquisition's budget is fantasised."""
LOSS, CONSTRAINT = "loss", "constraint "
"""What the purpose of a model begins with: a bounded metric may be called ``loss``."""


@dataclass(frozen=True)
class Data:
    """What a decision is made from, as arrays."""

    history: History
    observed: Observations
    complete: bool = False
    """Over budgets: whether the observations are those of complete trials alone."""
    acquisition_budget: float = 1.0
    """Over budgets: the share of the full one at which the acquisition function is."""
    logarithmic: bool = True
    """Whether budgets are placed by their logarithms, the lowest rung at 0; otherwise by their share of the full one."""
    most_trials: int = 500
    """Maximum number of trials for the feasibility classifier, and for evolution if no loss is known."""

    @property
    def over_budgets(self) -> bool:
        """Whether the budget is an input."""
        return len(self.history.levels) > 1 and not self.complete

    @property
    def pending(self) -> list[Trial]:
        """Running trials, and trials waiting to be resumed or retried."""
        return [*self.history.running.values(), *self.history.waiting.values()]

    def inputs(self, X: Array, budget: Array) -> Array:
        """Return encoded configurations, with the budget's position in the last column if there are rungs."""
        if not self.over_budgets:
            return X
        low, high = self.history.levels[0], self.history.levels[-1]
        position = np.log(budget / low) / np.log(high / low) if self.logarithmic else budget / high
        return np.hstack([X, position[:, None]])

    def inputs_of(self, trials: Sequence[Trial]) -> Array:
        """Return the inputs of trials, each at the budget that it runs or ran to; the full one if none was specified."""
        full = self.history.levels[-1] if self.history.levels else 1
        budget = np.array([trial.target or full for trial in trials], dtype=np.float64)
        return self.inputs(self.observed.rows(trials), budget)

    def with_budget(self, rows: Array) -> Array:
        """Return encoded configurations as inputs at the acquisition's budget."""
        return np.hstack([rows, np.full((len(rows), 1), self.acquisition_budget)]) if self.over_budgets else rows

    @cached_property
    def failures(self) -> Failures:
        """The classifier of failures."""
        return Failures(self.history, self.observed, self.most_trials)

    @cached_property
    def bad_trials(self) -> list[Trial]:
        """The trials that count as bad values: infeasible ones, and failures that were to be expected."""
        return self.failures.expected() if self.observed.has_failed else []

    def losses(self, goal: int = 0) -> Sample:
        """Return what the model of an objective is fitted to."""
        data = self.observed
        X = self.inputs(data.X, data.budget)
        return Sample(f"{LOSS} {goal}" if goal else LOSS, X, data.losses[:, goal], data.budget, goal)


@dataclass(frozen=True)
class Sample:
    """What one model is fitted to: one row for each observation, in the order of the journal."""

    purpose: str
    X: Array
    y: Array
    budget: Array
    goal: int | None
    """The objective; ``None``: a bounded metric, of positions of configurations (``Observations.positions``)."""


@dataclass(frozen=True)
class Fitted:
    """A surrogate fitted to all observations."""

    targets: Targets
    """The map from losses to the scale of the models."""
    models: Sequence[Model]
    """The posteriors over which the acquisition is averaged: of networks, of draws of hyperparameters."""
    detail: str = ", n={n}"
    """For the origin: a description of the data, which may refer to ``numbers`` and ``n``."""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    weight: float | None = None
    """How much other studies count in it."""
    seen: NDArray[np.intp] | None = None
    """The observations that the model uses; ``None``: all. The others are not considered for the incumbent either."""


class Surrogate(Protocol):
    """A kind of model and its settings."""

    def __hash__(self) -> int:
        """DecisionSettings are a key of what is kept between decisions."""

    def fit(self, data: Data, sample: Sample) -> Fitted:
        """Return the posterior given ``sample`` and, of a loss, ``data.bad_trials``: a function of these alone."""
        ...


@dataclass(frozen=True)
class DecisionSettings:
    """What a method says about a decision, besides its surrogate."""

    name: str
    """In origins."""
    acquisition: str = "ei"
    """``ei``, ``ucb``, or ``thompson``, which requires models that draw sample functions."""
    explores: bool = False
    """Whether this suggestion aims for a ``LARGE_IMPROVEMENT``, if there is something to improve on."""
    least_noise: float = -1.0
    """The standard deviation of the noise, in those of the losses, from which on it explores."""
    least_probability: float = 0.0
    """The probability of a value from which on a candidate is preferred to others; 0: whatever it is."""
    has_gradients: bool = False
    """Whether predictions have gradients; without them, local search maximises the acquisition function."""
    optimises: bool = True
    """Whether the best candidates are optimised further; otherwise the best one is suggested as it is."""
    pending: Sequence[Trial] | None = None
    """The trials whose outcomes are fantasised; ``None``: all that run, and those that wait to run again."""
    running: Sequence[Trial] | None = None
    """The running trials that may be the incumbent; ``None``: all."""
    fantasies: int = 10
    """The joint draws of their outcomes; 0: hallucination."""
    most_fantasised: int = MOST_FANTASISED
    """Over budgets: of how many tried configurations the outcome at the acquisition's budget is fantasised, too."""
    ranks_pending: bool = False
    """Whether what was tried and what runs is ranked given the fantasies, or what was tried without them."""
    lowest_observed: bool = False
    """At full budget: whether the loss to improve on is the lowest observed, and not the lowest posterior mean."""
    terms: Sequence[LogProbability] = ()
    """Further terms of the acquisition function: user priors, distances from what runs."""
    constraints: ConstraintModels | None = None
    """What makes the models of what fails and of bounded metrics; ``None``: ``constraints_of``."""
    modifiers: str = "all"
    """The modifiers by which networks evolve (``nets.modifiers.KINDS``)."""
    exact_neighbours: int | None = EXACT_NEIGHBOURS
    """To how many of the networks of the model the distances of a candidate are exact at first; ``None``: all."""


@dataclass(frozen=True)
class Known:
    """What is to be improved on, and by which posteriors."""

    fitted: Fitted | None = None
    """The surrogate of the first objective that is learned."""
    models: Sequence[Any] = ()
    """The posteriors given what is pending. Where there are ``fronts``, each is a list: one of each objective."""
    incumbents: Sequence[Array] | None = None
    fronts: Sequence[Sequence[Array]] | None = None
    """The best of one objective or of several, for each posterior and fantasy. Neither: nothing is known to be feasible."""
    reference: Array | None = None
    """Of several objectives: up to where a front covers a volume."""
    centres: Array | None = None
    """Encoded configurations around which to place candidates, best first."""

    posteriors: Sequence[Model] = ()
    """The models of all objectives that are learned, without what other studies predict."""

    @property
    def improvable(self) -> bool:
        """Whether there is something to improve on."""
        return self.incumbents is not None or self.fronts is not None

    @property
    def noise(self) -> float:
        """The mean standard deviation of the noise, in those of the losses."""
        return float(np.mean([np.sqrt(each.noise) for each in self.posteriors]))

    def trials(self, observed: Observations) -> list[int]:
        """Return the trials that the surrogate uses."""
        if self.fitted is None:
            return []
        made: list[int] = np.unique(
            observed.trial if self.fitted.seen is None else observed.trial[self.fitted.seen]
        ).tolist()
        return made

    @property
    def rows(self) -> int:
        """The number of rows of a model, where it has rows."""
        first = next(iter(self.posteriors), None)
        return len(first.X) if isinstance(first, Posterior) else 0

    def acquisition(self, settings: DecisionSettings) -> str:
        """The name of the acquisition function in origins."""
        if not self.improvable:
            return "log p"
        return "log EHVI" if self.fronts is not None else NAMES[settings.acquisition]


ConstraintModels = Callable[[Data, Surrogate, Sequence[Trial], np.random.Generator], list[LogProbability]]


def with_bad_values(data: Data, sample: Sample) -> tuple[Array, Array]:
    """Return X and y of a sample, followed by the trials that count as bad values."""
    if sample.goal is None or not data.bad_trials:
        return sample.X, sample.y
    bad = np.full(len(data.bad_trials), np.quantile(sample.y, BAD))
    return np.vstack([sample.X, data.inputs_of(data.bad_trials)]), np.append(sample.y, bad)
