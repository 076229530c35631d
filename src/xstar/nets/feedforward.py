"""MLP and CNN, and their initial pools: ten MLPs (Figure 21) and ten CNNs (Figure 20), all of them feed-forward.

CNNs: four based on VGG (Simonyan & Zisserman), six of blocks based on He et al.; the second figures of a name are
blocks and layers per block. MLPs: blocks of equal layers, alternating rectifiers and sigmoids, with 64, 128, 256, 512,
512, … units by block. The figures do not specify which rectifier or sigmoid; here they rotate from network to network.

Networks are adapted to the limits of a domain: an excluded layer type is replaced by the first one of its group, units
are brought into range, a small image is halved only as often as possible, keeping the first halvings, and of a network with
too many layers some are left out, evenly from its input to its output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xstar.core.checks import as_int
from xstar.errors import InvalidSpace
from xstar.nets.domains import Networks
from xstar.nets.graph import Graph, Inputs, Layer
from xstar.nets.labels import label
from xstar.space import register_domain

MLP_BLOCKS = ((3, 2), (4, 2), (5, 2), (3, 4), (6, 2), (8, 2), (6, 3), (10, 2), (4, 6), (8, 3))
"""(blocks, layers per block)."""
CNN_BLOCKS = ((3, 1), (3, 2), (3, 3), (3, 4), (3, 5), (4, 4))
VGG_DEPTHS = (1, 2, 3, 4)
BLOCK_UNITS = (64, 128, 256, 512)

Plan = list[Layer]


def mlp_plans(names: Sequence[str], units: tuple[int, int]) -> list[Plan]:
    """Return the ten MLPs, of layers with these names."""
    groups = [[name for name in names if label(name).group == group] for group in ("rectifier", "sigmoid", None)]
    kinds = [group for group in groups if group]
    found = []
    for number, (blocks, depth) in enumerate(MLP_BLOCKS):
        plan = []
        for block in range(blocks):
            kind = kinds[(block + number) % len(kinds)]
            name = kind[(block // len(kinds) + number) % len(kind)]
            plan += [Layer(name, _within(BLOCK_UNITS[min(block, 3)], units))] * depth
        found.append(plan)
    return found


def cnn_plans(names: Sequence[str], units: tuple[int, int]) -> list[Plan]:
    """Return the ten CNNs, of layers with these names."""
    plans = [_vgg(depth) for depth in VGG_DEPTHS] + [_blocks(blocks, depth) for blocks, depth in CNN_BLOCKS]
    return [_allowed(plan, names, units) for plan in plans]


def chain(plan: Sequence[Layer], decision: str, inputs: Inputs = None, outputs: int | None = None) -> Graph:
    """Return the feed-forward network of these processing layers."""
    layers = [Layer("ip"), *plan, Layer(decision), Layer("op")]
    return Graph(layers, [(number, number + 1) for number in range(len(layers) - 1)], inputs, outputs)


def _vgg(depth: int) -> Plan:
    plan = [Layer("conv3", 64)] * 2 + [Layer("max-pool")] + [Layer("conv3", 128)] * 2 + [Layer("max-pool")]
    for filters in (128, 256, 512):
        plan += [Layer("conv3", filters)] * depth + [Layer("max-pool")]
    return [*plan, Layer("fc", 128), Layer("fc", 256), Layer("fc", 512)]


def _blocks(blocks: int, depth: int) -> Plan:
    plan = [Layer("conv7", 64), Layer("max-pool")]
    for filters in BLOCK_UNITS[:blocks]:
        plan += [Layer("conv3", filters, stride=2)] + [Layer("conv3", filters)] * (depth - 1)
    return [*plan, Layer("avg-pool"), Layer("fc", 2 * BLOCK_UNITS[blocks - 1])]


def _allowed(plan: Plan, names: Sequence[str], units: tuple[int, int]) -> Plan:
    found = []
    for one in plan:
        group = label(one.op).group
        instead = one.op if one.op in names else next((name for name in names if label(name).group == group), None)
        if instead is not None:
            stride = one.stride if one.stride in label(instead).strides else 1
            found.append(Layer(instead, None if one.units is None else _within(one.units, units), stride))
    return found


def _halved(plan: Plan, most: int) -> Plan:
    found: Plan = []
    for one in plan:
        if one.stride == 2 and not most:
            if len(label(one.op).strides) > 1:
                found.append(Layer(one.op, one.units))
            continue
        most -= one.stride == 2
        found.append(one)
    return found


def _thinned(plan: Plan, max_layers: int) -> Plan:
    """Return as many layers of a plan as fit beside the input, the decision and the output: the first one, the last one, and
    others evenly in between."""
    room = max_layers - 3
    if len(plan) <= room:
        return plan
    if room < 1:
        return []
    steps = [place * (len(plan) - 1) / max(room - 1, 1) for place in range(room)]
    return [plan[round(step)] for step in steps]


def _different(plans: list[Plan]) -> list[Plan]:
    """Return each plan once, without empty ones."""
    return list({tuple(plan): plan for plan in plans if plan}.values())


def _within(units: int, bounds: tuple[int, int]) -> int:
    return min(max(units, bounds[0]), bounds[1])


TASKS = {"regression": "linear", "classification": "softmax"}


@dataclass(frozen=True, repr=False)
class MLP(Networks):
    """Perceptrons from ``inputs`` features to ``outputs`` numbers or classes.

    >>> import numpy as np
    >>> domain = MLP(inputs=64, outputs=10)
    >>> domain.decision
    'softmax'
    >>> domain.contains(domain.sample(np.random.default_rng(0)))
    True
    """

    inputs: int
    outputs: int = 1
    task: str | None = None
    """``"regression"`` or ``"classification"``; None: classification if there are several outputs."""

    kind: ClassVar[str] = "mlp"

    def __post_init__(self) -> None:
        self._set("inputs", self._whole("inputs", 1))
        self._set("outputs", self._whole("outputs", 1))
        if self.task is None:
            self._set("task", "classification" if self.outputs > 1 else "regression")
        elif self.task not in TASKS:
            raise InvalidSpace("task", f"must be one of {', '.join(TASKS)}", self.task)
        super().__post_init__()

    @property
    def inputs_of(self) -> int:
        return self.inputs

    @property
    def outputs_of(self) -> int:
        return self.outputs

    @property
    def decision(self) -> str:
        assert self.task is not None
        return TASKS[self.task]

    def _candidates(self) -> list[Graph]:
        plans = [_thinned(plan, self.max_layers) for plan in mlp_plans(self.names, self.units)]
        smallest = [Layer(self.names[0], self.units[0])]
        return [chain(plan, self.decision, self.inputs, self.outputs) for plan in (*_different(plans), smallest)]


register_domain(MLP.kind, MLP.from_json)


@dataclass(frozen=True, repr=False)
class CNN(Networks):
    """Convolutional networks for images of ``image`` × ``image`` (or ``image=(height, width)``) and ``classes``
    classes.

    The smaller side of the image limits the number of halvings: 5 for 32 pixels, 3 for 8.

    >>> CNN(image=8, channels=1, classes=10).inputs_of
    (1, 8, 8)
    """

    image: int | tuple[int, int]
    channels: int = 3
    classes: int = 10

    kind: ClassVar[str] = "cnn"

    def __post_init__(self) -> None:
        given = self.image if isinstance(self.image, (tuple, list)) else (self.image, self.image)
        sides = tuple(as_int(side) for side in given)
        if len(sides) != 2 or any(side is None or side < 1 for side in sides):
            raise InvalidSpace("image", "must be a size, or (height, width)", self.image)
        self._set("image", sides[0] if sides[0] == sides[1] else sides)
        self._set("channels", self._whole("channels", 1))
        self._set("classes", self._whole("classes", 2))
        if self.labels is not None and not any(2 in label(name).strides and label(name).units for name in self.labels):
            raise InvalidSpace("labels", "must hold a convolution", self.labels)
        super().__post_init__()

    @property
    def inputs_of(self) -> tuple[int, int, int]:
        height, width = self.image if isinstance(self.image, tuple) else (self.image, self.image)
        return (self.channels, height, width)

    @property
    def outputs_of(self) -> int:
        return self.classes

    @property
    def decision(self) -> str:
        return "softmax"

    def _candidates(self) -> list[Graph]:
        most = min(self.inputs_of[1:]).bit_length() - 1
        plans = [_halved(_thinned(plan, self.max_layers), most) for plan in cnn_plans(self.names, self.units)]
        smallest = [
            Layer(next(name for name in self.names if label(name).units and not label(name).flat), self.units[0])
        ]
        return [chain(plan, self.decision, self.inputs_of, self.classes) for plan in (*_different(plans), smallest)]


register_domain(CNN.kind, CNN.from_json)
