"""What a searcher with a surrogate brings to a decision: how it learns, and what else it does in its own way.

A new one is a model (``acquisition.model.Model``), and a subclass of :class:`Learner` whose ``learn`` fits it to inputs and
losses. Everything else has a default that works with any model; GP and DNGO override what they do faster or better.

Notation

===============  ====================================================================================  ==========
symbol           meaning                                                                               shape
===============  ====================================================================================  ==========
``X``            inputs: encoded configurations, the budget's position in the last column where a      (n, w)
                 scheduler has rungs
``tried``        encoded configurations that may be the answer                                         (k, width)
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

from xstar.acquisition.criterion import LogProbability, averaged, below
from xstar.acquisition.maximise import CANDIDATES
from xstar.acquisition.model import Model
from xstar.acquisition.pending import with_pending
from xstar.journal import History
from xstar.models.kernels import Array
from xstar.models.standardise import Targets
from xstar.searchers.model_based.networks import on_positions
from xstar.searchers.model_based.observations import Observations
from xstar.searchers.model_based.outcomes import Failures, Outcomes, aims, feasible_places
from xstar.trial import Trial

PROMISING = 10
"""How many of the best known configurations the local candidates stand around."""
UNFINISHED = 64
"""Of so many tried configurations the outcome at the acquisition's budget is fantasised: those that promise most."""
BAD = 0.9
"""What could not be evaluated counts as this quantile of all targets. The model would else expect wonders there, and no
classifier is ever sure enough to outweigh them: with half of the unit square infeasible and the optimum in the middle of the
other half, 13 of the last 14 of 36 suggestions were infeasible without it, 2 with it."""


@dataclass(frozen=True)
class Learned:
    """A surrogate after all observations."""

    targets: Targets
    """Losses → the scale of the model."""
    models: Sequence[Model]


