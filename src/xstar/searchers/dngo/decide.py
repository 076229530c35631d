"""How a DNGO searcher decides: models, what runs, incumbent, constraints, the maximum of the acquisition.

Apart from ``dngo.py`` because SciPy's optimiser and LAPACK take as long to import as the rest of xstar: they are loaded
when the first model is trained.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import cast

import numpy as np
from numpy.typing import NDArray

from xstar.acquisition.criterion import Criterion, LogProbability, averaged, below
from xstar.acquisition.maximise import LISTED, candidates, every_row, maximise
from xstar.acquisition.pending import normal_draws
from xstar.journal import History
from xstar.models.blas import single_threaded
from xstar.models.feasibility import Feasibility
from xstar.models.gp import NotPositiveDefinite, Posterior
from xstar.models.kernels import Array
from xstar.models.linear import Head
from xstar.models.quadratic import Quadratic
from xstar.searchers.dngo.fit import LEADERS, Leaders, constraint, heads, last_training, trained
from xstar.searchers.dngo.searcher import DNGO
from xstar.searchers.gp.fit import FAR, distinct_rows, explores, lifted, nothing_known
from xstar.searchers.model_based.networks import Breeding, by_description, described_inputs
from xstar.searchers.model_based.observations import Observations, constraint_metrics, within
from xstar.searchers.model_based.outcomes import Settled
from xstar.trial import State, Suggestion, Trial

UNFINISHED = 64
"""Of so many tried configurations the outcome at the full budget is fantasised: those that promise most."""
CROWD, SPACING = 10, 0.1
"""While so many trials run, suggestions also keep a distance from them: 0.1 J^(-1/w) sides of the cube in each of w columns, J
being the trials that run. Fifty basis functions know everything after fifty fantasies, wherever these are: without it, 100
suggestions at a time for Hartmann's function stood 0.003 from the next one (median)."""
THRONG = 50
"""While so many run, which is as many as there are basis functions, ``spread`` leaves their fantasies out: all is known after
them, and the least of so many outcomes is so low that nothing improves on it. And it takes the best of random candidates, many
of them near good ones, instead of climbing to where networks happen to agree. With 400 workers on the problem of ``--part
workers`` (1,250 trials, two seeds) the best loss was 0.07 and 0.07; with fantasies 0.16 and 0.08; climbing, without them, 0.13
(one seed)."""
LATEST = 100
"""Of so many trials that failed, the latest, it is asked whether that was to be expected, of as many that did not."""
GOOD = 10
"""How many of the best known configurations the local candidates stand around."""


def decide(settings: DNGO, history: History, data: Observations, rng: np.random.Generator) -> Suggestion | str:
    """A suggestion, or why there is none."""
    try:
        with single_threaded():
            return Decision(settings, history, data).suggestion(rng)
    except NotPositiveDefinite as error:
        return f"dngo failed at n={data.count}, {error}"


