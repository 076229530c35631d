"""The development set: problems on which constants of the GP are chosen. See ``validation.py`` for those on which none is.

Functions are shifted, so that no optimum lies in the middle of the space or on a grid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import xstar as xs
from benchmarks import tables as problems
from benchmarks.harness import discrete, funnels
from benchmarks.harness.cases import Case, of_vector
from benchmarks.harness.problems import FCNET, HPOLIB, NB201
from benchmarks.workloads.quickstarts import tasks as quickstarts

Vector = NDArray[np.float64]


def centre(name: str, d: int, reach: float) -> Vector:
    """Where the optimum of a function lies: up to ``reach`` from the middle, the same in every process."""
    return np.random.default_rng([ord(letter) for letter in name]).uniform(-reach, reach, d)


def rotation(name: str, d: int) -> Vector:
    made, _ = np.linalg.qr(np.random.default_rng([ord(letter) for letter in name]).standard_normal((d, d)))
    return made


def rastrigin(z: Vector) -> float:
    return float((z * z - 10 * np.cos(2 * np.pi * z) + 10).sum())


def rosenbrock(z: Vector) -> float:
    x = z + 1.0
    return float((100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum())


def ackley(z: Vector) -> float:
    return float(20 - 20 * np.exp(-0.2 * np.sqrt(np.mean(z * z))) + np.e - np.exp(np.mean(np.cos(2 * np.pi * z))))


def griewank(z: Vector) -> float:
    return float((z * z).sum() / 4000 - np.prod(np.cos(z / np.sqrt(np.arange(1, len(z) + 1)))) + 1)


def levy(z: Vector) -> float:
    w = 1 + z / 4
    middle = ((w[:-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:-1] + 1) ** 2)).sum()
    return float(np.sin(np.pi * w[0]) ** 2 + middle + (w[-1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[-1]) ** 2))


def ellipsoid(z: Vector) -> float:
    return float((10 ** (4 * np.arange(len(z)) / (len(z) - 1)) * z * z).sum())


def cigar(z: Vector) -> float:
    return float(z[0] ** 2 + 1e4 * (z[1:] ** 2).sum())


def alpine(z: Vector) -> float:
    return float(np.abs(z * np.sin(z) + 0.1 * z).sum())


def styblinski(x: Vector) -> float:
    return float((x**4 - 16 * x * x + 5 * x).sum() / 2 + 39.16616570377142 * len(x))


def schwefel(x: Vector) -> float:
    return float(418.9828872724338 * len(x) - (x * np.sin(np.sqrt(np.abs(x)))).sum())


def michalewicz(x: Vector) -> float:
    return float(-(np.sin(x) * np.sin(np.arange(1, len(x) + 1) * x * x / np.pi) ** 20).sum())


def camel(x: Vector) -> float:
    a, b = x
    return float((4 - 2.1 * a * a + a**4 / 3) * a * a + a * b + (4 * b * b - 4) * b * b)


def shifted(
    kind: str, function: Callable[[Vector], float], d: int, bound: float, rotated: bool = False, **rest: Any
) -> Case:
    """A function of the distance from a place inside, rotated about it on demand."""
    name = f"{function.__name__}{d}"
    at = centre(name, d, 0.6 * bound)
    turn = rotation(name, d) if rotated else np.eye(d)
    return of_vector(kind, lambda x: function(turn @ (x - at)), -bound, bound, d, **rest)


def known(kind: str, name: str, **rest: Any) -> Case:
    problem = problems.get(name)
    return Case(kind, problem.space, problem.loss, **rest)


# ---------------------------------------------------------------- spaces that are not cubes


def embedded(kind: str) -> Case:
    """Hartmann's function of six among a hundred parameters."""
    inner = problems.get("hartmann6")
    places = np.random.default_rng(6).permutation(100)[:6]
    return of_vector(kind, lambda x: inner.loss(dict(zip(inner.space, x[places], strict=True))), 0.0, 1.0, 100)


def branches(kind: str) -> Case:
    """Three branches with two numbers each. The best is good in a sixteenth of its square; the others lie lower on average."""
    when = {letter: {"branch": letter} for letter in "abc"}
    numbers = {f"{letter}{place}": xs.Float(0, 1, when=when[letter]) for letter in "abc" for place in (0, 1)}
    space = xs.Space({"branch": xs.Choice(["a", "b", "c"]), "shared": xs.Float(0, 1), **numbers})
    at = {"a": (0.2, 0.7), "b": (0.6, 0.3), "c": (0.83, 0.12)}

    def true(config: Mapping[str, Any]) -> float:
        letter = config["branch"]
        far = sum((config[f"{letter}{place}"] - at[letter][place]) ** 2 for place in (0, 1))
        own = {"a": 0.3 + far, "b": 0.4 + 0.5 * far, "c": 1.0 - np.exp(-20 * far)}[letter]
        return float(own + (config["shared"] - 0.4) ** 2)

    return Case(kind, space, true)


