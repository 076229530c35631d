"""Networks of the activation experiment without a search: all tanh and all ReLU, from several initial weights and rates.

Which of them end with the test errors that the paper has for its fixed networks? All are trained side by side, replica
(rate, weights, activation, seed); those of one seed share the random numbers of their weights and the mini-batches.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from itertools import product
from typing import Any

import torch

from benchmarks.workloads.cotraining import BATCH, SideBySide
from benchmarks.workloads.mnist_networks import DECAY, VARIANCES, Tensor, descend, initial

KINDS = ("tanh", "ReLU")


class Grid(SideBySide):
    """Every rate, initial weights, activation and seed."""

    def __init__(
        self,
        net: Any,
        data: dict[str, Tensor],
        seeds: int,
        rates: Sequence[float],
        device: torch.device,
        first: int = 0,
    ) -> None:
        self.rates, self.each = rates, len(VARIANCES) * len(KINDS) * seeds  # replicas of a rate
        super().__init__(net, data, len(rates) * self.each, seeds, device, first)
        self.lrs = [torch.tensor(rate, device=device) for rate in rates]
        relu = torch.tensor([kind == "ReLU" for kind in KINDS for _ in range(seeds)], device=device)
        self.relu = relu.repeat(len(rates) * len(VARIANCES))[:, None].expand(-1, net.bits)
        self.reset()

    def reset(self) -> None:
        super().reset()
        for seed, (place, init) in product(range(self.seeds), enumerate(VARIANCES)):
            made = initial(init, self.net.shapes, torch.Generator().manual_seed(self.first + seed))
            begin = place * len(KINDS) * self.seeds + seed
            for param, values in zip(self.params, made, strict=True):
                of = param.detach().unflatten(0, (len(self.rates), self.each))
                of[:, begin : begin + len(KINDS) * self.seeds : self.seeds] = values.to(self.device)

    def slow(self, share: float) -> None:
        for lr, rate in zip(self.lrs, self.rates, strict=True):
            lr.fill_(rate * share)

    def _learn(self) -> None:
        pass

    def _step(self) -> None:
        inputs, labels = self._batch()
        kinds = self.replicas // self.seeds
        x = inputs[None].expand(kinds, -1, -1, -1).reshape(self.replicas, BATCH, -1)
        losses = self._losses(x, labels[None].expand(kinds, -1, -1), self.relu[:, None])
        grads = torch.autograd.grad(losses.sum(), self.params)
        with torch.no_grad():
            whole = self.params, [grad.contiguous() for grad in grads], self.speed
            sides = [[each.split(self.each) for each in of] for of in whole]
            for place, lr in enumerate(self.lrs):
                params, slopes, speed = ([each[place] for each in side] for side in sides)
                descend(params, slopes, speed, lr, DECAY)
            self.clock.add_(1)

    def structures(self) -> Tensor:
        return self.relu

    def record(self, iterations: int, started: float) -> dict[str, Any]:
        errors = iter(self.test())
        found = [
            {"rate": rate, "init": init, "kind": kind, "error": [next(errors) for _ in range(self.seeds)]}
            for rate, init, kind in product(self.rates, VARIANCES, KINDS)
        ]
        taken = {"iteration": self.done, "seconds": round(time.perf_counter() - started, 2), "cells": found}
        told = ", ".join(f"{statistics.median(each['error']):.2f}" for each in found)
        print(f"fixed {self.done:7}/{iterations}  {taken['seconds']:7.1f} s  {told}", flush=True)
        return taken
