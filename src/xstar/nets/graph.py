"""Architectures as immutable labelled graphs: G = (L, E), Section 2.2.

Notation

============  =================================================================  ====================
symbol        meaning                                                            here
============  =================================================================  ====================
``ll(u)``     the type of operation of layer u                                   ``layers[u].op``
``lu(u)``     the number of units of layer u                                     ``layers[u].units``
``lm(u)``     the mass of layer u                                                ``masses[u]``
``tm(G)``     the mass of the whole network                                      ``mass``
``E``         pairs (u, v): the output of u is an input of v                     ``edges``
============  =================================================================  ====================

Layers are stored in topological order: the given order if it is one, sorted otherwise. The choice among several orders
does not matter: two graphs are equal if a renumbering of layers turns one into the other (``canonical.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, Any, NoReturn

from xstar.core.checks import whole_number
from xstar.errors import InvalidArgument
from xstar.nets import canonical, measures, validation
from xstar.nets.labels import Family, InvalidGraph, Label, label
from xstar.space.values import Json

if TYPE_CHECKING:
    from torch import nn

#: Inputs of a network: the features of an MLP; channels, height and width of a CNN's image; None if unspecified.
Inputs = int | tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: its type, its units, its stride.

    >>> Layer("conv3", 64, stride=2)
    Layer('conv3', 64, stride=2)

    Pooling layers always have a stride of 2 (B.3).
    """

    op: str
    units: int | None = None
    stride: int = 1

    def __post_init__(self) -> None:
        kind = label(self.op)
        if kind.units:
            units = whole_number(f"units of {self.op}", self.units, least=1, error=InvalidGraph)
            object.__setattr__(self, "units", units)
        elif self.units is not None:
            raise InvalidGraph(f"units of {self.op}", "must be left out: it has none of its own", self.units)
        if len(kind.strides) == 1:
            if self.stride not in (1, kind.strides[0]):
                raise InvalidGraph(f"stride of {self.op}", f"must be {kind.strides[0]}", self.stride)
            object.__setattr__(self, "stride", kind.strides[0])
        elif self.stride not in kind.strides:
            raise InvalidGraph(f"stride of {self.op}", f"must be one of {kind.strides}", self.stride)

    @property
    def label(self) -> Label:
        return label(self.op)

    def __repr__(self) -> str:
        units = "" if self.units is None else f", {self.units}"
        stride = f", stride={self.stride}" if len(self.label.strides) > 1 and self.stride != 1 else ""
        return f"Layer({self.op!r}{units}{stride})"