def counted(kind: str, function: Callable[[Vector], float], d: int, bound: float) -> Case:
    """A rotated function at places of which most are counts: of two, four, eight and sixteen values, then any, and again."""
    name = f"counted-{function.__name__}{d}"
    at, turn = centre(name, d, 0.7 * bound), rotation(name, d)
    sizes = [(2, 4, 8, 16, 0)[place % 5] for place in range(d)]
    given = [xs.Int(1, size) if size else xs.Float(-bound, bound) for size in sizes]

    def true(config: Mapping[str, Any]) -> float:
        spread = [
            bound * (2 * value - size - 1) / (size - 1) if size else value
            for value, size in zip(config.values(), sizes, strict=True)
        ]
        return function(turn @ (np.array(spread) - at))

    return Case(kind, xs.Space({f"x{place}": each for place, each in enumerate(given)}), true)


def layers(kind: str) -> Case:
    """One to five layers, each with a width and a rate of its own; three are best."""
    each = {
        f"{what}{n}": given
        for n in range(1, 6)
        for what, given in (
            ("width", xs.Int(8, 512, log=True, when={"depth": xs.at_least(n)})),
            ("drop", xs.Float(0.0, 0.8, when={"depth": xs.at_least(n)})),
        )
    }
    space = xs.Space({"depth": xs.Int(1, 5), "rate": xs.Float(1e-5, 1e-1, log=True), **each})

    def true(config: Mapping[str, Any]) -> float:
        loss = 0.3 * abs(config["depth"] - 3) + 0.5 * (np.log10(config["rate"]) + 2.7) ** 2
        for n in range(1, config["depth"] + 1):
            loss += 0.1 * (np.log2(config[f"width{n}"]) - 7 + n / 2) ** 2 + (config[f"drop{n}"] - 0.1 * n) ** 2
        return float(loss)

    return Case(kind, space, true)


def catalogue(kind: str, parameters: int, options: int, interaction: float) -> Case:
    """Categories with a worth each, and neighbours that suit each other or not."""
    rng = np.random.default_rng([parameters, options])
    own = rng.standard_normal((parameters, options))
    pairs = interaction * rng.standard_normal((parameters, options, options))
    space = xs.Space({f"c{place}": xs.Choice([f"o{each}" for each in range(options)]) for place in range(parameters)})

    def true(config: Mapping[str, Any]) -> float:
        at = [int(value[1:]) for value in config.values()]
        return float(sum(own[i, v] + pairs[i, v, at[(i + 1) % parameters]] for i, v in enumerate(at)))

    return Case(kind, space, true)


def machine_room(kind: str, **rest: Any) -> Case:
    """Numbers, counts and categories of which some matter only together."""
    space = xs.Space(
        rate=xs.Float(1e-4, 1.0, log=True),
        decay=xs.Float(1e-6, 1e-1, log=True),
        depth=xs.Int(1, 12),
        batch=xs.Ordinal([16, 32, 64, 128, 256]),
        kind=xs.Choice(["sgd", "adam", "lion"]),
        norm=xs.Choice(["none", "batch", "layer", "group"]),
        skip=xs.Bool(),
    )
    shift = {"sgd": 0.0, "adam": -1.5, "lion": -2.2}
    norm = {"none": 0.5, "batch": 0.1, "layer": 0.0, "group": 0.15}

    def true(config: Mapping[str, Any]) -> float:
        rate = np.log10(config["rate"]) + 0.8 - shift[config["kind"]] - 0.4 * np.log2(config["batch"] / 64)
        deep = (config["depth"] - (8 if config["skip"] else 4)) / 6
        decay = np.log10(config["decay"]) + 3.5
        worth = {"sgd": 0.1, "adam": 0.0, "lion": 0.05}[config["kind"]] + norm[config["norm"]]
        return float(0.3 * rate**2 + deep**2 + 0.05 * decay**2 + worth + (0.0 if config["skip"] else 0.2))

    return Case(kind, space, true, **rest)


def explodes(config: Mapping[str, Any]) -> bool:
    """A large rate diverges, the sooner the deeper the network without a norm is."""
    return float(np.log10(config["rate"]) + 0.12 * config["depth"] * (config["norm"] == "none")) > -0.6


def _failing() -> dict[str, Case]:
    levy4 = centre("levy4", 4, 6.0)
    return {
        "branin-fails": known("failing", "branin", fails=lambda c: (c["x1"] - 9.4) ** 2 + (c["x2"] - 2) ** 2 < 9.0),
        "hartmann6-fails": known("failing", "hartmann6", fails=lambda c: c["x1"] + c["x2"] > 0.7),
        "levy4-fails": shifted(
            "failing", levy, 4, 10.0, fails=lambda c: c["x0"] > levy4[0] + 1.0 or c["x2"] < levy4[2] - 1.5
        ),
        "machine-fails": machine_room("failing", fails=explodes),
    }


