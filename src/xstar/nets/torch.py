"""Convert a graph to a torch module, for ``Graph.to_torch``. No other file of ``nets`` imports torch.

Conventions, from the paper (2.2, A.3, B.3) or our own where it is silent:

* A layer concatenates the outputs of its parents: channels of images, entries of vectors. In a cell it sums them.
* ``convk``: a k × k convolution that preserves the size (or halves it, at stride 2), batch norm, ReLU. ``resk``: two of
  them, with the input added before the last ReLU; if channels or size differ, the input passes through a 1 × 1
  convolution first (He et al. 2016, B).
* Pooling is 2 × 2 at stride 2, rounding up, like strides.
* ``fc`` is a dense layer with ReLU; an image that arrives there, or at a decision, is first averaged over its pixels.
* ``crelu`` is [max(x, 0), max(−x, 0)] of half as many dense units, so that the layer has the stated number of output
  units.
* Decisions are dense. Several are averaged (2.2): numbers directly, classes as probabilities. A classifier returns log
  probabilities: correct for ``nll_loss`` and, because they are already normalised, for ``cross_entropy`` as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from xstar.errors import InvalidArgument, MissingExtra
from xstar.nets import validation
from xstar.nets.graph import Graph, Inputs, Layer

try:
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError as error:
    raise MissingExtra("to_torch needs torch: pip install '.[torch]' in a checkout of xstar") from error


class ConcatenatedReLU(nn.Module):
    """[max(x, 0), max(−x, 0)], truncated to ``units`` if that is odd."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.units = units

    def forward(self, x: Any) -> Any:
        return torch.cat([functional.relu(x), functional.relu(-x)], dim=1)[:, : self.units]


ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "relu": nn.ReLU,
    "leaky-relu": nn.LeakyReLU,
    "softplus": nn.Softplus,
    "elu": nn.ELU,
    "logistic": nn.Sigmoid,
    "tanh": nn.Tanh,
}


class Residual(nn.Module):
    """Two convolutions with a residual connection."""

    def __init__(self, incoming: int, units: int, kernel: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *_convolution(incoming, units, kernel, stride), nn.ReLU(), *_convolution(units, units, kernel, 1)
        )
        plain = incoming == units and stride == 1
        self.shortcut = nn.Identity() if plain else nn.Sequential(*_convolution(incoming, units, 1, stride))

    def forward(self, x: Any) -> Any:
        return functional.relu(self.body(x) + self.shortcut(x))


class Zero(nn.Module):
    """The operation ``none``, which returns zeros."""

    def forward(self, x: Any) -> Any:
        return x * 0.0


class Network(nn.Module):
    """The module of a graph. ``layers`` holds one module per layer, by its number."""

    def __init__(self, graph: Graph, inputs: int | tuple[int, int, int], outputs: int) -> None:
        super().__init__()
        self.graph = graph
        self.classifies = any(one.op == "softmax" for one in graph.layers)
        channels = inputs[0] if isinstance(inputs, tuple) else inputs
        self.layers = nn.ModuleDict()
        handed: list[int] = []
        for number, (one, parents) in enumerate(zip(graph.layers, graph.parents, strict=True)):
            sizes = [handed[parent] for parent in parents]
            incoming = (sizes[0] if graph.family.sums else sum(sizes)) if sizes else channels
            if one.label.role == "input":
                stem = _first_units(graph) if graph.family.sums else channels
                self.layers[str(number)] = nn.Identity() if stem == channels else nn.Conv2d(channels, stem, 1)
                handed.append(stem)
            elif one.label.role == "output":
                handed.append(outputs)
            else:
                self.layers[str(number)] = _module(one, incoming, outputs)
                handed.append(outputs if one.label.role == "decision" else one.units or incoming)

    def forward(self, x: Any) -> Any:
        handed: list[Any] = []
        images = self.graph.family.images or self.graph.family.sums
        for number, (one, parents) in enumerate(zip(self.graph.layers, self.graph.parents, strict=True)):
            if one.label.role == "input":
                handed.append(self.layers[str(number)](x if images else x.flatten(1)))
                continue
            taken = [handed[parent] for parent in parents]
            if one.label.role == "output":
                return self._decided(taken)
            if self.graph.family.sums:
                joined = torch.stack(taken).sum(dim=0) if len(taken) > 1 else taken[0]
            else:
                joined = torch.cat(taken, dim=1) if len(taken) > 1 else taken[0]
            if one.label.flat and joined.dim() == 4:
                joined = joined.mean(dim=(2, 3))
            handed.append(self.layers[str(number)](joined))
        raise AssertionError("a graph ends with its output")

    def _decided(self, decisions: list[Any]) -> Any:
        if self.classifies:
            logs = torch.stack([functional.log_softmax(one, dim=1) for one in decisions])
            return torch.logsumexp(logs, dim=0) - math.log(len(decisions))
        return torch.stack(decisions).mean(dim=0)


