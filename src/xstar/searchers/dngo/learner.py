"""The DNGO learner: networks and heads for the loss, for constraint metrics and for failures.

This module is separate from ``searcher.py`` because SciPy's optimiser and LAPACK take as long to import as the rest of
xstar.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from xstar.journal.trial import State, Trial
from xstar.models.feasibility import Feasibility
from xstar.models.kernels import Array
from xstar.models.linear import Head
from xstar.models.model import Model
from xstar.models.quadratic import Quadratic
from xstar.models.targets import Targets
from xstar.searchers.acquisition.criterion import LogProbability, ToRows
from xstar.searchers.bo.feasibility import Outcomes
from xstar.searchers.bo.inputs import of_positions
from xstar.searchers.bo.learner import Learned, Learner
from xstar.searchers.bo.observations import constraint_metrics, within
from xstar.searchers.bo.transfer import Shifted, SourceMeans
from xstar.searchers.dngo.feasibility import constraint
from xstar.searchers.dngo.fit import Bad, DNGOOptions, Sizes, Trained, heads, last_training, trained

SPACING = 0.1
"""The distance that suggestions keep from many running trials: 0.1 J^(-1/w) sides of the cube in each of w columns, for
J running trials. After fifty fantasies, wherever they are, fifty basis functions leave no uncertainty. Without this
distance, 100 simultaneous suggestions for Hartmann's function were 0.003 apart (median distance to the nearest)."""
LATEST = 100
"""The number of latest failures that are checked for having been expected, against as many other trials."""


