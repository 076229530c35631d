"""Problems with several losses, known in closed form, and where their best front lies.

=========  =============================================================================================================
family     what it is
=========  =============================================================================================================
ZDT        Zitzler, Deb and Thiele (2000): two losses; the front is that of g = 1
DTLZ       Deb, Thiele, Laumanns and Zitzler (2002): any number of losses; a plane (1) or a sphere (2). The front is at 0.5 in
           all other variables, the middle of the box, where some methods begin: here it is moved, differently for each
WFG        Huband, Hingston, Barone and While (2006): a sphere stretched by 2, 4, …, in variables that are multimodal (4), or
           deceptive and not separable (9)
C2-DTLZ2   Jain and Deb (2014): DTLZ2, feasible in small balls around some of its front
BNH, OSY   Binh and Korn (1997), Osyczka and Kundu (1995)
=========  =============================================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import xstar as xs
from xstar.core.pareto import Array, hypervolume, non_dominated

POINTS = 4000
"""Of a front that is a curve: its hypervolume is right to a ten-thousandth."""


@dataclass(frozen=True)
class Case:
    """A problem: losses of a configuration, and what is known of its best front."""

    space: xs.Space
    losses: Callable[[Mapping[str, Any]], tuple[float, ...]]
    front: Array
    """Points of the best front, or its two ends: the lowest and the highest of each loss on it."""
    excess: Callable[[Mapping[str, Any]], tuple[float, ...]] | None = None
    """By how much each constraint is broken; a configuration is feasible where nothing is above 0."""
    covered: float | None = None
    """The hypervolume of the best front, where it is known better than from the points."""
    bound: Array | None = None
    """The reference point, if not as far beyond the worst of the front as the front is wide."""

    @cached_property
    def reference(self) -> Array:
        if self.bound is not None:
            return self.bound
        low, high = self.front.min(axis=0), self.front.max(axis=0)
        made: Array = high + (high - low)
        return made

    @cached_property
    def volume(self) -> float:
        return self.covered if self.covered is not None else hypervolume(self.front, self.reference)

    @property
    def objectives(self) -> int:
        return self.front.shape[1]

    def missing(self, seen: list[tuple[float, ...]]) -> float:
        """The share of the hypervolume of the best front that feasible losses do not cover."""
        return max(1.0 - hypervolume(np.array(seen).reshape(-1, self.objectives), self.reference) / self.volume, 0.0)


def unit(d: int) -> xs.Space:
    return xs.Space(**{f"x{i}": xs.Float(0.0, 1.0) for i in range(d)})


def vector(config: Mapping[str, Any]) -> Array:
    return np.array([config[f"x{i}"] for i in range(len(config))])


def ends(scale: Array) -> Array:
    """Of a front between 0 and ``scale`` in each loss."""
    return np.stack([np.zeros_like(scale), scale])


def orthant_of_ball(m: int) -> float:
    """The volume of the unit ball in m dimensions where no coordinate is negative."""
    return math.pi ** (m / 2) / math.gamma(m / 2 + 1) / 2**m


# ---------------------------------------------------------------- ZDT


def zdt(which: int, d: int) -> Case:
    def h(f1: Any, g: Any) -> Any:
        if which == 2:
            return 1.0 - (f1 / g) ** 2
        return 1.0 - np.sqrt(f1 / g) - (f1 / g * np.sin(10 * np.pi * f1) if which == 3 else 0.0)

    def losses(config: Mapping[str, Any]) -> tuple[float, ...]:
        x = vector(config)
        f1, rest = x[0], x[1:]
        if which == 6:
            f1 = 1.0 - np.exp(-4 * x[0]) * np.sin(6 * np.pi * x[0]) ** 6
            g = 1.0 + 9.0 * rest.mean() ** 0.25
            return float(f1), float(g * (1.0 - (f1 / g) ** 2))
        if which == 4:
            z = 10.0 * rest - 5.0
            g = 1.0 + 10 * len(z) + float((z**2 - 10 * np.cos(4 * np.pi * z)).sum())
        else:
            g = 1.0 + 9.0 * rest.mean()
        return float(f1), float(g * h(f1, g))

    f1 = np.linspace(0.2807753191 if which == 6 else 0.0, 1.0, POINTS)
    f2 = 1.0 - f1**2 if which == 6 else h(f1, 1.0)
    points = np.column_stack([f1, f2])
    return Case(unit(d), losses, points[non_dominated(points)])


# ---------------------------------------------------------------- DTLZ


def sphere(angles: Array) -> Array:
    """A point of the unit sphere from m - 1 angles as shares of a right angle (DTLZ2)."""
    a = angles * np.pi / 2
    products = np.cumprod(np.append(1.0, np.cos(a)))  # 1, cos a_1, cos a_1 cos a_2, …
    sines = np.append(np.sin(a), 1.0)
    made: Array = (products * sines)[::-1]
    return made


def dtlz(which: int, m: int, others: int) -> Case:
    place = np.linspace(0.3, 0.62, others)

    def losses(config: Mapping[str, Any]) -> tuple[float, ...]:
        x = vector(config)
        rest = x[m - 1 :] - place
        if which == 1:
            g = 100 * (len(rest) + float((rest**2 - np.cos(20 * np.pi * rest)).sum()))
            products = np.cumprod(np.append(1.0, x[: m - 1]))
            shape = 0.5 * (products * np.append(1.0 - x[: m - 1], 1.0))[::-1]
        else:
            g = float((rest**2).sum())
            shape = sphere(x[: m - 1])
        return tuple(((1 + g) * shape).tolist())

    if which == 1:  # the plane on which losses sum up to 0.5
        scale, missing = np.full(m, 0.5), 0.5**m / math.factorial(m)
    else:
        scale, missing = np.ones(m), orthant_of_ball(m)
    return Case(unit(m - 1 + others), losses, ends(scale), covered=float(np.prod(2 * scale)) - missing)


# ---------------------------------------------------------------- WFG, with the names of its Tables VI to XI


def s_multi(y: Array, a: float, b: float, c: float) -> Array:
    near = np.abs(y - c) / (2 * (np.floor(c - y) + c))
    made: Array = (1 + np.cos((4 * a + 2) * np.pi * (0.5 - near)) + 4 * b * near**2) / (b + 2)
    return made


def s_decept(y: Array, a: float, b: float, c: float) -> Array:
    left = np.floor(y - a + b) * (1 - c + (a - b) / b) / (a - b)
    right = np.floor(a + b - y) * (1 - c + (1 - a - b) / b) / (1 - a - b)
    made: Array = 1 + (np.abs(y - a) - b) * (left + right + 1 / b)
    return made


def b_param(y: Array, u: Array, a: float, b: float, c: float) -> Array:
    v = a - (1 - 2 * u) * np.abs(np.floor(0.5 - u) + a)
    made: Array = y ** (b + (c - b) * v)
    return made


def r_nonsep(y: Array, a: int) -> float:
    total = float(y.sum()) + sum(float(np.abs(y - np.roll(y, -k)).sum()) for k in range(1, a))
    half = math.ceil(a / 2)
    return total / (len(y) / a * half * (1 + 2 * a - 2 * half))


def wfg(which: int, m: int, others: int = 4) -> Case:
    """WFG4 or WFG9 with four variables of position (m - 1 divides them)."""
    k = 4
    scale = 2.0 * np.arange(1, m + 1)

    def losses(config: Mapping[str, Any]) -> tuple[float, ...]:
        y = vector(config)
        if which == 4:
            t = s_multi(y, 30, 10, 0.35)
            parts = [float(part.mean()) for part in (*np.split(t[:k], m - 1), t[k:])]
        else:
            after = np.array([y[i + 1 :].mean() for i in range(len(y) - 1)])
            t = np.append(b_param(y[:-1], after, 0.98 / 49.98, 0.02, 50), y[-1])
            t = np.append(s_decept(t[:k], 0.35, 0.001, 0.05), s_multi(t[k:], 30, 95, 0.35))
            parts = [r_nonsep(part, len(part)) for part in (*np.split(t[:k], m - 1), t[k:])]
        # The concave shape: of the first loss a product of sines, of the last the cosine of the first angle.
        shape = sphere(1.0 - np.array(parts[:-1]))
        return tuple((parts[-1] + scale * shape).tolist())

    covered = float(np.prod(scale)) * (2.0**m - orthant_of_ball(m))
    return Case(unit(k + others), losses, ends(scale), covered=covered)


# ---------------------------------------------------------------- constraints


def c2_dtlz2(others: int, radius: float = 0.2) -> Case:
    """With two losses: feasible within ``radius`` of the ends and of the middle of the front."""
    plain = dtlz(2, 2, others)

    def excess(f: Array) -> Array:
        at = np.array([[1.0, 0.0], [0.0, 1.0], [0.5**0.5, 0.5**0.5]])
        away: Array = ((np.atleast_2d(f)[:, None, :] - at) ** 2).sum(axis=2).min(axis=1) - radius**2
        return away

    a = np.linspace(0.0, np.pi / 2, POINTS)
    points = np.column_stack([np.cos(a), np.sin(a)])
    return Case(
        plain.space,
        plain.losses,
        points[excess(points) <= 0],
        excess=lambda config: (float(excess(np.array(plain.losses(config)))[0]),),
    )


def bnh() -> Case:
    def f(x: Array, y: Array) -> Array:
        return np.stack([4 * x**2 + 4 * y**2, (x - 5) ** 2 + (y - 5) ** 2], axis=-1)

    def excess(config: Mapping[str, Any]) -> tuple[float, ...]:
        x, y = config["x0"], config["x1"]
        return (x - 5) ** 2 + y**2 - 25, 7.7 - (x - 8) ** 2 - (y + 3) ** 2

    x = np.linspace(0.0, 5.0, POINTS)  # on the front y = x, up to its bound
    return Case(
        xs.Space(x0=xs.Float(0, 5), x1=xs.Float(0, 3)),
        lambda config: tuple(f(*vector(config)).tolist()),
        f(x, np.minimum(x, 3.0)),
        excess=excess,
    )


def osy() -> Case:
    def f(x: Array) -> Array:
        first = 25 * (x[0] - 2) ** 2 + (x[1] - 2) ** 2 + (x[2] - 1) ** 2 + (x[3] - 4) ** 2 + (x[4] - 1) ** 2
        return np.stack([-first, (x**2).sum(axis=0)], axis=-1)

    def excess(config: Mapping[str, Any]) -> tuple[float, ...]:
        a, b, c, d, e, last = vector(config).tolist()
        linear = 2 - a - b, a + b - 6, b - a - 2, a - 3 * b - 2
        return (*linear, (c - 3) ** 2 + d - 4, 4 - (e - 3) ** 2 - last)

    def path(n: int = POINTS) -> Array:
        """The five pieces of the front (Deb 2001, section 8.3)."""
        t, one, zero = np.linspace(0.0, 1.0, n), np.ones(n), np.zeros(n)
        a = 4.056 + (5 - 4.056) * t
        pieces = [
            [5 * one, one, 1 + 4 * t, zero, 5 * one, zero],
            [5 * one, one, 1 + 4 * t, zero, one, zero],
            [a, (a - 2) / 3, one, zero, one, zero],
            [zero, 2 * one, 1 + 2.732 * t, zero, one, zero],
            [t, 2 - t, one, zero, one, zero],
        ]
        return np.concatenate([np.array(piece) for piece in pieces], axis=1)

    points = f(path())
    ranges = ((0, 10), (0, 10), (1, 5), (0, 6), (1, 5), (0, 10))
    return Case(
        xs.Space(**{f"x{i}": xs.Float(low, high) for i, (low, high) in enumerate(ranges)}),
        lambda config: tuple(f(vector(config)).tolist()),
        points[non_dominated(points)],
        excess=excess,
    )
