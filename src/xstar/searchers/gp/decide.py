"""How a GP searcher decides: models, incumbent, constraints, the maximum of the acquisition.

Apart from ``gp.py`` because SciPy's optimiser and LAPACK take as long to import as the rest of xstar: they are loaded when the
first model is fitted.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from xstar.acquisition.confidence import confidence_weight
from xstar.acquisition.criterion import Criterion, LogProbability, averaged, below
from xstar.acquisition.improvement import log_expected_improvement
from xstar.acquisition.maximise import FEW, LARGE, LISTED, MANY, candidates, every_row, maximise
from xstar.acquisition.pending import normal_draws, with_pending
from xstar.acquisition.thompson import CANDIDATES, thompson_scores
from xstar.journal import History
from xstar.models.blas import single_threaded
from xstar.models.feasibility import Feasibility
from xstar.models.gp import NotPositiveDefinite, Posterior
from xstar.models.kernels import Array
from xstar.models.surrogate import Inputs, Surrogate, at_full_budget, over_budgets
from xstar.searchers.gp.fit import (
    FAR,
    Fitted,
    classifier,
    distinct_rows,
    explores,
    fitted,
    last_full_refit,
    last_refit,
    lifted,
    nothing_known,
)
from xstar.searchers.model_based.networks import Breeding, described_inputs, kernels, of_described, positions_only
from xstar.searchers.model_based.observations import Observations, within
from xstar.searchers.model_based.outcomes import Settled
from xstar.trial import State, Suggestion, Trial

if TYPE_CHECKING:
    from xstar.searchers.gp.searcher import GP

NAMES = {"ei": "log EI", "ucb": "-LCB", "thompson": "-draw"}
UNFINISHED = 64
"""Of so many tried configurations the outcome at the acquisition's budget is fantasised: those that promise most."""
GOOD = 10
"""How many of the best known configurations the local candidates stand around."""
BAD = 0.9
"""What could not be evaluated counts as this quantile of all targets (in the posterior, not in the fit). The model
would else expect wonders there, and no classifier is ever sure enough to outweigh them: with half of the unit square infeasible
and the optimum in the middle of the other half, 13 of the last 14 of 36 suggestions were infeasible without it, 2 with it.
Not so what failed by chance: an exact bad value beside the best point makes nonsense of the model. With a tenth of the trials
failing at random, 45 trials of a sphere in four dimensions ended at 0.001 (geometric mean of 4 seeds) instead of 1e-6. A bad
value with some noise mends that as well, but goes beyond the border of what fails 12 times in 14 if the optimum lies there,
not 6 times."""


def decide(settings: GP, history: History, data: Observations, rng: np.random.Generator) -> Suggestion | str:
    """A suggestion, or why there is none."""
    try:
        with single_threaded():
            return Decision(settings, history, data).suggestion(rng)
    except NotPositiveDefinite as error:
        return f"gp failed at n={data.count}, {error}"


