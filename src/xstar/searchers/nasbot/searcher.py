"""NASBOT: Bayesian optimisation of architectures (Kandasamy et al. 2018), a GP with OTMANN in its kernel.

Choose it when a parameter of the space is a network and training takes longer than a few seconds. In a space without networks
it is the GP. With networks, the GP is NASBOT with its default settings: ``method="gp"`` and ``method="mobster"`` accept such
spaces, too, and differ only in the scheduler.

    kernel        (7) over networks plus one over their features (``bo/inputs.py``), times a Matérn kernel over the other
                  parameters, and over budgets if the scheduler has rungs
    distances     ``nets/catalogue.py``: each pair is computed once
    parameters    the MAP estimate, or draws from their posterior with ``samples``
    matrices      jitter where they are not positive definite
    acquisition   expected improvement, maximised by evolution (``bo/networks.py``)
    workers       fantasies, or hallucination with ``fantasies=0``

``NASBOTPaper`` is the paper's (``paper.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from xstar.core.checks import check_names, check_switches
from xstar.errors import InvalidArgument
from xstar.journal import History
from xstar.journal.trial import Done, New, Suggestion
from xstar.searchers.base import SEARCHERS
from xstar.searchers.bo.observations import Observations
from xstar.searchers.bo.suggest import Design, suggest
from xstar.searchers.gp.searcher import GP

if TYPE_CHECKING:
    from xstar.searchers.gp.learner import GPLearner
    from xstar.searchers.nasbot.paper import PaperLearner

DISTANCES = ("both", "plain", "normalised", "none")


@dataclass(frozen=True)
class NASBOT(GP):
    """The GP with additional settings for architectures."""

    distances: str = "both"
    """Distance terms of the kernel: ``plain``, ``normalised``, ``both`` or ``none``."""
    features: bool = True
    """Add a term over the descriptive features of a network."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_names(self, {"distances": DISTANCES})
        check_switches(self, "features")
        if self.distances == "none" and not self.features:
            raise InvalidArgument("features", "must be True where distances is none", False, "leave one of them out")

    def _learner(self, history: History, data: Observations) -> GPLearner:
        from xstar.searchers.bo.inputs import NetworkKernel  # imported at use: SciPy loads slowly

        learner = super()._learner(history, data)
        kernel = NetworkKernel(self.distances, self.features)
        return replace(learner, options=replace(learner.options, network_kernels=kernel))


@dataclass(frozen=True)
class NASBOTPaper:
    """NASBOT as Kandasamy et al. (2018) have it: ``paper.py`` lists what that is."""

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        return suggest(history, task, rng, Design("nasbot-paper", networks_by_index=True), self._learner)

    def _learner(self, history: History, data: Observations) -> PaperLearner:
        from xstar.searchers.nasbot.paper import PaperLearner, paper_options  # imported at use: SciPy loads slowly

        return PaperLearner(history, data, paper_options())


SEARCHERS.register("nasbot", NASBOT)
SEARCHERS.register("nasbot-paper", NASBOTPaper)
