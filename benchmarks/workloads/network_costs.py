"""What a CNN costs to train: the multiplications of its convolutions and dense layers for one image, forwards.

Backwards it is twice as many. Batch normalisation, pooling and activations are left out: they take time, but little of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def multiplications(
    net: Mapping[str, Sequence[Sequence[Any]]], image: int = 32, channels: int = 3, classes: int = 10
) -> int:
    """Of a graph as ``Graph.to_json`` has it, for one image."""
    parents: list[list[int]] = [[] for _ in net["layers"]]
    for start, end in net["edges"]:
        parents[end].append(start)
    widths, sides, total = [channels], [image], 0
    for layer, before in zip(net["layers"][1:], parents[1:], strict=True):
        op, incoming, side = layer[0], sum(widths[one] for one in before), min(sides[one] for one in before)
        units = layer[1] if len(layer) > 1 else classes if op == "softmax" else incoming
        side = -(-side // (2 if op.endswith("-pool") else layer[2] if len(layer) > 2 else 1))
        if op.startswith("conv"):
            total += int(op[4:]) ** 2 * incoming * units * side**2
        elif op.startswith("res"):
            body = int(op[3:]) ** 2 * (incoming + units)
            bridge = 0 if incoming == units and len(layer) == 2 else incoming
            total += (body + bridge) * units * side**2
        elif op in ("fc", "softmax"):
            total += incoming * units
        widths.append(units)
        sides.append(side)
    return total
