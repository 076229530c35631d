"""Chain: sequences of operations, one after the other, as values of a parameter.

The operations are labels of any family, those of your own included (``nets.register_family``): the blocks of a transformer, the
message-passing layers of a graph network. Operations have equal units, so that a chain is a list of names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from xstar.errors import InvalidConfig, InvalidSpace
from xstar.nets.domains import Stored
from xstar.nets.feedforward import chain
from xstar.nets.graph import Graph, Inputs, Layer
from xstar.nets.labels import label
from xstar.space import read_when, register_domain
from xstar.space.values import Json

if TYPE_CHECKING:
    from torch import nn


UNITS = 16
"""Units of every operation that has some. Only ratios of masses depend on it."""


@dataclass(frozen=True)
class ChainNetwork:
    """A chain: its operations, from the input to the output.

    >>> [layer.op for layer in ChainNetwork(("nor_conv_3x3", "skip_connect")).graph.layers]
    ['ip', 'nor_conv_3x3', 'skip_connect', 'softmax', 'op']
    """

    operations: tuple[str, ...]

    @cached_property
    def graph(self) -> Graph:
        """The chain as a graph for OTMANN."""
        return chain(layers_of(self.operations), "softmax")

    def to_torch(self, inputs: Inputs | Sequence[int], outputs: int) -> nn.Module:
        """Return a trainable module of :attr:`graph`, e.g. of ``inputs=(3, 32, 32), outputs=10``; requires torch."""
        return self.graph.to_torch(inputs, outputs)


@dataclass(frozen=True)
class Chain(Stored):
    """All chains of these operations with a length in ``min_length`` … ``max_length``. Values are ``ChainNetwork``.

    >>> Chain(("nor_conv_1x1", "nor_conv_3x3"), max_length=3).size
    14
    """

    operations: tuple[str, ...]
    max_length: int = 8
    min_length: int = 1
    when: Mapping[str, Any] | None = None

    kind: ClassVar[str] = "chain"

    def __post_init__(self) -> None:
        self._set("max_length", self._whole("max_length", 1))
        self._set("min_length", self._whole("min_length", 1))
        if self.min_length > self.max_length:
            raise InvalidSpace("min_length", f"must not be above max_length, {self.max_length}", self.min_length)
        self._set("operations", checked_operations(self.operations))
        self._set("when", read_when(self.when))

    @property
    def edges(self) -> int:
        """The number of places for an operation."""
        return self.max_length

    @property
    def size(self) -> int:
        """The number of chains."""
        return sum(len(self.operations) ** length for length in range(self.min_length, self.max_length + 1))

    def sample(self, rng: np.random.Generator) -> ChainNetwork:
        """Draw a length uniformly, and then the operations."""
        length = int(rng.integers(self.min_length, self.max_length + 1))
        return ChainNetwork(tuple(self.operations[i] for i in rng.integers(len(self.operations), size=length).tolist()))

    def mutate(self, value: ChainNetwork, rng: np.random.Generator) -> ChainNetwork:
        """Change one operation, insert one, or remove one."""
        names, length = list(value.operations), len(value.operations)
        ways = ["change"] if len(self.operations) > 1 else []
        ways += ["insert"] if length < self.max_length else []
        ways += ["remove"] if length > self.min_length else []
        if not ways:
            return value
        way = ways[int(rng.integers(len(ways)))]
        place = int(rng.integers(length + (way == "insert")))
        if way == "remove":
            del names[place]
            return ChainNetwork(tuple(names))
        others = [name for name in self.operations if way == "insert" or name != names[place]]
        chosen = others[int(rng.integers(len(others)))]
        names[place : place + (way == "change")] = [chosen]
        return ChainNetwork(tuple(names))

    def contains(self, value: object) -> bool:
        return (
            isinstance(value, ChainNetwork)
            and self.min_length <= len(value.operations) <= self.max_length
            and all(operation in self.operations for operation in value.operations)
        )

    def dump(self, value: ChainNetwork) -> Json:
        return list(value.operations)

    def parse(self, data: Json) -> ChainNetwork:
        value = ChainNetwork(tuple(data)) if isinstance(data, (list, tuple)) else None
        if value is None or not self.contains(value):
            rule = f"must be {self.min_length} to {self.max_length} operations of {', '.join(self.operations)}"
            raise InvalidConfig("data", rule, data)
        return value


def layers_of(operations: Sequence[str]) -> list[Layer]:
    """Return a layer for each operation, those with units all of one size."""
    return [Layer(name, UNITS if label(name).units else None) for name in operations]


def on_paths(edges: Iterable[tuple[int, int]], last: int) -> set[int]:
    """Return the nodes on paths from node 0 to the ``last`` one; edges lead from lower to higher numbers."""
    fed, useful = {0}, {last}
    for start, end in sorted(edges, key=lambda edge: edge[1]):
        if start in fed:
            fed.add(end)
    for start, end in sorted(edges, reverse=True):
        if end in useful:
            useful.add(start)
    return fed & useful


def checked_operations(given: Any, family: str | None = None) -> tuple[str, ...]:
    """Return different processing labels of one family (of ``family``, if it is given)."""
    names = tuple(given) if isinstance(given, (tuple, list)) else ()
    if not names or len(set(names)) < len(names):
        raise InvalidSpace("operations", "must be a list of different ones", given)
    families = {label(name).family for name in names}
    if len(families) > 1 or None in families or (family is not None and families != {family}):
        rule = f"must be labels of {'one family' if family is None else f'the family {family}'}"
        found = ", ".join(f"{name} ({label(name).family})" for name in names)
        raise InvalidSpace("operations", rule, found, "add labels with nets.register_label")
    if wrong := [name for name in names if label(name).role != "processing" or label(name).strides != (1,)]:
        raise InvalidSpace("operations", "must process, without a stride", ", ".join(wrong))
    return names


register_domain(Chain.kind, Chain.from_json)
