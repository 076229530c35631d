"""MOBSTER's MLP on the data set *electricity*, many networks at once as one program of batched matrix products.

Notation

=========  ===========================================================================  =====================
symbol     meaning                                                                      shape
=========  ===========================================================================  =====================
``N``      networks that are trained side by side
``P``      weights of one, padded
``flat``   all weights of all networks, a row each; ``W1, b1, … b3`` are views of it    (N, P)
``x, y``   a mini-batch, the same for all networks                                      (b, d), (b, 1)
``z, h``   a layer before and after its activation and dropout                          (N, b, units)
``m``      what turns z into h: 1 / keep where the unit is active and kept, else 0      (N, b, units)
=========  ===========================================================================  =====================

*Padding.* Networks of one group have layers of the same padded width. Padded weights are 0, and stay 0: a unit without weights
has z = 0, is not active, and neither receives nor hands on a gradient.

*From the paper* (Section 4 and Table 1): two hidden layers of ReLU units, Adam, nine hyperparameters, 81 epochs. It leaves
open: weight decay is an L2 penalty, as Adam of torch has it; initial weights of layer l are uniform in ± scale_l, those of the
output in ± 1 / √units, biases 0; one logit and its cross-entropy; rows are split at random; features are standardised.
Mini-batches are the same for all networks of all groups; an incomplete last one does not occur.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.stats import qmc
from torch import Tensor

FILE = "electricity/elec.csv.gz"
TRAIN, VALID = 27_136, 9_088
"""Rows: 212 batches of 128; the rest, 9,088 of 45,312, is the test set."""
EPOCHS, CHUNK = 81, 53
"""Steps per CUDA graph: 53 divides the steps of an epoch for every batch size."""
BATCHES = (8, 16, 32, 64, 128)
WIDTHS = (64, 256, 512, 1024)
"""Padded widths. Finer ones waste less arithmetic, but make more groups, and small groups wait for launches."""
B1, B2, EPS = 0.9, 0.999, 1e-8
"""Adam's, as everywhere."""
NAMES = (
    "learning_rate",
    "batch_size",
    "weight_decay",
    "dropout_1",
    "dropout_2",
    "units_1",
    "units_2",
    "scale_1",
    "scale_2",
)
Config = Mapping[str, float]
Group = tuple[int, int, int]
"""Batch size and the two padded widths."""


def design(count: int) -> list[dict[str, float]]:
    """The first configurations of a scrambled Sobol sequence over the paper's Table 1; batch sizes are powers of two."""
    even = 1 << max(0, count - 1).bit_length()
    places = qmc.Sobol(len(NAMES), rng=np.random.default_rng(0)).random(even)[:count]
    return [dict(zip(NAMES, configuration(place), strict=True)) for place in places]


def configuration(u: Sequence[float]) -> Iterator[float]:
    """In the order of ``NAMES``, from the unit cube."""
    yield 10.0 ** (-6.0 + 6.0 * u[0])
    yield BATCHES[min(int(len(BATCHES) * u[1]), len(BATCHES) - 1)]
    yield 10.0 ** (-8.0 + 8.0 * u[2])
    yield 0.99 * u[3]
    yield 0.99 * u[4]
    yield round(2.0 ** (4.0 + 6.0 * u[5]))
    yield round(2.0 ** (4.0 + 6.0 * u[6]))
    yield 10.0 ** (-3.0 + 4.0 * u[7])
    yield 10.0 ** (-3.0 + 4.0 * u[8])


def group_of(config: Config) -> Group:
    first, second = (next(width for width in WIDTHS if width >= config[f"units_{layer}"]) for layer in (1, 2))
    return int(config["batch_size"]), first, second


@dataclass(frozen=True)
class Data:
    """Rows on the device; y is 0 or 1, the majority is 0."""

    x: Mapping[str, Tensor]
    y: Mapping[str, Tensor]

    @property
    def features(self) -> int:
        return self.x["train"].shape[1]


@cache
def load(path: Path, device: torch.device) -> Data:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1)
    return split(table, device, (TRAIN, VALID))


