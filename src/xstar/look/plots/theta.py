"""θ of IGO over time: PBIL's distribution after each generation, and how undecided it is.

θ is not stored. The origins of trials say which generations the distribution learned from, and when; with their results the
updates are made again (``igo/generations.py``), at about half a millisecond each. A history keeps what
was recomputed, so that a study that grows costs only what is new.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from xstar.errors import InvalidArgument, NoValue
from xstar.igo import Bernoulli, Categorical
from xstar.igo.generations import METHOD, Generations
from xstar.journal import History
from xstar.look.plots.figure import COLOURS, Figure, axis, figure, line, text
from xstar.look.plots.source import Array, Source, joined, shown_of, thinned
from xstar.space import Bits, Choice

MOMENTS = 200
"""Distributions that are shown: of a long study so many, evenly spaced in generations."""
SETTINGS = ("adapt", "weights", "step", "samples")
MOST_ROWS = 120
NAMES = {"samples": "PBIL-λ", "step": "PBIL-ε", "none": "fixed λ and ε"}
EITHER = [[0.0, "#3d4db3"], [0.5, "#dedcd3"], [1.0, "#b4540a"]]
"""Blue: surely 0; grey: undecided; orange: surely 1. The two ends differ in hue for every common colour blindness."""


class Path:
    """The distributions of a history so far, each with the first trial drawn from it. It follows the history."""

    def __init__(self, state: Generations) -> None:
        self.state = state
        self.distributions = [(0, state.core.theta, state.core.samples)]

    def catch_up(self, history: History) -> None:
        """Take in the trials that the history has gained."""
        for number in range(self.state.trials, len(history.trials)):
            before = self.state.newest
            self.state.take(number, history)
            if self.state.newest > max(before, 0):
                self.distributions.append((number, self.state.core.theta, self.state.core.samples))


@dataclass(frozen=True, eq=False)
class Theta:
    """θ over time."""

    trials: Array
    """The first trial drawn from each distribution."""
    samples: Array
    """λ of each."""
    names: tuple[str, ...]
    """Of bits, of the options of a parameter, of numbers."""
    table: Array
    """The probability of each bit and option, the mean of each number on its encoded scale: (distributions, names)."""
    undecided: Array
    """Of each distribution, the mean over the variables of what is left: of the largest entropy, of the standard deviation."""
    generations: int
    adapt: str


def has_theta(history: History) -> bool:
    """Whether a study is searched by PBIL."""
    return bool(history.created.searcher.get("name") == METHOD)


def compute(source: Source) -> Theta:
    """The distribution of PBIL and its relatives after every generation, recomputed from the journal."""
    history, searcher = source.history, source.history.created.searcher
    if not has_theta(history):
        name = searcher.get("class") or searcher.get("name")
        raise NoValue(f"{name} draws from no distribution with a θ; pbil and umda do")
    settings = {name: searcher[name] for name in SETTINGS if name in searcher}
    path = history.memo.get(Path, *settings.items())
    if path is None:
        try:
            path = history.memo.put(Path(Generations.new(history.space, **settings)), *settings.items())
        except InvalidArgument as error:
            raise NoValue(f"nothing to learn about: the space {error.rule}") from None
    path.catch_up(history)
    if path.state.newest < 0:
        raise NoValue("no trial has been drawn yet")
    found = [path.distributions[place] for place in thinned(len(path.distributions), MOMENTS)]
    trials, thetas, samples = (np.array(each, dtype=np.float64) for each in zip(*found, strict=True))
    layout, start = path.state.layout, 0
    names = [name for parameter in layout.places for name in _names(parameter, history)]
    tables: list[Array] = []
    left: list[Array] = []
    for family in layout.family.parts:
        size = math.prod(family.shape)
        own = thetas[:, start : start + size].reshape(len(thetas), *family.shape)
        start += size
        if isinstance(family, Bernoulli | Categorical):
            shares = np.stack([1.0 - own, own], axis=2) if isinstance(family, Bernoulli) else own
            tables.append(own.reshape(len(own), -1))
            left.append(entropy(shares))
        else:
            tables.append(own[:, :, 0])
            left.append(np.sqrt(own[:, :, 1] / own[:1, :, 1]))
    undecided = np.concatenate(left, axis=1).mean(axis=1)
    about = path.state.newest + 1, path.state.core.settings.adapt
    return Theta(trials, samples, tuple(names), np.concatenate(tables, axis=1), undecided, *about)


def _names(parameter: str, history: History) -> list[str]:
    """What each of a parameter's rows is called."""
    given = history.space.parameters[parameter]
    if isinstance(given, Bits):
        return [f"{parameter}[{place}]" for place in range(given.n)]
    if not isinstance(given, Choice):
        return [parameter]
    return [f"{parameter} = {option}" for option in (given.options[1:] if given.size == 2 else given.options)]


def entropy(shares: Array) -> Array:
    """The entropy over the last axis as a share of its maximum, log K."""
    terms = np.where(shares > 0.0, shares * np.log(np.where(shares > 0.0, shares, 1.0)), 0.0)
    return np.asarray(-terms.sum(axis=-1) / math.log(shares.shape[-1]))


def draw(data: Theta) -> Figure:
    """How undecided it still is, above a row of colours for each bit, option and number."""
    rows = [text(name, 24) for name in data.names[:MOST_ROWS]]
    height = 300 + 14 * len(rows)
    low = 150 / height  # the share of the height that the line has
    style = {"color": COLOURS[1], "width": 2, "shape": "hv"}
    hover = "%{y:.3f}, from trial %{x} on"
    curve = line(data.trials, data.undecided.round(4), "undecided", hover, line=style)
    bar = {"len": 1 - low, "y": (1 - low) / 2, "thickness": 10, "tickvals": [0, 0.5, 1]}
    heat: dict[str, Any] = {"type": "heatmap", "yaxis": "y2", "x": data.trials, "y": list(range(len(rows)))}
    heat |= {"z": data.table[:, :MOST_ROWS].T.round(3), "zmin": 0.0, "zmax": 1.0, "colorscale": EITHER, "colorbar": bar}
    heat |= {"customdata": [[row] * len(data.trials) for row in rows]}
    heat |= {"hovertemplate": "%{customdata}: %{z}, from trial %{x} on<extra></extra>"}
    ticks = {"tickvals": [*range(0, len(rows), -(-len(rows) // 24))], "ticktext": rows[:: -(-len(rows) // 24)]}
    facts = joined(
        f"{NAMES[data.adapt]}, {data.generations:,} generations, λ = {data.samples[-1]:.0f} now",
        f"undecided: {data.undecided[-1]:.2f}",
        shown_of(len(data.trials), data.generations, "generations"),
        shown_of(len(rows), len(data.names), "rows"),
    )
    across = axis("trial", anchor="y2", range=[0, max(float(data.trials[-1]), 1.0)])
    up = axis("undecided", domain=[1 - low + 0.03, 1], range=[0, 1.04])
    below = axis("", domain=[0, 1 - low - 0.03], range=[len(rows) - 0.5, -0.5], **ticks)
    title = "θ over time: probabilities of bits and options"
    return figure([curve, heat], title, facts, showlegend=False, height=height, xaxis=across, yaxis=up, yaxis2=below)
