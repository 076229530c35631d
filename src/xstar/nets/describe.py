"""Descriptive features of a network, for models that need coordinates instead of distances.

The size and the layers of a network usually determine whether it is infeasible (too large, too slow, too deep), so the
feasibility classifier uses these features. NASBOT's kernel also has a term over them, next to OTMANN's: a distance
shows that two networks differ, but not in what.

==========================  =================================================================================
feature                     range that is scaled to [0, 1]
==========================  =================================================================================
mass, layers, edges         1 … 10⁸, 1 … 64, 1 … 256, on a logarithmic scale
hops from input to output   shortest and longest, 1 … 64, on a logarithmic scale
edges per layer             0 … 5
mean units of a layer       1 … 1024, on a logarithmic scale
strides of 2                0 … 8
decision layers             0 … 5
share of each label         0 … 1 of the processing layers
operation at each place     one column per operation: of the edges of a cell, the layers of a chain (all 0
                            beyond its end)
==========================  =================================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from xstar.nets.graph import Graph
from xstar.nets.labels import label, labels
from xstar.nets.measures import hops

PLAIN = ("mass", "layers", "edges", "shortest", "longest", "degree", "units", "strides", "decisions")


def graph_of(value: Any) -> Graph:
    """Return the graph of a domain's value."""
    graph = value if isinstance(value, Graph) else value.graph
    assert isinstance(graph, Graph)
    return graph


def described_by(domain: Any) -> tuple[str, ...]:
    """Return the names of the descriptive features for this domain. Features with the same name belong together."""
    operations = getattr(domain, "operations", None)
    kinds = operations or getattr(domain, "labels", None) or labels(domain.kind)
    places = [f"edge {place}" for place in range(domain.edges) for _ in operations] if operations else []
    return (*PLAIN, *(f"share of {name}" for name in kinds), *places)


def describe(value: Any, names: tuple[str, ...]) -> NDArray[np.float64]:
    """Return the features of one network, in [0, 1]; all 1/2 if there is no network."""
    if value is None:
        return np.full(len(names), 0.5)
    kinds = [name.removeprefix("share of ") for name in names if name.startswith("share of ")]
    at_places = [float(own == kind) for own in getattr(value, "operations", ()) for kind in kinds]
    at_places += [0.0] * (
        len(names) - len(PLAIN) - len(kinds) - len(at_places)
    )  # a chain may be shorter than the longest
    graph = graph_of(value)
    layers, edges = len(graph.layers), len(graph.edges)
    processing = [one for one in graph.layers if label(one.op).role == "processing"]
    sized = [one.units for one in processing if one.units is not None]
    shortest, longest = hops(graph)
    plain = (
        np.log10(max(graph.mass, 1.0)) / 8,
        np.log2(layers) / 6,
        np.log2(max(edges, 1)) / 8,
        np.log2(max(shortest, 1.0)) / 6,
        np.log2(max(longest, 1.0)) / 6,
        edges / layers / 5,
        np.log2(np.mean(sized)) / 10 if sized else 0.0,
        sum(one.stride == 2 for one in processing) / 8,
        sum(label(one.op).role == "decision" for one in graph.layers) / 5,
    )
    shares = [sum(one.op == kind for one in processing) / max(len(processing), 1) for kind in kinds]
    made: NDArray[np.float64] = np.clip(np.array([*plain, *shares, *at_places]), 0.0, 1.0)
    return made