def split(table: np.ndarray, device: torch.device, sizes: tuple[int, int]) -> Data:
    """Rows (features …, target) shuffled, split and standardised by what is known of the training rows."""
    table = table[np.random.default_rng(0).permutation(len(table))]
    edges = {"train": slice(0, sizes[0]), "valid": slice(sizes[0], sum(sizes)), "test": slice(sum(sizes), None)}
    known = table[edges["train"], :-1]
    table[:, :-1] = (table[:, :-1] - known.mean(axis=0)) / known.std(axis=0)
    majority = np.median(table[edges["train"], -1])
    x = {name: torch.tensor(table[rows, :-1], dtype=torch.float32, device=device) for name, rows in edges.items()}
    y = {name: torch.tensor(table[rows, -1:] != majority, device=device).float() for name, rows in edges.items()}
    return Data(x, y)


def adam(
    flat: Tensor, grad: Tensor, m: Tensor, v: Tensor, b1t: Tensor, b2t: Tensor, rate: Tensor, decay: Tensor
) -> None:
    """Adam with an L2 penalty (Kingma & Ba 2015), in place; its corrections are moved from the arrays to their factors."""
    grad = torch.addcmul(grad, flat, decay)
    m.lerp_(grad, 1.0 - B1)
    v.mul_(B2).addcmul_(grad, grad, value=1.0 - B2)
    b1t.mul_(B1)
    b2t.mul_(B2)
    root = (1.0 - b2t).sqrt()
    flat.addcmul_(m / (v.sqrt() + EPS * root), -rate * root / (1.0 - b1t))


class Networks:
    """The networks of a group, their gradients and the state of Adam."""

    def __init__(
        self,
        configs: Sequence[Config],
        seeds: Sequence[int],
        features: int,
        device: torch.device,
    ) -> None:
        _, first, second = group_of({**configs[0]})
        self.count, self.device = len(configs), device
        self.shapes = {
            "W1": (features, first),
            "b1": (1, first),
            "W2": (first, second),
            "b2": (1, second),
            "W3": (second, 1),
            "b3": (1, 1),
        }
        size = sum(math.prod(shape) for shape in self.shapes.values())
        self.flat, self.grad, self.m, self.v = (torch.zeros(self.count, size, device=device) for _ in range(4))
        self.w, self.g = self.views(self.flat), self.views(self.grad)
        for row, (config, seed) in enumerate(zip(configs, seeds, strict=True)):
            for name, values in initial(config, seed, features).items():
                self.w[name][row, : values.shape[0], : values.shape[1]] = values.to(device)
        self.rate, self.decay = (self.column(configs, name) for name in ("learning_rate", "weight_decay"))
        self.keep = [1.0 - self.column(configs, f"dropout_{layer}")[:, :, None] for layer in (1, 2)]
        self.b1t, self.b2t = torch.ones((), device=device), torch.ones((), device=device)

    def column(self, configs: Sequence[Config], name: str) -> Tensor:
        return torch.tensor([[config[name]] for config in configs], dtype=torch.float32, device=self.device)

    def views(self, flat: Tensor) -> dict[str, Tensor]:
        found, begin = {}, 0
        for name, shape in self.shapes.items():
            end = begin + math.prod(shape)
            found[name] = flat[:, begin:end].view(self.count, *shape)
            begin = end
        return found

    def mask(self, z: Tensor, keep: Tensor) -> Tensor:
        return ((torch.rand_like(z) < keep) & (z > 0.0)) / keep

    def step(self, x: Tensor, y: Tensor) -> None:
        """One step of Adam on a mini-batch; the gradient is written out, so that a step has few launches."""
        w, g, several = self.w, self.g, x.expand(self.count, -1, -1)
        z1 = torch.baddbmm(w["b1"], several, w["W1"])
        m1 = self.mask(z1, self.keep[0])
        h1 = z1 * m1
        z2 = torch.baddbmm(w["b2"], h1, w["W2"])
        m2 = self.mask(z2, self.keep[1])
        h2 = z2 * m2
        d3 = (torch.sigmoid(torch.baddbmm(w["b3"], h2, w["W3"])) - y) / len(x)  # of the mean cross-entropy
        d2 = d3 * w["W3"].mT * m2
        d1 = torch.bmm(d2, w["W2"].mT) * m1
        for left, right, layer in ((several, d1, 1), (h1, d2, 2), (h2, d3, 3)):
            torch.bmm(left.mT, right, out=g[f"W{layer}"])
            torch.sum(right, dim=1, keepdim=True, out=g[f"b{layer}"])
        self.adam()

    def adam(self) -> None:
        adam(self.flat, self.grad, self.m, self.v, self.b1t, self.b2t, self.rate, self.decay)

    @torch.no_grad()
    def wrong(self, x: Tensor, y: Tensor, rows: int = 2048) -> Tensor:
        """How many rows each network gets wrong; what is not finite counts as the majority."""
        total = torch.zeros(self.count, dtype=torch.int64, device=self.device)
        for part, truth in zip(x.split(rows), y.split(rows), strict=True):
            h = torch.baddbmm(self.w["b1"], part.expand(self.count, -1, -1), self.w["W1"]).relu_()
            h = torch.baddbmm(self.w["b2"], h, self.w["W2"]).relu_()
            logit = torch.baddbmm(self.w["b3"], h, self.w["W3"])
            total += ((logit > 0.0) != (truth > 0.5)).sum(dim=(1, 2))
        return total


