"""The records that pass between the parts: what to do next, what to run, what came back, what became of it.

All but :class:`Trial` are frozen. A ``Trial`` is the row of one trial in a :class:`~xstar.journal.History`; only the
fold writes to it, so it always shows what the journal says, also to a caller who got it from ``ask`` long ago.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from xstar.core import markup
from xstar.core.lookup import no_attribute, no_epochs, value_of
from xstar.core.origin import Origin as Origin
from xstar.core.reasons import last_line

Config = dict[str, Any]
Metrics = Mapping[str, float]


class State(Enum):
    """What a trial is doing. ``RUNNING``, ``PAUSED`` and ``WAITING`` trials may still change; the others are over."""

    RUNNING = "running"
    PAUSED = "paused"  # at a rung, checkpoint kept, until the scheduler promotes it
    WAITING = "waiting"  # its worker or its program died; it will be run again from its checkpoint
    COMPLETE = "complete"
    STOPPED = "stopped"  # ended early by the scheduler; its reports count
    FAILED = "failed"
    INFEASIBLE = "infeasible"  # the objective said that it cannot be evaluated, or a constraint is violated

    # Members are unique objects. Enum's own hash is Python code and took a tenth of the time of an in-memory trial.
    __hash__ = object.__hash__

    @property
    def over(self) -> bool:
        """No further report can change the trial."""
        return self in _OVER


_OVER = frozenset({State.COMPLETE, State.STOPPED, State.FAILED, State.INFEASIBLE})

LIVE = frozenset({State.RUNNING, State.WAITING})
"""A run of a trial in one of these states may report: it runs, or was given up and may prove to be alive after all."""


class Verdict(Enum):
    """What a trial shall do after a report."""

    CONTINUE = "continue"  # train on; the checkpoint stays
    PAUSE = "pause"  # free the worker; the checkpoint is kept for a promotion
    STOP = "stop"  # free the worker for good; the checkpoint is no longer needed


# ---------------------------------------------------------------- the scheduler's answers: how much?


@dataclass(frozen=True, slots=True)
class New:
    """Start a new trial."""

    budget: int | None = None
    """Train up to this budget; ``None``: as long as the objective likes."""
    bracket: int = 0
    """The bracket of a multi-bracket scheduler that the trial belongs to."""
    choices: tuple[int, ...] = ()
    """Budgets among which the searcher may choose (BOCA), ascending; empty: ``budget`` is not for it to choose."""


@dataclass(frozen=True, slots=True)
class Promote:
    """Continue a paused trial."""

    trial: int
    budget: int
    """Train up to this budget."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing can be started until something that runs reports."""


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing will ever be started again."""

    reason: str
    """A sentence for the user."""


# ---------------------------------------------------------------- the searcher's answer: what?


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A configuration to try, and where it came from."""

    config: Config
    origin: str
    """Method and reason, e.g. ``"random"``, ``"sobol: point 12"``, ``"random: gp failed, Cholesky at n=412"``; best an
    :class:`Origin`, which has its parts beside the sentence."""
    budget: int | None = None
    """How far to train, where the task leaves that to the searcher (``New.choices``); ``None``: as the task says."""


# ---------------------------------------------------------------- to and from an executor: where?


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a trial on one worker, from budget ``start`` to budget ``stop``."""

    trial: int
    config: Config
    attempt: int
    """0 for the first run of the trial; a promotion or a run after a crash has the next number."""
    start: int
    """Budget already reported by earlier runs; the first report of this run is for ``start + 1``."""
    stop: int | None
    """Train up to this budget, then ask how to go on; ``None``: as long as the objective likes."""
    full: int | None
    """The budget of a complete trial, which a run may reach if it is told to go on at ``stop``."""
    directory: str | None
    """Where the trial keeps its checkpoint and its output; ``None``: nowhere."""
    homes: tuple[int, ...] = (0,)
    """As those of the trial: ``directory`` is that of the last one, and begins with a copy of the one before it."""


@dataclass(frozen=True, slots=True)
class Report:
    """A worker's metrics at a budget."""

    trial: int
    attempt: int
    budget: int
    metrics: Metrics