def _without_structure() -> dict[str, Case]:
    """Several basins, of which the best cannot be told from afar."""
    kind = "weak structure"
    return {
        "peaks3": of_vector(kind, funnels.peaks(3, 40, 1, 0.06), 0.0, 1.0, 3),
        "peaks5": of_vector(kind, funnels.peaks(5, 20, 2, 0.1), 0.0, 1.0, 5),
        "peaks8": of_vector(kind, funnels.peaks(8, 60, 3, 0.15), 0.0, 1.0, 8),
        "funnels4": of_vector(kind, funnels.two_funnels(4, 1), 0.0, 1.0, 4),
        "funnels6": of_vector(kind, funnels.two_funnels(6, 2), 0.0, 1.0, 6),
        "shekel4": of_vector(kind, funnels.shekel, 0.0, 1.0, 4),
        "crags4": of_vector(kind, funnels.crags(4, 1), 0.0, 1.0, 4),
    }


@cache
def development() -> dict[str, Case]:
    """All of them by name."""
    quick = quickstarts()
    found = {
        **{name: known("low d", name) for name in ("branin", "hartmann6", "levy6", "rosenbrock4", "ackley10")},
        "camel": of_vector("low d", camel, -2.0, 2.0, 2),
        "griewank4": shifted("low d", griewank, 4, 20.0),
        "rastrigin5": shifted("separable", rastrigin, 5, 5.12),
        "alpine6": shifted("separable", alpine, 6, 10.0),
        "styblinski8": of_vector("separable", styblinski, -5.0, 5.0, 8),
        "schwefel5": of_vector("separable", schwefel, -500.0, 500.0, 5),
        "michalewicz5": of_vector("separable", michalewicz, 0.0, np.pi, 5),
        "ellipsoid6-rotated": shifted("rotated", ellipsoid, 6, 5.0, rotated=True),
        "cigar8-rotated": shifted("rotated", cigar, 8, 5.0, rotated=True),
        "rastrigin4-rotated": shifted("rotated", rastrigin, 4, 5.12, rotated=True),
        "rosenbrock6-rotated": shifted("rotated", rosenbrock, 6, 2.0, rotated=True),
        "levy20": shifted("high d", levy, 20, 10.0),
        "ackley20": shifted("high d", ackley, 20, 32.768),
        "rosenbrock20": shifted("high d", rosenbrock, 20, 3.0),
        "styblinski40": of_vector("high d", styblinski, -5.0, 5.0, 40),
        "ellipsoid50": shifted("high d", ellipsoid, 50, 5.0),
        "hartmann6-of-100": embedded("high d"),
        **{f"{name}-noisy": known("noisy", name, noise=noise) for name, noise in (("branin", 5.0), ("levy6", 3.0))},
        "hartmann6-noisy": known("noisy", "hartmann6", noise=0.2),
        "rastrigin3-noisy": shifted("noisy", rastrigin, 3, 5.12, noise=5.0),
        "hartmann6-spoilt": known("spoilt", "hartmann6", spoilt=(0.1, 1e2)),
        "levy6-spoilt": known("spoilt", "levy6", spoilt=(0.1, 1e4)),
        "rosenbrock4-spoilt": known("spoilt", "rosenbrock4", spoilt=(0.05, 1e6)),
        "mixed-spoilt": Case("spoilt", quick["mixed"].space, quick["mixed"].true, spoilt=(0.1, 1e3)),
        "mixed": Case("mixed", quick["mixed"].space, quick["mixed"].true),
        "machine-room": machine_room("mixed"),
        "curves-mlp": Case("mixed", quick["curves-mlp"].space, quick["curves-mlp"].true, quick["curves-mlp"].noise),
        "counted-levy5": counted("counts", levy, 5, 10.0),
        "counted-rastrigin5": counted("counts", rastrigin, 5, 5.12),
        "counted-ellipsoid10": counted("counts", ellipsoid, 10, 5.0),
        "counted-rosenbrock9": counted("counts", rosenbrock, 9, 2.0),
        "counted-griewank10": counted("counts", griewank, 10, 20.0),
        "counted-alpine5": counted("counts", alpine, 5, 10.0),
        "counted-rastrigin10": counted("counts", rastrigin, 10, 5.12),
        "counted-styblinski5": counted("counts", styblinski, 5, 4.0),
        "counted-terraces5": counted("counts", discrete.terraces, 5, 5.0),
        "counted-terraces10": counted("counts", discrete.terraces, 10, 5.0),
        **discrete.bits(),
        "curves-optimizer": Case("conditional", quick["curves-optimizer"].space, quick["curves-optimizer"].true),
        "branches": branches("conditional"),
        "layers": layers("conditional"),
        "switches": Case("categories", quick["switches"].space, quick["switches"].true),
        "finite": Case("categories", quick["finite"].space, quick["finite"].true),
        "catalogue8x10": catalogue("categories", 8, 10, 0.3),
        "catalogue5x30": catalogue("categories", 5, 30, 0.5),
        **_failing(),
        **_without_structure(),
    }
    return found | {name: known("tables", name) for name in (*HPOLIB, *FCNET, *NB201) if not problems.missing(name)}
