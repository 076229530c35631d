"""What domains of networks share: how they are stored; and of MLP and CNN, the limits of B.3, sampling and mutation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

from xstar.core.checks import as_float, as_int, whole_number
from xstar.errors import InvalidConfig, InvalidSpace
from xstar.nets.graph import Graph, Inputs
from xstar.nets.labels import InvalidGraph, label, labels
from xstar.nets.modifiers import mutate
from xstar.space import read_when, when_from_json
from xstar.space.values import Json, thaw

SAMPLE_STEPS = (3, 4, 5, 6)
"""Numbers of modifications that turn a pool network into a random one, with the probabilities below: those of the
authors' published code. Fewer stay near the pool, more take longer."""
SAMPLE_CHANCES = (0.1, 0.2, 0.3, 0.4)

D = TypeVar("D", bound="Stored")


@dataclass(frozen=True)
class Stored:
    """A domain that is stored as its fields."""

    kind: ClassVar[str]

    def to_json(self) -> Json:
        given = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "when"}
        return {name: thaw(value) for name, value in given.items() if value is not None}

    @classmethod
    def from_json(cls: type[D], data: Json) -> D:
        known = {one.name for one in fields(cls)}
        given = {name: value for name, value in data.items() if name not in ("kind", "when")}
        if unknown := sorted(set(given) - known):
            raise InvalidSpace(cls.kind, f"takes {', '.join(sorted(known))}", unknown)
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
        return cls(**given, when=when_from_json(data.get("when")))  # type: ignore[call-arg]

    # --- for __post_init__ ---------------------------------------------------------------------------------------

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _whole(self, name: str, low: int) -> int:
        return whole_number(name, getattr(self, name), least=low, error=InvalidSpace)


