"""Many networks trained side by side while their structures are searched: what ``benchmarks.cotrain`` runs.

=============  ==========================================================================  ===================
symbol         meaning                                                                     shape
=============  ==========================================================================  ===================
``S, K, R``    seeds, methods, replicas: R = K S networks that are trained side by side     int
``B``          the mini-batch, 64                                                           int
``m``          two structures for each replica                                              (R, 2, n)
``θ``          of the replicas of cGA and PBIL-ε, in float64                                (P, n)
=============  ==========================================================================  ===================

All replicas of an experiment are one program of batched matrix products, which on a GPU is captured once as a CUDA graph and
replayed. Every replica takes two structures per step; those that have one (PBIL-λ, fixed) take it twice, which leaves the mean
of the two losses and its gradient as they are. cGA and PBIL-ε are updated on the device (``Pairs``, which at the start is
compared with the core number by number); PBIL-λ is the core itself, on the host, as it is due only once in λ steps. Replicas of
one seed share initial weights and mini-batches. Needs numpy and torch only.
"""

from __future__ import annotations

import statistics
import time
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from benchmarks.workloads.mnist_networks import DECAY, Activations, Layers, Tensor, descend, initial, load
from benchmarks.workloads.pairs import IGO, Bernoulli, Pairs

__all__ = ["Activations", "Experiment", "Layers", "SideBySide", "load"]

BATCH = 64
CLIP = 2.0
MOMENTS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 1.0)
"""When test errors are taken, as shares of the iterations."""
METHODS = {
    "layers": ("cGA", "PBIL-ε", "PBIL-λ"),
    "activations": ("cGA", "PBIL-ε", "PBIL-λ", "ReLU", "tanh"),
}


