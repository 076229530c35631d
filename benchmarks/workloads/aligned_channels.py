"""The same network with channels in multiples of eight, which a GPU's matrix units need.

Modifiers leave layers of 55 or 43 channels. In bf16 with channels last, a pixel of such a layer does not begin at a multiple
of 16 bytes, and cuDNN takes kernels without matrix units. ``align`` widens every convolution with channels that are 0 and
stay 0: their weights are 0 on both sides, so are all of their gradients, and neither momentum, weight decay nor the norm of
the gradient changes anything. Outputs and gradients of the others are those of the network as it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from xstar.nets.torch import Network, Residual

MULTIPLE = 8
"""16 bytes in bf16."""


@dataclass(frozen=True)
class Layout:
    """How the channels of a layer lie in the wider tensor that holds them."""

    width: int
    real: tuple[int, ...]
    """Where the channels of the network are; the others are 0."""

    @classmethod
    def of(cls, channels: int) -> Layout:
        return cls(-(-channels // MULTIPLE) * MULTIPLE, tuple(range(channels)))

    @classmethod
    def joined(cls, parts: list[Layout]) -> Layout:
        """Of the concatenation of several."""
        real: list[int] = []
        width = 0
        for part in parts:
            real += [width + place for place in part.real]
            width += part.width
        return cls(width, tuple(real))


class Placed(nn.Module):
    """Channels of one layout in another one with as many of them, which come first."""

    def __init__(self, source: Layout, width: int) -> None:
        super().__init__()
        self.missing = width - len(source.real)
        self.register_buffer("real", torch.tensor(source.real), persistent=False)

    def forward(self, x: Any) -> Any:
        picked = x.index_select(1, self.real)
        return functional.pad(picked, (0, 0, 0, 0, 0, self.missing)) if self.missing else picked


def align(network: Network) -> Network:
    """Widen the layers of a network for images, in place."""
    layouts: list[Layout] = []
    for number, (one, parents) in enumerate(zip(network.graph.layers, network.graph.parents, strict=True)):
        name = str(number)
        if one.label.role == "input":
            channels = _channels(network)
            layouts.append(Layout.of(channels))
            network.layers[name] = Placed(Layout(channels, tuple(range(channels))), layouts[-1].width)
            continue
        inside = Layout.joined([layouts[parent] for parent in parents])
        if one.label.role == "output":
            break
        network.layers[name], outside = _aligned(network.layers[name], inside)
        layouts.append(outside)
    return network


def _channels(network: Network) -> int:
    """Of the images: what the first convolution takes."""
    first = next(each for each in network.modules() if isinstance(each, nn.Conv2d))
    return first.in_channels


def _aligned(module: nn.Module, inside: Layout) -> tuple[nn.Module, Layout]:
    """The module for inputs of this layout, and the layout of what it returns."""
    if isinstance(module, nn.Linear):
        return _linear(module, inside), Layout(module.out_features, tuple(range(module.out_features)))
    if isinstance(module, Residual):
        return _residual(module, inside)
    if isinstance(module, nn.Sequential):
        outside = inside
        for place, part in enumerate(module):
            module[place], outside = _aligned(part, outside)
        return module, outside
    if isinstance(module, nn.Conv2d):
        outside = Layout.of(module.out_channels)
        return _convolution(module, inside, outside), outside
    if isinstance(module, nn.BatchNorm2d):
        return nn.BatchNorm2d(inside.width, dtype=module.weight.dtype), inside  # as initialised: scales 1, shifts 0
    return module, inside  # without weights: pooling, activations, identity


def _residual(module: Residual, inside: Layout) -> tuple[nn.Module, Layout]:
    assert isinstance(module.body, nn.Sequential), "two convolutions"
    body, outside = _aligned(module.body, inside)
    if isinstance(module.shortcut, nn.Identity):
        plain = inside == outside
        shortcut = module.shortcut if plain else Placed(inside, outside.width)
    else:
        shortcut, _ = _aligned(module.shortcut, inside)
    module.body, module.shortcut = body, shortcut
    return module, outside


def _convolution(old: nn.Conv2d, inside: Layout, outside: Layout) -> nn.Conv2d:
    assert old.bias is None, "batch normalisation follows"
    size, stride, padding = old.kernel_size[0], old.stride[0], old.kernel_size[0] // 2
    new = nn.Conv2d(inside.width, outside.width, size, stride, padding, bias=False, dtype=old.weight.dtype)
    with torch.no_grad():
        new.weight.zero_()
        new.weight[: old.out_channels, list(inside.real)] = old.weight
    return new


def _linear(old: nn.Linear, inside: Layout) -> nn.Linear:
    new = nn.Linear(inside.width, old.out_features, dtype=old.weight.dtype)
    with torch.no_grad():
        new.weight.zero_()
        new.weight[:, list(inside.real)] = old.weight
        new.bias.copy_(old.bias)
    return new
