"""The steps of a training on CIFAR-10, with all that changes from step to step in tensors: on a GPU a step can be a CUDA graph.

``cifar_training.LAUNCHES`` are ways to the same weights, but for rounding. Measured on an H200:

* Launched one by one (``eager``), the kernels of a step (200 to 600) take 4 to 7 ms of a core, however small the network.
* As a ``graph`` they are one launch, and the host waits for the GPU asleep, every ``EVERY`` steps: 1.2 instead of 4.5 ms for
  a small network. But graphs of several processes that share the GPU take turns, a step each: twelve small networks at once
  took 20 s each, as if one after the other, where eight took 9 s each with kernels that were launched one by one.
* ``tuned``: cuDNN chooses algorithms for convolutions of 5 × 5 and 7 × 7 by rules that do not suit them. Told to time ten for
  each, which takes 7 to 23 s before the first step, it finds some that take 19 instead of 50 ms for a step of a large network
  (NASBOT's, 10⁹ multiplications for an image), 6.6 instead of 11.6 for another. A network of
  1.5 × 10⁹ multiplications takes 13.7 ms alone, 8 of them in convolutions (200 to 700 TFLOP/s), 2 in batch normalisation. Other
  processes on the GPU disturb the timing, and then a choice can be bad: 19 and 82 instead of 14 ms in one trial. Over a call
  with twelve processes it was worth it: 11 ms for 10⁹ multiplications, against 50 without it.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn import functional

from benchmarks.workloads.device import Pace, captured, descend

CLIP, EVERY = 5.0, 20


def one_cycle(steps: int, highest: float, warmup: float) -> list[float]:
    """The rate of each step, as ``torch.optim.lr_scheduler.OneCycleLR`` has it: two halves of a cosine."""
    first, last = highest / 25.0, highest / 25.0 / 1e4
    rise, end = warmup * steps - 1.0, steps - 1.0

    def between(start: float, stop: float, share: float) -> float:
        return stop + (start - stop) / 2.0 * (1.0 + math.cos(math.pi * share))

    return [
        between(first, highest, at / rise) if at <= rise else between(highest, last, (at - rise) / (end - rise))
        for at in range(steps)
    ]


class Steps:
    """SGD with Nesterov's momentum, weight decay and clipped gradients, for batches of one size."""

    def __init__(
        self, module: Any, batch: int, rates: list[float], decay: float, device: str, launch: str = "graph"
    ) -> None:
        self.module, self.decay, self.kind = module, decay, device.partition(":")[0]
        self.rates = torch.tensor(rates, device=device)
        self.rate = torch.zeros((), device=device)
        empty = torch.zeros(batch, 3, 32, 32, dtype=torch.bfloat16, device=device)
        self.images = empty.contiguous(memory_format=torch.channels_last)
        self.classes = torch.zeros(batch, dtype=torch.int64, device=device)
        self.params = list(module.parameters())
        self.speed = [torch.zeros_like(param) for param in self.params]
        self.before = [(each, each.detach().clone()) for each in (*self.params, *module.buffers())]
        self.done, self.pace = 0, Pace(device)
        self.advance = self.one
        if self.kind == "cuda" and launch != "eager":
            with torch.backends.cudnn.flags(enabled=True, benchmark=launch == "tuned"):
                self.advance = captured(self.one, self.one, self.restore)

    def take(self, images: Any, classes: Any) -> None:
        """The next step, with this batch."""
        self.images.copy_(images)
        self.classes.copy_(classes)
        self.rate.copy_(self.rates[self.done])
        self.advance()
        self.done += 1
        if self.done % EVERY == 0:
            self.pace.keep()

    def one(self) -> None:
        with torch.autocast(self.kind, torch.bfloat16, cache_enabled=False):
            out = self.module(self.images)
        loss = functional.cross_entropy(out.float(), self.classes)
        gradients = torch.autograd.grad(loss, self.params)
        norm = torch.nn.utils.get_total_norm(gradients)
        alike = [  # one kernel for all of them takes weights and gradients that lie alike in memory
            each if each.stride() == param.stride() else torch.empty_like(param).copy_(each)
            for param, each in zip(self.params, gradients, strict=True)
        ]
        torch._foreach_mul_(alike, torch.clamp(CLIP / (norm + 1e-6), max=1.0))
        descend(self.params, alike, self.speed, self.rate, self.decay)

    def restore(self) -> None:
        """Weights, momentum and the statistics of batch normalisation as in the beginning."""
        with torch.no_grad():
            for each, was in self.before:
                each.copy_(was)
        for speed in self.speed:
            speed.zero_()