class Graph:
    """An architecture: layers and the edges between them, validated on construction and immutable.

    ``inputs`` and ``outputs`` define the shapes of the data, so that ``to_torch`` needs no arguments; domains set them.

    Examples --------
    >>> chain = Graph([Layer("ip"), Layer("relu", 64), Layer("linear"), Layer("op")], [(0, 1), (1, 2), (2, 3)])
    >>> moved = Graph([Layer("op"), Layer("linear"), Layer("relu", 64), Layer("ip")], [(3, 2), (2, 1), (1, 0)])
    >>> chain == moved, hash(chain) == hash(moved)
    (True, True)
    >>> chain.masses
    (6.4, 64.0, 6.4, 6.4)
    """

    layers: tuple[Layer, ...]
    edges: tuple[tuple[int, int], ...]
    inputs: Inputs
    outputs: int | None

    def __init__(
        self,
        layers: Iterable[Layer],
        edges: Iterable[tuple[int, int]],
        inputs: Inputs | Sequence[int] = None,
        outputs: int | None = None,
    ) -> None:
        given = tuple(layers)
        for one in given:
            if not isinstance(one, Layer):
                raise InvalidArgument("layers", "must be of nets.Layer", one, 'write Layer("relu", 64)')
        state = self.__dict__  # the class is frozen: set attributes directly
        ordered, links, parents, children, family = validation.structure(given, edges)
        state["layers"], state["edges"], state["parents"], state["children"] = ordered, links, parents, children
        state["family"] = family
        state["inputs"], state["outputs"] = validation.shapes(family, inputs, outputs)
        if family.images:
            state["halvings"] = validation.images(ordered, parents, state["inputs"])

    parents: tuple[tuple[int, ...], ...]
    """Parents of each layer, ascending."""
    children: tuple[tuple[int, ...], ...]
    """Children of each layer, ascending."""
    family: Family
    """Whether it is an MLP, a CNN or a cell."""
    halvings: tuple[int | None, ...]
    """For a CNN: how often the output image of each layer has been halved; None if the output is a vector."""

    @cached_property
    def units(self) -> tuple[int, ...]:
        """The number of output units of each layer."""
        return measures.units(self)

    @cached_property
    def masses(self) -> tuple[float, ...]:
        """The mass of each layer: the amount of computation that it represents."""
        return measures.masses(self)

    @cached_property
    def mass(self) -> float:
        """The mass of the whole network, tm(G)."""
        return fsum(self.masses)

    @cached_property
    def profile(self) -> measures.Profile:
        """The input of OTMANN, as arrays."""
        return measures.profile(self)

    # --- identity -----------------------------------------------------------------------------------------------

    @cached_property
    def canonical(self) -> canonical.Form:
        """The canonical form: equal for two graphs if and only if they differ only in the numbering of layers."""
        return canonical.form(self)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Graph):
            return NotImplemented
        if self.inputs != other.inputs or self.outputs != other.outputs or len(self.layers) != len(other.layers):
            return False
        if self.layers == other.layers and self.edges == other.edges:
            return True
        return len(self.edges) == len(other.edges) and hash(self) == hash(other) and self.canonical == other.canonical

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((canonical.invariant(self), self.inputs, self.outputs))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Graph cannot be changed (tried to set {name}): make another one")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Graph cannot be changed (tried to delete {name}): make another one")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.layers, self.edges, self.inputs, self.outputs)

    def __len__(self) -> int:
        return len(self.layers)

    def __repr__(self) -> str:
        ops = ", ".join(one.op if one.units is None else f"{one.op} {one.units}" for one in self.layers[1:-1])
        shown = ops if len(ops) <= 100 else f"{ops[:97]}…"
        return f"<Graph of {len(self.layers)} layers, {len(self.edges)} edges: {shown}>"

    # --- other forms --------------------------------------------------------------------------------------------

    @property
    def is_chain(self) -> bool:
        """Whether the network is feed-forward: one layer after the other."""
        return len(self.edges) == len(self.layers) - 1 and all(len(each) <= 1 for each in self.parents)

    def to_json(self) -> Json:
        """Return layers as ``[op]``, ``[op, units]`` or ``[op, units, stride]`` and edges as pairs; see
        ``Graph.from_json``."""
        layers: list[list[Any]] = []
        for one in self.layers:
            entry: list[Any] = [one.op] if one.units is None else [one.op, one.units]
            layers.append([*entry, one.stride] if len(one.label.strides) > 1 and one.stride != 1 else entry)
        data: dict[str, Any] = {"layers": layers, "edges": [list(edge) for edge in self.edges]}
        if self.inputs is not None:
            data["inputs"] = list(self.inputs) if isinstance(self.inputs, tuple) else self.inputs
        return data if self.outputs is None else data | {"outputs": self.outputs}

    @classmethod
    def from_json(cls, data: Json) -> Graph:
        """Return the graph stored by ``to_json``."""
        remedy = "pass what Graph.to_json() returned"
        rule = 'must be {"layers": [[op, units, stride], …], "edges": [[from, to], …]}'
        if not isinstance(data, Mapping) or not {"layers", "edges"} <= set(data):
            raise InvalidArgument("data", rule, data, remedy)
        try:
            layers = [Layer(*entry) for entry in data["layers"]]
            edges = [(start, end) for start, end in data["edges"]]
        except (TypeError, ValueError) as error:
            if isinstance(error, InvalidArgument):
                raise
            raise InvalidArgument("data", rule, data, remedy) from None
        return cls(layers, edges, data.get("inputs"), data.get("outputs"))

    def to_torch(self, inputs: Inputs | Sequence[int] = None, outputs: int | None = None) -> nn.Module:
        """Return a trainable module; requires torch. The arguments are for graphs without inputs or outputs."""
        from xstar.nets.torch import build

        return build(self, inputs, outputs)

    def draw(self, masses: bool = False) -> str:
        """Return an SVG picture of the network, with ``masses`` in parentheses as in the paper's Figure 1."""
        from xstar.nets.draw import svg

        return svg(self, masses)

    def _repr_svg_(self) -> str:  # displayed by notebooks
        return self.draw()