def build(graph: Graph, inputs: Inputs | Sequence[int] = None, outputs: int | None = None) -> Network:
    """Return the module of a graph; ``inputs`` and ``outputs`` replace those of the graph, or supply missing ones."""
    shape: Any
    shape, size = validation.shapes(graph.family, inputs, outputs)
    shape = graph.inputs if shape is None else shape
    size = graph.outputs if size is None else size
    if shape is None or size is None:
        found = f"inputs={shape}, outputs={size}"
        remedy = "write graph.to_torch(inputs=…, outputs=…), or take the graph from a domain"
        raise InvalidArgument("graph", "must know its inputs and outputs", found, remedy)
    if graph.family.images:
        validation.images(graph.layers, graph.parents, shape)
    return Network(graph, shape, size)


def _module(one: Layer, incoming: int, outputs: int) -> nn.Module:
    kind = one.label
    if kind.builder is not None:
        made: nn.Module = kind.builder(incoming, one.units, one.stride)
        return made
    if kind.role == "decision":
        return nn.Linear(incoming, outputs)
    units = one.units or incoming
    if one.op in ACTIVATIONS:
        return nn.Sequential(nn.Linear(incoming, units), ACTIVATIONS[one.op]())
    if one.op == "crelu":
        return nn.Sequential(nn.Linear(incoming, -(-units // 2)), ConcatenatedReLU(units))
    if one.op == "fc":
        return nn.Sequential(nn.Linear(incoming, units), nn.ReLU())
    if one.op.startswith("conv"):
        return nn.Sequential(*_convolution(incoming, units, int(one.op[4:]), one.stride), nn.ReLU())
    if one.op.startswith("res"):
        return Residual(incoming, units, int(one.op[3:]), one.stride)
    if one.op in ("max-pool", "avg-pool"):
        return (nn.MaxPool2d if one.op == "max-pool" else nn.AvgPool2d)(2, 2, ceil_mode=True)
    cells: dict[str, Callable[[], nn.Module]] = {
        "nor_conv_1x1": lambda: nn.Sequential(*_convolution(incoming, units, 1, 1), nn.ReLU()),
        "nor_conv_3x3": lambda: nn.Sequential(*_convolution(incoming, units, 3, 1), nn.ReLU()),
        "avg_pool_3x3": lambda: nn.AvgPool2d(3, 1, padding=1, count_include_pad=False),
        "skip_connect": nn.Identity,
        "none": Zero,
    }
    if one.op not in cells:
        remedy = "register it with Label(…, builder=…), which makes its module"
        raise InvalidArgument("op", "must be a type of layer with a module", one.op, remedy)
    return cells[one.op]()


def _convolution(incoming: int, units: int, kernel: int, stride: int) -> list[nn.Module]:
    convolution = nn.Conv2d(incoming, units, kernel, stride, padding=kernel // 2, bias=False)
    return [convolution, nn.BatchNorm2d(units)]


def _first_units(graph: Graph) -> int:
    """Return the number of channels of a cell's operations."""
    return next(one.units for one in graph.layers if one.units is not None)
