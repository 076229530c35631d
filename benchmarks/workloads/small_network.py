"""Trials that train a small torch network in worker processes, and the processor time that they take."""

from __future__ import annotations

import os
import resource
import time
from typing import Any

import xstar as xs
from xstar.executors.devices import THREADS


def objective(trial: Any) -> float:
    """Fit 2,000 random rows of 64 columns with two hidden layers of 256 units: a step takes about 5 ms on one core."""
    import torch

    made = torch.Generator().manual_seed(trial.number)
    rows, targets = torch.randn(2000, 64, generator=made), torch.randn(2000, 1, generator=made)
    layers = torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU()
    model = torch.nn.Sequential(*layers, torch.nn.Linear(256, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=trial["lr"])
    loss = torch.zeros(())
    for step in range(trial["steps"]):
        part = slice(step % 8 * 250, step % 8 * 250 + 250)
        loss = torch.nn.functional.mse_loss(model(rows[part]), targets[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float(loss)


def processor_seconds(trials: int, steps: int, workers: int, cores: int | None) -> tuple[float, float]:
    """Processor time of the worker processes, all they import included, and the time on the wall."""
    for name in THREADS:  # the harness has set these to 1; who calls xs.minimize has not
        os.environ.pop(name, None)
    space = xs.Space(lr=xs.Float(1e-3, 1e-1, log=True), steps=xs.Constant(steps))
    begun, before = time.perf_counter(), _of_children()
    # The time limit is never met: it makes a worker process also where there is one worker.
    xs.minimize(
        objective,
        space,
        trials=trials,
        workers=workers,
        cores=cores,
        method="random",
        seed=0,
        timeout=3600,
        progress=False,
    )
    return _of_children() - before, time.perf_counter() - begun


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
