"""Which kernel and which prior of its length scales a GP searcher has, by its settings and the space."""

from __future__ import annotations

from dataclasses import replace

from xstar.models.priors import EXACT, LENGTH, SHARED_LENGTH, SWITCH_LENGTH, Prior
from xstar.models.surrogate import Surrogate, at_full_budget, over_budgets
from xstar.searchers.gp.settings import GPSettings
from xstar.searchers.gp.structure import Pair, pair_of
from xstar.searchers.model_based.columns import of_cube
from xstar.searchers.model_based.observations import Observations
from xstar.searchers.nasbot.kernel import Architectures, network_kernels

MOST_SHARING = 20
"""The most parameters whose length scales have a factor in common. Of many more, most may not matter: of Hartmann's function
of 6 among 100 parameters the median after 50 trials was -2.75 with the factor and -3.15 without it; of two other functions,
of 40 and 50, it was 0.95 and 1.05 of that without (three seeds)."""


def length_prior(data: Observations, lengths: str) -> Prior:
    """The prior of the length scales of numbers and switches."""
    cube = data.cube
    if lengths == "independent" or data.networks:
        return LENGTH
    if lengths == "alike" and not cube.numeric.any() and not cube.categories:
        return SWITCH_LENGTH
    return SHARED_LENGTH if bool(cube.numeric.all()) and len(cube.labels) <= MOST_SHARING else LENGTH


def surrogate_of(
    data: Observations, settings: GPSettings, architectures: Architectures, *, over_rungs: bool
) -> Surrogate:
    """The surrogate over budgets, or over architectures."""
    networks = network_kernels(data, architectures, settings.shape)
    inputs = replace(of_cube(data), networks=networks)
    if over_rungs:
        return over_budgets(inputs, settings.surrogate, shape=settings.shape, warp=settings.warp)
    length = length_prior(data, settings.lengths)
    return at_full_budget(inputs, shape=settings.shape, warp=settings.warp, length=length)


def with_and_without_terms(data: Observations, settings: GPSettings, length: Prior) -> Pair:
    """The surrogates with terms of single parameters and without them."""
    return pair_of(of_cube(data), settings.shape, settings.warp, EXACT if settings.exact else None, length)
