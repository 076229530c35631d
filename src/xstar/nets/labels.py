"""Layer types: their effect on masses and images, and the cost of matching one with another (M, Tables 4 and 5).

Notation

=========  ===============================================================================  =====================
symbol     meaning                                                                          shape
=========  ===============================================================================  =====================
``M``      cost of matching a unit of mass of one label with one of another                 (labels, labels)
``FORBID`` represents ∞ in M: leaving a unit unmatched on both sides costs 1 + 1,           float
           so nothing that costs 2 or more is ever matched (A.1)
=========  ===============================================================================  =====================

A *family* is a set of labels that occur together (``mlp``, ``cnn``, ``cell``). A *group* is a part of a
family with its own path lengths (A.3, "Other details"). ``register_family`` adds a family, ``register_label`` a label. M
must remain a pseudo-metric: Theorem 1 and the shortcuts of ``transport.py`` depend on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from xstar.errors import InvalidArgument

Role = Literal["input", "processing", "decision", "output"]

FORBID = 2.0
RES_MASS = 2.0
"""A residual layer consists of two convolutions (A.3)."""
FC_MASS = 0.1
"""A unit of a fully connected layer is a number, a unit of a convolution is an image (A.3)."""


class InvalidGraph(InvalidArgument):
    """An architecture violates a rule. A search never raises it: a modifier whose result violates one is not applied."""


@dataclass(frozen=True)
class Family:
    """Labels that occur together."""

    name: str
    groups: tuple[str, ...]
    """Groups with their own path lengths, in addition to those over all layers."""
    images: bool
    """Whether layers output images, so that sizes must match."""
    sums: bool = False
    """Whether a layer sums the outputs of its parents instead of concatenating them."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", tuple(self.groups))


FAMILIES = {
    "mlp": Family("mlp", ("rectifier", "sigmoid"), images=False),
    "cnn": Family("cnn", ("conv", "pool", "fc"), images=True),
    "cell": Family("cell", ("conv", "pool", "skip"), images=False, sums=True),
}


@dataclass(frozen=True)
class Label:
    """One layer type."""

    name: str
    role: Role = "processing"
    family: str | None = None
    """None: part of every family (the input, the output, softmax)."""
    group: str | None = None
    """The group of the family whose path lengths include it."""
    units: bool = True
    """Whether it has its own units; otherwise it outputs as many as it receives."""
    strides: tuple[int, ...] = (1,)
    """The strides it may have; a single stride is also the default."""
    flat: bool = False
    """Whether it turns images into vectors."""
    mass: float = 1.0
    """Factor on the product of units and incoming units."""
    computes: bool = True
    """Whether its mass is that product; otherwise it is the number of output units, as for pooling."""
    builder: Callable[..., Any] | None = field(default=None, compare=False)
    """For custom labels: ``builder(incoming, units, stride)`` returns the torch module."""


_LABELS: dict[str, Label] = {}
_NUMBERS: dict[str, int] = {}
_costs: NDArray[np.float64] = np.empty((0, 0))
_parts: NDArray[np.intp] = np.empty(0, dtype=np.intp)


def label(name: str) -> Label:
    """Return the label of that name."""
    found = _LABELS.get(name) if isinstance(name, str) else None
    if found is None:
        raise InvalidGraph("op", f"must be one of {', '.join(_LABELS)}", name, "or add it with nets.register_label")
    return found


def labels(family: str) -> tuple[str, ...]:
    """Return the names of a family's processing layers: of a built-in family only the built-in ones: a custom label is
    used only where a domain names it."""
    known = _BUILT_IN if family in _BUILT_IN_FAMILIES else tuple(_LABELS)
    return tuple(name for name in known if _LABELS[name].family == family and _LABELS[name].role == "processing")


