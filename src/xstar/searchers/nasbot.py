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

``NASBOTPaper`` is the paper's.
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
from xstar.searchers.bo.design import Design, before_model
from xstar.searchers.bo.observations import Observations
from xstar.searchers.gp.searcher import GP

if TYPE_CHECKING:
    from xstar.searchers.gp.fit import GaussianProcess

DRAWS = 7
"""Draws of the hyperparameters of the paper's surrogate."""
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

    def _surrogate(self) -> GaussianProcess:
        from xstar.searchers.bo.inputs import NetworkKernel  # imported at use: SciPy loads slowly

        return replace(super()._surrogate(), network_kernels=NetworkKernel(self.distances, self.features))


@dataclass(frozen=True)
class NASBOTPaper:
    """The surrogate and the choices of NASBOT as its paper has them (Kandasamy et al. 2018).

    kernel        (7) with ν_str = 0.1, 0.2, 0.4, 0.8, p = 1 and p̄ = 2
    parameters    eleven: α, ᾱ, βᵢ, β̄ᵢ and η², with uniform priors, drawn from their posterior (B.1)
    targets       standardised losses, with a mean of 0
    acquisition   expected improvement on the lowest observed loss (2), averaged over the draws (Snoek et al. 2012)
    evolution     B.2, from the evaluated networks and the pool; all distances are exact
    workers       hallucination (B.3)

    The paper says neither the bounds of the priors nor the number of draws, nor how often they are renewed. The bounds and the
    number are those of the authors' published code; renewed they are at every observation up to 20, then whenever the
    observations have grown by a tenth (``last_refit``).
    """

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        return suggest_as_paper(history, task, rng)


def suggest_as_paper(
    history: History,
    task: New,
    rng: np.random.Generator,
    distances: str = "both",
    powers: tuple[float, float] = (1.0, 2.0),
    modifiers: str = "all",
) -> Suggestion | Done:
    """Suggest as the paper does, or as in one of its ablations (Figure 7)."""
    observed = before_model(history, task, rng, Design("nasbot-paper", networks_by_index=True))
    if not isinstance(observed, Observations):
        return observed
    from xstar.searchers.bo.inputs import PaperNetworkKernel  # imported at use: SciPy loads slowly
    from xstar.searchers.bo.suggest import suggest
    from xstar.searchers.bo.surrogate import Data
    from xstar.searchers.gp.fit import GaussianProcess, settings_of

    data = Data(history, observed, logarithmic=False)
    kernels = PaperNetworkKernel(distances, powers)
    surrogate = GaussianProcess(DRAWS, transform=False, network_kernels=kernels, uniform=True)
    settings = settings_of(data, "nasbot-paper", fantasies=0, explore_every=0)
    paper = replace(settings, lowest_observed=True, modifiers=modifiers, exact_neighbours=None)
    return suggest(data, surrogate, paper, rng)


SEARCHERS.register("nasbot", NASBOT)
SEARCHERS.register("nasbot-paper", NASBOTPaper)