@dataclass(frozen=True)
class Known:
    """What is known when the acquisition is maximised."""

    models: Sequence[Model] = ()
    incumbents: Sequence[Array] | None = None
    """``None``: nothing feasible is known, so there is nothing to improve on."""
    promising: Array | None = None
    """Encoded configurations to look around, best first."""
    candidates: int = CANDIDATES
    """How many random ones to look at, of each kind."""
    detail: str = ", nothing is known to be feasible"
    """For the origin, what the model was learned from; may name ``numbers``."""
    numbers: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Learner(ABC):
    """A surrogate, and the decisions that depend on it."""

    history: History
    data: Observations
    settings: Any
    """Those of the searcher."""

    name: ClassVar[str]
    """Of the method, in the origins of its suggestions."""

    # ------------------------------------------------------------ what has to be written

    @abstractmethod
    def learn(self, purpose: str, X: Array, y: Array) -> Learned:
        """A surrogate of ``y`` at ``X``: the losses (``purpose="loss"``), or a constraint metric (its name)."""

    # ------------------------------------------------------------ what has a default

    @property
    def method(self) -> str:
        """The name in origins, where it depends on the space."""
        return self.name

    @property
    def acquisition(self) -> str:
        """``ei``, ``ucb``, or ``thompson``, which needs models that draw whole functions."""
        return "ei"

    @property
    def has_gradients(self) -> bool:
        """Whether its models' predictions come with gradients; if not, the acquisition is maximised by local search."""
        return False

    @property
    def climbs(self) -> bool:
        """Whether the best candidates are improved; otherwise the best one is taken as it is."""
        return True

    @property
    def explores(self) -> bool:
        """Whether this suggestion seeks a ``decision.LARGE_IMPROVEMENT`` instead of any: every fourth one does."""
        return len(self.history.trials) % 4 == 0

    @property
    def limit(self) -> int:
        """Trials that the classifier of failures sees, and from which evolution starts if nothing is known."""
        return 500

    @property
    def modifiers(self) -> str:
        """Of architectures, when the acquisition is maximised: ``all``, ``units`` or ``structure``."""
        return "all"

    @property
    def pending(self) -> tuple[str, int]:
        """How pending trials are taken into account, and with how many fantasies."""
        return "fantasies", 10

    @property
    def starts(self) -> Sequence[int]:
        """Trials from which evolution of architectures starts, if something is known."""
        made: list[int] = np.unique(self.data.trial).tolist()
        return made

    def budget_position(self, budget: Array) -> Array:
        """Of budgets on the ladder: 0 at the lowest rung, 1 at the full budget, in equal steps for equal factors."""
        low, high = self.history.levels[0], self.history.levels[-1]
        made: Array = np.log(budget / low) / np.log(high / low)
        return made

    @property
    def acquisition_budget(self) -> float | None:
        """The position of the budget at which the acquisition is taken; ``None``: the scheduler has no rungs."""
        return 1.0 if self.over_budgets else None

    def answers(self) -> NDArray[np.intp]:
        """The observations among which the incumbent is."""
        return feasible_places(self.history, self.data, np.arange(self.data.count))

    def loss_models(self) -> Sequence[Model]:
        """The surrogate of the loss after all observations."""
        return self.learn("loss", *self._observed()).models

    @property
    def learned_from(self) -> tuple[str, Mapping[str, Any]]:
        """What the surrogate was learned from, for the origin: a phrase, and the numbers that it names."""
        return ", n={n}", {"n": self.data.count}

    def known(self, tried: Array, rng: np.random.Generator) -> Known:
        """The surrogate with pending trials taken into account, the incumbents, and the promising configurations."""
        models = self.loss_models()
        detail, numbers = self.learned_from
        if not len(tried):
            return Known(models, detail=detail, numbers=numbers)
        order = np.argsort(np.mean([model.means(self.lift(tried)) for model in models], axis=0)[:, 0], kind="stable")
        models = self.with_pending(models, tried[order[:UNFINISHED]], rng)
        places = self.lift(np.vstack([tried, self.data.rows(self.fantasised_running)]))
        incumbents = [model.means(places).min(axis=0) for model in models]
        return Known(models, incumbents, tried[order[:PROMISING]], detail=detail, numbers=numbers)

    def constraints(self, rng: np.random.Generator, *, feasible_known: bool) -> list[LogProbability]:
        """What may be infeasible: a classifier of what failed, and a model of each constraint metric.

        While nothing feasible is known, pending trials count as failed, and have the metrics that are expected: workers that
        ask at the same time would else be sent to the same place.
        """
        data = self.data
        pending = [] if feasible_known else self.pending_trials
        made: list[LogProbability] = []
        if pending and (data.failed or len(data.measured) >= 2):
            made.append(on_positions(data, self.failures.counting(pending).log_probability))
        elif data.failed:
            made.append(on_positions(data, self.failures.classifier.log_probability))
        if len(data.measured) >= 2:
            made += self.bounded_metrics(data.positions(data.rows(pending)), rng)
        return made

    def spacing(self) -> list[LogProbability]:
        """What keeps suggestions away from running trials, where fantasies do not."""
        return []

    # ------------------------------------------------------------ for subclasses

    @property
    def over_budgets(self) -> bool:
        """Whether the budget is an input."""
        return len(self.history.levels) > 1

    @property
    def pending_trials(self) -> list[Trial]:
        """Those that run, and those that wait to be run again."""
        return [*self.history.running.values(), *self.history.waiting.values()]

    @property
    def fantasised_running(self) -> Sequence[Trial]:
        """Running trials at which the incumbent is sought, too."""
        return list(self.history.running.values())

    @cached_property
    def failures(self) -> Failures:
        """The classifier of failures."""
        return Failures(self.history, self.data, self.limit, self._key("feasible"))

    def _key(self, purpose: str) -> Hashable:
        return (self.settings, purpose)

    def inputs(self, X: Array, budget: Array) -> Array:
        """Encoded configurations, with the position of their budget behind them where a scheduler has rungs."""
        return np.hstack([X, self.budget_position(budget)[:, None]]) if self.over_budgets else X

    def inputs_of(self, trials: Sequence[Trial]) -> Array:
        """Inputs of trials at the budget that each runs or ran to."""
        return self.inputs(self.data.rows(trials), aims(self.history, trials))

    @property
    def lift(self) -> Callable[[Array], Array]:
        """Encoded configurations → inputs at the acquisition's budget."""
        budget = self.acquisition_budget
        if budget is None:
            return lambda rows: rows
        return lambda rows: np.hstack([rows, np.full((len(rows), 1), budget)])

    def with_pending(self, models: Sequence[Model], unfinished: Array, rng: np.random.Generator) -> Sequence[Model]:
        """The models with fantasies of the pending trials and, over budgets, of the ``unfinished`` configurations.

        A trial that pauses below the acquisition's budget can be trained on at any time, so a new configuration has to improve
        on what *that* may turn out to be: its outcome is pending, too (noisy expected improvement, Letham et al. 2019).
        Without this, an observation far below that budget leaves the acquisition as it was, and nearly the same point is
        suggested again and again.
        """
        how, draws = self.pending
        rows = self.inputs_of(self.fantasised_trials)
        if self.over_budgets:
            rows = np.vstack([rows, self.lift(unfinished)])
        return [with_pending(model, rows, how, draws, rng) for model in models]

    @property
    def fantasised_trials(self) -> Sequence[Trial]:
        """Pending trials whose outcomes are fantasised."""
        return self.pending_trials

    def _observed(self) -> tuple[Array, Array]:
        """All observations, and what failed and was to be expected to as a bad value."""
        data, failed = self.data, self.failures.expected()
        X, y = self.inputs(data.X, data.budget), data.loss
        if not failed:
            return X, y
        return np.vstack([X, self.inputs_of(failed)]), np.append(y, np.full(len(failed), np.quantile(y, BAD)))

    def bounded_metrics(self, pending: Array, rng: np.random.Generator) -> list[LogProbability]:
        """For each constraint metric, the probability that it is within its bound."""
        data, bounds = self.data, self.history.created.constraints or {}
        measured = Outcomes.of(self.history, data).measured.rows
        X = data.positions(measured[:, : data.width])
        made = []
        for y, (name, bound) in zip(measured[:, data.width :].T, bounds.items(), strict=True):
            learned = self.learn(name, X, y)
            level = float(learned.targets(np.array([bound]))[0])
            models = [with_pending(model, pending, "hallucination", 0, rng) for model in learned.models]
            made.append(on_positions(data, averaged([below(model, level) for model in models])))
        return made
