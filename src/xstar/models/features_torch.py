"""Train the networks of ``features.py`` with torch on a GPU. No other file of ``models`` imports torch.

Initial weights, minibatches and steps come from the same random stream and are the same. Only rounding differs, and
torch derives the gradient. The weights are returned as NumPy arrays; everything after training uses NumPy.
"""

from __future__ import annotations

import numpy as np

from xstar.errors import MissingExtra
from xstar.models.features import (
    ACTIVATIONS,
    BATCH,
    DECAY,
    MOMENTS,
    RATE,
    UNITS,
    Network,
    batches,
    initial,
    rates,
    steps_for,
    taken_apart,
)
from xstar.models.kernels import Array

try:
    import torch
except ImportError as error:
    raise MissingExtra("device='cuda' needs torch: pip install '.[torch]' in a checkout of xstar") from error


def check_device(device: str) -> None:
    """Raise an error if the device is not available."""
    if device == "cuda" and not torch.cuda.is_available():
        raise MissingExtra("device='cuda' needs a GPU that torch can see; there is none")


def train_on(
    device: str,
    X: Array,
    t: Array,
    rng: np.random.Generator,
    *,
    networks: int = 1,
    activation: str = "tanh",
    logistic: bool = False,
    steps: int | None = None,
) -> list[Network]:
    """Train networks like ``features.train``; the results differ by rounding only."""
    check_device(device)
    kinds = ACTIVATIONS[activation]
    steps = steps_for(len(X)) if steps is None else steps
    start = initial(X.shape[1], kinds, rng, UNITS, networks)
    order = torch.from_numpy(np.ascontiguousarray(batches(len(X), steps, BATCH, rng, networks))).to(device)
    inputs = torch.from_numpy((2.0 * X - 1.0).astype(np.float32)).to(device)
    targets = torch.from_numpy(t.astype(np.float32)).to(device)
    layers = [
        tuple(torch.from_numpy(part.astype(np.float32)).to(device).requires_grad_() for part in pair) for pair in start
    ]
    optimiser = torch.optim.AdamW(
        [part for pair in layers for part in pair], lr=RATE, betas=MOMENTS, eps=1e-8, weight_decay=DECAY
    )
    for rows, speed in zip(order, rates(steps).tolist(), strict=True):
        optimiser.param_groups[0]["lr"] = speed
        H = inputs[rows]
        for (weights, bias), kind in zip(layers[:-1], kinds, strict=True):
            H = torch.baddbmm(bias, H, weights)
            H = torch.tanh(H) if kind == "tanh" else torch.relu(H)
        out = torch.baddbmm(layers[-1][1], H, layers[-1][0])[..., 0]
        own = targets[rows]
        if logistic:
            loss = torch.nn.functional.softplus(out) - own * out
        else:
            loss = 0.5 * (out - own) ** 2
        optimiser.zero_grad()
        loss.mean(dim=1).sum().backward()
        optimiser.step()
    made = [tuple(part.detach().cpu().double().numpy() for part in pair) for pair in layers]
    return taken_apart([(weights, bias) for weights, bias in made], kinds)
