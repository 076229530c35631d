"""A convolutional network on CIFAR-10 whose activations are searched while it is trained: MNIST II of the IGO paper, on images.

Six 3 × 3 convolutions with batch normalisation, in pairs of ``WIDTHS`` channels with a pooling between the pairs; each channel
is either tanh (0) or ReLU (1), a bit each. The training is that of ``cifar_training``, with mini-batches of 128. Structures of
a step are evaluated as one batch, so that they share the statistics of the normalisation.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from benchmarks.workloads import cifar_training as cifar
from xstar.igo.cotrain import CoTraining

WIDTHS = (64, 128, 256)
BATCH = 128
FIXED = {"ReLU": 1.0, "tanh": 0.0}
LEARNED = {"cGA": "cga", "PBIL-λ": "pbil-lambda", "PBIL-ε": "pbil-epsilon"}


class Network(nn.Module):
    """``structure``: (images, bits)."""

    structure_per_example = True

    def __init__(self, widths: tuple[int, ...] = WIDTHS) -> None:
        super().__init__()
        sizes = [3, *(width for width in widths for _ in range(2))]
        self.convolutions = nn.ModuleList(
            nn.Sequential(nn.Conv2d(before, after, 3, padding=1, bias=False), nn.BatchNorm2d(after))
            for before, after in pairwise(sizes)
        )
        self.bits, self.out = sum(sizes[1:]), nn.Linear(sizes[-1], 10)

    def forward(self, x: Any, structure: Any) -> Any:
        begin = 0
        with torch.autocast(x.device.type, torch.bfloat16):
            for place, convolution in enumerate(self.convolutions):
                z = convolution(x)
                on = structure[:, begin : begin + z.shape[1], None, None] > 0.5
                begin += z.shape[1]
                x = torch.where(on, functional.relu(z), torch.tanh(z))
                if place % 2 == 1 and place < len(self.convolutions) - 1:
                    x = functional.max_pool2d(x, 2)
            return self.out(x.mean(dim=(2, 3)))


class Batches:
    """Shuffled epochs of the first rows, changed at random."""

    def __init__(self, rows: int, seed: int, device: str) -> None:
        self.rows, self.device = rows, device
        self.chance = torch.Generator(device).manual_seed(seed)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        images, classes = cifar.images_on(self.device)
        order = torch.randperm(self.rows, generator=self.chance, device=self.device)
        for few in order.split(BATCH)[: self.rows // BATCH]:
            yield cifar.varied(images[few], self.chance), classes[few]


def loss(out: Any, classes: Any) -> Any:
    return functional.cross_entropy(out.float(), classes)


def run(method: str, epochs: int, seed: int, device: str, rows: int = cifar.TRAIN) -> dict[str, Any]:
    """Train one network: errors by epoch of the structure so far, and at the end how decided the structure is."""
    torch.manual_seed(seed)
    begun, module = time.perf_counter(), Network().to(device, memory_format=torch.channels_last)
    each = rows // BATCH
    total = epochs * each

    def cycle(optimizer: Any) -> Any:
        top, warm = cifar.SCHEDULE["rate"], cifar.SCHEDULE["warmup"]
        return torch.optim.lr_scheduler.OneCycleLR(
            optimizer, top, total_steps=total + 1, pct_start=warm, cycle_momentum=False
        )

    optimizer = torch.optim.SGD(
        module.parameters(), cifar.SCHEDULE["rate"], momentum=0.9, nesterov=True, weight_decay=cifar.SCHEDULE["decay"]
    )
    batches, curve = Batches(rows, seed, device), []
    reports: Iterator[Any]
    if method in FIXED:
        structure = torch.full((module.bits,), FIXED[method], device=device)
        reports = fixed(module, optimizer, cycle(optimizer), batches, structure, epochs)
    else:
        training = CoTraining(
            module,
            loss,
            optimizer,
            structure=module.bits,
            method=LEARNED[method],
            schedule=cycle,
            clip=5.0,
            device=device,
            seed=seed,
        )
        reports = training.train(batches, steps=total, every=each)
    for epoch, _ in enumerate(reports, 1):
        if epoch % max(1, epochs // 10) == 0 or epoch == epochs:
            if method in LEARNED:
                structure = training.structure()
            curve.append([epoch, error(module, structure, slice(cifar.TRAIN, cifar.TRAIN + cifar.VALID), device)])
    found = {
        "curve": curve,
        "error": curve[-1][1],
        "test": error(module, structure, slice(cifar.TRAIN + cifar.VALID, None), device),
        "ones": int(structure.sum()),
        "bits": module.bits,
        "trained": time.perf_counter() - begun,
    }
    if method in LEARNED:
        last = training.history[-1]
        decided = float(abs(last.theta - 0.5).mean() + 0.5)
        found |= {"decided": decided, "samples": last.samples, "updates": last.generation}
    return found


def fixed(module: Any, optimizer: Any, schedule: Any, batches: Batches, structure: Any, epochs: int) -> Iterator[None]:
    """The same training with a structure that stays; yields after each epoch."""
    for _ in range(epochs):
        module.train()
        for images, classes in batches:
            optimizer.zero_grad(set_to_none=True)
            loss(module(images, structure.expand(len(images), -1)), classes).backward()
            nn.utils.clip_grad_norm_(module.parameters(), 5.0)
            optimizer.step()
            schedule.step()
        yield None


def error(module: Any, structure: Any, rows: slice, device: str) -> float:
    """The share of images that a structure puts into the wrong class."""
    images, classes = (each[rows] for each in cifar.images_on(device))
    module.eval()
    right = 0
    with torch.no_grad():
        for few, truth in zip(images.split(2000), classes.split(2000), strict=True):
            out = module(few, structure.expand(len(few), -1))
            right += int((out.argmax(dim=1) == truth).sum())
    return 1.0 - right / len(classes)
