"""The whole state of a co-training experiment as a file, so that a long one goes on where it was left, number by number.

Or as small files, where what has to be carried from machine to machine is limited: ``compact``.
"""

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
PART = 8_000_000
"""Numbers of a file of weights, 16 MB in half precision."""


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


def save(experiment: Any, file: Path, *, compact: bool = False) -> None:
    """Replaces the old file at once; beside it the curve so far, as JSON.

    ``compact``: weights in half precision, in files of at most ``PART`` numbers, and no momentum, which the next fifty steps
    make again. It then goes on like the run that was never interrupted, but not number by number.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    state = state_of(experiment)
    if compact:
        weights = torch.cat([param.flatten().cpu().half() for param in state.pop("params")])
        for number, part in enumerate(weights.split(PART)):
            _write(part.clone(), part_of(file, number))
        state |= {"points": [torch.from_numpy(np.packbits(points.numpy())) for points in state["points"]]}
        state |= {"sizes": [len(points) for points in experiment.points]}
        for name in ("speed", "queue"):
            del state[name]
    _write(state, file)
    file.with_suffix(".json").write_text(json.dumps({"curve": experiment.curve}), encoding="utf-8")


def part_of(file: Path, number: int) -> Path:
    return file.with_suffix(f".{number}.pt")


def _write(what: Any, file: Path) -> None:
    new = file.with_suffix(".new")
    torch.save(what, new)
    os.replace(new, file)


def load(experiment: Any, file: Path) -> None:
    """In place: a captured graph keeps its addresses."""
    stored = torch.load(file, map_location="cpu", weights_only=True)
    rest = json.loads(stored["rest"])
    compact = "params" not in stored
    if compact:
        _read_parts(experiment, file)
        kinds = [points.dtype for points in experiment.points]
        experiment.points = [
            np.unpackbits(packed.numpy())[: size * experiment.net.bits].reshape(size, -1).astype(kind)
            for packed, size, kind in zip(stored["points"], stored["sizes"], kinds, strict=True)
        ]
        for seed, points in enumerate(experiment.points):
            experiment.queue[seed, : len(points)].copy_(torch.from_numpy(points.astype(np.bool_)))
    else:
        for name in ("params", "speed"):
            for ours, theirs in zip(getattr(experiment, name), stored[name], strict=True):
                ours.detach().copy_(theirs)
        experiment.points = [points.numpy() for points in stored["points"]]
    for name in TENSORS:
        if name in stored:
            getattr(experiment, name).copy_(stored[name])
    for name in OF_PAIRS:
        getattr(experiment.pairs, name).copy_(stored[f"pairs.{name}"])
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


def _read_parts(experiment: Any, file: Path) -> None:
    wanted = sum(param.numel() for param in experiment.params)
    parts = [torch.load(part_of(file, at), weights_only=True) for at in range(-(-wanted // PART))]
    weights = torch.cat(parts).float()
    assert len(weights) == wanted
    begin = 0
    for param in experiment.params:
        param.detach().copy_(weights[begin : begin + param.numel()].view(param.shape))
        begin += param.numel()
    for speed in experiment.speed:
        speed.zero_()
