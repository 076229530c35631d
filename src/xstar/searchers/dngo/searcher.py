"""DNGO: Bayesian optimisation with a neural network's last layer in place of a Gaussian process (Snoek et al. 2015).

Choose it when there will be thousands of trials, or hundreds at a time: a suggestion costs the same after a hundred
observations and after a hundred thousand. Under a scheduler with a ladder the budget is one more input of the network.

One suggestion:

    network      trained from scratch at counts of a geometric schedule, and with it the draws of theta       (fit.py)
    head         Bayesian linear regression on its last layer: every new observation is added to its sums
    pending      M joint draws of the outcomes of what runs, which share one factor per theta; of many, only the distance
    constraints  a network of their own for what failed or could not be evaluated, and one for each bounded metric

then constrained expected improvement, averaged over theta and the draws (12), is maximised (model_based/decision.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xstar.core.checks import check_counts, check_names, check_switches
from xstar.journal import History
from xstar.searchers.base import SEARCHERS
from xstar.searchers.model_based import initial
from xstar.searchers.model_based.observations import Observations
from xstar.trial import Done, New, Suggestion

if TYPE_CHECKING:
    from xstar.searchers.dngo.learner import DNGOLearner

ACTIVATIONS = ("tanh", "relu", "relu-tanh")
LIKELIHOODS = ("logistic", "step")
PENDING = ("spread", "fantasies", "hallucination", "ignored")
DEVICES = ("cpu", "cuda")


@dataclass(frozen=True)
class DNGO:
    """A network's last layer under Bayesian linear regression, and expected improvement."""

    initial: int | None = None
    """Sobol points before the model is asked. By default twice as many as there are parameters, between 5 and 12; under a
    scheduler with rungs one more than there are parameters, between 4 and 10. Where a
    parameter is an architecture, at least 10, with the networks of its pool."""
    activation: str = "tanh"
    """Of the hidden layers: ``tanh``, ``relu``, or ``relu-tanh`` (ReLU, but for the last)."""
    networks: int = 10
    """Average the acquisition over so many networks, which differ in their initial weights. The paper has one."""
    samples: int = 1
    """And for each over so many draws of the head's hyperparameters. The paper's one network wants ten."""
    straighten: bool = True
    """Transform skewed losses."""
    likelihood: str = "logistic"
    """Of being infeasible: ``logistic`` if it may be by chance, ``step`` if it never is."""
    explore_every: int = 4
    """At full budget, while fewer than ten trials run, every so many suggestions seek an improvement by a standard deviation of
    the losses instead of any; 0: none does."""
    pending: str = "spread"
    """``fantasies`` of all that runs, as in the paper; ``spread``: the same up to fifty, from then on a distance from them."""
    fantasies: int = 10
    """Joint draws of the outcomes of what runs, for each network and draw of the hyperparameters: a hundred in all."""
    device: str = "cpu"
    """Where networks are trained. ``cuda`` needs torch and a GPU; its networks differ from those of the CPU in rounding, so
    an audit needs the same device."""

    def __post_init__(self) -> None:
        names = {"activation": ACTIVATIONS, "likelihood": LIKELIHOODS, "pending": PENDING, "device": DEVICES}
        check_names(self, names)
        least = {"initial": 1, "networks": 1, "samples": 1, "explore_every": 0, "fantasies": 1}
        check_counts(self, least, optional=("initial",))
        check_switches(self, "straighten")

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        if self.device != "cpu" and not history.trials:  # not only when the first model is trained
            from xstar.models.features_torch import check_device

            check_device(self.device)

        def learner(history: History, data: Observations) -> DNGOLearner:
            from xstar.searchers.dngo.learner import DNGOLearner  # at use: SciPy's optimiser takes long to import

            return DNGOLearner(history, data, self)

        return initial.suggest(history, task, rng, initial.Design("dngo", self.initial), learner)


SEARCHERS.register("dngo", DNGO)
