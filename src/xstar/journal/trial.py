"""What became of a trial, and, by their names, the records that pass between the parts (``journal/messages.py``).

Those are frozen. A ``Trial`` is the row of one trial in a :class:`~xstar.journal.History`; only the
fold writes to it, so it always shows what the journal says, also to a caller who got it from ``ask`` long ago.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from xstar.core import markup
from xstar.core.goals import DEFAULT, Goals, Losses
from xstar.core.words import last_line
from xstar.errors import SeveralObjectives
from xstar.journal.lookup import no_attribute, no_epochs, value_of
from xstar.journal.messages import (
    Config as Config,
    Done as Done,
    Failure as Failure,
    Finished as Finished,
    Job as Job,
    Metrics as Metrics,
    New as New,
    Noted as Noted,
    Outcome as Outcome,
    Promote as Promote,
    Report as Report,
    Suggestion as Suggestion,
    Verdict as Verdict,
    Wait as Wait,
)
from xstar.journal.origin import Origin as Origin
from xstar.journal.state import LIVE as LIVE, State as State


class Reading(Protocol):
    """One accepted report of a trial, as ``trial.reports`` shows it."""

    @property
    def budget(self) -> int: ...
    @property
    def metrics(self) -> Metrics: ...
    @property
    def at(self) -> float: ...


NO_ATTRS: Mapping[str, Any] = MappingProxyType({})


FIRST = (0,)


def folder_name(trial: int, home: int) -> str:
    """The name of the directory of a trial that was made for attempt ``home``."""
    return f"{trial:05d}-{home}" if home else f"{trial:05d}"


class Runs:
    """How a trial was run: when, by whom, where its files are, and what happened to those who ran it."""

    __slots__ = ("alone", "asked_at", "by", "contested", "crashes", "ended_at", "homes", "lost", "seen")

    def __init__(self, seen: int, at: float) -> None:
        self.seen = seen
        """How many events the decision to run this trial was based on."""
        self.asked_at = at
        self.ended_at: float | None = None
        self.by = -1
        """Who started its last run, by the place among the study's environments (``history.environments``)."""
        self.crashes = 0
        """How often its worker died."""
        self.lost = 0
        """How often the program that ran it died."""
        self.homes: tuple[int, ...] = FIRST
        """The attempts for which a directory was made (``folder_name``): the first one, and each that took the trial over from
        a holder who may still live. The last one counts."""
        self.alone: str | None = None
        """The memory of which it was out beside other trials: from then on it is run alone there."""
        self.contested = False
        """It waits to be run again, and whoever ran it last may still live."""