def register_family(one: Family) -> None:
    """Register a family for layers of your own: the operations of a graph network, or of a transformer.

    Registering the same family again has no effect.

    >>> register_family(Family("example-transformer", ("attention", "mixing"), images=False, sums=True))
    >>> register_label(Label("example-attention", family="example-transformer", group="attention"))
    >>> register_label(
    ...     Label("example-local", family="example-transformer", group="attention"), {"example-attention": 0.2}
    ... )
    >>> labels("example-transformer")
    ('example-attention', 'example-local')
    """
    if not isinstance(one, Family) or not isinstance(one.name, str) or not one.name:
        raise InvalidArgument("family", "must be a nets.Family with a name", one)
    names = all(isinstance(group, str) and group for group in one.groups)
    if not names or len(set(one.groups)) < len(one.groups):
        raise InvalidArgument("groups", "must be different names", one.groups)
    if one.images and one.sums:
        rule = "must not be set where layers are summed: only networks that concatenate follow the sizes of images"
        raise InvalidArgument("images", rule, True, "leave one of the two out")
    if FAMILIES.setdefault(one.name, one) != one:
        raise InvalidArgument("family", "must not be taken", one.name, "graphs may rely on it: choose another name")


def number(name: str) -> int:
    """Return the row of a label in ``costs``."""
    return _NUMBERS[name]


def costs() -> NDArray[np.float64]:
    """Return M of all labels, by their numbers; ``FORBID`` for ∞."""
    return _costs


def parts() -> NDArray[np.intp]:
    """Return the part of each label: labels of different parts are never matched, not even through others."""
    return _parts


def register_label(one: Label, costs: Mapping[str, float] | None = None) -> None:
    """Register a layer type, with the cost of matching it with known ones (0 … 2; 1 is the cost of no match).

    The cost to a label that is not given is that of the cheapest path through the given ones, and ∞ if there is none. M
    must remain a pseudo-metric. Registering the same label again with the same costs has no effect.

    >>> register_label(Label("example-conv9", family="cnn", group="conv", strides=(1, 2)), {"conv7": 0.2})
    >>> cost("example-conv9", "conv5")
    0.4
    """
    global _costs, _parts
    known = {name: row for name, row in _NUMBERS.items() if name != one.name}
    given = _checked(one, dict(costs or {}), known)
    row = np.full(len(_NUMBERS) + (one.name not in _NUMBERS), FORBID)
    for name, place in known.items():
        ways = [given[via] + _costs[_NUMBERS[via], place] for via in given]
        row[place] = given.get(name, min(ways, default=FORBID))
    row = np.minimum(row, FORBID)
    if one.name in _NUMBERS:
        row[_NUMBERS[one.name]] = 0.0
        if _LABELS[one.name] != one or not np.array_equal(row, _costs[_NUMBERS[one.name]]):
            raise InvalidArgument("label", "must not be taken", one.name, "graphs may rely on it: choose another name")
        return
    row[-1] = 0.0
    size = len(row)
    table = np.full((size, size), FORBID)
    table[:-1, :-1] = _costs
    table[-1], table[:, -1] = row, row
    _check_triangles(table, one.name)
    _LABELS[one.name] = one
    _NUMBERS[one.name] = size - 1
    table.setflags(write=False)
    _costs, _parts = table, _components(table < FORBID)


def cost(first: str, second: str) -> float:
    """Return M(first, second): ∞ if the two are never matched."""
    found = float(_costs[_NUMBERS[label(first).name], _NUMBERS[label(second).name]])
    return math.inf if found >= FORBID else round(found, 12)


def _checked(one: Label, given: dict[str, float], known: Mapping[str, int]) -> dict[str, float]:
    if not isinstance(one, Label) or not one.name or not isinstance(one.name, str):
        raise InvalidArgument("label", "must be a nets.Label with a name", one)
    if one.family is not None and one.family not in FAMILIES:
        remedy = "add it with nets.register_family"
        raise InvalidArgument("family", f"must be one of {', '.join(FAMILIES)}, or None", one.family, remedy)
    if one.group is not None and (one.family is None or one.group not in FAMILIES[one.family].groups):
        raise InvalidArgument("group", "must be a group of the label's family, or None", one.group)
    if not one.strides or any(stride not in (1, 2) for stride in one.strides):
        raise InvalidArgument("strides", "must be of 1 and 2", one.strides)
    if not (math.isfinite(one.mass) and one.mass > 0):
        raise InvalidArgument("mass", "must be a positive number", one.mass)
    for name, value in given.items():
        if name not in known:
            raise InvalidGraph("costs", f"must be for known labels ({', '.join(known)})", name)
        if not 0 <= value <= FORBID:
            raise InvalidArgument("costs", "must lie in 0 … 2, and 1 is the price of no match", f"{name}={value}")
    return given


