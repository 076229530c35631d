"""Cores of cGA and PBIL-ε side by side on a device, and a comparison with those of the library. Needs numpy and torch only."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import numpy as np
import torch

try:
    from xstar.igo import IGO, Bernoulli
except ImportError:  # a machine without the dependencies of the whole: of xstar, only the cores are needed
    for name in [name for name in sys.modules if name.partition(".")[0] == "xstar"]:
        del sys.modules[name]
    bare = types.ModuleType("xstar")
    bare.__path__ = [str(Path(__file__).parents[2] / "src" / "xstar")]
    sys.modules["xstar"] = bare
    from xstar.igo import IGO, Bernoulli

Tensor = torch.Tensor


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
