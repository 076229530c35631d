"""The surrogate of DNGO: networks and heads for the loss, for bounded metrics and for failures.

It is imported when the first model is fitted: SciPy's optimiser and LAPACK take as long to import as the rest of xstar.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from xstar.journal import History
from xstar.journal.trial import Done, State, Suggestion, Trial
from xstar.models.feasibility import Feasibility
from xstar.models.kernels import Array
from xstar.models.linear import Head
from xstar.models.quadratic import Quadratic
from xstar.searchers.acquisition.criterion import LogProbability, ToRows
from xstar.searchers.bo.constraints import bounded_metrics
from xstar.searchers.bo.failures import Outcomes
from xstar.searchers.bo.inputs import of_positions
from xstar.searchers.bo.observations import Observations, constraint_metrics, within
from xstar.searchers.bo.suggest import suggest
from xstar.searchers.bo.surrogate import Data, DecisionSettings, Fitted, Sample, Surrogate
from xstar.searchers.bo.transfer import Shifted, SourceMeans
from xstar.searchers.dngo.feasibility import constraint
from xstar.searchers.dngo.fit import Bad, DNGOOptions, Sizes, heads, last_training, trained

SPACING = 0.1
"""The distance that suggestions keep from many running trials: 0.1 J^(-1/w) sides of the cube in each of w columns, for
J running trials. After fifty fantasies, wherever they are, fifty basis functions leave no uncertainty. Without this
distance, 100 simultaneous suggestions for Hartmann's function were 0.003 apart (median distance to the nearest)."""
LATEST = 100
"""The number of latest failures that are checked for having been expected, against as many other trials."""


@dataclass(frozen=True)
class LastLayers:
    """Bayesian linear regression on the last layers of neural networks."""

    options: DNGOOptions
    sizes: Sizes = field(default_factory=Sizes)

    def fit(self, data: Data, sample: Sample) -> Fitted:
        """Return the heads of networks that were trained at the last count of the schedule."""
        history, observed, options = data.history, data.observed, self.options
        mean = Quadratic(tuple(np.flatnonzero(observed.cube.numeric).tolist()))
        last, (X, y) = last_training(len(sample.y), self.sizes), (sample.X, sample.y)
        if sample.goal is None:
            model = trained(history, options, sample.purpose, last, X, y, mean)
            return Fitted(model.targets, heads(history, sample.purpose, model, X, y, self.sizes.block))
        sources = SourceMeans.of(history, observed) if history.prior_studies else None
        model = trained(history, options, "loss", last, X, y, mean, sources)
        bad = bad_inputs(data) if options.bad_values else None
        made = heads(history, "loss", model, X, y, self.sizes.block, bad, of_observations=options.of_observations)
        detail, numbers, leaders = ", n={n}, trained on {last}", {"last": last}, self._leaders(data)
        if (shift := model.shift) is None:
            return Fitted(model.targets, made, detail, numbers, seen=leaders)
        shifted: list[Shifted[Head]] = [Shifted(each, shift) for each in made]
        return Fitted(model.targets, shifted, detail, numbers, float(shift.weights.sum()), leaders)

    def _leaders(self, data: Data) -> NDArray[np.intp]:
        """Return the indices of the best observations at each rung."""
        history, observed = data.history, data.observed
        kept = history.memo.get(Leaders) or history.memo.put(Leaders())
        # Group by rung: trials may also end between rungs, at any number of budgets, and each group has its leaders.
        level = np.searchsorted(history.levels, observed.budget, side="right").astype(np.float64)
        return kept.catch_up(observed.loss, level, self.sizes.leaders, lambda new: _within_bounds(history, new))

    def constraints(
        self, data: Data, surrogate: Surrogate, doubtful: Sequence[Trial], rng: np.random.Generator
    ) -> list[LogProbability]:
        """Return a network that tells where trials have a value, and models of bounded metrics."""
        history, observed, made = data.history, data.observed, []
        if observed.failed:
            outcomes, rows = Outcomes.of(history, observed), observed.rows(doubtful)
            made.append(constraint(history, self.options, self.sizes, outcomes, rows).log_probability)
        return made + bounded_metrics(data, surrogate, np.empty((0, observed.width)), rng)

    def settings(self, data: Data) -> DecisionSettings:
        """Return what DNGO says about a decision."""
        options, sizes, history = self.options, self.sizes, data.history
        count = len(history.running)
        keeps_distance = options.keeps_distance and count >= sizes.spacing_from
        only_distance = options.keeps_distance and count >= sizes.no_fantasies_from
        due = options.settings.explore_every > 0 and len(history.trials) % options.settings.explore_every == 0
        return DecisionSettings(
            options.method,
            # Over budgets it is of no use: lower in 29 searches and higher in 27 (20 tasks, three seeds).
            explores=due and not data.over_budgets and count < sizes.spacing_from,
            has_gradients=True,
            optimises=not only_distance,
            pending=() if only_distance else None,
            running=() if only_distance else None,
            fantasies=options.settings.fantasies,
            # Nothing speaks for fantasies of paused trials here: with 12, 24 and 64 of them, searches with four workers end
            # lower than without in 28, 26 and 27 of 60 and higher in 29, 31 and 30 (``benchmarks/budgets.py``).
            most_fantasised=0,
            lowest_observed=options.lowest_observed,
            terms=[apart(data.observed.rows(history.running.values()))] if keeps_distance else (),
            constraints=self.constraints,
        )


