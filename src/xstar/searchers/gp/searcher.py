"""Bayesian optimisation with a Gaussian process: asynchronous, at full budget or over budgets.

Choose it when a training run takes longer than a few seconds and there will be at most some thousand of them. Under a scheduler
with a ladder it models f(x, r) over configurations and budgets, which with ASHA is MOBSTER.

One suggestion, in the words of MOBSTER's Algorithm 1:

    observed     rows of the model, whose hyperparameters were fitted at the last count of a schedule      (fit.py)
    new          observations since then: rows below its Cholesky factor
    pending      what runs, at the budget it runs to
    fantasised   M joint draws of their outcomes, each a column of the whitened targets           (acquisition/pending.py)

then the acquisition at the budget r_acq is maximised, and the best configuration that was not tried before is suggested.

Two defaults differ from the paper's, because ``benchmarks/mobster.py`` says so: the surrogate is the Matérn kernel over (x, r)
with r warped, not the exponential decay with δ learned, which takes longer to reach ASHA's regret with either scheduler
(though under stopping it ends no higher); and r_acq is the full budget, not the highest one reached often.
Where one epoch says nothing about the last (some of LCBench), the decay model carries its noise up to the full budget, and an
acquisition at one epoch seeks configurations that are good after one epoch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xstar.errors import InvalidArgument
from xstar.journal import History
from xstar.searchers.gp.settings import GPSettings
from xstar.searchers.model_based import initial
from xstar.searchers.model_based.observations import Observations
from xstar.space.cube import cube_of
from xstar.trial import Done, New, Suggestion

if TYPE_CHECKING:
    from xstar.searchers.gp.fit import GPLearner

MakeLearner = Callable[[History, Observations], "GPLearner"]


@dataclass(frozen=True)
class GP(GPSettings):
    """A Gaussian process and expected improvement. The defaults were chosen by ``benchmarks/quality.py`` and want no tuning."""

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        def learner(history: History, data: Observations) -> GPLearner:
            from xstar.searchers.gp.fit import GPLearner  # at use: see ``model_based/decision.py``

            return GPLearner(history, data, self)

        return suggest(self, history, task, rng, learner)


def suggest(
    settings: GPSettings, history: History, task: New, rng: np.random.Generator, learner: MakeLearner
) -> Suggestion | Done:
    """A trial of the initial design, or a decision of the learner."""
    networks = bool(cube_of(history.space).encoder.domains)
    if networks and settings.acquisition == "thompson":
        rule = "must be ei or ucb where a parameter is an architecture"
        raise InvalidArgument("acquisition", rule, settings.acquisition, "leave it out")
    design = initial.Design("nasbot" if networks else "gp", settings.initial, in_numbers=True)
    return initial.suggest(history, task, rng, design, learner)
