"""First hitting times of the natural-gradient cores: one run alone, or many side by side.

Runs of two points per generation are simulated side by side (``lockstep``): Python would take nine tenths of the time.
``check_lockstep`` compares it with the core itself, number by number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from xstar.igo import IGO, Bernoulli

SEED = 20181
ALGORITHMS: dict[str, Callable[[int], dict[str, Any]]] = {
    "cGA, ε = 1/n": lambda n: {"adapt": "none", "step": 1 / n},
    "cGA, ε = n^-½": lambda n: {"adapt": "none", "step": n**-0.5},
    "PBIL-λ": lambda n: {"adapt": "samples"},
    "PBIL-ε": lambda n: {"adapt": "step"},
    "PBIL-λ, listing": lambda n: {"adapt": "samples", "metric": "moved"},
    "PBIL-ε, listing": lambda n: {"adapt": "step", "metric": "moved"},
}
"""``listing``: G at the θ to which line 11 has moved, not at that of equation (10)."""

Times = list[float | None]
"""Calls until the optimum, one per run; None for a run that ended without it."""


def onemax(x: np.ndarray) -> np.ndarray:
    """Zeros, over the last axis."""
    return x.shape[-1] - np.count_nonzero(x, axis=-1)


def leadingones(x: np.ndarray) -> np.ndarray:
    """Bits from the first zero on, over the last axis."""
    bits = x.view(np.bool_)
    first = bits.argmin(axis=-1)  # 0 where all are ones, too
    return x.shape[-1] - np.where(bits[..., 0] & (first == 0), x.shape[-1], first)


FUNCTIONS = {"OneMax": onemax, "LeadingOnes": leadingones}


def limit(function: str, n: int) -> int:
    """Calls after which a run is given up: several times the median of PBIL-λ."""
    if function == "OneMax":
        return 100 * n * max(10, n) // 10
    return 40 * n * n if n <= 100 else 6 * n * n if n <= 300 else 3 * n * n


class Hit(NamedTuple):
    """One run."""

    calls: int | None
    """Until f is 0 for the first time."""
    largest: float
    """The largest λ_r."""


def hit(core: IGO, f: Callable[[np.ndarray], np.ndarray], rng: np.random.Generator, most: int) -> Hit:
    calls, largest = 0, core.trace.size
    while calls < most:
        points = core.sample(core.samples, rng)
        losses = f(points)
        if not losses.all():
            return Hit(calls + int(losses.argmin()) + 1, largest)
        core.update(points, losses)
        calls += len(points)
        largest = max(largest, core.trace.size)
    return Hit(None, largest)


def lockstep(n: int, f: Callable[[np.ndarray], np.ndarray], setting: dict[str, Any], runs: int, most: int) -> Times:
    """``hit`` of many runs of IGO(Bernoulli(n), **setting) with λ = 2, side by side."""
    rng = np.random.default_rng(SEED)
    core = IGO(Bernoulli(n), **setting)
    low, high, first, alpha = core.family.lowest, core.family.highest, core.settings.step, core.settings.target
    adapt, longest, moved = core.settings.adapt == "step", core.settings.most, core.settings.metric == "moved"
    theta, path = np.full((runs, n), 0.5), np.zeros((runs, n))
    gamma, size, who = np.zeros(runs), np.full(runs, 2.0), np.arange(runs)
    found: Times = [None] * runs
    for calls in range(0, most, 2):
        x = rng.random((len(who), 2, n)) >= (1.0 - theta)[:, None]
        losses = f(x)
        if not losses.all():
            hits = (losses == 0).any(axis=1)
            for row in np.flatnonzero(hits):
                found[who[row]] = calls + int(losses[row].argmin()) + 1
            theta, path, gamma, size, who, x, losses = (a[~hits] for a in (theta, path, gamma, size, who, x, losses))
            if not len(who):
                break
        sign = np.sign(losses[:, 1] - losses[:, 0]).astype(np.float64)  # 1: the first one is better; 0: nothing moves
        gradient = (x[:, 0].view(np.int8) - x[:, 1].view(np.int8)) * sign[:, None]
        step = first / (size / 2.0) if adapt else np.full(len(who), first)
        before, theta = theta, (theta + step[:, None] * gradient).clip(low, high)
        if adapt:
            at = theta if moved else before
            white = gradient / np.sqrt(at * (1.0 - at))
            rate = np.sqrt(step * (2.0 - step) / (n * 4.0 / 2.0))
            on = sign != 0
            path = np.where(on[:, None], (1.0 - step)[:, None] * path + rate[:, None] * white, path)
            gamma = np.where(on, (1.0 - step) ** 2 * gamma + step * (2.0 - step), gamma)
            change = np.exp(step * (gamma - (path * path).sum(axis=1) / alpha))
            size = np.where(on, (size * change).clip(2.0, longest), size)
    return found


def check_lockstep() -> None:
    """The side-by-side form is the core: same random numbers, same times."""
    for function, f in FUNCTIONS.items():
        for name in ("cGA, ε = 1/n", "PBIL-ε", "PBIL-ε, listing"):
            setting = ALGORITHMS[name](20)
            alone = hit(IGO(Bernoulli(20), **setting), f, np.random.default_rng(SEED), 50_000)
            if lockstep(20, f, setting, 1, 50_000) != [alone.calls]:
                raise AssertionError(f"{name} on {function}: lockstep is not the core")