def suggest_by(
    surrogate: LastLayers, history: History, observed: Observations, rng: np.random.Generator
) -> Suggestion | Done:
    """Suggest what these networks expect most of."""
    data = Data(history, observed)
    return suggest(data, surrogate, surrogate.settings(data), rng)


def bad_inputs(data: Data) -> Bad | None:
    """Return the inputs that count as bad values: infeasible trials and expected failures."""
    if not data.observed.failed:
        return None
    outcomes = Outcomes.of(data.history, data.observed)
    return Bad(_aimed_at(data, outcomes.infeasible.rows), _aimed_at(data, _expected_failures(data)))


def _expected_failures(data: Data) -> Array:
    """Return the expected failures among the latest failed trials, with the budget in the last column.

    The GP's classifier decides, leaving out the trial in question. A network's last layer has been shaped by that
    trial and would expect every failure: used here, it left a loss of 0.01 after 60 trials in four dimensions with
    30 % of the trials failing at random.
    """
    history, observed = data.history, data.observed
    latest = [history.trials[number] for number in observed.failed[-LATEST:]]
    failed = np.array([each.state is State.FAILED for each in latest])
    rows = observed.rows(latest)
    if failed.any():
        numbers = islice(reversed(observed.evaluated), LATEST)
        evaluated = [number for number in numbers if number not in observed.has_failed]
        X = np.vstack([observed.rows(history.trials[number] for number in evaluated), rows])
        inputs = of_positions(observed)
        model = Feasibility.fit(X, np.arange(len(X)) < len(evaluated), inputs.groups, inputs.labels)
        failed &= model.without_each(len(latest)) < 0.0
    aim = np.array([each.target or 0.0 for each in latest])
    made: Array = np.hstack([rows, aim[:, None]])[failed]
    return made


def _aimed_at(data: Data, rows: Array) -> Array:
    """Return inputs at the budget that they were to reach, which is the last column of ``rows``."""
    if not data.over_budgets:
        return rows[:, :-1]
    return data.inputs(rows[:, :-1], np.where(rows[:, -1] > 0.0, rows[:, -1], data.history.levels[-1]))


def _within_bounds(history: History, indices: NDArray[np.intp]) -> NDArray[np.bool_]:
    if not history.created.constraints:
        return np.ones(len(indices), dtype=bool)
    metrics = [constraint_metrics(history, *history.observed_inside[index][:2]) for index in indices.tolist()]
    return np.array([values is not None and within(history, values) for values in metrics], dtype=bool)


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
