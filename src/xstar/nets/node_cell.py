"""NodeCell: small cells with operations on their nodes, as in NAS-Bench-101 (Ying et al. 2019).

A cell is a directed acyclic graph from an input node to an output node. Each inner node has an operation and sums its inputs.
Nodes that lie on no path from the input to the output compute nothing: a value is kept without them, so that cells that compute
the same in the same order are one value. Isomorphic cells are different values at a distance of 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from xstar.errors import InvalidConfig
from xstar.nets.chain import checked_operations, layers_of, on_paths
from xstar.nets.domains import Stored
from xstar.nets.graph import Graph, Inputs, Layer
from xstar.space import read_when, register_domain
from xstar.space.values import Json

if TYPE_CHECKING:
    from torch import nn


OPERATIONS = ("conv3x3-bn-relu", "conv1x1-bn-relu", "maxpool3x3")
"""The operations of NAS-Bench-101."""
DRAWS = 1_000
"""Draws of a random cell before a smallest one is taken, where the limits are that narrow."""
ATTEMPTS = 50
"""Changes of a cell before it is returned as it is."""

Edges = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class NodeCellNetwork:
    """A cell: the operations of its inner nodes, and its edges; node 0 is the input, the last one the output.

    >>> cell = NodeCellNetwork(("conv3x3-bn-relu", "maxpool3x3"), ((0, 1), (0, 2), (1, 3), (2, 3)))
    >>> [layer.op for layer in cell.graph.layers]
    ['ip', 'conv3x3-bn-relu', 'maxpool3x3', 'softmax', 'op']
    """

    operations: tuple[str, ...]
    edges: Edges

    @property
    def nodes(self) -> int:
        """The number of nodes, input and output included."""
        return len(self.operations) + 2

    @property
    def matrix(self) -> list[list[int]]:
        """The adjacency matrix, as the tables of NAS-Bench-101 have it."""
        made = [[0] * self.nodes for _ in range(self.nodes)]
        for start, end in self.edges:
            made[start][end] = 1
        return made

    @cached_property
    def graph(self) -> Graph:
        """The cell as a graph for OTMANN. An edge from the input to the output adds what other paths compute to the input
        itself, which no layer stands for: it is left out, unless it is all there is."""
        inner = layers_of(self.operations)
        last = self.nodes - 1
        links = [edge for edge in self.edges if edge != (0, last) or not inner]
        return Graph([Layer("ip"), *inner, Layer("softmax"), Layer("op")], [*links, (last, last + 1)])

    def to_torch(self, inputs: Inputs | Sequence[int], outputs: int) -> nn.Module:
        """Return a trainable module of :attr:`graph`, e.g. of ``inputs=(3, 32, 32), outputs=10``; requires torch."""
        return self.graph.to_torch(inputs, outputs)


def pruned(operations: Sequence[str], edges: Sequence[tuple[int, int]]) -> NodeCellNetwork | None:
    """Return the cell without nodes that lie on no path from the input to the output; None if there is no path."""
    last = len(operations) + 1
    kept = sorted(on_paths(edges, last))
    if not kept:
        return None
    place = {node: number for number, node in enumerate(kept)}
    names = tuple(operations[node - 1] for node in kept[1:-1])
    links = sorted((place[start], place[end]) for start, end in edges if start in place and end in place)
    return NodeCellNetwork(names, tuple(links))


@dataclass(frozen=True)
class NodeCell(Stored):
    """All cells of at most ``nodes`` nodes and ``max_edges`` edges. Values are ``NodeCellNetwork``; the defaults are
    NAS-Bench-101.

    >>> domain = NodeCell()
    >>> domain.contains(domain.sample(np.random.default_rng(0)))
    True
    """

    nodes: int = 7
    max_edges: int = 9
    operations: tuple[str, ...] = OPERATIONS
    when: Mapping[str, Any] | None = None

    kind: ClassVar[str] = "node-cell"

    def __post_init__(self) -> None:
        self._set("nodes", self._whole("nodes", 3))
        self._set("max_edges", self._whole("max_edges", 2))
        self._set("operations", checked_operations(self.operations))
        self._set("when", read_when(self.when))

    @property
    def edges(self) -> int:
        """The number of places for an operation: the inner nodes."""
        return self.nodes - 2

    def sample(self, rng: np.random.Generator) -> NodeCellNetwork:
        """Draw operations and edges uniformly until they make a cell, as the authors of NAS-Bench-101 do."""
        pairs = [(start, end) for end in range(1, self.nodes) for start in range(end)]
        for _ in range(DRAWS):
            names = [self.operations[i] for i in rng.integers(len(self.operations), size=self.edges).tolist()]
            there = rng.random(len(pairs)) < 0.5
            found = pruned(names, [pair for pair, kept in zip(pairs, there.tolist(), strict=True) if kept])
            if found is not None and self.contains(found):
                return found
        return NodeCellNetwork((self.operations[int(rng.integers(len(self.operations)))],), ((0, 1), (1, 2)))

    def mutate(self, value: NodeCellNetwork, rng: np.random.Generator) -> NodeCellNetwork:
        """Change the operation of a node, add or remove an edge, or put a new node on an edge."""
        for _ in range(ATTEMPTS):
            found = (self._swapped, self._toggled, self._wedged)[int(rng.integers(3))](value, rng)
            if found is not None and found != value and self.contains(found):
                return found
        return value

    def _swapped(self, value: NodeCellNetwork, rng: np.random.Generator) -> NodeCellNetwork | None:
        if not value.operations:
            return None
        names = list(value.operations)
        names[int(rng.integers(len(names)))] = self.operations[int(rng.integers(len(self.operations)))]
        return NodeCellNetwork(tuple(names), value.edges)

    def _toggled(self, value: NodeCellNetwork, rng: np.random.Generator) -> NodeCellNetwork | None:
        start, end = sorted(rng.permutation(value.nodes)[:2].tolist())
        return pruned(value.operations, sorted({*value.edges} ^ {(start, end)}))

    def _wedged(self, value: NodeCellNetwork, rng: np.random.Generator) -> NodeCellNetwork | None:
        start, end = value.edges[int(rng.integers(len(value.edges)))]
        new = end  # the new node comes before the end of its edge; that and later nodes move by one
        moved = [(a + (a >= new), b + (b >= new)) for a, b in value.edges if (a, b) != (start, end)]
        names = list(value.operations)
        names.insert(new - 1, self.operations[int(rng.integers(len(self.operations)))])
        return pruned(names, [*moved, (start, new), (new, end + 1)])

    def contains(self, value: object) -> bool:
        return (
            isinstance(value, NodeCellNetwork)
            and 1 <= len(value.operations) <= self.edges
            and len(value.edges) <= self.max_edges
            and all(operation in self.operations for operation in value.operations)
            and all(0 <= start < end < value.nodes for start, end in value.edges)
            and pruned(value.operations, value.edges) == value
        )

    def cell(self, operations: Sequence[str], matrix: Sequence[Sequence[int]]) -> NodeCellNetwork:
        """Return the value for the operations of inner nodes and an upper triangular matrix, as tables have them."""
        size = len(operations) + 2
        if len(matrix) != size or any(len(row) != size or any(row[: place + 1]) for place, row in enumerate(matrix)):
            rule = f"must be an upper triangular matrix of {size} × {size}: the inner nodes, the input and the output"
            raise InvalidConfig("matrix", rule, matrix)
        found = pruned(operations, [(i, j) for i, row in enumerate(matrix) for j, there in enumerate(row) if there])
        if found is None or not self.contains(found):
            raise InvalidConfig("matrix", f"must be a cell of {self!r}", matrix)
        return found

    def dump(self, value: NodeCellNetwork) -> Json:
        return {"operations": list(value.operations), "edges": [list(edge) for edge in value.edges]}

    def parse(self, data: Json) -> NodeCellNetwork:
        try:
            value = NodeCellNetwork(tuple(data["operations"]), tuple((start, end) for start, end in data["edges"]))
            fits = self.contains(value)
        except (KeyError, TypeError, ValueError):
            fits = False
        if not fits:
            raise InvalidConfig("data", f'must be {{"operations": …, "edges": …}} of a value of {self!r}', data)
        return value


register_domain(NodeCell.kind, NodeCell.from_json)
