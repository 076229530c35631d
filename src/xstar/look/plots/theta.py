"""θ of IGO over time: what PBIL's distribution has settled on, and how decided it is.

Nothing of it is stored. The origins of the trials say which generations the distribution learned from, and when; their results
are on record; so the updates are made again (``igo/generations.py``), at about half a millisecond each. A history keeps what
was recomputed, so that a study that grows costs only what is new.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xstar.core.checks import nearest
from xstar.errors import InvalidArgument, NoValue
from xstar.igo import Bernoulli, Categorical, Gaussian
from xstar.igo.generations import METHOD, Generations
from xstar.igo.layout import Layout
from xstar.journal import History
from xstar.look.plots.figure import COLOURS, Figure, Trace, axis, figure, line, text
from xstar.look.plots.source import Array, Source, joined, shown_of, thinned
from xstar.space import Bits, Bool

MOMENTS = 200
"""Distributions that are shown: of a long study so many, evenly spaced in generations."""
SETTINGS = ("adapt", "weights", "step", "samples")
MOST_ROWS = 120
NAMES = {"samples": "PBIL-λ", "step": "PBIL-ε", "none": "fixed λ and ε"}
EITHER = [[0.0, "#3d4db3"], [0.5, "#dedcd3"], [1.0, "#b4540a"]]
"""Blue: surely 0; grey: undecided; orange: surely 1. The two ends differ in hue for every common colour blindness."""


@dataclass(frozen=True)
class Distribution:
    """What trials were drawn from, from one on."""

    trial: int
    theta: Array
    samples: int
    """λ."""


class Path:
    """The distributions of a history so far. It follows the history."""

    def __init__(self, state: Generations) -> None:
        self.state = state
        self.distributions = [Distribution(0, state.core.theta, state.core.samples)]

    def catch_up(self, history: History) -> None:
        """Take in the trials that the history has gained."""
        for number in range(self.state.trials, len(history.trials)):
            before = self.state.newest
            self.state.take(number, history)
            if self.state.newest > max(before, 0):
                self.distributions.append(Distribution(number, self.state.core.theta, self.state.core.samples))


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
    undecided: dict[str, Array]
    """Of bits, options and numbers together: what is left of the entropy, of the standard deviation; 1 at the start."""
    generations: int
    adapt: str
    drawn: int
    """Trials drawn from the distribution, of ``asked``."""
    asked: int


def has_theta(history: History) -> bool:
    """Whether a study is searched by PBIL."""
    return bool(history.created.searcher.get("name") == METHOD)


def compute(source: Source, *, parameters: Sequence[str] | str | None = None) -> Theta:
    """The distribution of PBIL and its relatives after every generation, recomputed from the journal.

    ``parameters``: only these (default: all).
    """
    history = source.history
    searcher: Mapping[str, Any] = history.created.searcher
    if not has_theta(history):
        name = searcher.get("class") or searcher.get("name")
        raise NoValue(f"{name} draws from no distribution with a θ; pbil and umda do")
    settings = {name: searcher[name] for name in SETTINGS if name in searcher}
    path = history.memo.get(Path, *settings.items())
    if path is None:
        try:
            path = Path(Generations.new(history.space, **settings))
        except InvalidArgument as error:
            raise NoValue(f"nothing to learn about: the space {error.rule}") from None
        history.memo.put(path, *settings.items())
    names = _asked(parameters, list(path.state.layout.places))
    path.catch_up(history)
    if path.state.newest < 0:
        raise NoValue("no trial has been drawn yet")
    return _theta(path, history, names)


def _asked(parameters: Sequence[str] | str | None, known: list[str]) -> list[str]:
    asked = known if parameters is None else [parameters] if isinstance(parameters, str) else list(parameters)
    for name in asked:
        if name not in known:
            rule = f"must be among those that θ describes ({', '.join(known)})"
            raise InvalidArgument("parameters", rule, name, nearest(name, known))
    return asked


def _theta(path: Path, history: History, names: list[str]) -> Theta:
    layout = path.state.layout
    found = [path.distributions[place] for place in thinned(len(path.distributions), MOMENTS)]
    thetas = np.stack([each.theta for each in found])
    called: list[str] = []
    columns: list[Array] = []
    left: dict[str, list[Array]] = {}  # kind → what is left of each parameter's uncertainty
    for name in names:
        family, own = _column(layout, thetas, name)
        given: Any = history.space.parameters[name]
        if isinstance(family, Bernoulli):
            bits = isinstance(given, Bits)
            called += [f"{name}[{place}]" for place in range(own.shape[1])] if bits else [_switch(name, given)]
            columns.append(own)
            left.setdefault("bits: entropy", []).extend(entropy(np.stack([own, 1.0 - own], axis=2)).T)
        elif isinstance(family, Categorical):
            called += [f"{name} = {option}" for option in given.options]
            columns.append(own[:, 0])
            left.setdefault("options: entropy", []).append(entropy(own[:, 0]))
        else:
            assert isinstance(family, Gaussian)
            called.append(f"{name}, mean")
            columns.append(own[:, :, 0])
            deviation = np.sqrt(own[:, 0, 1])
            left.setdefault("numbers: standard deviation", []).append(deviation / deviation[0])
    return Theta(
        np.array([each.trial for each in found], dtype=np.float64),
        np.array([each.samples for each in found], dtype=np.float64),
        tuple(called),
        np.concatenate(columns, axis=1),
        {kind: np.mean(each, axis=0) for kind, each in left.items()},
        path.state.newest + 1,
        path.state.core.settings.adapt,
        sum(trial.origin.method == METHOD for trial in history.trials),
        len(history.trials),
    )


def _column(layout: Layout, thetas: Array, name: str) -> tuple[Any, Array]:
    """The family of a parameter and its own part of every θ: (distributions, columns of the parameter, …)."""
    place = layout.places[name]
    start = 0
    for family, columns in zip(layout.family.parts, layout.family.columns, strict=True):
        size = math.prod(family.shape)
        if columns.start <= place.start < columns.stop:
            own = thetas[:, start : start + size].reshape(len(thetas), *family.shape)
            return family, own[:, place.start - columns.start : place.stop - columns.start]
        start += size
    raise AssertionError(f"{name} has no column")


def _switch(name: str, given: Any) -> str:
    return name if isinstance(given, Bool) else f"{name} = {given.options[1]}"


def entropy(shares: Array) -> Array:
    """The entropy over the last axis as a share of its maximum, log K."""
    terms = np.where(shares > 0.0, shares * np.log(np.where(shares > 0.0, shares, 1.0)), 0.0)
    return np.asarray(-terms.sum(axis=-1) / math.log(shares.shape[-1]))


def draw(data: Theta) -> Figure:
    """How undecided it still is, above a row of colours for each bit, option and number."""
    rows = [text(name, 24) for name in data.names[:MOST_ROWS]]
    low = 150 / (300 + 14 * len(rows))  # the share of the height that the lines have
    traces: list[Trace] = [
        line(
            data.trials,
            values.round(4),
            kind,
            line={"color": COLOURS[place], "width": 2, "shape": "hv"},
            hovertemplate=f"{kind}: %{{y:.3f}} of its start, from trial %{{x}} on<extra></extra>",
        )
        for place, (kind, values) in enumerate(data.undecided.items())
    ]
    heat = {
        "type": "heatmap",
        "x": data.trials,
        "y": list(range(len(rows))),
        "z": data.table[:, :MOST_ROWS].T.round(3),
        "zmin": 0.0,
        "zmax": 1.0,
        "colorscale": EITHER,
        "colorbar": {"len": 1 - low, "y": (1 - low) / 2, "thickness": 10, "tickvals": [0, 0.5, 1]},
        "hovertemplate": "%{customdata}: %{z}, from trial %{x} on<extra></extra>",
        "customdata": [[row] * len(data.trials) for row in rows],
        "yaxis": "y2",
    }
    every = range(0, len(rows), -(-len(rows) // 24))
    ticks = {"tickvals": list(every), "ticktext": [rows[at] for at in every]}
    left = ", ".join(f"{kind} {values[-1]:.2f}" for kind, values in data.undecided.items())
    facts = joined(
        f"{NAMES[data.adapt]}, {data.generations:,} generations, λ = {data.samples[-1]:.0f} now",
        f"undecided: {left}" if left else "",
        f"{data.drawn:,} of {data.asked:,} trials were drawn from it" if data.drawn < data.asked else "",
        shown_of(len(data.trials), data.generations, "generations"),
        shown_of(len(rows), len(data.names), "rows"),
    )
    layout: dict[str, Any] = {
        "height": 300 + 14 * len(rows),
        "xaxis": axis("trial", anchor="y2", range=[0, max(float(data.trials[-1]), 1.0)]),
        "yaxis": axis("undecided", domain=[1 - low + 0.03, 1], range=[0, 1.04]),
        "yaxis2": axis("", domain=[0, 1 - low - 0.03], range=[len(rows) - 0.5, -0.5], **ticks),
    }
    return figure([*traces, heat], "θ over time: probabilities of bits and options", facts, **layout)
