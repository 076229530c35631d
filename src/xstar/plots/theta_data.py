"""θ over time: the distribution that PBIL drew from, recomputed from the journal.

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
from xstar.errors import InvalidArgument
from xstar.igo import Bernoulli, Categorical, Gaussian
from xstar.igo.generations import METHOD, Generations
from xstar.igo.layout import Layout
from xstar.journal import History
from xstar.plots.source import Array, Source
from xstar.space import Bits, Bool

MOMENTS = 150
"""Moments that are kept: at least so many of a long study, at most twice as many, evenly spaced in generations."""
SETTINGS = ("adapt", "weights", "step", "samples")


@dataclass(frozen=True)
class Moment:
    """The distribution from a trial on."""

    trial: int
    theta: Array
    samples: int
    """λ."""


class Path:
    """The distributions of a history so far, thinned out evenly. It follows the history."""

    def __init__(self, state: Generations) -> None:
        self.state = state
        self.kept: list[Moment] = [Moment(0, state.core.theta, state.core.samples)]
        self.last = self.kept[0]
        self.changes = 0
        """How often a new generation was begun by the trials so far."""
        self._every = 1

    def catch_up(self, history: History) -> None:
        """Take in the trials that the history has gained."""
        for number in range(self.state.trials, len(history.trials)):
            before = self.state.newest
            self.state.take(number, history)
            if self.state.newest > max(before, 0):
                self._record(Moment(number, self.state.core.theta, self.state.core.samples))

    def _record(self, moment: Moment) -> None:
        self.changes += 1
        self.last = moment
        if self.changes % self._every == 0:
            self.kept.append(moment)
        if len(self.kept) > 2 * MOMENTS:
            self.kept = self.kept[::2]
            self._every *= 2

    def moments(self) -> list[Moment]:
        """Those that are kept, and the last one."""
        return self.kept if self.kept[-1] is self.last else [*self.kept, self.last]


@dataclass(frozen=True, eq=False)
class Choosing:
    """The probabilities of a parameter's options over time."""

    name: str
    options: tuple[str, ...]
    shares: Array
    """(moments, options)."""


@dataclass(frozen=True, eq=False)
class Spread:
    """The mean and the standard deviation of a number over time, on its encoded scale from 0 to 1."""

    name: str
    mean: Array
    deviation: Array
    ticks: list[tuple[float, str]]
    """Places of the scale and the values there."""


@dataclass(frozen=True, eq=False)
class Theta:
    """θ over time."""

    trials: Array
    """The first trial drawn from each distribution."""
    samples: Array
    """λ of each."""
    bits: tuple[tuple[str, ...], Array]
    """Names of the bits, and the probability that each is 1: (moments, bits)."""
    choices: list[Choosing]
    numbers: list[Spread]
    undecided: dict[str, Array]
    """Of bits, options and numbers together: what is left of the entropy, of the standard deviation; 1 at the start."""
    parameters: int
    """How many the distribution has; not all are among the above where some were asked for."""
    generations: int
    adapt: str
    drawn: int
    """Trials drawn from the distribution, of ``asked``."""
    asked: int


@dataclass(frozen=True)
class NoTheta:
    """Why there is none."""

    reason: str


def has_theta(history: History) -> bool:
    """Whether a study is searched by PBIL."""
    return bool(history.created.searcher.get("name") == METHOD)


def theta_of(source: Source, parameters: Sequence[str] | str | None) -> Theta | NoTheta:
    """θ over time, of some parameters (default: of all)."""
    history = source.history
    searcher: Mapping[str, Any] = history.created.searcher
    if not has_theta(history):
        return NoTheta(
            f"{searcher.get('class') or searcher.get('name')} draws from no distribution with a θ; pbil and umda do"
        )
    settings = {name: searcher[name] for name in SETTINGS if name in searcher}
    path = history.memo.get(Path, *settings.items())
    if path is None:
        try:
            path = Path(Generations.new(history.space, **settings))
        except InvalidArgument as error:
            return NoTheta(f"nothing to learn about: the space {error.rule}")
        history.memo.put(path, *settings.items())
    names = _asked(parameters, path.state.layout)
    path.catch_up(history)
    if path.state.newest < 0:
        return NoTheta("no trial has been drawn yet")
    return _parts(path, history, names)


