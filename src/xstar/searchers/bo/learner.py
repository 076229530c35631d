"""The method-specific part of a decision: how a surrogate is fitted, and the defaults that a method may override.

To add a surrogate, write a model (``models.model.Model``) and a subclass of :class:`Learner` whose ``learn``
method fits it to inputs and losses. Every other method has a default that works with any model; GP and DNGO override
the ones that they can do faster or better.

Notation

===============  ====================================================================================  ==========
symbol           meaning                                                                               shape
===============  ====================================================================================  ==========
``X``            inputs: encoded configurations, the budget's position in the last column where a      (n, w)
                 scheduler has rungs
``tried``        encoded configurations that may be the incumbent                                      (k, width)
``models``       posteriors over which the acquisition is averaged: networks, draws of hyperparameters
``incumbents``   for each model, the loss to improve on under each fantasy                             (M,)
===============  ====================================================================================  ==========
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from xstar.journal import History
from xstar.journal.trial import Trial
from xstar.models.kernels import Array
from xstar.models.model import Model, with_pending
from xstar.models.targets import Targets
from xstar.nets.catalogue import EXACT_NEIGHBOURS
from xstar.searchers.acquisition.criterion import LogProbability, averaged, below
from xstar.searchers.acquisition.optimise import CANDIDATES
from xstar.searchers.bo.feasibility import Failures, Outcomes
from xstar.searchers.bo.networks import on_positions
from xstar.searchers.bo.observations import Observations

NAMES = {"ei": "log EI", "ucb": "-LCB", "thompson": "-draw"}
LOCAL_CENTRES = 10
"""The number of best known configurations around which local candidates are placed."""
MOST_FANTASISED = 64
"""The number of tried configurations (the most promising) whose outcome at the acquisition's budget is fantasised."""
CONSTRAINT = "constraint "
"""What the purpose of the model of a constraint metric begins with: a metric may be called ``loss``."""
PROBABLY = 0.5
"""The probability of a value below which a trial would probably fail."""
BAD = 0.9
"""Infeasible trials and expected failures count as this quantile of all targets. Otherwise the model would predict low
losses there, and no classifier is ever certain enough to outweigh them: with half of the unit square infeasible and the
optimum in the middle of the other half, 13 of the last 14 of 36 suggestions were infeasible without it, 2 with it."""


@dataclass(frozen=True)
class Learned:
    """A surrogate fitted to all observations."""

    targets: Targets
    """The map from losses to the scale of the model."""
    models: Sequence[Model]


@dataclass(frozen=True)
class AcquisitionInputs:
    """The inputs to the maximisation of the acquisition function."""

    models: Sequence[Any] = ()
    """The posteriors. Where there are ``fronts``, each is a list: one posterior of each objective."""
    incumbents: Sequence[Array] | None = None
    fronts: Sequence[Sequence[Array]] | None = None
    """What is to be improved on, of one objective or of several, for each posterior and fantasy. Neither: no feasible
    configuration is known."""
    reference: Array | None = None
    """Of several objectives: up to where a front covers a volume."""
    centres: Array | None = None
    """Encoded configurations around which to place candidates, best first."""
    candidates: int = CANDIDATES
    """The number of random candidates of each kind."""
    detail: str = ", nothing is known to be feasible"
    """For the origin: a description of the model's data; may refer to ``numbers``."""
    numbers: Mapping[str, Any] = field(default_factory=dict)

    @property
    def improvable(self) -> bool:
        """Whether there is something to improve on."""
        return self.incumbents is not None or self.fronts is not None

    def named(self, acquisition: str) -> str:
        """The acquisition function as origins have it."""
        return "log EHVI" if self.fronts is not None else NAMES[acquisition]