@dataclass(frozen=True, slots=True)
class Noted:
    """What an objective noted about its trial."""

    trial: int
    attempt: int
    attrs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Finished:
    """The objective returned and its worker is free."""

    trial: int
    attempt: int
    whole: bool = field(default=True, compare=False)
    """It came to its end by itself; otherwise it was told to go no further."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The run ended without a result and its worker is free (or was replaced)."""

    trial: int
    attempt: int
    kind: str
    """``exception``, ``report`` (what it reports is no number, or not the watched metric), ``disk`` (it is full, which is not
    the configuration's fault), ``timeout``, ``killed`` or ``infeasible``."""
    reason: str
    may_live: bool = False
    """It is out of reach rather than dead, and may go on writing files."""


Outcome = Report | Noted | Finished | Failure


# ---------------------------------------------------------------- the history's row


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


class Trial:
    """A trial on record, as ``study.ask()``, ``study.best``, ``study.trials`` and ``result.best`` give it.

    An objective is handed another thing, an ``xs.RunningTrial``. Read this one freely; only the fold of the journal writes it.
    """

    __slots__ = (
        "_config",
        "_lowest_counts",
        "_nearest",
        "_sign",
        "asked_at",
        "attempt",
        "attrs",
        "bracket",
        "budget",
        "contested",
        "crashes",
        "ended_at",
        "homes",
        "loss",
        "lowest",
        "number",
        "origin",
        "reason",
        "reports",
        "seen",
        "state",
        "target",
        "times_lost",
    )

    def __init__(
        self,
        number: int,
        config: Config,
        origin: Origin,
        seen: int,
        at: float,
        sign: float,
        lowest_counts: bool = False,
    ) -> None:
        self.number = number
        self._config = config
        self._nearest: Config | None = None
        self.origin = origin
        self.seen = seen
        """How many events the decision to run this trial was based on."""
        self.state = State.RUNNING
        self.reports: Sequence[Reading] = ()
        self.loss: float | None = None
        """The watched metric of the last report, lower is better."""
        self.lowest = math.inf
        """The lowest loss of all reports."""
        self.budget = 0
        """The budget of the last report."""
        self.target: int | None = None
        """The budget the current run trains to."""
        self.bracket = 0
        self.attempt = 0
        self.crashes = 0
        """How often its worker died."""
        self.times_lost = 0
        """How often the program that ran it died."""
        self.homes: tuple[int, ...] = FIRST
        """The attempts for which a directory was made (``folder_name``): the first one, and each that took the trial over from
        a holder who may still live. The last one counts."""
        self.contested = False
        """It waits to be run again, and whoever ran it last may still live."""
        self.reason: str | None = None
        """Why the trial failed, or why it waits to be run again."""
        self.attrs: Mapping[str, Any] = NO_ATTRS
        """What a user noted about it (``study.annotate``, ``trial.note``)."""
        self.asked_at = at
        self.ended_at: float | None = None
        self._sign = sign
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

    def reshape(self, config: Config | None, nearest: Config | None = None) -> None:
        """The study's space has changed, and this is the configuration there; ``None``: it has only a nearest one."""
        self._config, self._nearest = self._config if config is None else config, nearest

    @property
    def value(self) -> float | None:
        """The watched metric, in the user's own direction: of the last report, or of the best one (``best="lowest"``)."""
        return None if self.loss is None else self._sign * (self.lowest if self._lowest_counts else self.loss)

    @property
    def known_loss(self) -> float:
        """The loss of a trial that has reported."""
        assert self.loss is not None
        return self.loss

    @property
    def score(self) -> float:
        """The loss by which a trial that has reported is compared with others for the best: ``value``, lower is better."""
        return self.lowest if self._lowest_counts else self.known_loss

    @property
    def metrics(self) -> Metrics:
        """All metrics of the last report."""
        return self.reports[-1].metrics if self.reports else {}

    @property
    def seconds(self) -> float | None:
        """From the first start to the end, pauses included."""
        return None if self.ended_at is None else self.ended_at - self.asked_at

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
        value = "" if self.loss is None else f", value={self.value:g}"
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


def number_of(trial: Trial | int) -> int:
    """The number of a trial that may be given as such."""
    return trial.number if isinstance(trial, Trial) else trial