class Trial:
    """A trial on record, as ``study.ask()``, ``study.best``, ``study.trials`` and ``result.best`` give it.

    An objective is handed another thing, an ``xs.RunningTrial``. Read this one freely; only the fold of the journal writes it.
    """

    __slots__ = (
        "_config",
        "_goals",
        "_lowest_counts",
        "_nearest",
        "attempt",
        "attrs",
        "bracket",
        "budget",
        "known",
        "losses",
        "lowest",
        "number",
        "origin",
        "reason",
        "reports",
        "runs",
        "state",
        "target",
    )

    def __init__(
        self,
        number: int,
        config: Config,
        origin: Origin,
        seen: int,
        at: float,
        goals: Goals = DEFAULT,
        lowest_counts: bool = False,
    ) -> None:
        self.number = number
        self._config = config
        self._nearest: Config | None = None
        self.origin = origin
        self.runs = Runs(seen, at)
        self.state = State.RUNNING
        self.reports: Sequence[Reading] = ()
        self.known: Mapping[str, float] = NO_ATTRS
        """The objectives that are functions of the configuration, known from the start."""
        self.losses: Losses | None = None
        """The objectives of the last report, lower is better."""
        self.lowest: Losses | None = None
        """The lowest loss of all reports, of each objective."""
        self.budget = 0
        """The budget of the last report."""
        self.target: int | None = None
        """The budget the current run trains to."""
        self.bracket = 0
        self.attempt = 0
        self.reason: str | None = None
        """Why the trial failed, or why it waits to be run again."""
        self.attrs: Mapping[str, Any] = NO_ATTRS
        """What a user noted about it (``study.annotate``, ``trial.note``)."""
        self._goals = goals
        self._lowest_counts = lowest_counts

    def __getitem__(self, name: str) -> Any:
        return value_of(self._config, name)

    if not TYPE_CHECKING:  # to a type checker it would mean that every name exists

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or name in Trial.__slots__:  # while it is copied
                raise AttributeError(name)
            raise no_attribute(self._config, name)

    def __hash__(self) -> int:
        return self.number

    @property
    def config(self) -> Config:
        """The configuration, as a dictionary of your own: change it as you like, the trial keeps what was tried."""
        return self._config.copy()  # its values are immutable (``space.Domain`` asks it of those of other kinds, too)

    @property
    def inside(self) -> bool:
        """Whether the configuration lies in the study's space as it is now, which may have been made narrower."""
        return self._nearest is None

    @property
    def searched(self) -> Config:
        """The configuration, or, if it lies outside, the nearest one of the study's space: for searchers."""
        return self._config if self._nearest is None else self._nearest

    @property
    def loss(self) -> float | None:
        """The objective of the last report, lower is better, of a study that has one."""
        return None if self.losses is None else self._one("loss", self.losses)

    @property
    def value(self) -> float | None:
        """The objective, in the user's own direction: of the last report, or of the best one (``trial_value="best"``). With
        several objectives there is no such number: ``trial.values`` has them all."""
        return None if self.losses is None else self._goals.signs[0] * self._one("value", self.scores)

    @property
    def values(self) -> dict[str, float]:
        """The objectives of the last report by name, in the user's own direction; empty before the first."""
        if self.losses is None:
            return {}
        each = zip(self._goals.metrics, self._goals.signs, self.scores, strict=True)
        return {name: sign * loss for name, sign, loss in each}

    @property
    def scores(self) -> Losses:
        """The losses by which a trial that has reported is compared with others: of its last report, or its lowest."""
        found = self.lowest if self._lowest_counts else self.losses
        assert found is not None
        return found

    def _one(self, what: str, losses: Losses) -> float:
        if len(losses) > 1:
            found = f"{len(losses)} objectives: {', '.join(self._goals.metrics)}"
            raise SeveralObjectives(f"trial.{what}", "is the one objective of a study", found, "read trial.values")
        return losses[0]

    @property
    def metrics(self) -> Metrics:
        """All metrics of the last report."""
        return self.reports[-1].metrics if self.reports else {}

    @property
    def seconds(self) -> float | None:
        """From the first start to the end, pauses included."""
        ended = self.runs.ended_at
        return None if ended is None else ended - self.runs.asked_at

    def epochs(self) -> Iterator[int]:
        """The budgets still to train, up to the target, which moves when a scheduler lets the trial go on."""
        if self.target is None:
            raise no_epochs()
        return self._epochs()

    def _epochs(self) -> Iterator[int]:
        epoch = self.budget
        while self.target is not None and epoch < self.target:
            epoch += 1
            yield epoch

    def __repr__(self) -> str:
        values = self.values.values()
        value = (
            f", value={next(iter(values)):g}"
            if len(values) == 1
            else "".join(f", {name}={value:g}" for name, value in self.values.items())
        )
        return f"Trial({self.number}, {self.state.value}{value}, config={self._config})"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [("state", self.state.value)]
        rows += [(name, markup.value(metric)) for name, metric in self.metrics.items()]
        if self.target is not None:  # otherwise nobody counts them
            rows.append(("epochs", f"{self.budget} of {self.target}"))
        if self.reason:
            rows.append(("reason", last_line(self.reason)))
        rows.append(("suggested by", self.origin))
        config = ((name, markup.value(value)) for name, value in self.config.items())
        tables = markup.table((), rows) + markup.table(("parameter", "value"), config)
        return f"<div><b>Trial {self.number}</b>{tables}</div>"


def losses_of(trial: Trial) -> Losses:
    """The losses of a trial that has reported."""
    assert trial.losses is not None
    return trial.losses


def reshape(trial: Trial, config: Config | None, nearest: Config | None = None) -> None:
    """The study's space has changed, and this is the configuration there; ``None``: it has only a nearest one."""
    trial._config, trial._nearest = trial._config if config is None else config, nearest


def stand_for(trial: Trial, goals: Goals) -> None:
    """Have other objectives: those of a view of the history (``searchers/base.py``)."""
    trial._goals = goals
    if trial.losses is not None:
        trial.losses = trial.lowest = goals.losses(trial.metrics)


def number_of(trial: Trial | int) -> int:
    """The number of a trial that may be given as such."""
    return trial.number if isinstance(trial, Trial) else trial


class TrialsByState:
    """The trials of a history that may still change, by number, and how many are in each state: the one place that changes
    it."""

    __slots__ = ("_counts", "_members", "paused", "running", "waiting")

    def __init__(self) -> None:
        self.running: dict[int, Trial] = {}
        self.paused: dict[int, Trial] = {}
        self.waiting: dict[int, Trial] = {}
        self._counts: dict[State, int] = dict.fromkeys(State, 0)
        self._members = {State.RUNNING: self.running, State.PAUSED: self.paused, State.WAITING: self.waiting}

    def count(self, *states: State) -> int:
        """How many trials are in any of ``states``."""
        return sum(self._counts[state] for state in states)

    def begin(self, trial: Trial) -> None:
        """A new trial runs."""
        self.running[trial.number] = trial
        self._counts[State.RUNNING] += 1

    def move(self, trial: Trial, state: State) -> None:
        """A trial changes its state."""
        self._counts[trial.state] -= 1
        self._counts[state] += 1
        if (old := self._members.get(trial.state)) is not None:
            old.pop(trial.number, None)
        if (new := self._members.get(state)) is not None:
            new[trial.number] = trial
        trial.state = state
