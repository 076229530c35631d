"""The surrogate and the choices of NASBOT as its paper has them (Kandasamy et al. 2018).

    kernel        (7) with ν_str = 0.1, 0.2, 0.4, 0.8, p = 1 and p̄ = 2
    parameters    eleven: α, ᾱ, βᵢ, β̄ᵢ and η², with uniform priors, drawn from their posterior (B.1)
    targets       standardised losses, with a mean of 0
    acquisition   expected improvement on the lowest observed loss (2), averaged over the draws (Snoek et al. 2012)
    evolution     B.2, from the evaluated networks and the pool; all distances are exact
    workers       hallucination (B.3)

The paper says neither the bounds of the priors nor the number of draws, nor how often they are renewed. The bounds and the
number are those of the authors' published code; renewed they are at every observation up to 20, then whenever the observations
have grown by a tenth (``last_refit``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from xstar.models.kernels import Array
from xstar.models.otmann_kernel import UNIFORM_NOISE
from xstar.models.priors import ZERO_MEAN
from xstar.models.surrogate import Inputs, Plain, Surrogate, over_configurations
from xstar.searchers.bo.inputs import PaperNetworkKernel
from xstar.searchers.bo.learner import AcquisitionInputs
from xstar.searchers.gp.learner import GPLearner, GPOptions

DRAWS = 7
"""Draws of the hyperparameters."""


def paper_options(
    distances: str = "both", powers: tuple[float, float] = (1.0, 2.0), modifiers: str = "all"
) -> GPOptions:
    """Return the options of the paper, or those of one of its ablations (Figure 7)."""
    return GPOptions(
        "nasbot-paper",
        explore_every=0,
        samples=DRAWS,
        fantasies=0,
        transform=False,
        network_kernels=PaperNetworkKernel(distances, powers),
        modifiers=modifiers,
    )


@dataclass(frozen=True)
class PaperLearner(GPLearner):
    """The Gaussian process of the paper; under a scheduler with rungs, mean, noise and incumbent are those of ``GP``."""

    name: ClassVar[str] = "nasbot-paper"

    @property
    def exact_neighbours(self) -> int | None:
        return None

    def _surrogate(self) -> Surrogate:
        if self.over_budgets:
            return super()._surrogate()
        inputs = replace(Inputs.of(self.data.cube), network_kernels=self.options.network_kernels.of(self.data))
        return Plain(*over_configurations(inputs), UNIFORM_NOISE, ZERO_MEAN)

    def acquisition_inputs(self, tried: Array, rng: np.random.Generator) -> AcquisitionInputs:
        found = super().acquisition_inputs(tried, rng)
        if found.incumbents is None or self.over_budgets:
            return found
        lowest = self.refit.targets(self.data.loss[self.possible_incumbents()]).min()
        return replace(found, incumbents=tuple(np.full_like(each, lowest) for each in found.incumbents))
