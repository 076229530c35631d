"""CNNs trained on CIFAR-10, as many side by side on one GPU as there are workers.

As in the NASBOT paper (5, C.2): 40,000 images for training, 10,000 for validation, 10,000 for the test. There, 60,000
iterations of 32 images (48 epochs) by SGD; here ``SCHEDULE``: about a minute on an H200 that trains 16 networks at once. The
images at hand were kept as JPEG (quality 75, half of the colours' resolution), which is the original with some detail lost:
compare with ResNet-18 by the same training, not with its usual error. Needs torch and Pillow.
"""

from __future__ import annotations

import io
import os
import tempfile
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.workloads.device import PATIENCE, device_errors
from benchmarks.workloads.network_costs import multiplications
from xstar import nets
from xstar.problems import data

FILE = "cifar10/cifar10_jpeg.npz"
TRAIN, VALID = 40_000, 10_000
SCHEDULE: dict[str, Any] = {
    "epochs": 8,
    "batch": 256,
    "rate": 0.05,  # at its highest: one cycle, the first ``warmup`` of it rising, then falling to 0 as a cosine
    "warmup": 0.25,
    "decay": 5e-4,
    "max_layers": 20,
    "fewest_units": 16,
    "most_units": 256,
}
"""All of it is part of what a record is known by. Nesterov's momentum 0.9, shifts by up to 4 pixels and flips, bf16."""
LAUNCHES = ("graph", "tuned", "eager")
"""How the steps of a training reach a GPU: ``cifar_steps.py`` says what each is good for."""
MEANS, SPREADS = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)


def domain() -> nets.CNN:
    """The networks that are searched."""
    units = SCHEDULE["fewest_units"], SCHEDULE["most_units"]
    return nets.CNN(image=32, channels=3, classes=10, units=units, max_layers=SCHEDULE["max_layers"], shorten=False)


def decoded() -> Path:
    """All images as bytes, (60000, 3, 32, 32), in a file that the processes share; decoded by whoever comes first."""
    made = Path(tempfile.gettempdir()) / "xstar-cifar10-images.npy"
    if not made.exists():
        from PIL import Image

        with np.load(data.path(FILE)) as file:
            header, tail, sizes = file["header"].tobytes(), file["tail"].tobytes(), file["size"].astype(np.int64)
        ends = np.cumsum(sizes)
        images = np.empty((len(sizes), 3, 32, 32), np.uint8)
        for place, (end, size) in enumerate(zip(ends.tolist(), sizes.tolist(), strict=True)):
            image = Image.open(io.BytesIO(header + tail[end - size : end]))
            images[place] = np.asarray(image.convert("RGB")).transpose(2, 0, 1)
        part = made.with_suffix(f".{os.getpid()}.npy")
        np.save(part, images)
        part.replace(made)
    return made


def labels() -> np.ndarray:
    """The classes of all images."""
    with np.load(data.path(FILE)) as file:
        return np.asarray(file["label"], np.int64)


@lru_cache(maxsize=1)
def images_on(device: str) -> tuple[Any, Any]:
    """Normalised images (bf16, channels last) and their classes. The 50,000 first are in random order already."""
    import torch

    pixels = torch.from_numpy(np.load(decoded())).to(device)
    means, spreads = (torch.tensor(each, device=device).view(1, 3, 1, 1) for each in (MEANS, SPREADS))
    scaled = torch.cat([((part.float() / 255 - means) / spreads).bfloat16() for part in pixels.split(10_000)])
    classes = torch.from_numpy(labels()).to(device)
    return scaled.to(memory_format=torch.channels_last), classes