@dataclass(frozen=True, kw_only=True, repr=False)
class Networks(Stored, ABC):
    """Networks of one family within limits; the defaults are those of the paper (B.3)."""

    max_layers: int = 60
    """Maximum number of layers, including the input and the output."""
    max_mass: float = 1e8
    """Maximum mass of the whole network."""
    max_degree: int = 5
    """Maximum number of parents, and of children, of one layer."""
    max_edges: int = 200
    units: tuple[int, int] = (8, 1024)
    """Minimum and maximum number of units of one layer."""
    labels: tuple[str, ...] | None = None
    """The types of processing layers; None: all built-in types of the family."""
    when: Mapping[str, Any] | None = None
    """The conditions under which the parameter is active."""

    def __post_init__(self) -> None:
        for name in ("max_layers", "max_degree", "max_edges"):
            self._set(name, self._whole(name, 1))
        mass = as_float(self.max_mass)
        if mass is None or mass <= 0:
            raise InvalidSpace("max_mass", "must be a positive number", self.max_mass)
        given = self.units if isinstance(self.units, (tuple, list)) and len(self.units) == 2 else (None, None)
        low, high = map(as_int, given)
        if low is None or high is None or not 1 <= low <= high:
            raise InvalidSpace("units", "must be (fewest, most), both of 1 or more", self.units)
        self._set("max_mass", mass)
        self._set("units", (low, high))
        self._set("when", read_when(self.when))
        if self.labels is not None:
            names = tuple(self.labels) if isinstance(self.labels, (tuple, list)) else ()
            if not names or len(set(names)) < len(names):
                raise InvalidSpace("labels", "must be a list of different types of layers", self.labels)
            for name in names:
                if label(name).family != self.kind or label(name).role != "processing":
                    rule = f"must be processing layers of the family {self.kind} ({', '.join(labels(self.kind))})"
                    raise InvalidSpace("labels", rule, name)
            self._set("labels", names)
        if not self.pool:
            rule = "must allow at least one network of the pool, or one of a single layer"
            raise InvalidSpace(self.kind, rule, repr(self), "raise the limits")

    @property
    @abstractmethod
    def inputs_of(self) -> Inputs:
        """The inputs of its networks."""

    @property
    @abstractmethod
    def outputs_of(self) -> int:
        """The number of outputs of its networks."""

    @property
    @abstractmethod
    def decision(self) -> str:
        """The type of their decision layers."""

    @abstractmethod
    def _candidates(self) -> list[Graph]:
        """Return the networks of the paper's pool, shortened to ``max_layers``, and a minimal one."""

    @cached_property
    def pool(self) -> tuple[Graph, ...]:
        """The initial pool: the paper's networks that satisfy the limits, or a minimal network if none does."""
        *found, smallest = self._candidates()
        return tuple(graph for graph in found if self.contains(graph)) or (
            (smallest,) if self.contains(smallest) else ()
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The types of its processing layers."""
        return self.labels if self.labels is not None else labels(self.kind)

    # --- the protocol of space.Domain ---------------------------------------------------------------------------

    def sample(self, rng: np.random.Generator) -> Graph:
        """Return a network of the pool, modified three to six times."""
        start = self.pool[int(rng.integers(len(self.pool)))]
        return self.mutate(start, rng, steps=int(rng.choice(SAMPLE_STEPS, p=SAMPLE_CHANCES)))

    def mutate(self, value: Graph, rng: np.random.Generator, steps: int | None = None, **options: Any) -> Graph:
        """Return a network a few modifications away (B.2), within the limits; ``options`` are those of
        ``nets.mutate``."""
        return mutate(value, rng, self.contains, steps=steps, labels=self.labels, **options)

    def contains(self, value: object) -> bool:
        return self._problem(value) is None

    def check(self, value: object) -> Graph:
        """Return the value, or raise an error that explains why it is not in this domain."""
        problem = self._problem(value)
        if problem is not None:
            raise problem
        assert isinstance(value, Graph)
        return value

    def _problem(self, graph: object) -> Exception | None:
        if not isinstance(graph, Graph) or graph.family.name != self.kind:
            return InvalidConfig("value", f"must be a nets.Graph of the family {self.kind}", graph)
        if graph.inputs != self.inputs_of or graph.outputs != self.outputs_of:
            found = f"inputs={graph.inputs}, outputs={graph.outputs}"
            rule = f"must have inputs={self.inputs_of} and outputs={self.outputs_of}"
            return InvalidConfig("value", rule, found, "make it with Graph(layers, edges, inputs, outputs)")
        for name, count, most in (
            ("layers", len(graph.layers), self.max_layers),
            ("edges", len(graph.edges), self.max_edges),
            ("parents of a layer", max(map(len, graph.parents)), self.max_degree),
            ("children of a layer", max(map(len, graph.children)), self.max_degree),
        ):
            if count > most:
                return InvalidGraph(name, f"must be at most {most}", count)
        low, high = self.units
        for one in graph.layers[1:-1]:
            if one.units is not None and not low <= one.units <= high:
                return InvalidGraph(f"units of {one.op}", f"must lie in {low} … {high}", one.units)
            if one.op not in self.names and one.op != self.decision:
                allowed = f"must be of {', '.join(sorted(self.names))}, and {self.decision} before the output"
                return InvalidGraph("op", allowed, one.op)
        if graph.mass > self.max_mass:
            return InvalidGraph("mass", f"must be at most {self.max_mass:g}", graph.mass)
        return None

    def dump(self, value: Graph) -> Json:
        """Return layers and edges; the domain defines inputs and outputs."""
        data = value.to_json()
        return {"layers": data["layers"], "edges": data["edges"]}

    def parse(self, data: Json) -> Graph:
        if not isinstance(data, Mapping):
            raise InvalidConfig("data", 'must be {"layers": …, "edges": …}', data)
        outer = {"inputs": self.inputs_of, "outputs": self.outputs_of}
        return self.check(Graph.from_json({**data, **outer}))

    def __repr__(self) -> str:
        parts = []
        for one in sorted(fields(self), key=lambda one: one.kw_only is True):  # first its purpose, then its limits
            value = getattr(self, one.name)
            if value != one.default:
                parts.append(f"{one.name}={value!r}")
        return f"{type(self).__name__}({', '.join(parts)})"