@dataclass(frozen=True)
class Learner(ABC):
    """A surrogate, and the choices that depend on it."""

    history: History
    data: Observations
    options: Any
    """What of the searcher's settings the surrogate needs."""

    name: ClassVar[str]
    """The method's name in the origins of its suggestions."""

    # ------------------------------------------------------------ required

    @abstractmethod
    def learn(self, purpose: str, X: Array, y: Array) -> Learned:
        """Fit a surrogate to ``y`` at ``X``; ``purpose``: ``loss``, or ``constraint NAME`` for the metric of a constraint."""

    # ------------------------------------------------------------ optional

    @property
    def targets(self) -> Targets:
        """From losses to what the model of the only objective predicts."""
        return self.learn("loss", *self._observed()).targets

    @property
    def method(self) -> str:
        """The name in origins, which may depend on the space."""
        return self.name

    @property
    def acquisition(self) -> str:
        """``ei``, ``ucb``, or ``thompson``, which requires models that draw sample functions."""
        return "ei"

    @property
    def has_gradients(self) -> bool:
        """Whether predictions have gradients; without them, local search maximises the acquisition function."""
        return False

    @property
    def optimises(self) -> bool:
        """Whether the best candidates are optimised further; otherwise the best one is suggested as it is."""
        return True

    @property
    def explores(self) -> bool:
        """Whether this suggestion aims for a ``decision.LARGE_IMPROVEMENT``, as every fourth one does at full budget."""
        return not self.over_budgets and len(self.history.trials) % 4 == 0

    @property
    def safe(self) -> float:
        """The probability of a value from which on a suggestion is preferred to others; 0: whatever it is."""
        return 0.0

    @property
    def limit(self) -> int:
        """Maximum number of trials for the feasibility classifier, and for evolution if no loss is known."""
        return 500

    @property
    def modifiers(self) -> str:
        """The set of modifiers by which networks evolve (``nets.modifiers.KINDS``)."""
        return "all"

    @property
    def exact_neighbours(self) -> int | None:
        """To how many of the networks of the model the distances of a candidate are exact at first; ``None``: all."""
        return EXACT_NEIGHBOURS

    @property
    def fantasies(self) -> int:
        """The joint draws of the outcomes of pending trials; 0: hallucination."""
        return 10

    @property
    def most_fantasised(self) -> int:
        """Of how many tried configurations, the most promising, the outcome at the acquisition's budget is fantasised."""
        return MOST_FANTASISED

    @property
    def starts(self) -> Sequence[int]:
        """The trials from which evolution of architectures starts, if losses are known."""
        made: list[int] = np.unique(self.data.trial).tolist()
        return made

    def budget_position(self, budget: Array) -> Array:
        """Return the positions of budgets: 0 at the lowest rung, 1 at the full budget, linear in the logarithm."""
        low, high = self.history.levels[0], self.history.levels[-1]
        made: Array = np.log(budget / low) / np.log(high / low)
        return made

    @property
    def acquisition_budget(self) -> float | None:
        """The position of the acquisition function's budget; ``None`` if the scheduler has no rungs."""
        return 1.0 if self.over_budgets else None

    def possible_incumbents(self) -> NDArray[np.intp]:
        """Return the observations among which the incumbent is chosen."""
        return self.data.feasible(self.history)

    def loss_models(self) -> Sequence[Model]:
        """Return the surrogate of the loss, conditioned on all observations."""
        return self.learn("loss", *self._observed()).models

    @property
    def learned_from(self) -> tuple[str, Mapping[str, Any]]:
        """For the origin: a description of the surrogate's data, and the numbers that it refers to."""
        return ", n={n}", {"n": self.data.count}

    def acquisition_inputs(self, tried: Array, rng: np.random.Generator) -> AcquisitionInputs:
        """Return the surrogate conditioned on pending trials, the incumbents, and where to place local candidates."""
        models = self.loss_models()
        detail, numbers = self.learned_from
        if not len(tried):
            return AcquisitionInputs(models, detail=detail, numbers=numbers)
        order = np.argsort(
            np.mean([model.means(self.with_budget(tried)) for model in models], axis=0)[:, 0], kind="stable"
        )
        models = self.with_pending(models, tried[order[: self.most_fantasised]], rng)
        incumbents, centres = self.incumbents(models, tried), tried[order[:LOCAL_CENTRES]]
        return AcquisitionInputs(models, incumbents, centres=centres, detail=detail, numbers=numbers)

    def incumbents(self, models: Sequence[Model], tried: Array) -> list[Array]:
        """Return, for each model, the lowest posterior mean under each fantasy, at what was tried or is running."""
        points = self.with_budget(np.vstack([tried, self.data.rows(self.fantasised_running)]))
        return [model.means(points).min(axis=0) for model in models]

    def constraints(self, rng: np.random.Generator, *, feasible_known: bool) -> list[LogProbability]:
        """Return the feasibility constraints: a classifier of failed trials, and a model of each constraint metric.

        While no feasible trial is known, pending trials count as failed and are assigned their expected metrics.
        Otherwise workers that ask at the same time would all receive the same region.
        """
        data = self.data
        pending = [] if feasible_known else self.pending_trials
        made: list[LogProbability] = []
        if pending and (data.has_failed or len(data.measured) >= 2):
            made.append(on_positions(data, self.failures.counting(pending).log_probability))
        elif data.has_failed:
            made.append(on_positions(data, self.failures.classifier.log_probability))
        if len(data.measured) >= 2:
            made += self.bounded_metrics(data.positions(data.rows(pending)), rng)
        return made

    def spacing(self) -> list[LogProbability]:
        """Return terms that keep suggestions away from running trials where fantasies do not."""
        return []

    def user_prior(self) -> list[LogProbability]:
        """Return the term of what the user expects, ``prior=`` of parameters (``user_prior.py``)."""
        return []

    # ------------------------------------------------------------ for subclasses

    @property
    def over_budgets(self) -> bool:
        """Whether the budget is an input of the surrogate."""
        return len(self.history.levels) > 1

    @property
    def pending_trials(self) -> list[Trial]:
        """Running trials, and trials waiting to be resumed or retried."""
        return [*self.history.running.values(), *self.history.waiting.values()]

    @property
    def fantasised_running(self) -> Sequence[Trial]:
        """Running trials that are also considered for the incumbent."""
        return list(self.history.running.values())

    @cached_property
    def failures(self) -> Failures:
        """The classifier of failures."""
        return Failures(self.history, self.data, self.limit, self._key("feasible"))

    @property
    def bad(self) -> list[Trial]:
        """The trials that count as bad values: infeasible ones, and failures that were to be expected."""
        return self.failures.expected() if self.data.has_failed else []

    def _key(self, purpose: str) -> Hashable:
        return (self.options, purpose)

    def inputs(self, X: Array, budget: Array) -> Array:
        """Return encoded configurations, with the budget's position in the last column if there are rungs."""
        return np.hstack([X, self.budget_position(budget)[:, None]]) if self.over_budgets else X

    def inputs_of(self, trials: Sequence[Trial]) -> Array:
        """Return the inputs of trials, each at the budget that it runs or ran to; the full one if none was specified."""
        full = self.history.levels[-1] if self.history.levels else 1
        return self.inputs(
            self.data.rows(trials), np.array([trial.target or full for trial in trials], dtype=np.float64)
        )

    @property
    def with_budget(self) -> Callable[[Array], Array]:
        """Maps encoded configurations to inputs at the acquisition's budget."""
        budget = self.acquisition_budget
        if budget is None:
            return lambda rows: rows
        return lambda rows: np.hstack([rows, np.full((len(rows), 1), budget)])

    def with_pending(self, models: Sequence[Model], tried: Array, rng: np.random.Generator) -> Sequence[Model]:
        """Condition the models on fantasies of the pending trials and, over budgets, of ``tried``
        configurations.

        A trial paused below the acquisition's budget can be resumed at any time, so a new configuration must improve on
        its possible outcome. That outcome is therefore pending, too (noisy expected improvement, Letham et al. 2019).
        Without this, an observation far below that budget leaves the acquisition function nearly unchanged, and almost
        the same point is suggested again and again.
        """
        rows = self.inputs_of(self.fantasised_trials)
        if self.over_budgets:
            rows = np.vstack([rows, self.with_budget(tried)])
        return [with_pending(model, rows, self.fantasies, rng) for model in models]

    @property
    def fantasised_trials(self) -> Sequence[Trial]:
        """Pending trials whose outcomes are fantasised."""
        return self.pending_trials

    def _observed(self) -> tuple[Array, Array]:
        """Return all observations, plus infeasible trials and expected failures with a bad value."""
        data, failed = self.data, self.bad
        X, y = self.inputs(data.X, data.budget), data.loss
        if not failed:
            return X, y
        return np.vstack([X, self.inputs_of(failed)]), np.append(y, np.full(len(failed), np.quantile(y, BAD)))

    def bounded_metrics(self, pending: Array, rng: np.random.Generator) -> list[LogProbability]:
        """Return, for each constraint metric, the probability that it is within its bound."""
        data, bounds = self.data, self.history.created.constraints or {}
        measured = Outcomes.of(self.history, data).measured.rows
        X = data.positions(measured[:, : data.width])
        made = []
        for y, (name, bound) in zip(measured[:, data.width :].T, bounds.items(), strict=True):
            learned = self.learn(CONSTRAINT + name, X, y)
            level = float(learned.targets(np.array([bound]))[0])
            models = [with_pending(model, pending, 0, rng) for model in learned.models]
            made.append(on_positions(data, averaged([below(model, level) for model in models])))
        return made
