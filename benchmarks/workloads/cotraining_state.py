"""The whole state of a co-training experiment as a file, so that a long one goes on where it was left, number by number."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.workloads.pairs import IGO

TENSORS = ("lr", "queue", "seen", "place", "order", "clock")
OF_PAIRS = ("theta", "path", "gamma", "size")


def state_of(experiment: Any) -> dict[str, Any]:
    """All that the steps to come depend on: tensors, and a text with the rest."""
    device = experiment.device
    random = torch.cuda.get_rng_state(device) if device.type == "cuda" else torch.get_rng_state()
    rest = {
        "done": experiment.done,
        "left": experiment.left,
        "cores": [core.dump() for core in experiment.cores],
        "rngs": [rng.bit_generator.state for rng in experiment.rngs],
        "curve": experiment.curve,
        "spent": experiment.spent,
    }
    return {
        "params": [param.detach() for param in experiment.params],
        "speed": experiment.speed,
        "points": [torch.from_numpy(points) for points in experiment.points],
        **{name: getattr(experiment, name) for name in TENSORS},
        **{f"pairs.{name}": getattr(experiment.pairs, name) for name in OF_PAIRS},
        "shuffler": experiment.shuffler.get_state(),
        "random": random,
        "rest": json.dumps(rest),
    }


def save(experiment: Any, file: Path) -> None:
    """Replaces the old file at once; beside it the curve so far, as JSON."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(".new")
    torch.save(state_of(experiment), new)
    os.replace(new, file)
    file.with_suffix(".json").write_text(json.dumps({"curve": experiment.curve}), encoding="utf-8")


def load(experiment: Any, file: Path) -> None:
    """In place: a captured graph keeps its addresses."""
    stored = torch.load(file, map_location="cpu", weights_only=True)
    for name in ("params", "speed"):
        for ours, theirs in zip(getattr(experiment, name), stored[name], strict=True):
            ours.detach().copy_(theirs)
    for name in TENSORS:
        getattr(experiment, name).copy_(stored[name])
    for name in OF_PAIRS:
        getattr(experiment.pairs, name).copy_(stored[f"pairs.{name}"])
    rest = json.loads(stored["rest"])
    experiment.points = [points.numpy() for points in stored["points"]]
    experiment.cores = [IGO.load(core) for core in rest["cores"]]
    for rng, state in zip(experiment.rngs, rest["rngs"], strict=True):
        rng.bit_generator.state = state
    experiment.done, experiment.left, experiment.curve = rest["done"], rest["left"], rest["curve"]
    experiment.spent = rest["spent"]
    experiment.shuffler.set_state(stored["shuffler"])
    if experiment.device.type == "cuda":
        torch.cuda.set_rng_state(stored["random"], experiment.device)
    else:
        torch.set_rng_state(stored["random"])
    assert all(isinstance(points, np.ndarray) for points in experiment.points)
