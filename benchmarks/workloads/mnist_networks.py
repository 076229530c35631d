"""The networks of the co-training benchmark, R of them side by side, and a step of their weights. Needs numpy and torch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch.nn import functional

DECAY = 1e-4
MOMENTUM = 0.9
VARIANCES: dict[str, Callable[[int, int], float]] = {
    "LeCun": lambda before, after: 1 / before,
    "He": lambda before, after: 2 / before,
    "Glorot": lambda before, after: 2 / (before + after),
}
"""Of the normal weights at the start, by the units before and after them. Biases begin at 0."""

Tensor = torch.Tensor


def load(path: str, device: torch.device) -> dict[str, Tensor]:
    with np.load(path) as stored:
        data = {name: torch.from_numpy(stored[name]) for name in ("x_train", "y_train", "x_test", "y_test")}
    return {
        name: (given.flatten(1).float() / 255 if name.startswith("x") else given.long()).to(device)
        for name, given in data.items()
    }


def descend(params: Sequence[Any], gradients: Sequence[Any], speed: Sequence[Any], rate: Any, decay: float) -> None:
    """Nesterov's momentum, in place: v ← μ v + g, W ← W − r (g + μ v); ``decay`` W is added to g before.

    One kernel that reads three arrays and writes two. As six operations of ``_foreach_`` it moved 17, most of a step of small
    networks. It takes gradients that lie in memory like their weights; ``rate`` is a tensor, which a CUDA graph can keep.
    """
    torch._fused_sgd_(
        [param.detach() for param in params],
        list(gradients),
        list(speed),
        weight_decay=decay,
        momentum=MOMENTUM,
        lr=rate,
        dampening=0.0,
        nesterov=True,
        maximize=False,
        is_first_step=False,
    )


def initial(init: str, shapes: Sequence[tuple[int, ...]], rng: torch.Generator) -> list[Tensor]:
    """Weights and biases, one after the other, of one network."""
    made = []
    for index, shape in enumerate(shapes):
        deviation = 0.0 if index % 2 else math.sqrt(VARIANCES[init](*shape[-2:]))
        made.append(torch.zeros(shape) if index % 2 else deviation * torch.randn(shape, generator=rng))
    return made


def dense(h: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """(R, rows, in) → (R, rows, out)."""
    return torch.bmm(h, weight) + bias[:, None]


class Skips(torch.autograd.Function):
    """h_(k+1) = h_k + m_k ReLU(h_k W_k + b_k) for all k: h (R, rows, w), m (K, R, rows, 1), W (K, R, w, w), b (K, R, w).

    Small layers cost a GPU their number of kernels. What all of them keep lies in one array, so that the gradients of all W_k
    are one product in the end, and what is left of a layer are four kernels forwards and two backwards; autograd takes ten.
    """

    @staticmethod
    def forward(ctx: Any, h: Tensor, gates: Tensor, weights: Tensor, biases: Tensor) -> Tensor:
        states, units = h.new_empty((len(weights) + 1, *h.shape)), h.new_empty((len(weights), *h.shape))
        states[0] = h
        for k, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
            torch.baddbmm(bias[:, None], states[k], weight, out=units[k]).clamp_(min=0.0)
            torch.addcmul(states[k], gates[k], units[k], out=states[k + 1])
        ctx.save_for_backward(states, units, gates, weights)
        return states[-1].clone()

    @staticmethod
    def backward(ctx: Any, *outer: Any) -> Any:
        states, units, gates, weights = ctx.saved_tensors
        passed, errors, flow = (units > 0) * gates, torch.empty_like(units), outer[0].clone()
        for k in reversed(range(len(weights))):
            torch.mul(flow, passed[k], out=errors[k])
            flow.baddbmm_(errors[k], weights[k].mT)
        slopes = torch.bmm(states[:-1].flatten(0, 1).mT, errors.flatten(0, 1)).view_as(weights)
        return flow, None, slopes, errors.sum(2)


class Layers:
    """Experiment I. ``m`` (R, 2, 31)."""

    key, bits, clips = "layers", 31, True

    def __init__(self, width: int = 128) -> None:
        self.width = width
        w = width
        self.shapes = [(784, w), (w,), (self.bits, w, w), (self.bits, w), (w, 10), (10,)]
        self.stacked = (2, 3)  # tensors of all 31 layers: kept as (31, R, …), so that each layer is a plain batch

    def forward(self, p: list[Tensor], x: Tensor, m: Tensor) -> Tensor:
        replicas, rows = x.shape[:2]
        first = functional.relu(dense(x, p[0], p[1]))  # the same for both structures
        h = first[:, None].expand(replicas, 2, rows, self.width).reshape(replicas, 2 * rows, self.width)
        gates = m.permute(2, 0, 1)[..., None].expand(-1, -1, -1, rows).reshape(self.bits, replicas, 2 * rows, 1)
        return dense(Skips.apply(h, gates, p[2], p[3]), p[4], p[5])


class Activations:
    """Experiment II. ``m`` (R, structures, 3 × 1,024): two, or one where it is fixed."""

    key, clips, stacked = "activations", False, ()

    def __init__(self, width: int = 1024) -> None:
        self.width, self.bits = width, 3 * width
        w = width
        self.shapes = [(784, w), (w,), (w, w), (w,), (w, w), (w,), (w, 10), (10,)]

    def forward(self, p: list[Tensor], x: Tensor, m: Tensor) -> Tensor:
        (replicas, rows), structures = x.shape[:2], m.shape[1]
        z, h = dense(x, p[0], p[1])[:, None], x
        for layer in range(3):
            on = m[:, :, None, layer * self.width : (layer + 1) * self.width]  # (R, structures, 1, width)
            h = torch.where(on > 0, functional.relu(z), torch.tanh(z)).reshape(replicas, -1, self.width)
            z = dense(h, p[2 * layer + 2], p[2 * layer + 3]).view(replicas, structures, rows, -1)
        return z.reshape(replicas, -1, 10)
