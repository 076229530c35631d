"""DNGO: Bayesian optimisation with a neural network's last layer instead of a Gaussian process (Snoek et al. 2015).

Choose it when there will be thousands of trials, or hundreds in parallel: a suggestion costs the same after a hundred
observations and after a hundred thousand. Under a scheduler with rungs the budget is an additional input of the
network.

One suggestion:

    network      trained from scratch at the counts of a geometric schedule, with the draws of theta            (fit.py)
    head         Bayesian linear regression on its last layer: each new observation is added to its sums
    pending      M joint draws of the outcomes of running trials, with one factor per theta; for many, only the distance
    constraints  a separate network for failed and infeasible trials, and one for each bounded metric

Then constrained expected improvement, averaged over theta and the draws (12), is maximised (bo/suggest.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xstar.core.checks import check_counts, check_names, check_switches
from xstar.journal import History
from xstar.journal.trial import Done, New, Suggestion
from xstar.searchers.base import SEARCHERS
from xstar.searchers.bo.design import Design, before_model
from xstar.searchers.bo.observations import Observations

ACTIVATIONS = ("tanh", "relu", "relu-tanh")
DEVICES = ("cpu", "cuda")


@dataclass(frozen=True)
class DNGO:
    """Bayesian linear regression on a network's last layer, with expected improvement."""

    initial: int | None = None
    """Sobol points before the first model-based suggestion. The default is twice the number of parameters, between 5 and 12;
    under a scheduler with rungs it is the number of parameters plus one, between 4 and 10. With an architecture it is at least
    10, and the networks come from its pool."""
    activation: str = "tanh"
    """Activation of the hidden layers: ``tanh``, ``relu``, or ``relu-tanh`` (ReLU except for the last layer)."""
    networks: int = 10
    """Number of networks over which the acquisition function is averaged; they differ in their initial weights. The
    paper uses one."""
    samples: int = 1
    """Number of draws of the head's hyperparameters per network. With one network, as in the paper, use ten."""
    transform: bool = True
    """Transform skewed losses (Yeo–Johnson)."""
    explore_every: int = 4
    """At full budget, while fewer than ten trials run, one suggestion in this many aims for an improvement by one
    standard deviation of the losses instead of any improvement; 0: none."""
    fantasies: int = 10
    """Joint draws of the outcomes of running trials, per network and draw of the hyperparameters: a hundred in total. From
    fifty running trials on a distance takes their place."""
    device: str = "cpu"
    """Device on which networks are trained. ``cuda`` requires torch and a GPU; its networks differ from those of the
    CPU by rounding, so an audit needs the same device."""

    def __post_init__(self) -> None:
        check_names(self, {"activation": ACTIVATIONS, "device": DEVICES})
        least = {"initial": 1, "networks": 1, "samples": 1, "explore_every": 0, "fantasies": 1}
        check_counts(self, least, optional=("initial",))
        check_switches(self, "transform")

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        if self.device != "cpu" and not history.trials:  # check now, not only when the first model is trained
            from xstar.models.features_torch import check_device

            check_device(self.device)
        observed = before_model(history, task, rng, Design("dngo", self.initial))
        if not isinstance(observed, Observations):
            return observed
        from xstar.searchers.dngo.fit import DNGOOptions  # imported at use: SciPy loads slowly
        from xstar.searchers.dngo.surrogate import LastLayers, suggest_by

        return suggest_by(LastLayers(DNGOOptions(self)), history, observed, rng)


@dataclass(frozen=True)
class DNGOPaper:
    """DNGO as Snoek et al. (2015) have it: one network, trained anew after every observation, ten draws of θ, the variance of
    an observation (5), the lowest observed loss to improve on (2), fantasies of all that runs (11), losses as they are."""

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        observed = before_model(history, task, rng, Design("dngo-paper"))
        if not isinstance(observed, Observations):
            return observed
        from xstar.searchers.dngo.fit import EVERY, PAPER, Sizes  # imported at use: SciPy loads slowly
        from xstar.searchers.dngo.surrogate import LastLayers, suggest_by

        return suggest_by(LastLayers(PAPER, Sizes(growth=EVERY)), history, observed, rng)


SEARCHERS.register("dngo", DNGO)
SEARCHERS.register("dngo-paper", DNGOPaper)
