"""The co-training benchmark on a few random images."""

from __future__ import annotations

from typing import Any

import torch

from benchmarks.workloads import cotraining


def small(which: str, tests: int = 100) -> Any:
    """The experiment ``which``, two replicas of small networks, with ``tests`` test images."""
    rng = torch.Generator().manual_seed(0)
    data = {
        "x_train": torch.rand(130, 784, generator=rng),
        "y_train": torch.randint(0, 10, (130,), generator=rng),
        "x_test": torch.rand(tests, 784, generator=rng),
        "y_test": torch.randint(0, 10, (tests,), generator=rng),
    }
    return cotraining.Experiment(getattr(cotraining, which)(6), data, 2, 0.05, torch.device("cpu"))
