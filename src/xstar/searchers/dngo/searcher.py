"""DNGO: Bayesian optimisation with a neural network's last layer instead of a Gaussian process (Snoek et al. 2015).

Choose it when there will be thousands of trials, or hundreds in parallel: a suggestion costs the same after a hundred
observations and after a hundred thousand. Under a scheduler with rungs the budget is an additional input of the
network.

One suggestion:

    network      trained from scratch at the counts of a geometric schedule, with the draws of theta            (fit.py)
    head         Bayesian linear regression on its last layer: each new observation is added to its sums
    pending      M joint draws of the outcomes of running trials, with one factor per theta; for many, only the distance
    constraints  a separate network for failed and infeasible trials, and one for each bounded metric

Then constrained expected improvement, averaged over theta and the draws (12), is maximised (model_based/decision.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from xstar.core.checks import check_counts, check_names, check_switches
from xstar.journal import History
from xstar.searchers.base import BLIND, COPIES, DESIGNS, PENALTIES, SEARCHERS
from xstar.searchers.model_based import initial
from xstar.searchers.model_based.observations import Observations
from xstar.trial import Done, New, Suggestion

if TYPE_CHECKING:
    from xstar.searchers.dngo.learner import DNGOLearner

ACTIVATIONS = ("tanh", "relu", "relu-tanh")
LIKELIHOODS = ("logistic", "step")
PENDING = ("spread", "fantasies", "hallucination", "ignored")
DEVICES = ("cpu", "cuda")
UNFINISHED = 0
"""Nothing speaks for fantasies of paused trials here: with 12, 24 and 64 of them, searches with four workers end lower than
without in 28, 26 and 27 of 60 and higher in 29, 31 and 30 (``benchmarks/budgets.py --part dngo``); with 32 workers and 12 of
them lower in 16 of 31 and higher in 11 (``--part many``, ``many-validation``), and they take time."""
UNFINISHED_BEFORE = (64, 12)
"""What ``DNGO`` did before this was a setting of it, and its first default."""
BEFORE_LEVEL: Mapping[str, Any] = {"blind": "classifier", "penalties": "keep"}
"""What ``DNGO`` did before it spread while nothing is known, and lowered penalties."""


@dataclass(frozen=True)
class DNGO:
    """Bayesian linear regression on a network's last layer, with expected improvement."""

    initial: int | None = None
    """Trials before the first model-based suggestion. The default is twice the number of parameters, between 5 and 12; of
    ``steps`` it is one more than there are parameters. Under a scheduler with rungs it is the number of parameters plus one,
    between 4 and 10. With an architecture it is at least 10, and the networks come from its pool."""
    design: str = "sobol"
    """These trials: ``sobol`` points; or, at full budget and in a space of at most 20 numbers, the middle of the space and
    ``steps`` of one parameter each from the best trial so far (``model_based/steps.py``). On 19 development functions of
    ``benchmarks/generality.py``, one seed, losses with steps were lower in 13 and higher in 6 after 25 trials, in 11 and 8
    after 50, in 10 and 9 after 100: lower where losses are smooth, higher where they ripple."""
    activation: str = "tanh"
    """Activation of the hidden layers: ``tanh``, ``relu``, or ``relu-tanh`` (ReLU except for the last layer)."""
    networks: int = 10
    """Number of networks over which the acquisition function is averaged; they differ in their initial weights. The
    paper uses one."""
    samples: int = 1
    """Number of draws of the head's hyperparameters per network. With one network, as in the paper, use ten."""
    straighten: bool = True
    """Transform skewed losses (Yeo–Johnson)."""
    likelihood: str = "logistic"
    """Likelihood of the feasibility classifier: ``logistic`` if failures may be random, ``step`` if they never are."""
    explore_every: int = 4
    """At full budget, while fewer than ten trials run, one suggestion in this many aims for an improvement by one
    standard deviation of the losses instead of any improvement; 0: none."""
    pending: str = "spread"
    """``fantasies`` of all running trials, as in the paper; ``spread``: fantasies of up to fifty, then a distance."""
    fantasies: int = 10
    """Joint draws of the outcomes of running trials, per network and draw of the hyperparameters: a hundred in
    total."""
    unfinished: int = UNFINISHED
    """Under a scheduler with rungs: of how many tried configurations, those with the lowest predictions, the outcome at the
    full budget is fantasised, too."""
    copies: str = "avoid"
    """Under a scheduler with rungs, where trials have proved to be copies of each other: ``avoid`` their surroundings
    (``model_based/away.py``), or ``ignore`` that they are."""
    penalties: str = "lower"
    """A largest loss that several trials have and that is far above all others: ``keep`` it as it is, or ``lower`` it, so that
    the others can be told apart (``models/standardise.py``)."""
    blind: str = "level"
    """While fewer than two trials have a value and all others have failed: go where the ``classifier`` of failures favours, or
    ``spread`` with every second trial (``model_based/blind.py``); ``level``: also while all losses are the same."""
    device: str = "cpu"
    """Device on which networks are trained. ``cuda`` requires torch and a GPU; its networks differ from those of the
    CPU by rounding, so an audit needs the same device."""

    def __post_init__(self) -> None:
        names = {
            "design": DESIGNS,
            "activation": ACTIVATIONS,
            "likelihood": LIKELIHOODS,
            "pending": PENDING,
            "device": DEVICES,
        }
        check_names(self, {**names, "copies": COPIES, "blind": BLIND, "penalties": PENALTIES})
        least = {"initial": 1, "networks": 1, "samples": 1, "explore_every": 0, "fantasies": 1, "unfinished": 0}
        check_counts(self, least, optional=("initial",))
        check_switches(self, "straighten")

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        if self.device != "cpu" and not history.trials:  # check now, not only when the first model is trained
            from xstar.models.features_torch import check_device

            check_device(self.device)

        def learner(history: History, data: Observations) -> DNGOLearner:
            from xstar.searchers.dngo.learner import DNGOLearner  # imported at use: SciPy's optimiser loads slowly

            return DNGOLearner(history, data, self)

        steps = self.design == "steps"
        design = initial.Design("dngo", self.initial, middle=steps, steps=steps, blind=self.blind)
        return initial.suggest(history, task, rng, design, learner)


def _of_earlier_releases(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Convert "dngo" of earlier defaults: it keeps what it did, though today's is asked for."""
    unset, first = UNFINISHED_BEFORE
    stored = {"unfinished": unset, "copies": "ignore", **data}
    found: list[Mapping[str, Any]] = [stored]
    if stored["unfinished"] == first or "unfinished" not in data:
        found += [{**stored, "unfinished": UNFINISHED}]
    if "copies" not in data:
        found += [{**each, "copies": "avoid"} for each in found]
    if "blind" not in data:
        found = [{**each, **rules} for rules in (BEFORE_LEVEL, {}) for each in found]
    return found


SEARCHERS.register("dngo", DNGO, readings=_of_earlier_releases)
