"""MLPs on naval propulsion and protein structure at the size of the NASBOT paper: all rows, 20,000 iterations, on a GPU.

From the paper (5, B.3, C.2): 60, 20 and 20 % of the rows; batches of 256; the lowest of the validation errors that are taken
every 100 iterations, and the test error of the same moment; at most 60 layers of 8 to 1,024 units. Its SGD with a fixed step
of 1e-5 hardly moves a network whose loss is a mean of normalised errors: 20,000 such steps are together as long as 20 of size
0.01. Here it is Adam, as in ``mlp_training``, where the reasons for warm-up, clipping and initial weights are.

A step of a small network is some 150 kernels of a few microseconds. On a GPU, ``CHUNK`` steps are captured as one CUDA graph;
nothing waits for the host until the end. The host waits for the GPU after every ``every`` steps, asleep (``device.Pace``):
sixteen trainings at once would otherwise keep sixteen cores busy with waiting.
"""

from __future__ import annotations

import math
import time
from functools import lru_cache
from typing import Any

from benchmarks.workloads.device import Pace, captured, device_errors
from benchmarks.workloads.mlp_training import WORST, Split, split_of
from xstar import nets

TRAINING: dict[str, Any] = {
    "optimizer": "adam",
    "rate": 0.001,  # at its highest: it rises for ``warmup`` iterations and falls to 0 in a straight line
    "warmup": 500,
    "clip": 1.0,
    "batch": 256,
    "iterations": 20_000,
    "every": 100,
    "weights": "he",
    "fewest_units": 8,
    "most_units": 1024,
    "max_layers": 60,
}
"""All of it is part of what a record is known by."""
CHUNK = 20
"""Steps of a CUDA graph; divides ``every``."""


@lru_cache(maxsize=2)
def rows_on(problem: str, seed: int, device: str) -> Split:
    """All rows of a problem, on the device."""
    return Split(*(tuple(each.to(device) for each in part) for part in split_of(problem, seed, None, None)))


def domain(problem: str, seed: int) -> nets.MLP:
    """The networks that are searched."""
    inputs = split_of(problem, seed, None, None).train[0].shape[1]
    return nets.MLP(
        inputs=inputs, units=(TRAINING["fewest_units"], TRAINING["most_units"]), max_layers=TRAINING["max_layers"]
    )


def objective(trial: Any, problem: str, seed: int, device: str) -> dict[str, float]:
    """What a search minimises: the validation error of one training, from the weights of the split's seed."""
    import torch

    torch.set_num_threads(1)
    with device_errors():  # no patience: MPS fails for all its processes when one is killed in the middle of its work
        return train(trial["net"], rows_on(problem, seed, device), 1000 * seed, device)


def train(graph: nets.Graph, split: Split, seed: int, device: str) -> dict[str, float]:
    """One network: the lowest validation error along its training, the test error at that moment, and the seconds."""
    import torch

    begun = time.perf_counter()
    torch.set_float32_matmul_precision("high")
    torch.manual_seed(seed)
    model: Any = graph.to_torch().to(device)
    for one in model.modules():
        if isinstance(one, torch.nn.Linear):
            torch.nn.init.kaiming_normal_(one.weight, nonlinearity="relu")
            torch.nn.init.zeros_(one.bias)
    steps = Steps(model, split, seed, device)
    advance = captured(steps.one, steps.several, steps.restore) if device.startswith("cuda") else steps.several
    errors, pace = [], Pace(device)
    for _ in range(TRAINING["iterations"] // TRAINING["every"]):
        for _ in range(TRAINING["every"] // CHUNK):
            advance()
        errors.append(torch.stack([mean_square(model, *split.valid), mean_square(model, *split.test)]))
        pace.keep()
    found = torch.stack(errors).tolist()
    valid, test = min(((finite(valid), finite(test)) for valid, test in found), key=lambda pair: pair[0])
    return {"mse": valid, "test": test, "trained": time.perf_counter() - begun}


def finite(error: float) -> float:
    return min(error, WORST) if math.isfinite(error) else WORST


def mean_square(model: Any, x: Any, y: Any) -> Any:
    import torch
    from torch.nn import functional

    with torch.no_grad():
        return functional.mse_loss(model(x), y)


class Steps:
    """The steps of a training, with all that changes from step to step on the device."""

    def __init__(self, model: Any, split: Split, seed: int, device: str) -> None:
        import torch

        self.model, (self.x, self.y) = model, split.train
        count, batch = TRAINING["iterations"], TRAINING["batch"]
        stream = torch.Generator(device).manual_seed(seed)  # the same mini-batches for all networks
        self.rows = torch.randint(len(self.x), (count, batch), generator=stream, device=device)
        at = torch.arange(count, dtype=torch.float32, device=device)
        self.rates = TRAINING["rate"] * torch.clamp((at + 1.0) / TRAINING["warmup"], max=1.0) * (1.0 - at / count)
        self.clock = torch.zeros(1, dtype=torch.int64, device=device)
        self.rate = torch.zeros((), device=device)
        self.params = list(model.parameters())
        on_gpu = device.startswith("cuda")
        self.optimizer = torch.optim.Adam(self.params, lr=self.rate if on_gpu else 0.0, fused=on_gpu, capturable=on_gpu)
        self.before = [param.detach().clone() for param in self.params]

    def one(self) -> None:
        import torch
        from torch.nn import functional

        few = self.rows.index_select(0, self.clock)[0]
        self.rate.copy_(self.rates.index_select(0, self.clock)[0])
        if not self.rate.is_cuda:
            self.optimizer.param_groups[0]["lr"] = float(self.rate)
        self.optimizer.zero_grad(set_to_none=True)
        functional.mse_loss(self.model(self.x[few]), self.y[few]).backward()
        torch.nn.utils.clip_grad_norm_(self.params, TRAINING["clip"])
        self.optimizer.step()
        self.clock.add_(1)

    def several(self) -> None:
        for _ in range(CHUNK):
            self.one()

    def restore(self) -> None:
        """Weights, optimizer and clock as in the beginning."""
        import torch

        with torch.no_grad():
            for param, was in zip(self.params, self.before, strict=True):
                param.copy_(was)
                for each in self.optimizer.state[param].values():
                    each.zero_()
        self.clock.zero_()
