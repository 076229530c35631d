"""Bayesian optimisation with a Gaussian process: asynchronous, at full budget or over budgets.

Choose it when a training run takes longer than a few seconds and there will be at most a few thousand of them. Under a
scheduler with rungs it models f(x, r) over configurations and budgets; with ASHA this is MOBSTER.

One suggestion, in the terms of MOBSTER's Algorithm 1:

    observed     rows of the model, whose hyperparameters were fitted at the last count of a schedule      (fit.py)
    new          observations since then: rows below its Cholesky factor
    pending      running trials, each at the budget it runs to
    fantasised   M joint draws of their outcomes, each a column of the whitened targets      (acquisition/pending.py)

Then the acquisition function at the budget r_acq is maximised, and the best untried configuration is suggested.

Two defaults differ from the paper, based on ``benchmarks/mobster.py``. First, the surrogate is the Matérn kernel over
(x, r) with r warped, not the exponential decay with learned δ: the latter takes longer to reach ASHA's regret with
either scheduler (though under stopping it ends no higher). Second, r_acq is the full budget, not the highest one
reached often. Where one epoch carries no information about the last (some of LCBench), the decay model propagates its
noise to the full budget, and an acquisition function at one epoch favours configurations that are good after one epoch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xstar.errors import InvalidArgument
from xstar.journal import History
from xstar.journal.divergence import Divergence
from xstar.journal.silence import Silence
from xstar.searchers.gp.settings import GPSettings
from xstar.searchers.gp.straight import FEWEST, goes_straight, straight
from xstar.searchers.model_based import initial
from xstar.searchers.model_based.observations import Observations
from xstar.space.cube import cube_of
from xstar.trial import Done, New, Suggestion

if TYPE_CHECKING:
    from xstar.searchers.gp.fit import GPLearner

EXHAUSTED = 0.125
"""Among n observations of noise σ around the incumbent the expected improvement is about 0.4 σ/√n: an eighth of σ is what ten
of them leave. Measurements are in ``model_based/exhaustion.py``."""

PATIENCE = 200
"""Measurements are in ``model_based/restarts.py``."""

SAFE = 0.8
"""Chosen on the four problems of ``benchmarks/harness/development.py`` with a region that fails (``GPSettings.safe``)."""

SAFE_WHEN = "numbers"
"""Where failures come from options that do not suit each other, the classifier is sure of the first combination that had a
value and of no other, and a search that asked for what is safe never left it. On eight such spaces (``benchmarks/generality.py
--part suiting``, ten seeds), losses after 100 trials are lower in 49 searches and higher in 6, and 36 trials fail, not 21."""

EXPLORE_RUNNING = 5
"""Over budgets, exploring helps while few trials run; many of them spread by themselves. With 4 workers, searches with one
exploring suggestion in four end lower than without in 105 and higher in 73 on the development tasks of
``benchmarks/budgets.py`` (73 and 53 on those of validation), with 8 workers in 89 and 92 (61 and 58). Ten seeds each."""

STRAIGHT_RUNNING = 1
"""With a single worker, that is. Measurements are in ``straight.py``."""

MakeLearner = Callable[..., "GPLearner"]
"""Makes a learner of a history, observations, and the first trial of these if they are those of a restart."""


@dataclass(frozen=True)
class GP(GPSettings):
    """A Gaussian process with expected improvement. Its defaults, from ``benchmarks/quality.py`` and
    ``benchmarks/generality.py``, need no tuning."""

    structure: str = "evidence"
    lengths: str = "alike"
    middle: bool = True
    design: str = "steps"
    explore_when: str = "noisy"
    cautious: bool = True
    safe: float = SAFE
    safe_when: str = SAFE_WHEN
    blind: str = "rungs"
    penalties: str = "lower"
    silent: str = "narrow"
    diverged: str = "failed"
    exhausted: float = EXHAUSTED
    patience: int = PATIENCE
    exact: bool = True
    explore_running: int = EXPLORE_RUNNING
    copies: str = "avoid"
    straight_running: int = STRAIGHT_RUNNING
    straight_beside: str = "rising"

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        networks = bool(cube_of(history.space).encoder.domains)
        # An initial design of the user's own; studies from before trials went straight beside others had no such rule.
        begins = self.straight_beside != "never" and len(history.trials) < (self.initial or 0)
        if networks or begins or not goes_straight(history, task, self.straight_running, self.straight_beside):
            return suggest(self, history, task, rng, self._learner)
        if self._complete(history, Observations.of(history)).count < FEWEST:  # all others have diverged
            return suggest(self, history, task, rng, self._learner)
        made = suggest(self, history, task, rng, self._learner_of_complete)
        return made if isinstance(made, Done) else straight(made, history.levels[-1])

    def follow(self, history: History) -> None:
        follow(history, self._learner)

    def _learner(self, history: History, data: Observations, begun: int = 0) -> GPLearner:
        from xstar.searchers.gp.fit import GPLearner  # imported at use: see ``model_based/decision.py``

        data = self._known(history, data)
        told, silent = data.telling(self._silent(history, data))
        return GPLearner(history, told, self, begun=begun, silent=silent)

    def _silent(self, history: History, data: Observations) -> tuple[int, ...]:
        """The rungs that say nothing."""
        if self.silent == "keep" or len(history.levels) < 2:
            return ()
        if self.silent == "leave":
            return data.equal_at(history.levels)
        return tuple(sorted(history.memo.fold(Silence, history).rungs))

    def _learner_of_complete(self, history: History, data: Observations, begun: int = 0) -> GPLearner:
        from xstar.searchers.gp.fit import GPLearner  # imported at use: see ``model_based/decision.py``

        return GPLearner(history, self._complete(history, data), self, begun=begun, complete=True)

    def _complete(self, history: History, data: Observations) -> Observations:
        return self._known(history, data).at(history.levels[-1])

    def _known(self, history: History, data: Observations) -> Observations:
        if self.diverged == "bad" or len(history.levels) < 2:
            return data
        return data.without_diverged(history.memo.fold(Divergence, history))


def follow(history: History, learner: MakeLearner) -> None:
    """Bring the model of the loss up to date, if one was used before."""
    if history.memo.get(Observations, True) is not None:
        learner(history, Observations.of(history, in_numbers=True)).follow()


def suggest(
    settings: GPSettings, history: History, task: New, rng: np.random.Generator, learner: MakeLearner
) -> Suggestion | Done:
    """Suggest a trial of the initial design, or the decision of the learner."""
    networks = bool(cube_of(history.space).encoder.domains)
    if networks and settings.acquisition == "thompson":
        rule = "must be ei or ucb where a parameter is an architecture"
        raise InvalidArgument("acquisition", rule, settings.acquisition, "leave it out")
    name, doubts = "nasbot" if networks else "gp", settings.learns_trust
    design = initial.Design(
        name,
        settings.initial,
        settings.middle,
        steps=settings.design == "steps",
        in_numbers=True,
        doubts=doubts,
        patience=settings.patience,
        blind=settings.blind,
    )
    return initial.suggest(history, task, rng, design, learner)
