"""The surrogate of TreeBO: the GP with the tree-structured kernel, and only feed-forward networks as parents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xstar.nets.graph import Graph
from xstar.searchers.bo.inputs import KernelAndPriors
from xstar.searchers.bo.observations import Observations
from xstar.searchers.gp.learner import GPLearner
from xstar.searchers.treebo.kernel import Tree, is_chain


@dataclass(frozen=True)
class TreeKernels:
    """The tree-structured kernel of each architecture."""

    def of(self, data: Observations) -> tuple[KernelAndPriors, ...]:
        domains = zip(data.cube.encoder.domains, data.catalogues, strict=True)
        trees = [
            Tree(catalogue.layers, data.cube.width + index, name) for index, (name, catalogue) in enumerate(domains)
        ]
        return tuple((tree, tree.priors) for tree in trees)


@dataclass(frozen=True)
class TreeLearner(GPLearner):
    """A Gaussian process over paths in a tree."""

    name: ClassVar[str] = "treebo"

    @property
    def modifiers(self) -> str:
        return "chain"

    @property
    def starts(self) -> list[int]:
        """The evaluated trials whose networks are feed-forward; a user may have added others."""
        trials = self.history.trials
        return [
            number
            for number in super().starts
            if all(is_chain(value) for value in trials[number].config.values() if isinstance(value, Graph))
        ]
