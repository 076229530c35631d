"""The synthetic functions of C.4: objectives on architectures that need no training. Higher is better.

========  ===========  =====================================================================================
name      domain       what it rewards besides f0
========  ===========  =====================================================================================
``f1``    CNNs         a mean stride of 1.5, 50 layers, a mean mass of 500, layers that are conv3
``f2``    MLPs         a mean mass of 2000, 50 edges, layers that are sigmoids
``f3``    MLPs         layers that are sigmoids
========  ===========  =====================================================================================

f0 rewards a mean mass of 1000, mean degrees of 5, five hops from input to output, 30 layers and 100 edges. The paper
states that f3 is for CNNs and f1, f2 for MLPs. But f1 refers to strides and conv3, and f3 to sigmoids, so f1 is taken
to be for CNNs and f2, f3 for MLPs.

Choices where the paper is silent: means and fractions are over all layers, |L| and |E| count all of them; the stride is
the mean over convolutions and pooling layers. The upper bounds of f0 … f3 are 6, 10, 9 and 7; no network reaches them,
because the terms conflict.
"""

from __future__ import annotations

from math import exp, fsum

from xstar.errors import InvalidArgument
from xstar.nets.graph import Graph
from xstar.nets.labels import label
from xstar.nets.measures import hops


def f0(graph: Graph) -> float:
    """Return the sum of the terms that all three share."""
    layers, edges = len(graph.layers), len(graph.edges)
    mass = graph.mass / layers
    degree = edges / layers  # each edge adds one parent and one child
    shortest, _ = hops(graph)
    terms = (
        exp(-0.001 * abs(mass - 1000)),
        exp(-0.5 * abs(degree - 5)),
        exp(-0.5 * abs(degree - 5)),
        exp(-0.1 * abs(shortest - 5)),
        exp(-0.1 * abs(layers - 30)),
        exp(-0.05 * abs(edges - 100)),
    )
    return fsum(terms)


def f1(graph: Graph) -> float:
    """Evaluate f1, for CNNs."""
    _check(graph, "cnn")
    layers = len(graph.layers)
    strides = [one.stride for one in graph.layers if 2 in label(one.op).strides]
    stride = sum(strides) / len(strides) if strides else 1.0
    conv3 = sum(one.op == "conv3" for one in graph.layers) / layers
    mass = graph.mass / layers
    return fsum(
        (
            f0(graph),
            exp(-3 * abs(stride - 1.5)),
            exp(-0.3 * abs(layers - 50)),
            exp(-0.001 * abs(mass - 500)),
            conv3,
        )
    )


def f2(graph: Graph) -> float:
    """Evaluate f2, for MLPs."""
    _check(graph, "mlp")
    mass = graph.mass / len(graph.layers)
    near = exp(-0.001 * abs(mass - 2000)), exp(-0.1 * abs(len(graph.edges) - 50))
    return fsum((f0(graph), *near, _sigmoids(graph)))


def f3(graph: Graph) -> float:
    """Evaluate f3, for MLPs."""
    _check(graph, "mlp")
    return f0(graph) + _sigmoids(graph)


def _sigmoids(graph: Graph) -> float:
    return sum(label(one.op).group == "sigmoid" for one in graph.layers) / len(graph.layers)


def _check(graph: Graph, family: str) -> None:
    if not isinstance(graph, Graph) or graph.family.name != family:
        raise InvalidArgument("graph", f"must be a nets.Graph of the family {family}", graph)