@dataclass(frozen=True)
class Decision:
    """One suggestion in the making."""

    settings: GP
    history: History
    data: Observations

    def suggestion(self, rng: np.random.Generator) -> Suggestion | str:
        """A suggestion, or why there is none."""
        history, data = self.history, self.data
        cube = data.cube
        budget = self._acquisition_budget()
        lift = lifted(budget)
        posteriors: list[Posterior] = []
        incumbents: list[Array] = []
        good = np.empty((0, data.width))
        starts: list[int] = []
        origin = ", nothing is known to be feasible"
        if data.count >= 2:
            model = self._model()
            posteriors = self._with_pending(model, rng)
            # What the model does not see, above its limit, is no candidate for the incumbent either: it has better ones nearby.
            seen = np.concatenate([model.places, np.arange(model.last, data.count)])
            feasible = _feasible_rows(history, data, seen)
            starts = np.unique(data.trial[seen]).tolist()
            if len(feasible):
                means = [posterior.means(lift(feasible)) for posterior in posteriors]
                if budget is not None:
                    posteriors = self._with_unfinished(posteriors, means, feasible, budget, rng)
                    means = [posterior.means(lift(feasible)) for posterior in posteriors]
                # The incumbent is the lowest posterior mean where something was observed or runs, not one lucky noisy value.
                incumbents = [each.min(axis=0) - (FAR if self._explores else 0.0) for each in means]
                average = np.mean([each.mean(axis=1) for each in means], axis=0)
                good = feasible[np.argsort(average, kind="stable")[:GOOD]]
            origin = _told(model, data.count, budget, history, max(posterior.jitter for posterior in posteriors))
            if incumbents and self._explores:
                origin = f", exploring{origin}"
        constraints = self._constraints(something=bool(incumbents))
        if not incumbents and not constraints:
            return nothing_known(history)
        criterion = Criterion(
            posteriors,
            incumbents or None,
            lift,
            constraints,
            confidence_weight(len(cube.labels), data.count) if self.settings.acquisition == "ucb" else None,
        )
        name = NAMES[self.settings.acquisition] if incumbents else "log p"
        if data.networks:
            breeding = Breeding(history, data, criterion.score, self.settings.modifiers, rng)
            recent = range(max(0, len(history.trials) - self.settings.limit), len(history.trials))
            found = breeding.maximise(starts or recent, criterion.with_gradient)
            if not found:
                return "all configurations that evolution found were tried"
            return Suggestion(found[0][0], f"nasbot: {name} {found[0][1]:.3g}{origin}")
        listed = history.space.size <= LISTED
        if self.settings.acquisition == "thompson" and incumbents:
            rows = self._untried(every_row(cube)) if listed else candidates(cube, good, rng)
            rows = rows[rng.permutation(len(rows))[:CANDIDATES]]
            values = thompson_scores(posteriors, rows, lift, constraints, rng)
        elif listed:
            rows = every_row(cube)
            values = criterion.score(rows)
        else:
            count = FEW if posteriors and len(posteriors[0].X) >= LARGE else MANY
            rows, values = maximise(cube, criterion.score, criterion.with_gradient, good, rng, count)
        for place in np.argsort(-values, kind="stable"):
            config = cube.decode(rows[place])
            if history.tried(config) is None:
                return Suggestion(config, f"gp: {name} {values[place]:.3g}{origin}")
        return f"all of the {len(rows)} best configurations were tried"

    # ------------------------------------------------------------ the parts

    @property
    def _explores(self) -> bool:
        settings = self.settings
        return settings.acquisition == "ei" and explores(self.history, self.data, settings.explore_every)

    def _untried(self, rows: Array) -> Array:
        """Those of ``rows`` that were not tried; all of them if there are none."""
        places = [place for place, row in enumerate(rows) if self.history.tried(self.data.cube.decode(row)) is None]
        return rows[places] if places else rows

    def _surrogate(self) -> Surrogate:
        history, data = self.history, self.data
        cube = data.cube
        ranges = tuple(np.flatnonzero(cube.numeric).tolist())
        networks = kernels(
            data, self.settings.distances, self.settings.powers, self.settings.describe, self.settings.shape
        )
        inputs = Inputs(cube.groups, cube.labels, ranges, cube.categories, networks)
        if len(history.levels) > 1:
            return over_budgets(inputs, self.settings.surrogate, shape=self.settings.shape, warp=self.settings.warp)
        return at_full_budget(inputs, shape=self.settings.shape, warp=self.settings.warp)

    def _inputs(self, X: Array, budget: Array) -> Array:
        history = self.history
        if len(history.levels) > 1:
            return np.hstack([X, budget[:, None] / history.levels[-1]])
        return X.copy()

    def _model(self) -> Fitted:
        history, data = self.history, self.data
        last = last_refit(data.count)
        if self.settings.refit == "full-budget" and len(history.levels) > 1:
            last = last_full_refit(data.count, data.budget == history.levels[-1])
        X = self._inputs(data.X, data.budget)
        surrogate = self._surrogate()
        return self._fitted((self.settings, "loss"), surrogate, last, X, data.loss, data.budget)

    def _fitted(self, key: Hashable, surrogate: Surrogate, last: int, X: Array, y: Array, budget: Array) -> Fitted:
        return fitted(
            self.history,
            key,
            surrogate,
            last,
            X,
            y,
            budget,
            straighten=self.settings.straighten,
            samples=self.settings.samples,
            starts=self.settings.starts,
            limit=self.settings.limit,
            positions=positions_only(self.data),
        )

    def _with_pending(self, model: Fitted, rng: np.random.Generator) -> list[Posterior]:
        history, data = self.history, self.data
        running = [*history.running.values(), *history.waiting.values()]
        top = history.levels[-1] if history.levels else 1
        runs_to = np.array([trial.target or top for trial in running], dtype=np.float64)
        pending = self._inputs(data.rows(running), runs_to)
        new = slice(model.last, data.count)
        X, y = self._inputs(data.X[new], data.budget[new]), model.targets(data.loss[new])
        if bad := self._bad():
            reached_for = np.array([trial.target or top for trial in bad], dtype=np.float64)
            X = np.vstack([X, self._inputs(data.rows(bad), reached_for)])
            y = np.append(y, np.full(len(bad), np.quantile(model.targets(data.loss), BAD)))
        how, count = self.settings.pending, self.settings.fantasies
        return [with_pending(posterior, X, y, pending, how, count, rng) for posterior in model.posteriors]

    def _bad(self) -> list[Trial]:
        """The trials that count as ``BAD``: infeasible ones, and of those that failed the ones that were to be expected to."""
        if not self.data.broken:
            return []
        broken = [self.history.trials[number] for number in self.data.broken[-(self.settings.limit // 2) :]]
        expected = self._classifier.without_each(len(broken)) < 0.0
        return [each for each, fails in zip(broken, expected, strict=True) if fails or each.state is State.INFEASIBLE]

    def _with_unfinished(
        self, posteriors: list[Posterior], means: list[Array], tried: Array, budget: float, rng: np.random.Generator
    ) -> list[Posterior]:
        """The posteriors with fantasies of what the tried configurations would give at the acquisition's budget.

        A trial that pauses below r_acq can be trained on at any time, so a new configuration has to improve on what *that* may
        turn out to be: its outcome is pending, too (noisy expected improvement, Letham et al. 2019). Without this, an
        observation far below r_acq leaves the acquisition as it was, and nearly the same point is suggested again and again.
        """
        count = self.settings.fantasies
        made = []
        for posterior, mean in zip(posteriors, means, strict=True):
            rows = np.hstack([tried, np.full((len(tried), 1), budget)])
            if len(rows) > UNFINISHED:
                at = posterior.predict(rows)
                value, _ = log_expected_improvement(at.mean, at.variance, mean.min(axis=0))
                rows = rows[np.sort(np.argsort(-value, kind="stable")[:UNFINISHED])]
            made.append(posterior.extended(rows, np.empty(0), normal_draws(len(rows), count, rng)))
        return made

    def _acquisition_budget(self) -> float | None:
        """r_acq / r_max; the rule of MOBSTER, Section 3, is the largest rung with as many observations as parameters."""
        history, data = self.history, self.data
        levels = history.levels
        if len(levels) < 2:
            return None
        if self.settings.acquire_at == "full":
            return 1.0
        enough = len(data.cube.labels) + len(data.networks)
        reached = next((level for level in reversed(levels) if data.per_level[level] >= enough), levels[0])
        return reached / levels[-1]

    @cached_property
    def _classifier(self) -> Feasibility:
        """Of what has a value and what failed; the last rows are those that failed."""
        return self._classified([])

    def _classified(self, doubtful: list[Trial]) -> Feasibility:
        """With ``doubtful`` trials counting as failed."""
        history, data, limit = self.history, self.data, self.settings.limit
        inputs = described_inputs(data)
        # The latest of both kinds, ``limit`` in all: either may fill what the other leaves of it.
        latest = list(islice(reversed(data.whole), limit - min(len(data.broken), limit // 2)))[::-1]
        whole = [number for number in latest if number not in data.is_broken]
        known = [history.trials[number] for number in (*whole, *data.broken[len(whole) - limit :])]
        X = data.described(data.rows([*known, *doubtful]))
        feasible = np.arange(len(X)) < len(whole)
        last = min(last_refit(len(history.ended)), len(history.ended))
        over = history.ended[max(0, last - limit) : last]
        fine = np.array([number not in data.is_broken for number in over])
        settled = data.described(data.rows(history.trials[number] for number in over)), fine
        key = (self.settings, "feasible")
        return classifier(history, key, last, settled, (X, feasible), inputs.groups, inputs.labels)

    def _constraints(self, *, something: bool) -> list[LogProbability]:
        """What may be infeasible: a classifier of what failed, and a model of each constraint metric.

        While not ``something`` is known that is feasible, what runs counts as failed, and has the metrics that are expected:
        workers that ask at the same time would else be sent to the same place.
        """
        history, data = self.history, self.data
        inputs = described_inputs(data)
        made: list[LogProbability] = []
        bounds = history.created.constraints or {}
        running = [] if something else [*history.running.values(), *history.waiting.values()]
        if running and (data.broken or len(data.told) >= 2):
            made.append(of_described(data, self._classified(running).log_probability))
        elif data.broken:
            made.append(of_described(data, self._classifier.log_probability))
        if len(data.told) >= 2:
            told = Settled.of(history, data).told
            X = data.described(told.rows[:, : data.width])
            for y, (name, bound) in zip(told.rows[:, data.width :].T, bounds.items(), strict=True):
                fit = self._fitted(
                    (self.settings, "constraint", name),
                    at_full_budget(inputs),
                    last_refit(len(y)),
                    X,
                    y,
                    np.ones(len(y)),
                )
                new, level = fit.targets(y[fit.last :]), float(fit.targets(np.array([bound]))[0])
                rows = np.vstack([X[fit.last :], data.described(data.rows(running))])
                parts = [below(each.extended(rows, new), level) for each in fit.posteriors]
                made.append(of_described(data, averaged(parts)))
        return made


def _feasible_rows(history: History, data: Observations, seen: NDArray[np.intp]) -> Array:
    """Where, of the observations ``seen``, something may be the answer, and where something runs."""
    if data.broken:  # what reported and failed later is no answer
        seen = seen[[number not in data.is_broken for number in data.trial[seen].tolist()]]
    X = data.X[seen]
    if history.created.constraints:
        told = [data.whole[number] for number in data.trial[seen].tolist()]
        X = X[[values is not None and within(history, values) for values in told]]
    if len(X) == 0:
        return X
    if len(history.levels) > 1:
        X = X[distinct_rows(X)]
    running = data.rows(history.running.values())
    return np.vstack([X, running])


def _told(model: Fitted, count: int, budget: float | None, history: History, jitter: float) -> str:
    """What a suggestion's origin says of the model."""
    at = "" if budget is None else f" at budget {round(budget * history.levels[-1])}"
    part = "" if len(model.places) == model.last else f", fitted to {len(model.places)} of {model.last}"
    steadied = f", not positive definite: {jitter:.0e} added to the diagonal" if jitter else ""
    return f"{at}, n={count}{part}{steadied}"
