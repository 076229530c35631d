"""Minibatches for ``cotrain.py``: iterated repeatedly, and resumable in the middle of an epoch.

A shuffled loader draws its order from a torch generator at the start of an epoch. A checkpoint stores the states of all
generators at that moment, and the number of batches used since. To resume, the states are restored, the epoch is drawn
again, that many batches are skipped, and the generators are set to their states at the time of the checkpoint. All
later numbers are then identical. Skipping costs the loading of those batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch

from xstar.errors import InvalidArgument

States = dict[str, Any]


class Source:
    """A position in an endless sequence of minibatches."""

    def __init__(self, device: Any) -> None:
        self.device = device
        self.epoch = 0
        """The number of passes over the loader, including the current one."""
        self._place = 0  # batches of this epoch already used
        self._begun: States = {}  # the generators at the start of the epoch
        self._left: States | None = None  # the generators at the time of the checkpoint, until the loader is known
        self._live: tuple[Any, Iterator[Any]] | None = None

    def next(self, batches: Iterable[Any]) -> tuple[Any, Any]:
        """Return (inputs, targets) on the device."""
        if self._live is None or self._live[0] is not batches:
            self._live = (batches, self._continued(batches) if self._place else self._opened(batches))
        found = next(self._live[1], None)
        if found is None:  # the epoch is over
            self._live = (batches, self._opened(batches))
            found = next(self._live[1], None)
            if found is None:
                remedy = "pass a list or a DataLoader: a generator can be gone through only once"
                raise InvalidArgument("batches", "must hold a batch each time they are gone through", 0, remedy)
        self._place += 1
        return self.pair(found)

    def _opened(self, batches: Iterable[Any]) -> Iterator[Any]:
        self._begun, self._place, self._left = generators(batches, self.device), 0, None
        self.epoch += 1
        return iter(batches)

    def _continued(self, batches: Iterable[Any]) -> Iterator[Any]:
        now = self._left if self._left is not None else generators(batches, self.device)
        self._left = None
        set_generators(self._begun, batches, self.device)
        opened = iter(batches)
        for _ in range(self._place):
            next(opened, None)
        set_generators(now, batches, self.device)
        return opened

    def pair(self, found: Any) -> tuple[Any, Any]:
        try:
            inputs, targets = found
        except (TypeError, ValueError):
            raise InvalidArgument("batches", "must hold pairs (inputs, targets)", type(found).__name__) from None
        if not isinstance(inputs, torch.Tensor) or not isinstance(targets, torch.Tensor):
            kinds = f"types={type(inputs).__name__}, {type(targets).__name__}"
            raise InvalidArgument("batches", "must hold pairs of tensors", kinds)
        return inputs.to(self.device, non_blocking=True), targets.to(self.device, non_blocking=True)

    def dump(self) -> dict[str, Any]:
        left = self._left
        if left is None:
            left = generators(None if self._live is None else self._live[0], self.device)
        return {"epoch": self.epoch, "place": self._place, "begun": self._begun, "left": left}

    def load(self, state: dict[str, Any]) -> None:
        self.epoch, self._place, self._begun = state["epoch"], state["place"], state["begun"]
        self._left, self._live = state["left"], None
        set_generators(state["left"], None, self.device)


def generators(batches: Any, device: Any) -> States:
    """Return the states of the generators used in training: torch's global ones, and the loader's own."""
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states | {name: generator.get_state() for name, generator in _own(batches)}


def set_generators(states: States, batches: Any, device: Any) -> None:
    torch.set_rng_state(states["cpu"])
    if device.type == "cuda" and "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"], device)
    for name, generator in _own(batches):
        if name in states:
            generator.set_state(states[name])


def _own(batches: Any) -> list[tuple[str, Any]]:
    holders = {"loader": batches, "sampler": getattr(batches, "sampler", None)}
    found = [(name, getattr(holder, "generator", None)) for name, holder in holders.items()]
    return [(name, generator) for name, generator in found if isinstance(generator, torch.Generator)]
