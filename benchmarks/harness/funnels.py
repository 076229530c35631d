"""Functions without a global structure: several basins, of which the best cannot be told from afar.

They stand for what COCO calls weak global structure (Gallagher's peaks, Lunacek's funnels, Katsuura's ruggedness), and are none
of its functions: other peaks, other ripples, other rotations, optima drawn from the whole space.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def peaks(d: int, count: int, seed: int, narrow: float) -> Callable[[Vector], float]:
    """Gaussian peaks of different heights, widths and directions on [0, 1]^d; only the highest at a place counts."""
    rng = np.random.default_rng([d, count, seed])
    at = rng.uniform(0.05, 0.95, (count, d))
    heights = np.append(1.0, rng.uniform(0.3, 0.9, count - 1))
    turns = np.linalg.qr(rng.standard_normal((count, d, d)))[0]
    widths = np.exp(rng.uniform(np.log(narrow), np.log(4 * narrow), (count, d)))

    def loss(x: Vector) -> float:
        away = np.einsum("kij,kj->ki", turns, x - at) / widths
        return float(1.0 - (heights * np.exp(-0.5 * (away**2).sum(axis=1) / d)).max())

    return loss


def two_funnels(d: int, seed: int) -> Callable[[Vector], float]:
    """A wide funnel, a narrow one that ends lower, and ripples on both, on [0, 1]^d."""
    rng = np.random.default_rng([d, seed])
    wide, narrow = rng.uniform(0.15, 0.85, (2, d))
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]

    def loss(x: Vector) -> float:
        funnel = min(((x - narrow) ** 2).sum() / 0.03, 0.6 + ((x - wide) ** 2).sum() / 0.5)
        return float(funnel + 0.2 * (1.0 - np.cos(6 * np.pi * (turn @ (x - narrow)))).sum() / d)

    return loss


def shekel(x: Vector) -> float:
    """Shekel's foxholes in another place: ten narrow basins on [0, 1]^4."""
    rng = np.random.default_rng(10)
    at, width = rng.uniform(0.1, 0.9, (10, 4)), rng.uniform(0.01, 0.06, 10)
    return float(-(0.01 / (((x - at) ** 2).sum(axis=1) + width)).sum())


def crags(d: int, seed: int) -> Callable[[Vector], float]:
    """A shallow bowl below a landscape that is rough at every scale (sums of Takagi's function), rotated, on [0, 1]^d."""
    rng = np.random.default_rng([d, seed])
    turn, middle = np.linalg.qr(rng.standard_normal((d, d)))[0], rng.uniform(0.2, 0.8, d)
    scales = 2.0 ** np.arange(8)

    def loss(x: Vector) -> float:
        z = 3.0 * (turn @ (x - middle))
        rough = np.abs(z[:, None] * scales - np.round(z[:, None] * scales)) * 0.6 ** np.arange(8)
        return float(rough.sum() / d + 0.2 * ((x - middle) ** 2).sum())

    return loss