def _asked(parameters: Sequence[str] | str | None, layout: Layout) -> list[str]:
    known = list(layout.places)
    if parameters is None:
        return known
    asked = [parameters] if isinstance(parameters, str) else list(parameters)
    for name in asked:
        if name not in known:
            rule = f"must be among those that θ describes ({', '.join(known)})"
            raise InvalidArgument("parameters", rule, name, nearest(name, known))
    return asked


def _parts(path: Path, history: History, names: list[str]) -> Theta:
    moments, layout = path.moments(), path.state.layout
    thetas = np.stack([moment.theta for moment in moments])
    bits: list[Array] = []
    called: list[str] = []
    choices, numbers = [], []
    for name in names:
        family, own = _column(layout, thetas, name)
        if isinstance(family, Bernoulli):
            called += _bit_names(history, name, own.shape[1])
            bits.append(own)
        elif isinstance(family, Categorical):
            given: Any = history.space.parameters[name]
            choices.append(Choosing(name, tuple(str(option) for option in given.options), own[:, 0]))
        else:
            assert isinstance(family, Gaussian)
            ticks = _ticks(history.space.parameters[name])
            numbers.append(Spread(name, own[:, 0, 0], np.sqrt(own[:, 0, 1]), ticks))
    table = np.concatenate(bits, axis=1) if bits else np.zeros((len(moments), 0))
    asked = history.trials
    return Theta(
        np.array([moment.trial for moment in moments], dtype=np.float64),
        np.array([moment.samples for moment in moments], dtype=np.float64),
        (tuple(called), table),
        choices,
        numbers,
        _undecided(table, choices, numbers),
        len(layout.places),
        path.state.newest + 1,
        path.state.core.settings.adapt,
        sum(trial.origin.method == METHOD for trial in asked),
        len(asked),
    )


def _column(layout: Layout, thetas: Array, name: str) -> tuple[Any, Array]:
    """The family of a parameter and its own part of every θ: (moments, columns of the parameter, …)."""
    place = layout.places[name]
    start = 0
    for family, columns in zip(layout.family.parts, layout.family.columns, strict=True):
        size = math.prod(family.shape)
        if columns.start <= place.start < columns.stop:
            own = thetas[:, start : start + size].reshape(len(thetas), *family.shape)
            return family, own[:, place.start - columns.start : place.stop - columns.start]
        start += size
    raise AssertionError(f"{name} has no column")


def _bit_names(history: History, name: str, count: int) -> list[str]:
    given: Any = history.space.parameters[name]
    if isinstance(given, Bits):
        return [f"{name}[{place}]" for place in range(count)]
    return [name if isinstance(given, Bool) else f"{name} = {given.options[1]}"]


def _ticks(given: Any) -> list[tuple[float, str]]:
    """Up to five values across the range, each where it lies on the encoded scale."""
    read = given.decoder(0)
    values = dict.fromkeys(read((place / 4,)) for place in range(5))
    return [(given.encode(value)[0], f"{value:.3g}" if isinstance(value, float) else str(value)) for value in values]


def _undecided(bits: Array, choices: list[Choosing], numbers: list[Spread]) -> dict[str, Array]:
    """The mean over all parameters of a kind."""
    made: dict[str, Array] = {}
    if bits.shape[1]:
        made["bits: entropy"] = entropy(np.stack([bits, 1.0 - bits], axis=2)).mean(axis=1)
    if choices:
        made["options: entropy"] = np.mean([entropy(each.shares) for each in choices], axis=0)
    if numbers:
        made["numbers: standard deviation"] = np.mean([each.deviation / each.deviation[0] for each in numbers], axis=0)
    return made


def entropy(shares: Array) -> Array:
    """The entropy over the last axis as a share of its maximum, log K."""
    terms = np.where(shares > 0.0, shares * np.log(np.where(shares > 0.0, shares, 1.0)), 0.0)
    return np.asarray(-terms.sum(axis=-1) / math.log(shares.shape[-1]))