def initial(config: Config, seed: int, features: int) -> dict[str, Tensor]:
    """Weights of one network, from a stream of its own, so that they do not depend on its group."""
    stream = torch.Generator().manual_seed(seed)
    first, second = int(config["units_1"]), int(config["units_2"])
    scales = {
        "W1": ((features, first), config["scale_1"]),
        "W2": ((first, second), config["scale_2"]),
        "W3": ((second, 1), second**-0.5),
    }
    return {name: scale * (2.0 * torch.rand(shape, generator=stream) - 1.0) for name, (shape, scale) in scales.items()}


def order(epoch: int, rows: int) -> Tensor:
    """The shuffled rows of an epoch, the same for all networks."""
    return torch.randperm(rows, generator=torch.Generator().manual_seed(epoch))


@torch.no_grad()
def train(
    configs: Sequence[Config],
    seeds: Sequence[int],
    data: Data,
    epochs: int,
    device: torch.device,
) -> dict[str, np.ndarray]:
    """Networks of one group, trained side by side: how many rows of each part are wrong after each epoch, (N, epochs)."""
    torch.manual_seed(seeds[0])
    networks = Networks(configs, seeds, data.features, device)
    batch, rows = int(configs[0]["batch_size"]), len(data.x["train"])
    steps = rows // batch
    chunk = next(size for size in range(min(CHUNK, steps), 0, -1) if steps % size == 0)
    x = torch.zeros(chunk, batch, data.features, device=device)
    y = torch.zeros(chunk, batch, 1, device=device)

    def several() -> None:
        for at in range(chunk):
            networks.step(x[at], y[at])

    advance = captured(networks, several) if device.type == "cuda" else several
    counts: dict[str, list[Any]] = {"valid": [], "test": []}
    for epoch in range(epochs):
        shuffled = order(epoch, rows)[: steps * batch].to(device)
        xs = data.x["train"][shuffled].view(-1, chunk, batch, data.features)
        ys = data.y["train"][shuffled].view(-1, chunk, batch, 1)
        for part in range(len(xs)):
            x.copy_(xs[part])
            y.copy_(ys[part])
            advance()
        for name, found in counts.items():
            found.append(networks.wrong(data.x[name], data.y[name]))
    return {name: torch.stack(found, dim=1).cpu().numpy().astype(np.uint16) for name, found in counts.items()}


def captured(networks: Networks, several: Callable[[], None]) -> Callable[[], None]:
    """The steps as a CUDA graph; the state is as before."""
    state = [networks.flat, networks.m, networks.v, networks.b1t, networks.b2t]
    before = [each.clone() for each in state]
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        several()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        several()
    for each, was in zip(state, before, strict=True):
        each.copy_(was)
    return graph.replay
