"""The surrogate of TreeBO: the GP with the tree-structured kernel, and only feed-forward networks as parents."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from xstar.nets.graph import Graph
from xstar.searchers.gp.fit import GPLearner
from xstar.searchers.nasbot.kernel import Architectures
from xstar.searchers.treebo.searcher import is_chain

TREE = Architectures(distances="tree", describe=False, modifiers="chain")


@dataclass(frozen=True)
class TreeLearner(GPLearner):
    """A Gaussian process over paths in a tree."""

    architectures: Architectures = field(default_factory=lambda: TREE)

    name: ClassVar[str] = "treebo"

    @property
    def method(self) -> str:
        return "treebo"

    @property
    def starts(self) -> list[int]:
        """The evaluated trials whose networks are feed-forward; a user may have added others."""
        trials = self.history.trials
        return [
            number
            for number in super().starts
            if all(is_chain(value) for value in trials[number].config.values() if isinstance(value, Graph))
        ]