@dataclass(frozen=True)
class DNGOLearner(Learner):
    """Bayesian linear regression on the last layers of neural networks."""

    options: DNGOOptions
    sizes: Sizes = field(default_factory=Sizes)

    name: ClassVar[str] = "dngo"

    # ------------------------------------------------------------ pending trials

    @property
    def has_gradients(self) -> bool:
        return True

    @property
    def method(self) -> str:
        return self.options.method

    @property
    def fantasies(self) -> int:
        return self.options.fantasies

    @property
    def most_fantasised(self) -> int:
        # Nothing speaks for fantasies of paused trials here: with 12, 24 and 64 of them, searches with four workers end lower
        # than without in 28, 26 and 27 of 60 and higher in 29, 31 and 30 (``benchmarks/budgets.py``), and they take time.
        return 0

    @property
    def _keeps_distance_only(self) -> bool:
        """Whether distances from running trials replace fantasies."""
        return self.options.keeps_distance and len(self.history.running) >= self.sizes.no_fantasies_from

    @property
    def optimises(self) -> bool:
        return not self._keeps_distance_only

    @property
    def fantasised_trials(self) -> Sequence[Trial]:
        return () if self._keeps_distance_only else self.pending_trials

    @property
    def fantasised_running(self) -> Sequence[Trial]:
        return () if self._keeps_distance_only else list(self.history.running.values())

    def spacing(self) -> list[LogProbability]:
        running = self.history.running
        if not self.options.keeps_distance or len(running) < self.sizes.spacing_from:
            return []
        return [apart(self.data.rows(running.values()))]

    @property
    def explores(self) -> bool:
        # Over budgets it is of no use: lower in 29 searches and higher in 27 (20 tasks, three seeds).
        if self.over_budgets or len(self.history.running) >= self.sizes.spacing_from:  # these spread by their distance
            return False
        every = self.options.explore_every
        return every > 0 and len(self.history.trials) % every == 0

    # ------------------------------------------------------------ the loss

    @property
    def targets(self) -> Targets:
        return self._trained.targets

    @cached_property
    def _trained(self) -> Trained:
        data = self.data
        last, sources = last_training(data.count, self.sizes), SourceMeans.of(self.history, data)
        X = self.inputs(data.X, data.budget)
        return trained(self.history, self.options, "loss", last, X, data.loss, self._mean, sources)

    def loss_models(self) -> Sequence[Model]:
        data, model = self.data, self._trained
        X = self.inputs(data.X, data.budget)
        noisy = self.options.of_observations
        made = heads(self.history, "loss", model, X, data.loss, self.sizes.block, self._bad(), of_observations=noisy)
        if (shift := model.shift) is None:
            return made
        shifted: list[Shifted[Head]] = [Shifted(each, shift) for each in made]
        return shifted

    @property
    def learned_from(self) -> tuple[str, dict[str, float]]:
        detail, numbers = ", n={n}, trained on {last}", {"n": self.data.count, "last": self._trained.last}
        if (shift := self._trained.shift) is None:
            return detail, {**numbers}
        return detail + ", sources weigh {weight:.2g}", {**numbers, "weight": float(shift.weights.sum())}

    @property
    def _mean(self) -> Quadratic:
        return Quadratic(tuple(np.flatnonzero(self.data.cube.numeric).tolist()))

    def _bad(self) -> Bad | None:
        """Return the inputs that count as bad values: infeasible trials and expected failures."""
        if not self.data.failed or not self.options.bad_values:
            return None
        outcomes = Outcomes.of(self.history, self.data)
        return Bad(self._aimed_at(outcomes.infeasible.rows), self._aimed_at(self._expected_failures()))

    def _expected_failures(self) -> Array:
        """Return the expected failures among the latest failed trials, with the budget in the last column.

        The GP's classifier decides, leaving out the trial in question. A network's last layer has been shaped by that
        trial and would expect every failure: used here, it left a loss of 0.01 after 60 trials in four dimensions with
        30 % of the trials failing at random.
        """
        history, data = self.history, self.data
        latest = [history.trials[number] for number in data.failed[-LATEST:]]
        failed = np.array([each.state is State.FAILED for each in latest])
        rows = data.rows(latest)
        if failed.any():
            evaluated = [number for number in islice(reversed(data.evaluated), LATEST) if number not in data.has_failed]
            X = np.vstack([data.rows(history.trials[number] for number in evaluated), rows])
            inputs = of_positions(data)
            model = Feasibility.fit(X, np.arange(len(X)) < len(evaluated), inputs.groups, inputs.labels)
            failed &= model.without_each(len(latest)) < 0.0
        aim = np.array([each.target or 0.0 for each in latest])
        made: Array = np.hstack([rows, aim[:, None]])[failed]
        return made

    def _aimed_at(self, rows: Array) -> Array:
        """Return inputs at the budget that they were to reach, which is the last column of ``rows``."""
        if not self.over_budgets:
            return rows[:, :-1]
        aim = np.where(rows[:, -1] > 0.0, rows[:, -1], self.history.levels[-1])
        return self.inputs(rows[:, :-1], aim)

    # ------------------------------------------------------------ the incumbent

    @cached_property
    def _leaders(self) -> NDArray[np.intp]:
        """Return the indices of the best observations that may be the incumbent."""
        history, data = self.history, self.data
        kept = history.memo.get(Leaders) or history.memo.put(Leaders())
        # Group by rung: trials may also end between rungs, at any number of budgets, and each group has its leaders.
        level = np.searchsorted(history.levels, data.budget, side="right").astype(np.float64)
        found = kept.catch_up(data.loss, level, self.sizes.leaders, self._feasible)
        if not data.failed:
            return found
        return found[[number not in data.has_failed for number in data.trial[found].tolist()]]

    def _feasible(self, indices: NDArray[np.intp]) -> NDArray[np.bool_]:
        history = self.history
        if not history.created.constraints:
            return np.ones(len(indices), dtype=bool)
        metrics = [constraint_metrics(history, *history.observed_inside[index][:2]) for index in indices.tolist()]
        return np.array([values is not None and within(history, values) for values in metrics], dtype=bool)

    def possible_incumbents(self) -> NDArray[np.intp]:
        return self._leaders

    def incumbents(self, models: Sequence[Model], tried: Array) -> list[Array]:
        """Return the lowest loss observed or drawn, under each fantasy (eq. 2), if the options say so and budgets are one."""
        if not self.options.lowest_observed or self.over_budgets:
            return super().incumbents(models, tried)
        lowest = self._trained.targets(self.data.loss[self._leaders]).min()
        return [np.minimum(lowest, self._fantasised(model).min(axis=0, initial=np.inf)) for model in models]

    def _fantasised(self, model: Model) -> Array:
        """Return the drawn outcomes of pending trials: (J, M); without any, (0, 1)."""
        head = model.model if isinstance(model, Shifted) else model
        assert isinstance(head, Head)
        if head.fantasies is None:
            return np.empty((0, 1))
        if not isinstance(model, Shifted):
            return head.fantasies
        made: Array = head.fantasies + model.shift(self.inputs_of(self.fantasised_trials))[:, None]
        return made

    @property
    def starts(self) -> list[int]:
        made: list[int] = np.unique(self.data.trial[self._leaders]).tolist()
        return made

    # ------------------------------------------------------------ constraints

    def constraints(self, rng: np.random.Generator, *, feasible_known: bool) -> list[LogProbability]:
        history, data = self.history, self.data
        made: list[LogProbability] = []
        if data.failed:
            # While no feasible trial is known, running trials count as failed; otherwise all workers would get the same
            # region.
            pending = [] if feasible_known else self.pending_trials
            outcomes = Outcomes.of(history, data)
            fitted = constraint(history, self.options, self.sizes, outcomes, data.rows(pending))
            made.append(fitted.log_probability)
        if len(data.measured) >= 2:
            made += self.bounded_metrics(np.empty((0, data.width)), rng)
        return made

    def learn(self, purpose: str, X: Array, y: Array) -> Learned:
        last = last_training(len(y), self.sizes)
        model = trained(self.history, self.options, purpose, last, X, y, self._mean)
        return Learned(model.targets, heads(self.history, purpose, model, X, y, self.sizes.block))


