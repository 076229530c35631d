"""Cell: small cells with operations on their edges, as in NAS-Bench-201 (Dong & Yang 2020).

A cell of N nodes has an operation on each edge (j → i), j < i, in the order of NAS-Bench-201: 0→1, 0→2, 1→2, 0→3, 1→3,
2→3. A node sums its inputs. For OTMANN the operations become layers: the inputs of each are the operations that lead to
its start node. ``none`` operations, and operations that they disconnect, are not layers. A cell without any path from
input to output is a single layer ``none``, which matches nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from xstar.errors import InvalidConfig, InvalidSpace
from xstar.nets.chain import UNITS, checked_operations, on_paths
from xstar.nets.domains import Stored
from xstar.nets.graph import Graph, Inputs, Layer
from xstar.space import read_when, register_domain
from xstar.space.values import Json

if TYPE_CHECKING:
    from torch import nn


OPERATIONS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
"""The operations of NAS-Bench-201, in the order of its tables."""


@dataclass(frozen=True)
class CellNetwork:
    """A cell: the operations of its edges.

    >>> cell = CellNetwork(("nor_conv_3x3", "none", "none", "skip_connect", "avg_pool_3x3", "none"))
    >>> [layer.op for layer in cell.graph.layers]
    ['ip', 'nor_conv_3x3', 'skip_connect', 'avg_pool_3x3', 'softmax', 'op']
    """

    operations: tuple[str, ...]

    @property
    def nodes(self) -> int:
        return (1 + math.isqrt(1 + 8 * len(self.operations))) // 2

    @property
    def config(self) -> dict[str, str]:
        """The operations, named ``op0`` … as in ``problems.get("nb201-…")``."""
        return {f"op{edge}": operation for edge, operation in enumerate(self.operations)}

    @cached_property
    def graph(self) -> Graph:
        """The cell as a graph for OTMANN; equal for cells that compute the same with the same operations."""
        pairs = [(start, end) for end in range(1, self.nodes) for start in range(end)]
        live = [(pair, op) for pair, op in zip(pairs, self.operations, strict=True) if op != "none"]
        useful = on_paths([pair for pair, _ in live], self.nodes - 1)
        kept = [(pair, op) for pair, op in live if useful.issuperset(pair)]
        layers = [Layer("ip"), *(Layer(op, UNITS) for _, op in kept)]
        if not kept:
            kept, layers = [((0, self.nodes - 1), "none")], [Layer("ip"), Layer("none", UNITS)]
        last = len(layers)
        links = []
        for place, ((start, end), _) in enumerate(kept, 1):
            links += [(0, place)] if start == 0 else []
            links += [(place, last)] if end == self.nodes - 1 else []
            links += [(other, place) for other, (pair, _) in enumerate(kept, 1) if pair[1] == start]
        return Graph([*layers, Layer("softmax"), Layer("op")], [*links, (last, last + 1)])

    def to_torch(self, inputs: Inputs | Sequence[int], outputs: int) -> nn.Module:
        """Return a trainable module of :attr:`graph`, e.g. of ``inputs=(3, 32, 32), outputs=10``; requires torch."""
        return self.graph.to_torch(inputs, outputs)


@dataclass(frozen=True)
class Cell(Stored):
    """All cells of ``nodes`` nodes with these operations. Values are ``CellNetwork``; the defaults are NAS-Bench-201.

    >>> Cell().size
    15625
    """

    nodes: int = 4
    operations: tuple[str, ...] = OPERATIONS
    when: Mapping[str, Any] | None = None

    kind: ClassVar[str] = "cell"

    def __post_init__(self) -> None:
        self._set("nodes", self._whole("nodes", 2))
        self._set("operations", checked_operations(self.operations, self.kind))
        if len(self.operations) < 2:
            raise InvalidSpace("operations", "must be at least two", self.operations)
        self._set("when", read_when(self.when))

    @property
    def edges(self) -> int:
        return self.nodes * (self.nodes - 1) // 2

    @property
    def size(self) -> int:
        """The number of cells."""
        return int(len(self.operations) ** self.edges)

    def sample(self, rng: np.random.Generator) -> CellNetwork:
        """Draw a cell uniformly."""
        return CellNetwork(
            tuple(self.operations[i] for i in rng.integers(len(self.operations), size=self.edges).tolist())
        )

    def mutate(self, value: CellNetwork, rng: np.random.Generator) -> CellNetwork:
        """Change the operation of one edge."""
        edge = int(rng.integers(self.edges))
        others = [operation for operation in self.operations if operation != value.operations[edge]]
        changed = list(value.operations)
        changed[edge] = others[int(rng.integers(len(others)))]
        return CellNetwork(tuple(changed))

    def contains(self, value: object) -> bool:
        return (
            isinstance(value, CellNetwork)
            and len(value.operations) == self.edges
            and all(operation in self.operations for operation in value.operations)
        )

    def dump(self, value: CellNetwork) -> Json:
        return list(value.operations)

    def parse(self, data: Json) -> CellNetwork:
        value = CellNetwork(tuple(data)) if isinstance(data, (list, tuple)) else None
        if value is None or not self.contains(value):
            rule = f"must be {self.edges} operations of {', '.join(self.operations)}"
            raise InvalidConfig("data", rule, data)
        return value


register_domain(Cell.kind, Cell.from_json)
