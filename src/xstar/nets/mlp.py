"""MLP: multi-layer perceptrons as values of a parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xstar.errors import InvalidSpace
from xstar.nets.domains import Networks
from xstar.nets.graph import Graph, Layer
from xstar.nets.labels import labels
from xstar.nets.pools import chain, mlp_pool
from xstar.space import register_domain

TASKS = {"regression": "linear", "classification": "softmax"}


@dataclass(frozen=True, repr=False)
class MLP(Networks):
    """Perceptrons from ``inputs`` features to ``outputs`` numbers or classes.

    >>> import numpy as np
    >>> domain = MLP(inputs=64, outputs=10)
    >>> domain.decision
    'softmax'
    >>> domain.contains(domain.sample(np.random.default_rng(0)))
    True
    """

    inputs: int
    outputs: int = 1
    task: str | None = None
    """``"regression"`` or ``"classification"``; None: classification if there are several outputs."""

    kind: ClassVar[str] = "mlp"

    def __post_init__(self) -> None:
        self._set("inputs", self._whole("inputs", 1))
        self._set("outputs", self._whole("outputs", 1))
        if self.task is None:
            self._set("task", "classification" if self.outputs > 1 else "regression")
        elif self.task not in TASKS:
            raise InvalidSpace("task", f"must be one of {', '.join(TASKS)}", self.task)
        super().__post_init__()

    @property
    def inputs_of(self) -> int:
        return self.inputs

    @property
    def outputs_of(self) -> int:
        return self.outputs

    @property
    def decision(self) -> str:
        assert self.task is not None
        return TASKS[self.task]

    def _candidates(self) -> list[Graph]:
        name = self.labels[0] if self.labels is not None else labels("mlp")[0]
        smallest = chain([Layer(name, self.units[0])], self.decision, self.inputs, self.outputs)
        return [*mlp_pool(self.inputs, self.outputs, self.decision, self.units, self.labels, self.max_layers), smallest]


register_domain(MLP.kind, MLP.from_json)
