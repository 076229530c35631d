"""What a plot is made from, and the arrays that many of them need."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from xstar.journal import History, Readable
from xstar.journal.trial import State, Trial
from xstar.space import Bool, Choice, Float, Int, Ordinal

Array = NDArray[np.float64]

MOST_DOTS = 4000
"""Trials drawn one by one: a browser draws so many in a tenth of a second; more cover each other."""


class Source(Protocol):
    """A study, or what looks like one: a view of a stored study, a study at an earlier moment."""

    @property
    def name(self) -> str | None: ...
    @property
    def history(self) -> History: ...
    @property
    def journal(self) -> Readable: ...


def thinned(count: int, most: int = MOST_DOTS, keep: Iterable[int] = ()) -> NDArray[np.intp]:
    """At most about ``most`` of the places 0 … count − 1, evenly spaced, those of ``keep`` among them."""
    if count <= most:
        return np.arange(count)
    even = np.linspace(0, count - 1, most).round().astype(np.intp)
    return np.unique(np.concatenate([even, np.fromiter(keep, dtype=np.intp)]))


def shown_of(shown: int, count: int, noun: str = "trials") -> str:
    """What is left out, in words; empty if nothing is."""
    return "" if shown >= count else f"{shown:,} of {count:,} {noun} shown"


def joined(*parts: str) -> str:
    """Facts of a subtitle."""
    return " · ".join(part for part in parts if part)


def valued(history: History, *states: State) -> list[Trial]:
    """The trials with a finite value, in the given states (default: all that count)."""
    counted = states or (State.COMPLETE, State.STOPPED, State.PAUSED, State.RUNNING, State.WAITING)
    some = (trial for trial in history.trials if trial.state in counted and trial.loss is not None)
    return [trial for trial in some if math.isfinite(trial.loss or 0.0)]


@dataclass(frozen=True, eq=False)
class Comparable:
    """Trials whose values may be compared, because they are of the same budget."""

    trials: list[Trial]
    losses: Array
    which: str
    """What they have in common, in words."""
    level: int | None = None
    """The rung of the losses; none: they are those of complete trials."""


ENOUGH = 15
"""Complete trials that are enough to see what matters. Where successive halving leaves fewer, more can be seen at a lower rung:
the highest one that so many trials have reached."""


def comparable(history: History, enough: int = ENOUGH) -> Comparable:
    """The complete trials; where these are too few, the trials that reached a rung, with their values there."""
    complete = valued(history, State.COMPLETE)
    best = Comparable(complete, np.array([trial.scores[0] for trial in complete]), "complete trials")
    if len(complete) >= enough or len(history.levels) < 2:
        return best
    for level in reversed(history.levels):
        found = [(trial, loss) for trial in valued(history) if (loss := loss_at(history, trial, level)) is not None]
        if len(found) > len(best.trials):
            losses = np.array([loss for _, loss in found])
            which = f"trials at epoch {level}, too few being complete"
            best = Comparable([trial for trial, _ in found], losses, which, level)
            if len(found) >= enough:
                break
    return best


@dataclass(frozen=True, eq=False)
class Drawn(Comparable):
    """Comparable trials that are drawn one by one: the best ones and an even choice of the others."""

    total: int = 0
    """How many there are."""

    @classmethod
    def of(cls, history: History, most: int, best: int = 20) -> Drawn:
        """At most about ``most`` of a history."""
        found = comparable(history)
        kept = thinned(len(found.trials), most, np.argsort(found.losses, kind="stable")[:best].tolist())
        trials = [found.trials[place] for place in kept]
        return cls(trials, found.losses[kept], found.which, found.level, len(found.trials))

    def values(self, history: History) -> Array:
        """Their losses in the user's own direction."""
        made: Array = history.goals.only.sign * self.losses
        return made


def loss_at(history: History, trial: Trial, budget: int) -> float | None:
    """The loss that a trial reported at a budget."""
    if trial.budget < budget:
        return None
    for reading in reversed(trial.reports):
        if reading.budget == budget:
            loss = history.goals.loss(reading.metrics)
            return loss if math.isfinite(loss) else None
    return None


# ---------------------------------------------------------------- one parameter as an axis


@dataclass(frozen=True)
class Dimension:
    """One parameter as an axis: positions of values, and what is written there."""

    name: str
    log: bool
    options: tuple[str, ...] | None
    """The names of the values of a discrete parameter without a scale; ``None``: numbers."""
    low: float
    high: float
    column: Mapping[Any, int] | None = None

    def place(self, value: Any) -> float:
        """The position of a value: a number, or the place of an option; NaN where a narrower space has left it out."""
        return float(self.column.get(value, math.nan)) if self.column is not None else float(value)

    def places(self, trials: Sequence[Trial]) -> Array:
        """The positions of a parameter's values; NaN where it is not active."""
        return np.array(
            [math.nan if (value := value_in(trial, self.name)) is ABSENT else self.place(value) for trial in trials]
        )

    def share(self, places: Array) -> Array:
        """Positions from 0 to 1 along the axis."""
        low, high, at = self.low, self.high, places
        if self.log:
            low, high, at = math.log(low), math.log(high), np.log(places)
        return np.asarray((at - low) / (high - low) if high > low else np.full(len(at), 0.5))


ABSENT = object()
"""Unlike None, which a Choice may offer."""


def value_in(trial: Trial, name: str) -> Any:
    """A parameter's value; ``ABSENT`` where it is not active. (``trial.config`` would copy the whole configuration.)"""
    try:
        return trial[name]
    except KeyError:
        return ABSENT


def dimensions(history: History) -> list[Dimension]:
    """The parameters that have positions; architectures, masks and constants have none."""
    made: list[Dimension] = []
    for name, given in history.space.parameters.items():
        if isinstance(given, Float | Int):
            made.append(Dimension(name, given.log, None, float(given.low), float(given.high)))
        elif isinstance(given, Choice | Ordinal | Bool):
            assert isinstance(given.size, int)
            values = [given.value_at(place) for place in range(given.size)]
            column = {value: place for place, value in enumerate(values)}
            options = tuple(str(value) for value in values)
            made.append(Dimension(name, False, options, 0.0, float(len(values) - 1), column))
    return made
