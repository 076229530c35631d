"""How honest DNGO's predictive intervals are: Figure 2 of the paper as a picture, and coverage at points it has not seen.

"One network" has ten draws of theta, as in the paper, "ten networks" (what ``DNGO()`` uses) one each; "on 80%" are ten networks
that were trained on four fifths of the data each. An interval holds a share p of the
mixture of all heads' normal predictions, noise included; coverage is how often the truth lies within. Also printed: the error
of the mean, in standard deviations of the targets, and the log predictive density.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.special import ndtr
from scipy.stats import qmc

from xstar import problems
from xstar.models.features import SHARE, train
from xstar.models.gp import Posterior, Prediction, fit
from xstar.models.kernels import Array
from xstar.models.linear import Basis, Head, Statistics, sample
from xstar.models.quadratic import Quadratic
from xstar.models.standardise import Targets
from xstar.models.surrogate import Inputs, at_full_budget
from xstar.plots.canvas import COLOURS, GREY, GRID, INK, Axis, Canvas, number

PICTURE = Path(__file__).parents[2] / "docs" / "assets" / "dngo-activations.svg"
ACTIVATIONS = ("tanh", "relu-tanh", "relu")
SHARES = (0.5, 0.9, 0.95)


def heads(X: Array, t: Array, activation: str, networks: int, samples: int, seed: int, part: float) -> list[Head]:
    rng = np.random.default_rng(seed)
    mean = Quadratic(tuple(range(X.shape[1])))
    made = []
    for network in train(X, t, rng, networks=networks, activation=activation, share=part):
        basis = Basis(network, mean)
        sums = Statistics.none(basis.width + mean.size).extended(basis.design(X), t)
        made += [Head.of(sums, basis, theta) for theta in sample(sums, basis, rng, samples)]
    return made


def mixture(parts: list[tuple[Prediction, float]], truth: Array) -> dict[str, float]:
    """Coverage, error and log density of an equal mixture of normal predictions with their noise."""
    means = np.array([at.mean[:, 0] for at, _ in parts])
    stds = np.sqrt(np.array([at.variance + noise for at, noise in parts]))
    level = ndtr((truth - means) / stds).mean(axis=0)  # the mixture's distribution function at the truth
    density = np.exp(-0.5 * ((truth - means) / stds) ** 2) / stds / np.sqrt(2.0 * np.pi)
    found = {f"{share:.0%}": float(np.mean(np.abs(2.0 * level - 1.0) <= share)) for share in SHARES}
    found["error"] = float(np.sqrt(np.mean((means.mean(axis=0) - truth) ** 2)))
    found["density"] = float(np.mean(np.log(density.mean(axis=0) + 1e-300)))
    return found


def coverage(name: str, n: int, seed: int) -> dict[str, dict[str, float]]:
    """By model: what is found at 500 held-out points."""
    problem = problems.get(name)
    names = list(problem.space.parameters)
    places = qmc.Sobol(len(names), rng=seed).random(n)
    held = np.random.default_rng(seed + 1000).random((500, len(names)))

    def losses(A: Array) -> Array:
        rng = np.random.default_rng(0)
        return np.array([problem.loss(problem.space.from_uniforms(row, rng)) for row in A.tolist()])

    targets = Targets.of(losses(places), straighten=True)
    t, truth = targets(losses(places)), targets(losses(held))
    found = {}
    for activation in ACTIVATIONS:
        for label, networks, samples in (("one network", 1, 10), ("ten networks", 10, 1), ("ten on 80%", 10, 1)):
            part = 0.8 if label == "ten on 80%" else SHARE
            parts = heads(places, t, activation, networks, samples, seed, part)
            at = [(head.predict(held), float(np.exp(head.theta[-1]))) for head in parts]
            found[f"{activation}, {label}"] = mixture(at, truth)
    surrogate = at_full_budget(Inputs(tuple(range(len(names))), tuple(names), tuple(range(len(names)))))
    theta = fit(surrogate, places[:500], t[:500], np.random.default_rng(seed))
    gp = Posterior.of(surrogate, theta, places[:500], t[:500])
    found["GP"] = mixture([(gp.predict(held), float(np.exp(theta[-1])))], truth)
    return found


# ---------------------------------------------------------------- the picture


def draw(seed: int = 1) -> str:
    """Mean and two envelopes of standard deviations for each choice of activations, around the same twelve observations."""
    X = np.sort(np.concatenate([np.linspace(0.05, 0.42, 7), np.linspace(0.66, 0.95, 5)]))[:, None]
    t = wavy(X[:, 0])
    width, height, left, top, gap, tall = 960, 560, 60, 82, 18, 190
    each = (width - left - 24 - 2 * gap) / 3
    canvas = Canvas(width, height, "What DNGO predicts with tanh, with ReLU and a last layer of tanh, and with ReLU")
    canvas.text(left, 34, "One network is too sure of itself, ten disagree", size=17, colour=INK, bold=True)
    canvas.text(
        left,
        55,
        "Above: one network, ten draws of its head's hyperparameters. Below: ten networks. Bands: one and two std.",
    )
    titles = {"tanh": "tanh", "relu-tanh": "ReLU, and tanh on the last layer", "relu": "ReLU"}
    for row, (networks, samples) in enumerate(((1, 10), (10, 1))):
        bottom = top + tall + row * (tall + 30.0)
        for place, activation in enumerate(ACTIVATIONS):
            start = left + place * (each + gap)
            across, up = Axis(0.0, 1.0, start, start + each), Axis(-3.0, 3.0, bottom, bottom - tall)
            for tick in up.ticks():
                canvas.line((start, up.place(tick)), (start + each, up.place(tick)), GRID)
                if place == 0:
                    canvas.text(start - 8, up.place(tick) + 4, number(tick), anchor="end")
            _panel(canvas, across, up, X, t, heads(X, t, activation, networks, samples, seed, 1.0))
            if row:
                canvas.text(start + each / 2, height - 14, titles[activation], anchor="middle", colour=INK)
    return canvas.svg()


def _panel(canvas: Canvas, across: Axis, up: Axis, X: Array, t: Array, parts: list[Head]) -> None:
    A = np.linspace(0.0, 1.0, 241)[:, None]
    means = np.array([head.predict(A).mean[:, 0] for head in parts])
    spread = np.array([head.predict(A).variance + np.exp(head.theta[-1]) for head in parts])
    mean = means.mean(axis=0)
    std = np.sqrt((spread + means**2).mean(axis=0) - mean**2)

    def line(y: Array) -> list[tuple[float, float]]:
        return [(across.place(place), up.place(value)) for place, value in zip(A[:, 0], y, strict=True)]

    for factor in (2.0, 1.0):
        canvas.area([*line(mean + factor * std), *line(mean - factor * std)[::-1]], COLOURS[1])
    canvas.polyline(line(wavy(A[:, 0])), GREY, width=1.0)
    canvas.polyline(line(mean), COLOURS[1])
    for x, y in zip(X[:, 0], t, strict=True):
        canvas.circle((across.place(x), up.place(y)), 3.5, INK)


def wavy(x: Array) -> Array:
    made: Array = 1.4 * np.sin(7.0 * x) + 0.6 * np.sin(19.0 * x)
    return made
