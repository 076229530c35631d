"""The structures of a co-training: drawn from P_θ, ranked by their losses, θ updated when a generation is complete.

The notation is that of ``cotrain.py``. Nothing here knows of torch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from xstar.core.checks import whole_number
from xstar.errors import InvalidArgument
from xstar.igo.core import IGO
from xstar.igo.discrete import Bernoulli
from xstar.igo.family import Array, Family

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
        core = IGO.load(stored["core"])
        here, there = (self.method, self.core.family.to_json()), (stored["method"], core.family.to_json())
        if here != there:
            found = f"{there[0]} with {_short(there[1])} in place of {here[0]} with {_short(here[1])}"
            raise InvalidArgument("path", "must hold the same method and structure", found, remedy)
        return core

    def load(self, stored: Mapping[str, Any], core: IGO) -> None:
        """Continue from a stored state and its core."""
        self.core = core
        self._points = [np.array(point) for point in stored["points"]]
        self._losses = stored["losses"]
        self._rng.bit_generator.state = stored["structures"]


def _core(structure: int | Family, method: str) -> IGO:
    family: Any = (
        structure if hasattr(structure, "to_json") else Bernoulli(whole_number("structure", structure, least=1))
    )
    if method == "pbil-lambda":
        return IGO(family)
    if method == "pbil-epsilon":
        return IGO(family, adapt="step")
    return IGO(family, adapt="none", step=1.0 / family.parameters)


def _short(family: dict[str, Any]) -> str:
    return str({name: value for name, value in family.items() if name != "start"})