def _check_triangles(table: NDArray[np.float64], name: str) -> None:
    detour = (table[:, :, None] + table[None, :, :]).min(axis=1)
    worst = np.unravel_index(np.argmax(table - detour), table.shape)
    if table[worst] > detour[worst] + 1e-12:
        names = [*_NUMBERS, name]
        rule = "must obey the triangle inequality M(x, z) ≤ M(x, y) + M(y, z), or OTMANN is no distance (Theorem 3)"
        found = f"M({names[worst[0]]}, {names[worst[1]]}) = {table[worst]:g} with a detour of {detour[worst]:g}"
        raise InvalidArgument("costs", rule, found, "raise the costs that make up the detour, or lower the other one")


def _components(near: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return connected components, each identified by its lowest number."""
    found = np.arange(len(near), dtype=np.intp)
    while True:
        lowest = np.where(near, found, len(near)).min(axis=1)
        if np.array_equal(lowest, found):
            return found
        found = lowest


def _register_built_in() -> None:
    register_label(Label("ip", "input", units=False))
    register_label(Label("op", "output", units=False, flat=True))
    register_label(Label("softmax", "decision", units=False, flat=True))
    register_label(Label("linear", "decision", "mlp", units=False, flat=True))
    # Table 5. Within rectifiers and within sigmoids 0.1, across 0.25.
    rectifiers, sigmoids = ("relu", "crelu", "leaky-relu", "softplus", "elu"), ("logistic", "tanh")
    for place, name in enumerate(rectifiers):
        register_label(Label(name, family="mlp", group="rectifier"), dict.fromkeys(rectifiers[:place], 0.1))
    for place, name in enumerate(sigmoids):
        near = {**dict.fromkeys(rectifiers, 0.25), **dict.fromkeys(sigmoids[:place], 0.1)}
        register_label(Label(name, family="mlp", group="sigmoid"), near)
    # Table 4; resk–convj is 0.9 M(convk, convj) + 0.1, resk–resj is convk–convj.
    kernels = {(3, 5): 0.2, (5, 7): 0.2, (3, 7): 0.3, (3, 3): 0.0, (5, 5): 0.0, (7, 7): 0.0}
    size = (3, 5, 7)
    for place, k in enumerate(size):
        register_label(
            Label(f"conv{k}", family="cnn", group="conv", strides=(1, 2)),
            {f"conv{j}": kernels[j, k] for j in size[:place]},
        )
    for place, k in enumerate(size):
        near = {f"conv{j}": 0.9 * kernels[min(j, k), max(j, k)] + 0.1 for j in size}
        near |= {f"res{j}": kernels[j, k] for j in size[:place]}
        register_label(Label(f"res{k}", family="cnn", group="conv", strides=(1, 2), mass=RES_MASS), near)
    register_label(Label("max-pool", family="cnn", group="pool", units=False, strides=(2,), computes=False))
    register_label(
        Label("avg-pool", family="cnn", group="pool", units=False, strides=(2,), computes=False), {"max-pool": 0.25}
    )
    register_label(Label("fc", family="cnn", group="fc", flat=True, mass=FC_MASS))
    # The operations of NAS-Bench-201. The costs are ours, following Table 4: neighbouring kernels 0.2, operations
    # without computation 0.25.
    register_label(Label("nor_conv_1x1", family="cell", group="conv"))
    register_label(Label("nor_conv_3x3", family="cell", group="conv"), {"nor_conv_1x1": 0.2})
    register_label(Label("avg_pool_3x3", family="cell", group="pool", computes=False))
    register_label(Label("skip_connect", family="cell", group="skip", computes=False), {"avg_pool_3x3": 0.25})
    register_label(Label("none", family="cell", computes=False))


_register_built_in()
_BUILT_IN = tuple(_LABELS)
_BUILT_IN_FAMILIES = frozenset(FAMILIES)
