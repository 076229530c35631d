"""TreeBO: Bayesian optimisation of feed-forward networks (Jenatton et al. 2017), a baseline of NASBOT (C.1).

Choose it to compare with: it never tries a skip connection or a branch. As the authors of NASBOT have it, the covariance
matrix is built as a whole and inference is that of any Gaussian process; depth and layers are limited as for the other
methods; neither a penalty nor a step size is tuned beside the network (unless they are parameters of the space).

    kernel        the tree-structured one over layers (``models/tree_kernel.py``), times a Matérn kernel over other parameters
    candidates    evolution by those modifiers that keep a network feed-forward: units, types, one layer more or less
    initial       the networks of the pool, which are feed-forward

In a space without networks it is the GP.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from xstar.core.checks import check_counts
from xstar.errors import InvalidArgument
from xstar.journal import History
from xstar.journal.trial import Config, Done, New, Suggestion
from xstar.nets.domains import Networks
from xstar.nets.graph import Graph
from xstar.nets.modifiers import CHAIN
from xstar.searchers.base import SEARCHERS
from xstar.searchers.bo.design import Design, before_model
from xstar.searchers.bo.observations import Observations
from xstar.space.cube import cube_of

if TYPE_CHECKING:
    from xstar.searchers.bo.inputs import KernelAndPriors

STEPS = 6
"""Modifications that turn a network of the pool into a random one."""
ATTEMPTS = 20
"""Draws of a random feed-forward network that was not tried."""


@dataclass(frozen=True)
class TreeBO:
    """A GP over feed-forward networks."""

    initial: int | None = None
    """Trials before the first model-based suggestion, with the networks of the pool: twice as many as there are parameters, and
    at least 10."""
    max_observations: int = 500
    """Maximum number of observations that the model is fitted to."""

    def __post_init__(self) -> None:
        check_counts(self, {"initial": 1, "max_observations": 10}, optional=("initial",))

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        for name in cube_of(history.space).encoder.domains:
            if not isinstance(history.space[name], Networks):
                rule = "treebo needs parameters with positions, and architectures that are MLP or CNN"
                raise InvalidArgument("space", rule, name, "use nasbot for other architectures")
        drawn = before_model(history, task, rng, Design("treebo", self.initial, networks_by_index=True))
        if isinstance(drawn, Observations):
            from xstar.searchers.bo.suggest import suggest  # imported at use: SciPy loads slowly
            from xstar.searchers.bo.surrogate import Data
            from xstar.searchers.gp.fit import GaussianProcess, settings_of

            limit = self.max_observations
            data = Data(history, drawn, logarithmic=False, most_trials=limit)
            settings = replace(settings_of(data, "treebo"), modifiers="chain")
            surrogate = GaussianProcess(max_observations=limit, network_kernels=TreeKernels())
            drawn = suggest(data, surrogate, settings, rng)
        return drawn if isinstance(drawn, Done) else _feed_forward(history, drawn, rng)


@dataclass(frozen=True)
class TreeKernels:
    """The tree-structured kernel of each architecture."""

    def of(self, data: Observations) -> tuple[KernelAndPriors, ...]:
        from xstar.models.tree_kernel import Tree

        domains = zip(data.cube.encoder.domains, data.catalogues, strict=True)
        trees = [
            Tree(catalogue.layers, data.cube.width + index, name) for index, (name, catalogue) in enumerate(domains)
        ]
        return tuple((tree, tree.priors) for tree in trees)


def _feed_forward(history: History, made: Suggestion, rng: np.random.Generator) -> Suggestion:
    """Draw networks anew that were drawn at random, where they are not feed-forward."""
    other = [name for name, value in made.config.items() if isinstance(value, Graph) and not value.is_chain]
    if not other:
        return made
    config: Config = dict(made.config)
    for _ in range(ATTEMPTS):
        for name in other:
            domain: Any = history.space[name]
            start = domain.pool[int(rng.integers(len(domain.pool)))]
            config[name] = domain.mutate(start, rng, steps=1 + int(rng.integers(STEPS)), modifiers=CHAIN)
        if history.tried(config) is None:
            break
    return Suggestion(config, made.origin)


SEARCHERS.register("treebo", TreeBO)
