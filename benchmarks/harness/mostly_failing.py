"""Problems most of whose configurations fail: nine in ten and more. Constants may be chosen on them, as on the development set.

Where something has a value: a box or a ball inside, a band or a slab through the space, a corner, an edge, few of many
combinations of options.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from math import gamma, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

import xstar as xs
from benchmarks.harness.cases import Case, of_vector
from benchmarks.harness.development import levy, machine_room, rosenbrock

Vector = NDArray[np.float64]
SCALE = 5.0
"""Functions are those of five times the distance from their optimum, on [-1, 1]^d."""


def _rng(name: str) -> np.random.Generator:
    return np.random.default_rng([ord(letter) for letter in name])


def _vector(config: Mapping[str, Any]) -> Vector:
    return np.fromiter(config.values(), float)


def sphere(z: Vector) -> float:
    return float((z * z).sum())


def cusp(z: Vector) -> float:
    return float((np.abs(z) ** 1.5).sum())


def _inside(kind: str, function: Callable[[Vector], float], at: Vector, has_value: Callable[[Vector], bool]) -> Case:
    """A function of the distance from ``at`` where it has a value."""
    return of_vector(
        kind,
        lambda x: function(SCALE * (x - at)),
        -1.0,
        1.0,
        len(at),
        fails=lambda config: not has_value(_vector(config)),
    )


def box(name: str, function: Callable[[Vector], float], d: int, share: float) -> Case:
    """A box with that share of the volume, narrow in some parameters and wide in others, anywhere but around the middle."""
    rng = _rng(name)
    while True:
        side = 2 * share ** rng.dirichlet(np.ones(d))
        low = rng.uniform(-1, 1 - side)
        if ((low > 0) | (low + side < 0)).any():
            break
    at = low + side * rng.uniform(0.1, 0.9, d)
    return _inside("box", function, at, lambda x: bool(((x > low) & (x < low + side)).all()))


def ball(name: str, function: Callable[[Vector], float], d: int, share: float) -> Case:
    """A ball near the middle; the optimum lies half-way to its surface."""
    rng = _rng(name)
    radius = (share * 2**d * gamma(d / 2 + 1) / pi ** (d / 2)) ** (1 / d)
    middle, way = rng.uniform(-0.3, 0.3, d), rng.standard_normal(d)
    at = middle + 0.5 * radius * way / np.linalg.norm(way)
    return _inside("ball", function, at, lambda x: bool(np.linalg.norm(x - middle) < radius))


def slab(name: str, function: Callable[[Vector], float], d: int, width: float) -> Case:
    """Between two parallel planes of any direction."""
    rng = _rng(name)
    across = rng.standard_normal(d)
    across /= np.linalg.norm(across)
    at = rng.uniform(-0.6, 0.6, d)
    middle = across @ at + 0.5 * width * rng.uniform(-0.8, 0.8)
    return _inside("slab", function, at, lambda x: bool(abs(across @ x - middle) < 0.5 * width))


def corner(name: str, function: Callable[[Vector], float], d: int, share: float, among: int) -> Case:
    """Where the first parameters are all small: an edge if it is one, a corner if there are several."""
    rng, side = _rng(name), 2 * share ** (1 / among)
    at = rng.uniform(-0.8, 0.8, d)
    at[:among] = -1 + side * rng.uniform(0.2, 0.9, among)
    return _inside("corner", function, at, lambda x: bool((x[:among] < side - 1).all()))


def narrow_rates(kind: str) -> Case:
    """Rates that neither diverge nor stand still, beside options."""
    base = machine_room(kind)

    def fails(config: Mapping[str, Any]) -> bool:
        rate = float(np.log10(config["rate"])) + (1.5 if config["kind"] == "adam" else 0.0)
        return not -1.2 < rate + 0.12 * config["depth"] * (config["norm"] == "none") < -0.6

    return Case(kind, base.space, base.true, fails=fails)


def few_fit(kind: str) -> Case:
    """Options of which few suit each other: the others raise."""
    rng = _rng("few-fit")
    worth, fits = rng.standard_normal((5, 4)), rng.random((5, 4, 4)) < 0.55
    space = xs.Space({f"c{place}": xs.Choice(["a", "b", "c", "d"]) for place in range(5)} | {"x": xs.Float(0, 1)})

    def places(config: Mapping[str, Any]) -> list[int]:
        return ["abcd".index(config[f"c{place}"]) for place in range(5)]

    def fails(config: Mapping[str, Any]) -> bool:
        at = places(config)
        return not all(fits[place, at[place], at[(place + 1) % 5]] for place in range(5))

    def true(config: Mapping[str, Any]) -> float:
        at = places(config)
        return float(sum(worth[place, at[place]] for place in range(5)) + 3 * (config["x"] - 0.37) ** 2)

    return Case(kind, space, true, fails=fails)


@cache
def mostly_failing() -> dict[str, Case]:
    """All of them by name."""
    return {
        "box2-sphere": box("box2", sphere, 2, 0.05),
        "box3-cusp": box("box3", cusp, 3, 0.1),
        "box4-levy": box("box4", levy, 4, 0.05),
        "box6-rosenbrock": box("box6", rosenbrock, 6, 0.05),
        "ball4-cusp": ball("ball4", cusp, 4, 0.1),
        "ball5-rosenbrock": ball("ball5", rosenbrock, 5, 0.05),
        "slab3-sphere": slab("slab3", sphere, 3, 0.15),
        "slab4-rosenbrock": slab("slab4", rosenbrock, 4, 0.2),
        "slab6-levy": slab("slab6", levy, 6, 0.25),
        "edge4-levy": corner("edge4", levy, 4, 0.06, 1),
        "corner3-cusp": corner("corner3", cusp, 3, 0.05, 2),
        "corner6-sphere": corner("corner6", sphere, 6, 0.08, 2),
        "narrow-rates": narrow_rates("options"),
        "few-fit": few_fit("options"),
    }