class SideBySide(ABC):
    """Replicas of networks, mini-batches of ``seeds`` orders, and a step that a GPU keeps as a graph."""

    def __init__(self, net: Any, data: dict[str, Tensor], replicas: int, seeds: int, device: torch.device, first: int):
        self.net, self.data, self.replicas, self.seeds, self.device = net, data, replicas, seeds, device
        self.first = first
        shapes = [
            (shape[0], replicas, *shape[1:]) if index in net.stacked else (replicas, *shape)
            for index, shape in enumerate(net.shapes)
        ]
        self.params = [torch.empty(shape, device=device) for shape in shapes]
        self.speed = [torch.zeros_like(p) for p in self.params]
        self.epoch = len(data["x_train"]) // BATCH
        self.order = torch.zeros(seeds, self.epoch * BATCH, dtype=torch.int64, device=device)
        self.clock = torch.zeros(1, dtype=torch.int64, device=device)  # the batch of the epoch
        self.graph: Any = None

    def reset(self) -> None:
        """Everything to its beginning, in place: a captured graph keeps its addresses."""
        for speed in self.speed:
            speed.zero_()
        self.slow(1.0)
        self.shuffler = torch.Generator(self.device).manual_seed(1 + 1000 * self.first)
        torch.manual_seed(2 + 1000 * self.first)
        self.done = 0
        self.curve: list[dict[str, Any]] = []

    @abstractmethod
    def slow(self, share: float) -> None:
        """Set the rates to a share of the first ones."""

    @abstractmethod
    def _step(self) -> None:
        """One step of all weights, on the device."""

    @abstractmethod
    def _learn(self) -> None:
        """What the host does after a step."""

    @abstractmethod
    def structures(self) -> Tensor:
        """The structure of every replica that is tested: (R, n)."""

    @abstractmethod
    def record(self, iterations: int, started: float) -> dict[str, Any]:
        """What is told of a moment."""

    def _per_replica(self, tensors: list[Tensor]) -> list[Tensor]:
        """Views of tensors like the parameters, with the replicas' axis in front."""
        stacked = self.net.stacked
        return [tensor.transpose(0, 1) if index in stacked else tensor for index, tensor in enumerate(tensors)]

    def _batch(self) -> tuple[Tensor, Tensor]:
        """Images (S, B, 784) and labels (S, B) of the next step."""
        batch = self.order.view(self.seeds, self.epoch, BATCH).index_select(1, self.clock)[:, 0]
        return self.data["x_train"][batch], self.data["y_train"][batch]

    def _losses(self, x: Tensor, y: Tensor, m: Tensor) -> Tensor:
        """The mean loss of a batch by every structure of every replica: (R, structures)."""
        for param in self.params:
            param.requires_grad_(True)
        logits = self.net.forward(self.params, x, m).reshape(-1, 10)
        return functional.cross_entropy(logits, y.reshape(-1), reduction="none").view(*m.shape[:2], BATCH).mean(2)

    def capture(self) -> None:
        """The step as a CUDA graph. Leaves the state as after ``reset``."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.reset()
                self._step()
        torch.cuda.current_stream().wait_stream(side)
        self.reset()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._step()
        self.graph = graph
        self.reset()

    def advance(self, steps: int) -> None:
        for _ in range(steps):
            if self.done % self.epoch == 0:
                size = len(self.data["x_train"])
                for seed in range(self.seeds):
                    shuffled = torch.randperm(size, generator=self.shuffler, device=self.device)
                    self.order[seed].copy_(shuffled[: self.epoch * BATCH])
                self.clock.zero_()
            if self.graph is None:
                self._step()
            else:
                self.graph.replay()
            self._learn()
            self.done += 1

    @torch.no_grad()
    def test(self) -> list[float]:
        """The test error of every replica, in %."""
        m = self.structures()[:, None].expand(-1, 2, -1).float()
        x, y = self.data["x_test"], self.data["y_test"]
        wrong = torch.zeros(self.replicas, dtype=torch.int64, device=self.device)
        for part, truth in zip(x.split(1000), y.split(1000), strict=True):
            logits = self.net.forward(self.params, part.expand(self.replicas, -1, -1), m)
            wrong += (logits[:, : len(part)].argmax(2) != truth).sum(1)  # both structures are the same one
        return [round(100.0 * count / len(y), 4) for count in wrong.tolist()]

    def run(self, iterations: int) -> dict[str, Any]:
        started = time.perf_counter()
        moments = sorted({max(1, round(share * iterations)) for share in MOMENTS})
        drops = {iterations // 2: 0.1, iterations * 3 // 4: 0.01}
        for stop in sorted({*moments, *drops}):
            self.advance(stop - self.done)
            self._wait()
            if stop in drops:
                self.slow(drops[stop])
            if stop in moments:
                self.curve.append(self.record(iterations, started))
        return {"iterations": iterations, "bits": self.net.bits, "curve": self.curve}

    def seconds_per_step(self, steps: int) -> float:
        self.advance(20)
        self._wait()
        started = time.perf_counter()
        self.advance(steps)
        self._wait()
        return (time.perf_counter() - started) / steps

    def _wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()


class Experiment(SideBySide):
    """All replicas of one experiment, method by method, seed by seed: replica k S + s."""

    def __init__(
        self,
        net: Any,
        data: dict[str, Tensor],
        seeds: int,
        rate: float,
        device: torch.device,
        first: int = 0,
        init: str = "LeCun",
    ) -> None:
        self.methods, self.rate, self.init, n = METHODS[net.key], rate, init, net.bits
        super().__init__(net, data, len(self.methods) * seeds, seeds, device, first)
        self.lr = torch.tensor(rate, device=device)
        steps = [{"adapt": "none", "step": 1 / n}] * seeds + [{"adapt": "step"}] * seeds
        self.pairs = Pairs([IGO(Bernoulli(n), **given) for given in steps], device)
        most = IGO(Bernoulli(n)).settings.most
        self.queue = torch.zeros(seeds, most, n, dtype=torch.bool, device=device)  # structures of PBIL-λ, a generation
        self.seen = torch.zeros(seeds, most, device=device)  # and their losses
        self.place = torch.zeros(seeds, dtype=torch.int64, device=device)  # which one is next
        fixed = [float(name == "ReLU") for name in self.methods[3:] for _ in range(seeds)]
        self.fixed = torch.tensor(fixed, device=device)[:, None].expand(-1, n) > 0
        self.rows = torch.arange(seeds, device=device)
        self.reset()

    def reset(self) -> None:
        super().reset()
        views = self._per_replica([param.detach() for param in self.params])
        for seed in range(self.seeds):
            rng = torch.Generator().manual_seed(self.first + seed)
            for view, made in zip(views, initial(self.init, self.net.shapes, rng), strict=True):
                view[seed :: self.seeds] = made.to(self.device)
        self.pairs.reset()
        self.cores = [IGO(Bernoulli(self.net.bits)) for _ in range(self.seeds)]
        self.rngs = [np.random.default_rng([3, self.first + seed]) for seed in range(self.seeds)]
        self.points: list[Any] = [None] * self.seeds
        self.left = [0] * self.seeds
        for seed in range(self.seeds):
            self._generation(seed)

    def slow(self, share: float) -> None:
        self.lr.fill_(self.rate * share)

    # --- PBIL-λ on the host ---------------------------------------------------------------------------------------

    def _generation(self, seed: int) -> None:
        core = self.cores[seed]
        count = core.samples
        self.points[seed] = core.sample(count, self.rngs[seed])
        self.left[seed] = count
        self.queue[seed, :count].copy_(torch.from_numpy(self.points[seed].view(np.bool_)))
        self.place[seed] = 0

    def _learn(self) -> None:
        """After a step: what has seen its whole generation is updated."""
        over = []
        for seed in range(self.seeds):
            self.left[seed] -= 1
            if not self.left[seed]:
                over.append(seed)
        if over:
            longest = max(len(self.points[seed]) for seed in over)
            losses = self.seen[:, :longest].cpu().numpy().astype(np.float64)  # waits for the step
            for seed in over:
                mine = losses[seed, : len(self.points[seed])]
                mine[np.isnan(mine)] = np.inf  # a network that diverged ranks last
                self.cores[seed].update(self.points[seed], mine)
                self._generation(seed)

    # --- one step on the device -----------------------------------------------------------------------------------

    def _step(self) -> None:
        seeds, kinds, net = self.seeds, len(self.methods), self.net
        inputs, labels = self._batch()
        x = inputs[None].expand(kinds, -1, -1, -1).reshape(self.replicas, BATCH, -1)
        y = labels[None, :, None].expand(kinds, seeds, 2, BATCH)
        uniform = torch.rand(2 * seeds, 2, net.bits, dtype=torch.float64, device=self.device)
        drawn = self.pairs.draw(uniform)
        single = torch.cat([self.queue[self.rows, self.place], self.fixed])
        m = torch.cat([drawn, single[:, None].expand(-1, 2, -1)]).float()
        losses = self._losses(x, y, m)
        grads = torch.autograd.grad(losses.mean(1).sum(), self.params)  # equation (13), for each replica
        with torch.no_grad():
            self._descend(list(grads))
            losses = losses.detach()
            self.pairs.update(drawn, losses[: 2 * seeds])
            self.seen[self.rows, self.place] = losses[2 * seeds : 3 * seeds, 0]
            self.place.add_(1)
            self.clock.add_(1)

    def _descend(self, grads: list[Tensor]) -> None:
        """A step of the weights, of each replica by its own clipped gradient."""
        if self.net.clips:
            squares = torch.zeros(self.replicas, device=self.device)
            owns = self._per_replica(grads)
            for own in owns:
                squares += torch.linalg.vector_norm(own, dim=tuple(range(1, own.dim()))).square()
            factor = (CLIP / squares.sqrt().clamp(min=1e-12)).clamp(max=1.0)
            for own in owns:
                own.mul_(factor.view(-1, *[1] * (own.dim() - 1)))
        descend(self.params, [grad.contiguous() for grad in grads], self.speed, self.lr, DECAY)

    # --- what came of it ------------------------------------------------------------------------------------------

    def structures(self) -> Tensor:
        """θ ≥ ½ of every replica."""
        own = torch.from_numpy(np.stack([core.mode() for core in self.cores]) > 0).to(self.device)
        return torch.cat([self.pairs.theta >= 0.5, own, self.fixed])

    def record(self, iterations: int, started: float) -> dict[str, Any]:
        errors, on = self.test(), self.structures().sum(1).tolist()
        theta = torch.cat([self.pairs.theta.cpu(), torch.from_numpy(np.stack([core.theta for core in self.cores]))])
        decided = torch.maximum(theta, 1.0 - theta).mean(1).tolist()
        sizes = self.pairs.size[:, 0].tolist() + [core.trace.size for core in self.cores]
        taken: dict[str, Any] = {"iteration": self.done, "seconds": round(time.perf_counter() - started, 2)}
        for kind, method in enumerate(self.methods):
            mine = slice(kind * self.seeds, (kind + 1) * self.seeds)
            taken[method] = {"error": errors[mine], "ones": on[mine]}
            if kind < 3:
                taken[method] |= {"decided": decided[mine], "lambda_r": sizes[mine]}
        middle = ", ".join(f"{method} {statistics.median(taken[method]['error']):.3f}" for method in self.methods)
        print(f"{self.net.key:11} {self.done:7}/{iterations}  {taken['seconds']:7.1f} s  {middle}", flush=True)
        return taken
