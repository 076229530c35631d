"""What a co-training goes through, resumable at any step: structures, and minibatches. The notation is that of ``cotrain.py``.

Structures are drawn from P_θ and ranked by their losses; θ is updated when a generation is complete.

Minibatches are iterated repeatedly. A shuffled loader draws its order from a torch generator at the start of an epoch. A
checkpoint stores the states of all generators at that moment, and the number of batches used since. To resume, the states are
restored, the epoch is drawn again, that many batches are skipped, and the generators are set to their states at the time of the
checkpoint. All later numbers are then identical. Skipping costs the loading of those batches.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from xstar.core.checks import whole_number
from xstar.errors import InvalidArgument
from xstar.igo.core import IGO
from xstar.igo.discrete import Bernoulli
from xstar.igo.family import Array, Family

States = dict[str, Any]
METHODS = ("pbil-epsilon", "pbil-lambda", "cga")


class Structures:
    """A distribution of structures, and its current generation."""

    def __init__(self, structure: int | Family, method: str, seed: int) -> None:
        if method not in METHODS:
            raise InvalidArgument("method", f"must be one of {', '.join(METHODS)}", method)
        self.method = method
        self.core = _core(structure, method)
        self._rng = np.random.default_rng(whole_number("seed", seed, least=0))
        self._points: list[Array] = []  # points of PBIL-λ's current generation, drawn from the current θ
        self._losses: list[float] = []

    def draw(self) -> Array:
        """Return the structures of one round: (1, D) with PBIL-λ, otherwise (2, D)."""
        return self.core.sample(1 if self.method == "pbil-lambda" else 2, self._rng)

    def rank(self, drawn: Array, losses: Sequence[float]) -> None:
        """Add the losses of what was drawn; update θ if this completes the generation."""
        self._points += list(drawn)
        self._losses += [loss if math.isfinite(loss) else math.inf for loss in losses]
        count = self.core.samples if self.method == "pbil-lambda" else 2
        if len(self._points) >= count:
            points, ranked = np.stack(self._points), self._losses
            self._points, self._losses = [], []
            self.core.update(points, ranked)  # if all are infinite, all are equal and θ does not change

    def dump(self) -> dict[str, Any]:
        """Return the complete state as JSON."""
        return {
            "method": self.method,
            "core": self.core.dump(),
            "structures": self._rng.bit_generator.state,
            "points": [point.tolist() for point in self._points],
            "losses": self._losses,
        }

    def stored_core(self, stored: Mapping[str, Any], remedy: str) -> IGO:
        """Return the core of a stored state; refuse that of another method or family."""
        core = self.core.copy()
        try:
            core.load(stored["core"])
        except InvalidArgument as error:
            raise InvalidArgument("path", "must hold the same structure", error.found, remedy) from None
        if stored["method"] != self.method:
            raise InvalidArgument("path", f"must hold the method {self.method}", stored["method"], remedy)
        return core

    def load(self, stored: Mapping[str, Any], core: IGO) -> None:
        """Continue from a stored state and its core."""
        self.core = core
        self._points = [np.array(point) for point in stored["points"]]
        self._losses = stored["losses"]
        self._rng.bit_generator.state = stored["structures"]


def _core(structure: int | Family, method: str) -> IGO:
    family: Any = (
        structure if hasattr(structure, "whiten") else Bernoulli(whole_number("structure", structure, least=1))
    )
    if method == "pbil-lambda":
        return IGO(family)
    if method == "pbil-epsilon":
        return IGO(family, adapt="step")
    return IGO(family, adapt="none", step=1.0 / family.parameters)


# ---------------------------------------------------------------- minibatches


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