def train(
    module: Any,
    epochs: int,
    seed: int,
    device: str,
    train_rows: int = TRAIN,
    each_image: bool = False,
    launch: str = "graph",
) -> dict[str, float]:
    """Train a module; its validation error, test error and what it took.

    ``each_image`` shifts each image by itself; ``launch`` is one of ``LAUNCHES``.
    """
    import torch

    from benchmarks.workloads.aligned_channels import align
    from benchmarks.workloads.cifar_steps import Steps, one_cycle
    from xstar.nets.torch import Network

    begun = time.perf_counter()
    images, classes = images_on(device)
    chance = torch.Generator(device).manual_seed(seed)
    weights = sum(each.numel() for each in module.parameters())
    if isinstance(module, Network):
        module = align(module)  # from here on it has weights that are 0 and stay 0
    module = module.to(device, memory_format=torch.channels_last).train()
    batch, many = SCHEDULE["batch"], train_rows // SCHEDULE["batch"]
    rates = one_cycle(epochs * many, SCHEDULE["rate"], SCHEDULE["warmup"])
    steps = Steps(module, batch, rates, SCHEDULE["decay"], device, launch)
    for _ in range(epochs):
        order = torch.randperm(train_rows, generator=chance, device=device)
        for rows in order.split(batch)[:many]:
            steps.take(varied(images[rows], chance, each_image), classes[rows])
    errors = error(module, slice(TRAIN, TRAIN + VALID), device), error(module, slice(TRAIN + VALID, None), device)
    return {"error": errors[0], "test": errors[1], "weights": weights, "trained": time.perf_counter() - begun}


SHIFT = 4
"""The most pixels an image is moved, either way and in both directions; what comes in is the mean colour."""


def varied(images: Any, chance: Any, each_image: bool = False) -> Any:
    """The batch shifted, all of it alike or each image by itself, and half of it mirrored."""
    import torch

    moved = shifted_apart(images, chance) if each_image else shifted_alike(images)
    flip = torch.rand(len(images), 1, 1, 1, generator=chance, device=images.device) < 0.5
    return torch.where(flip, moved.flip(3), moved).contiguous(memory_format=torch.channels_last)


def shifted_alike(images: Any) -> Any:
    """The batch moved by one step that all images share, which needs no gather."""
    import torch
    from torch.nn import functional

    across, down = (int(each) for each in torch.randint(2 * SHIFT + 1, (2,)))
    return functional.pad(images, (SHIFT,) * 4)[:, :, down : down + 32, across : across + 32]


def shifted_apart(images: Any, chance: Any) -> Any:
    """The batch, each image moved by a step of its own."""
    import torch
    from torch.nn import functional

    padded = functional.pad(images, (SHIFT,) * 4).permute(0, 2, 3, 1)
    steps = torch.randint(2 * SHIFT + 1, (2, len(images), 1), generator=chance, device=images.device)
    down, across = steps + torch.arange(32, device=images.device)
    which = torch.arange(len(images), device=images.device).view(-1, 1, 1)
    return padded[which, down[:, :, None], across[:, None, :]].permute(0, 3, 1, 2)


def error(module: Any, rows: slice, device: str) -> float:
    """The share of images put into the wrong class; 1 if the network gives no numbers any more."""
    import torch

    images, classes = images_on(device)
    module.eval()
    wrong = torch.zeros((), dtype=torch.int64, device=device)
    with torch.no_grad(), torch.autocast(device.partition(":")[0], torch.bfloat16):
        # In batches of the training, for whose size the algorithms of the convolutions have been chosen.
        size = SCHEDULE["batch"]
        for few, right in zip(images[rows].split(size), classes[rows].split(size), strict=True):
            out = module(few)
            good = out.isfinite().all(dim=1) & (out.argmax(dim=1) == right)
            wrong = wrong + len(few) - good.sum()
    return int(wrong) / len(classes[rows])


SMALL = 4e7
"""Multiplications for an image below which ``tuned`` is ``graph``: untimed, 10⁹ of them cost 60 s of a training instead of
12; timed, the GPU is busy for a few seconds before the first step."""


def suited(net: nets.Graph, launch: str) -> str:
    return "graph" if launch == "tuned" and multiplications(net.to_json()) < SMALL else launch


def objective(trial: Any, device: str, epochs: int, launch: str = "graph") -> dict[str, float]:
    """What a search minimises: the validation error of one training."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(trial.number)
    with device_errors(PATIENCE):
        found = train(trial["net"].to_torch(), epochs, trial.number, device, launch=suited(trial["net"], launch))
        if torch.cuda.is_available():
            torch.cuda.empty_cache()  # a graph has memory of its own, which others on the GPU need
    return found