@dataclass(frozen=True)
class Decision:
    """One suggestion in the making."""

    settings: DNGO
    history: History
    data: Observations

    def suggestion(self, rng: np.random.Generator) -> Suggestion | str:
        """A suggestion, or why there is none."""
        history, data = self.history, self.data
        cube = data.cube
        lift = lifted(1.0 if self._over_budgets else None)
        posteriors: list[Head] = []
        incumbents: list[Array] = []
        good = np.empty((0, data.width))
        starts: list[int] = []
        origin = ", nothing is known to be feasible"
        if data.count >= 2:
            last = last_training(data.count)
            X = self._table()
            model = trained(history, self.settings, "loss", last, X, data.loss, self._mean())
            posteriors = heads(history, "loss", model, X, data.loss, self._broken())
            leaders = self._leaders()
            if data.broken:  # what reported and failed later is no answer
                leaders = leaders[[number not in data.is_broken for number in data.trial[leaders].tolist()]]
            starts = np.unique(data.trial[leaders]).tolist()
            tried = data.X[leaders]
            if len(tried):
                if self._over_budgets:
                    tried = tried[distinct_rows(tried)]
                average = np.mean([head.means(lift(tried)) for head in posteriors], axis=0)[:, 0]
                order = np.argsort(average, kind="stable")
                good = tried[order[:GOOD]]
                # Over budgets a new configuration has to improve on what paused ones may turn out to be, too.
                unfinished = lift(tried[order[:UNFINISHED]]) if self._over_budgets else None
                posteriors = self._with_pending(posteriors, unfinished, rng)
                running = () if self._in_a_throng else history.running.values()
                places = lift(np.vstack([tried, data.rows(running)]))
                # The incumbent is the lowest posterior mean where something was observed or runs, not one lucky noisy value.
                far = FAR if self._explores else 0.0
                incumbents = [head.means(places).min(axis=0) - far for head in posteriors]
            budget = f" at budget {history.levels[-1]}" if self._over_budgets else ""
            exploring = ", exploring" if incumbents and self._explores else ""
            origin = f"{budget}{exploring}, n={data.count}, trained on {last}"
        constraints = self._constraints(something=bool(incumbents))
        if not incumbents and not constraints:
            return nothing_known(history)
        if self.settings.pending != "ignored" and len(history.running) >= CROWD:
            constraints.append(apart(data.rows(history.running.values())))
        # A head is to the criterion what a GP's posterior is.
        criterion = Criterion(cast("list[Posterior]", posteriors), incumbents or None, lift, constraints)
        name = "log EI" if incumbents else "log p"
        if data.networks:
            score, with_gradient = by_description(data, criterion)
            found = Breeding(history, data, score, "all", rng).maximise(
                starts or range(min(len(history.trials), LEADERS)), with_gradient
            )
            if not found:
                return "all configurations that evolution found were tried"
            return Suggestion(found[0][0], f"dngo: {name} {found[0][1]:.3g}{origin}")
        if history.space.size <= LISTED:
            rows = every_row(cube)
            values = criterion.score(rows)
        elif self._in_a_throng:
            rows = candidates(cube, good, rng)
            values = criterion.score(rows)
        else:
            rows, values = maximise(cube, criterion.score, criterion.with_gradient, good, rng)
        for place in np.argsort(-values, kind="stable"):
            config = cube.decode(rows[place])
            if history.tried(config) is None:
                return Suggestion(config, f"dngo: {name} {values[place]:.3g}{origin}")
        return f"all of the {len(rows)} best configurations were tried"

    # ------------------------------------------------------------ the parts

    @property
    def _over_budgets(self) -> bool:
        return len(self.history.levels) > 1

    @property
    def _in_a_throng(self) -> bool:
        """Whether distances from what runs stand in for fantasies of it."""
        return self.settings.pending == "spread" and len(self.history.running) >= THRONG

    @property
    def _explores(self) -> bool:
        if len(self.history.running) >= CROWD:  # which keep their distance as it is
            return False
        return explores(self.history, self.data, self.settings.explore_every)

    def _mean(self) -> Quadratic:
        return Quadratic(tuple(np.flatnonzero(self.data.cube.numeric).tolist()))

    def _place(self, budget: Array) -> Array:
        """Of budgets on the ladder: 0 at the lowest rung, 1 at the full budget, in equal steps for equal factors."""
        low, high = self.history.levels[0], self.history.levels[-1]
        made: Array = np.log(budget / low) / np.log(high / low)
        return made

    def _table(self) -> Array:
        """The inputs of all observations."""
        data = self.data
        if self._over_budgets:
            return np.hstack([data.X, self._place(data.budget)[:, None]])
        return data.X

    def _with_pending(self, posteriors: list[Head], more: Array | None, rng: np.random.Generator) -> list[Head]:
        """The heads after draws of what still runs, and of ``more``."""
        history, settings = self.history, self.settings
        running = () if self._in_a_throng else (*history.running.values(), *history.waiting.values())
        rows = self._pending_rows(running)
        if more is not None:
            rows = np.vstack([rows, more])
        if settings.pending == "ignored" or not len(rows):
            return posteriors
        made = []
        for head in posteriors:
            normal = noise = None
            if settings.pending in ("spread", "fantasies"):
                normal = normal_draws(head.basis.width, settings.fantasies, rng)
                noise = normal_draws(len(rows), settings.fantasies, rng)
            made.append(head.fantasised(rows, normal, noise))
        return made

    def _pending_rows(self, running: Sequence[Trial]) -> Array:
        history = self.history
        rows = self.data.rows(running)
        if not self._over_budgets:
            return rows
        top = history.levels[-1]
        runs_to = np.array([trial.target or top for trial in running], dtype=np.float64)
        return np.hstack([rows, self._place(runs_to)[:, None]])

    def _broken(self) -> tuple[Array, Array] | None:
        """The inputs that count as bad: of what is infeasible, and of what failed and was to be expected to."""
        if not self.data.broken:
            return None
        settled = Settled.of(self.history, self.data)
        if self.settings.likelihood == "step":  # nothing fails by chance
            return self._aimed_at(settled.broken.rows), self._aimed_at(settled.broken.rows[:0])
        return self._aimed_at(settled.infeasible.rows), self._aimed_at(self._expected_failures())

    def _expected_failures(self) -> Array:
        """Of the latest trials that failed, those that were to be expected to; with the budget in one more column.

        The GP's classifier says which, without the trial in question: a network's last layer has been shaped by it, and would
        expect all that happened. Of four dimensions with 30 % of the trials failing by chance, 60 trials left 0.01 so.
        """
        history, data = self.history, self.data
        broken = [history.trials[number] for number in data.broken[-LATEST:]]
        failed = np.array([each.state is State.FAILED for each in broken])
        rows = data.rows(broken)
        if failed.any():
            whole = [number for number in islice(reversed(data.whole), LATEST) if number not in data.is_broken]
            X = np.vstack([data.rows(history.trials[number] for number in whole), rows])
            inputs = described_inputs(data)
            model = Feasibility.fit(X, np.arange(len(X)) < len(whole), inputs.groups, inputs.labels)
            failed &= model.without_each(len(broken)) < 0.0
        aim = np.array([each.target or 0.0 for each in broken])
        made: Array = np.hstack([rows, aim[:, None]])[failed]
        return made

    def _aimed_at(self, rows: Array) -> Array:
        """Inputs at the budget that they were to reach, which is the last column of ``rows``."""
        if not self._over_budgets:
            return rows[:, :-1]
        aim = np.where(rows[:, -1] > 0.0, rows[:, -1], self.history.levels[-1])
        return np.hstack([rows[:, :-1], self._place(aim)[:, None]])

    def _leaders(self) -> NDArray[np.intp]:
        """The places of the best observations that may be the answer."""
        history, data = self.history, self.data
        kept = history.memo.get(Leaders) or history.memo.put(Leaders())
        bounds = history.created.constraints
        # By rung: trials may also end in between, at any number of budgets, and each group has its ``LEADERS``.
        level = np.searchsorted(history.levels, data.budget, side="right").astype(np.float64)

        def fine(places: NDArray[np.intp]) -> NDArray[np.bool_]:
            if not bounds:
                return np.ones(len(places), dtype=bool)
            told = [constraint_metrics(history, *history.observed[place][:2]) for place in places.tolist()]
            return np.array([values is not None and within(history, values) for values in told], dtype=bool)

        return kept.catch_up(data.loss, level, fine)

    def _constraints(self, *, something: bool) -> list[LogProbability]:
        """What may be infeasible: a classifier of what failed, and a model of each constraint metric."""
        history, data = self.history, self.data
        bounds = history.created.constraints or {}
        made: list[LogProbability] = []
        if not data.broken and not bounds:
            return made
        settled = Settled.of(history, data)
        if data.broken:
            # While nothing is known to be feasible, what runs counts as failed: all would else be sent to one place.
            running = [] if something else [*history.running.values(), *history.waiting.values()]
            made.append(constraint(history, self.settings, settled, data.rows(running)).log_probability)
        if settled.told.count < 2:
            return made
        width = data.width
        X = settled.told.rows[:, :width]
        for place, (name, bound) in enumerate(bounds.items()):
            y = settled.told.rows[:, width + place]
            purpose = f"constraint {name}"
            model = trained(history, self.settings, purpose, last_training(len(y)), X, y, self._mean())
            level = float(model.targets(np.array([bound]))[0])
            made.append(
                averaged([below(cast("Posterior", each), level) for each in heads(history, purpose, model, X, y)])
            )
        return made


def apart(running: Array) -> LogProbability:
    """log(1 - exp(-d²/2)), d being the distance to the nearest of ``running`` in units of the spacing (in the manner of local
    penalisation, González et al. 2016)."""
    length = SPACING * len(running) ** (-1.0 / running.shape[1]) * np.sqrt(running.shape[1])
    squares = np.einsum("ij,ij->i", running, running)

    def log_probability(rows: Array) -> tuple[Array, Callable[[Array], Array]]:
        nearest = running[np.argmin(squares - 2.0 * rows @ running.T, axis=1)]
        away = (rows - nearest) / length
        half = np.clip(0.5 * np.einsum("ij,ij->i", away, away), 1e-12, 700.0)
        value = np.log(-np.expm1(-half))

        def back(w: Array) -> Array:
            made: Array = (w / np.expm1(half))[:, None] * away / length
            return made

        return value, back

    return log_probability