@dataclass
class Leaders:
    """The indices of the observations with the lowest losses, a fixed number per rung. Grows with the history."""

    seen: int = 0
    lowest: dict[float, NDArray[np.intp]] | None = None

    def catch_up(
        self, loss: Array, level: Array, most: int, feasible: Callable[[NDArray[np.intp]], NDArray[np.bool_]]
    ) -> NDArray[np.intp]:
        """Return all indices, ascending. ``level`` groups observations; ``feasible`` selects possible incumbents."""
        kept = self.lowest if self.lowest is not None else {}
        new = np.arange(self.seen, len(loss))
        if len(new):
            new = new[feasible(new)]
            for each in np.unique(level[new]).tolist():
                own = np.concatenate([kept.get(each, new[:0]), new[level[new] == each]])
                # Sorted by loss, then by index, so that the result does not depend on the number of updates.
                kept[each] = own[np.lexsort((own, loss[own]))[:most]]
        self.seen, self.lowest = len(loss), kept
        return np.sort(np.concatenate([np.empty(0, dtype=np.intp), *kept.values()]))


def apart(running: Array) -> LogProbability:
    """Return log(1 - exp(-d²/2)), where d is the distance to the nearest running trial in units of the spacing.

    This is similar to local penalisation (González et al. 2016).
    """
    length = SPACING * len(running) ** (-1.0 / running.shape[1]) * np.sqrt(running.shape[1])
    squares = np.einsum("ij,ij->i", running, running)

    def log_probability(rows: Array) -> tuple[Array, ToRows | None]:
        nearest = running[np.argmin(squares - 2.0 * rows @ running.T, axis=1)]
        away = (rows - nearest) / length
        half = np.clip(0.5 * np.einsum("ij,ij->i", away, away), 1e-12, 700.0)
        value = np.log(-np.expm1(-half))

        def back(w: Array) -> Array:
            made: Array = (w / np.expm1(half))[:, None] * away / length
            return made

        return value, back

    return log_probability
