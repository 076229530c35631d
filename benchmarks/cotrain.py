"""Weights and structure at once on MNIST: the two experiments of the paper's "Hyper-Parameter Optimization".

    PYTHONPATH=src python benchmarks/cotrain.py --mnist mnist.npz --out FOLDER [--minutes 8] [--seeds 5] [--device cuda]

Layer selection (31 bits): 32 hidden layers of 128 ReLU units, X_(k+2) = X_(k+1) + m_k H_(k+1)(X_(k+1)), gradients clipped to
norm 2. Activation selection (3,072 bits): 3 hidden layers of 1,024 units, each tanh (0) or ReLU (1). cGA, PBIL-λ and PBIL-ε; in
the second experiment also all ReLU and all tanh. Test errors with the structure θ ≥ ½.

From the paper: mini-batches of 64, Nesterov's momentum 0.9, weight decay 1e-4, the rate divided by 10 at 1/2 and 3/4 of the
iterations, one iteration = one step of the weights, 30 trials. It leaves to its reference: the number of iterations, the first
rate, the initial weights. Here: as many iterations as the time allows (``--iterations`` or ``--minutes``), a first rate of 0.01
(``--rate``), normal weights of variance 1/fan-in and biases 0 (the default of Chainer, which the paper used), all 60,000
training images in shuffled epochs, pixels / 255.

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

import argparse
import importlib.metadata
import json
import math
import platform
import statistics
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

try:
    from xstar.igo import IGO, Bernoulli
except ImportError:  # a machine without the dependencies of the whole: of xstar, only the cores are needed
    for name in [name for name in sys.modules if name.partition(".")[0] == "xstar"]:
        del sys.modules[name]
    bare = types.ModuleType("xstar")
    bare.__path__ = [str(Path(__file__).parents[1] / "src" / "xstar")]
    sys.modules["xstar"] = bare
    from xstar.igo import IGO, Bernoulli

BATCH = 64
MOMENTUM, DECAY = 0.9, 1e-4
CLIP = 2.0
MOMENTS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 1.0)
"""When test errors are taken, as shares of the iterations."""

PAPER = {
    "layers": {"cGA": (2.240, 2.130, 2.298), "PBIL-λ": (1.855, 1.790, 1.932), "PBIL-ε": (1.795, 1.752, 1.838)},
    "activations": {
        "cGA": (1.450, 1.430, 1.488),
        "PBIL-λ": (1.370, 1.343, 1.420),
        "PBIL-ε": (1.385, 1.332, 1.437),
        "ReLU": (1.610, 1.560, 1.627),
        "tanh": (1.520, 1.490, 1.545),
    },
}
"""Median and quartiles of the final test error in %, 30 trials."""

Tensor = torch.Tensor


# ---------------------------------------------------------------- the cores of cGA and PBIL-ε, side by side


class Pairs:
    """P cores IGO(Bernoulli(n)) with λ = 2, in the same arithmetic: (P, n) float64. All tensors are written in place."""

    def __init__(self, cores: list[IGO], device: torch.device) -> None:
        def column(values: list[float]) -> Tensor:
            return torch.tensor(values, dtype=torch.float64, device=device)[:, None]

        family, settings = cores[0].family, [core.settings for core in cores]
        self.low, self.high, self.n = family.lowest, family.highest, family.variables
        self.largest = column([given.step for given in settings])
        self.adapts = column([float(given.adapt == "step") for given in settings]) > 0
        self.most = column([float(given.most) for given in settings])
        self.target = column([given.target for given in settings])
        self.theta = torch.zeros(len(cores), self.n, dtype=torch.float64, device=device)
        self.path = torch.zeros_like(self.theta)
        self.gamma, self.size = torch.zeros_like(self.largest), torch.zeros_like(self.largest)
        self.reset()

    def reset(self) -> None:
        self.theta.fill_(0.5)
        self.path.zero_()
        self.gamma.zero_()
        self.size.fill_(2.0)

    def draw(self, uniform: Tensor) -> Tensor:
        """Two points each, (P, 2, n) of bits, from uniform numbers of that shape."""
        return uniform >= 1.0 - self.theta[:, None]

    def update(self, points: Tensor, losses: Tensor) -> None:
        """Lines 5 to 15 of Algorithm 1 for λ = 2: points (P, 2, n), losses (P, 2)."""
        sign = (losses[:, 1:] > losses[:, :1]).double() - (losses[:, 1:] < losses[:, :1]).double()  # 0: nothing moves
        gradient = (points[:, 0].double() - points[:, 1].double()) * sign
        step = torch.where(self.adapts, self.largest / (self.size / 2.0), self.largest)
        whitened = gradient / torch.sqrt(self.theta * (1.0 - self.theta))
        self.theta.copy_((self.theta + step * gradient).clamp(self.low, self.high))
        path = (1.0 - step) * self.path + torch.sqrt(step * (2.0 - step) / (2.0 * self.n)) * whitened
        gamma = (1.0 - step) ** 2 * self.gamma + step * (2.0 - step)
        size = self.size * torch.exp(step * (gamma - (path * path).sum(1, keepdim=True) / self.target))
        size = torch.minimum(size.clamp(min=2.0), self.most)
        moves = (sign != 0) & self.adapts
        self.path.copy_(torch.where(moves, path, self.path))
        self.gamma.copy_(torch.where(moves, gamma, self.gamma))
        self.size.copy_(torch.where(moves, size, self.size))


def compare_with_the_core(device: torch.device, n: int = 60, steps: int = 300) -> float:
    """The largest difference of θ and λ_r between ``Pairs`` and the cores, on a noisy loss with ties."""
    cores = [IGO(Bernoulli(n), adapt="none", step=1 / n), IGO(Bernoulli(n), adapt="step")]
    pairs, rng, worst = Pairs(cores, device), np.random.default_rng(7), 0.0
    for _ in range(steps):
        uniform = rng.random((2, 2, n))
        points = pairs.draw(torch.from_numpy(uniform).to(device))
        losses = np.empty((2, 2))
        for row, core in enumerate(cores):
            drawn = (uniform[row] >= 1.0 - core.theta).view(np.int8)
            if not np.array_equal(drawn, points[row].cpu().numpy()):
                raise SystemExit("Pairs and the core drew different points")
            losses[row] = np.round(n - drawn.sum(axis=1) + rng.normal(0.0, 2.0, 2))
            core.update(drawn, losses[row])
        pairs.update(points, torch.from_numpy(losses).to(device))
        theta = np.stack([core.theta for core in cores])
        sizes = np.array([core.trace.size for core in cores])
        worst = max(worst, float(np.abs(pairs.theta.cpu().numpy() - theta).max()))
        worst = max(worst, float(np.abs(pairs.size[:, 0].cpu().numpy() - sizes).max()))
    return worst


# ---------------------------------------------------------------- networks, R at a time


def dense(h: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """(R, rows, in) → (R, rows, out)."""
    return torch.baddbmm(bias[:, None], h, weight)


class Layers:
    """Experiment I. ``m`` (R, 2, 31)."""

    key, bits, clips = "layers", 31, True

    def __init__(self, width: int = 128) -> None:
        self.width = width
        w = width
        self.shapes = [(784, w), (w,), (self.bits, w, w), (self.bits, w), (w, 10), (10,)]
        self.fans = [784, 0, w, 0, w, 0]
        self.stacked = (2, 3)  # tensors of all 31 layers: kept as (31, R, …), so that each layer is a plain batch

    def forward(self, p: list[Tensor], x: Tensor, m: Tensor) -> Tensor:
        replicas, rows = x.shape[:2]
        first = functional.relu(dense(x, p[0], p[1]))  # the same for both structures
        h = first[:, None].expand(replicas, 2, rows, self.width).reshape(replicas, 2 * rows, self.width)
        gates = m[:, :, None].expand(replicas, 2, rows, self.bits).reshape(replicas, 2 * rows, self.bits)
        for gate, weight, bias in zip(gates.unbind(2), p[2].unbind(0), p[3].unbind(0), strict=True):
            h = torch.addcmul(h, gate[:, :, None], functional.relu(dense(h, weight, bias)))
        return dense(h, p[4], p[5])


class Activations:
    """Experiment II. ``m`` (R, 2, 3 × 1,024)."""

    key, clips, stacked = "activations", False, ()

    def __init__(self, width: int = 1024) -> None:
        self.width, self.bits = width, 3 * width
        w = width
        self.shapes = [(784, w), (w,), (w, w), (w,), (w, w), (w,), (w, 10), (10,)]
        self.fans = [784, 0, w, 0, w, 0, w, 0]

    def forward(self, p: list[Tensor], x: Tensor, m: Tensor) -> Tensor:
        replicas, rows = x.shape[:2]
        z, h = dense(x, p[0], p[1])[:, None], x
        for layer in range(3):
            on = m[:, :, None, layer * self.width : (layer + 1) * self.width]  # (R, 2, 1, width)
            h = torch.where(on > 0, functional.relu(z), torch.tanh(z)).reshape(replicas, 2 * rows, self.width)
            z = dense(h, p[2 * layer + 2], p[2 * layer + 3]).view(replicas, 2, rows, -1)
        return z.reshape(replicas, 2 * rows, 10)


METHODS = {
    "layers": ("cGA", "PBIL-ε", "PBIL-λ"),
    "activations": ("cGA", "PBIL-ε", "PBIL-λ", "ReLU", "tanh"),
}


# ---------------------------------------------------------------- one experiment


class Experiment:
    """All replicas of one experiment, method by method, seed by seed: replica k S + s."""

    def __init__(self, net: Any, data: dict[str, Tensor], seeds: int, rate: float, device: torch.device) -> None:
        self.net, self.data, self.seeds, self.rate, self.device = net, data, seeds, rate, device
        self.methods = METHODS[net.key]
        self.replicas, n = len(self.methods) * seeds, net.bits
        shapes = [
            (shape[0], self.replicas, *shape[1:]) if index in net.stacked else (self.replicas, *shape)
            for index, shape in enumerate(net.shapes)
        ]
        self.params = [torch.empty(shape, device=device) for shape in shapes]
        self.speed = [torch.zeros_like(p) for p in self.params]
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
        self.epoch = len(data["x_train"]) // BATCH
        self.order = torch.zeros(seeds, self.epoch * BATCH, dtype=torch.int64, device=device)
        self.clock = torch.zeros(1, dtype=torch.int64, device=device)  # the batch of the epoch
        self.graph: Any = None
        self.reset()

    def _per_replica(self, tensors: list[Tensor]) -> list[Tensor]:
        """Views of tensors like the parameters, with the replicas' axis in front."""
        stacked = self.net.stacked
        return [tensor.transpose(0, 1) if index in stacked else tensor for index, tensor in enumerate(tensors)]

    def reset(self) -> None:
        """Everything to its beginning, in place: a captured graph keeps its addresses."""
        for seed in range(self.seeds):
            rng = torch.Generator().manual_seed(seed)
            views = self._per_replica([param.detach() for param in self.params])
            for view, shape, fan in zip(views, self.net.shapes, self.net.fans, strict=True):
                made = torch.randn(shape, generator=rng) / math.sqrt(fan) if fan else torch.zeros(shape)
                view[seed :: self.seeds] = made.to(self.device)
        for speed in self.speed:
            speed.zero_()
        self.lr.fill_(self.rate)
        self.pairs.reset()
        self.shuffler = torch.Generator(self.device).manual_seed(1)
        torch.manual_seed(2)
        self.cores = [IGO(Bernoulli(self.net.bits)) for _ in range(self.seeds)]
        self.rngs = [np.random.default_rng([3, seed]) for seed in range(self.seeds)]
        self.points: list[Any] = [None] * self.seeds
        self.left = [0] * self.seeds
        for seed in range(self.seeds):
            self._generation(seed)
        self.done = 0

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
        seeds, net = self.seeds, self.net
        batch = self.order.view(seeds, self.epoch, BATCH).index_select(1, self.clock)[:, 0]  # (S, B)
        inputs, labels = self.data["x_train"][batch], self.data["y_train"][batch]
        kinds = len(self.methods)
        x = inputs[None].expand(kinds, -1, -1, -1).reshape(self.replicas, BATCH, -1)
        y = labels[None, :, None].expand(kinds, seeds, 2, BATCH).reshape(-1)
        uniform = torch.rand(2 * seeds, 2, net.bits, dtype=torch.float64, device=self.device)
        drawn = self.pairs.draw(uniform)
        single = torch.cat([self.queue[self.rows, self.place], self.fixed])
        m = torch.cat([drawn, single[:, None].expand(-1, 2, -1)]).float()
        for param in self.params:
            param.requires_grad_(True)
        logits = net.forward(self.params, x, m)
        each = functional.cross_entropy(logits.reshape(-1, 10), y, reduction="none").view(self.replicas, 2, BATCH)
        losses = each.mean(2)
        grads = torch.autograd.grad(losses.mean(1).sum(), self.params)  # equation (13), for each replica
        with torch.no_grad():
            self._descend(list(grads))
            losses = losses.detach()
            self.pairs.update(drawn, losses[: 2 * seeds])
            self.seen[self.rows, self.place] = losses[2 * seeds : 3 * seeds, 0]
            self.place.add_(1)
            self.clock.add_(1)

    def _descend(self, grads: list[Tensor]) -> None:
        """Nesterov's momentum: v ← μ v + g, W ← W − r (g + μ v)."""
        params = [param.detach() for param in self.params]
        if self.net.clips:
            squares = torch.zeros(self.replicas, device=self.device)
            owns = self._per_replica(grads)
            for own in owns:
                squares += own.square().flatten(1).sum(1)
            factor = (CLIP / squares.sqrt().clamp(min=1e-12)).clamp(max=1.0)
            for own in owns:
                own.mul_(factor.view(-1, *[1] * (own.dim() - 1)))
        torch._foreach_add_(grads, params, alpha=DECAY)
        torch._foreach_mul_(self.speed, MOMENTUM)
        torch._foreach_add_(self.speed, grads)
        torch._foreach_add_(grads, self.speed, alpha=MOMENTUM)
        torch._foreach_mul_(grads, -self.lr)
        torch._foreach_add_(params, grads)

    def capture(self) -> None:
        """The step as a CUDA graph. Leaves the state as after ``reset``."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.place.zero_()
                self._step()
        torch.cuda.current_stream().wait_stream(side)
        self.place.zero_()
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

    # --- what came of it ------------------------------------------------------------------------------------------

    def structures(self) -> Tensor:
        """θ ≥ ½ of every replica: (R, n)."""
        own = torch.from_numpy(np.stack([core.mode() for core in self.cores]) > 0).to(self.device)
        return torch.cat([self.pairs.theta >= 0.5, own, self.fixed])

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

    def run(self, iterations: int) -> dict[str, Any]:
        self.reset()
        started = time.perf_counter()
        moments = sorted({max(1, round(share * iterations)) for share in MOMENTS})
        drops = {iterations // 2: 0.1, iterations * 3 // 4: 0.01}
        curve = []
        for stop in sorted({*moments, *drops}):
            self.advance(stop - self.done)
            if stop in drops:
                self.lr.fill_(self.rate * drops[stop])
            if stop in moments:
                curve.append(self.record(iterations, started))
        return {"iterations": iterations, "bits": self.net.bits, "methods": list(self.methods), "curve": curve}

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


# ---------------------------------------------------------------- input and output


def load(path: str, device: torch.device) -> dict[str, Tensor]:
    with np.load(path) as stored:
        data = {name: torch.from_numpy(stored[name]) for name in ("x_train", "y_train", "x_test", "y_test")}
    return {
        name: (given.flatten(1).float() / 255 if name.startswith("x") else given.long()).to(device)
        for name, given in data.items()
    }


def describe(device: torch.device) -> str:
    where = torch.cuda.get_device_name() if device.type == "cuda" else platform.machine()
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "torch"))
    return f"{where}, Python {platform.python_version()}, {versions}"


def quartiles(values: list[float]) -> str:
    if len(values) < 2:
        return "–"
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{low:.3f} – {high:.3f}"


def markdown(result: dict[str, Any]) -> str:
    lines = [
        "# Co-training on MNIST",
        "",
        f"`{result['command']}`; {result['machine']}; matrix products in {result['precision']}. {result['seeds']} seeds side "
        f"by side, first rate {result['rate']:g}. The paper: 30 trials; its number of iterations and first rate are not in its "
        "text.",
    ]
    titles = {"layers": "Layer selection, 31 bits", "activations": "Activation selection, 3,072 bits"}
    for key, found in result["experiments"].items():
        last, curve = found["curve"][-1], found["curve"]
        epochs = found["iterations"] * BATCH / result["images"]
        lines += [
            "",
            f"## {titles[key]}",
            "",
            f"{found['iterations']:,} iterations ({epochs:.0f} epochs) in {last['seconds']:.0f} s for all methods and seeds "
            f"together, {1000 * last['seconds'] / found['iterations']:.2f} ms each. Final test errors in %:",
            "",
            "| method | median | quartiles | each seed | the paper: median (quartiles) | ones in the structure |",
            "|---|---:|---|---|---|---|",
        ]
        for method in PAPER[key]:
            errors, (middle, low, high) = last[method]["error"], PAPER[key][method]
            seeds = ", ".join(f"{error:.2f}" for error in errors)
            ones = ", ".join(map(str, last[method]["ones"]))
            lines.append(
                f"| {method} | {statistics.median(errors):.3f} | {quartiles(errors)} | {seeds} "
                f"| {middle:.3f} ({low:.3f} – {high:.3f}) | {ones} |"
            )
        names = list(PAPER[key])
        lines += ["", "Medians of the test error over time; λ_r, and how decided θ is (mean of max(θ, 1 − θ)):", ""]
        heads = [*names, "λ_r PBIL-λ", "λ_r PBIL-ε", "decided cGA", "PBIL-λ", "PBIL-ε"]
        lines += [f"| iteration | {' | '.join(heads)} |", "|---:" * (len(heads) + 1) + "|"]
        for taken in curve:
            cells = [f"{statistics.median(taken[name]['error']):.3f}" for name in names]
            cells += [f"{statistics.median(taken[name]['lambda_r']):.1f}" for name in ("PBIL-λ", "PBIL-ε")]
            cells += [f"{statistics.median(taken[name]['decided']):.3f}" for name in ("cGA", "PBIL-λ", "PBIL-ε")]
            lines.append(f"| {taken['iteration']:,} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mnist", required=True, help="the .npz with x_train, y_train, x_test, y_test")
    parser.add_argument("--out", required=True, type=Path, help="the folder for cotrain.json and cotrain.md")
    parser.add_argument("--experiments", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--iterations", type=int, help="of each experiment; without it, what --minutes allow")
    parser.add_argument("--minutes", type=float, default=8.0, help="for all experiments together, start included")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rate", type=float, default=0.01, help="the first step size of the weights")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--eager", action="store_true", help="no CUDA graph")
    given = parser.parse_args()
    begun = time.perf_counter()
    device = torch.device(given.device)
    torch.set_float32_matmul_precision("high")
    given.out.mkdir(parents=True, exist_ok=True)
    worst = compare_with_the_core(device)
    if worst > 1e-9:
        raise SystemExit(f"Pairs differ from the core by {worst:g}")
    print(f"{describe(device)}; largest difference to the core: {worst:.1e}", flush=True)
    data = load(given.mnist, device)
    result: dict[str, Any] = {
        "command": " ".join(
            ["benchmarks/cotrain.py", *(Path(word).name if "/" in word else word for word in sys.argv[1:])]
        ),
        "machine": describe(device),
        "precision": "TF32" if device.type == "cuda" else "float32",
        "seeds": given.seeds,
        "rate": given.rate,
        "images": len(data["x_train"]),
        "paper": PAPER,
        "experiments": {},
    }
    nets: dict[str, Callable[[], Any]] = {"layers": Layers, "activations": Activations}
    for index, key in enumerate(given.experiments):
        experiment = Experiment(nets[key](), data, given.seeds, given.rate, device)
        if device.type == "cuda" and not given.eager:
            experiment.capture()
        iterations = given.iterations
        if iterations is None:
            each = experiment.seconds_per_step(1000 if device.type == "cuda" else 5)
            remaining = 60.0 * given.minutes - (time.perf_counter() - begun)
            # A tenth is left for the tests, and for steps that get slower than the first ones.
            iterations = int(0.9 * remaining / (len(given.experiments) - index) / each) // 1000 * 1000 or 1000
            print(f"{key}: {1000 * each:.3f} ms per iteration, {iterations:,} iterations", flush=True)
        result["experiments"][key] = experiment.run(iterations)
        (given.out / "cotrain.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
        (given.out / "cotrain.md").write_text(markdown(result), "utf-8")
        del experiment
    print(markdown(result))


if __name__ == "__main__":
    main()
