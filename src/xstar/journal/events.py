"""What can happen to a study. The journal is a list of these; everything else is computed from it.

An event is a frozen dataclass of plain JSON data (``event_json.py``): no space, no class of ours is needed to read it.

    kind        appended when
    created     the study begins (always sequence number 0)
    enqueued    a user wants a configuration tried first
    asked       a new trial begins to run
    started     a known trial runs again: promoted by the scheduler, or after its worker or program died
    reported    metrics arrived; carries the verdict, so that report and decision are one atomic fact
    completed   the objective returned without a further value
    failed      the run ended without a result
    lost        the program that ran the trial died (its lease expired) or gave it up
    added       an observation made elsewhere
    annotated   a user noted something about a trial, which no decision looks at
    prior_study a new study begins with what another one observed: no trials of its own, but searchers may learn from it
    reshaped    the space has become wider or narrower: the trials so far stay, decisions from here on are made in the new one
    held        a user wants no more trials to be started, for a while or for good; or wants it to go on
    environment a program decides whose machine, processor or versions no other one had so far
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, get_args

from xstar.core.goals import Goal, Goals
from xstar.journal.trial import Metrics, Verdict

SCHEMA = 1
"""Number of the JSON form of events. A reader refuses higher ones."""


@dataclass(frozen=True, slots=True)
class Created:
    space: dict[str, Any]
    objectives: list[dict[str, Any]]
    """What the search is for: ``metric`` and ``direction`` of each, and its ``threshold``, if it has one."""
    seed: int
    searcher: dict[str, Any]
    scheduler: dict[str, Any]
    retries: int
    files: str
    """Name of the folder that holds the trials' checkpoints and output; stays when the study is renamed."""
    at: float
    environment: dict[str, str] | None = None
    """Where the study was created (``core/environment.py``); decisions that name no other environment were made there."""
    constraints: dict[str, Any] | None = None
    """Bounds of some metrics, as in ``journal/constraints.py``: a trial that ends beyond one is infeasible."""
    method: str = ""
    """The name of the method; empty where it has none."""
    why: str = ""
    """Why this method, in a sentence; empty if the user chose it."""
    trial_value: str = "last"
    """Which report of a trial is its value: its ``last``, or its ``best``, the one with the lowest loss."""
    program: dict[str, Any] | None = None
    """Of a study that ``xstar run`` made: its file and how it was called, for those who join (``xstar work``)."""
    directory: str | None = None
    """Where the folder ``files`` lies, for whoever says nothing else; ``None``: beside the database."""

    @property
    def metric(self) -> str:
        """The names of the objectives, as a title has them."""
        return ", ".join(each["metric"] for each in self.objectives)

    @property
    def direction(self) -> str:
        """``minimize`` or ``maximize``, of each objective where they differ."""
        return ", ".join(dict.fromkeys(each["direction"] for each in self.objectives))

    @property
    def goals(self) -> Goals:
        """The objectives."""
        return Goals(map(Goal.from_json, self.objectives))

    @property
    def version(self) -> str:
        """The release of xstar that created the study; empty where that is not known."""
        return (self.environment or {}).get("xstar", "")


@dataclass(frozen=True, slots=True)
class Enqueued:
    config: dict[str, Any]
    """Some values, or all of them."""
    at: float
    author: str = ""
    """Who did it, where somebody said so: a person, a program."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    trial: int
    config: dict[str, Any]
    origin: str
    """An :class:`~xstar.journal.trial.Origin`, or only a sentence."""
    seen: int
    """The decision is a function of the first ``seen`` events."""
    at: float
    budget: int | None = None
    bracket: int = 0
    queued: int | None = None
    """Which of the enqueued configurations this is."""
    by: int = 0
    """In which of the study's environments this was decided (``History.environments``)."""
    known: dict[str, float] | None = None
    """The objectives that are functions of the configuration."""


@dataclass(frozen=True, slots=True)
class Started:
    trial: int
    attempt: int
    seen: int
    at: float
    budget: int | None = None
    by: int = 0
    """In which of the study's environments this was decided (``History.environments``)."""


@dataclass(frozen=True, slots=True)
class Reported:
    trial: int
    budget: int
    metrics: Metrics
    at: float
    seen: int
    """The verdict is a function of the first ``seen`` events."""
    attempt: int = 0
    verdict: Verdict = Verdict.CONTINUE
    final: bool = False
    """The trial is complete with this report."""
    by: int = 0
    """In which of the study's environments this was decided (``History.environments``)."""


@dataclass(frozen=True, slots=True)
class Completed:
    trial: int
    at: float
    attempt: int = 0
    pruned: bool = False
    """Something other than the scheduler ended it early, as where it was imported from: it is stopped; its reports count."""


@dataclass(frozen=True, slots=True)
class Failed:
    trial: int
    kind: str
    reason: str
    at: float
    attempt: int = 0
    may_live: bool = False
    """As that of ``Lost``."""


@dataclass(frozen=True, slots=True)
class Lost:
    trial: int
    reason: str
    at: float
    attempt: int = 0
    released: bool = False
    """Given up on purpose (an interrupt, a closed study): not held against the trial."""
    may_live: bool = False
    """Whoever ran it is silent, but may live and write files: the next attempt has a directory of its own, and what is saved
    elsewhere from then on counts no more (``Runs.homes``)."""


@dataclass(frozen=True, slots=True)
class Added:
    trial: int
    config: dict[str, Any]
    metrics: Metrics
    at: float
    budget: int = 1


@dataclass(frozen=True, slots=True)
class Annotated:
    trial: int
    attrs: dict[str, Any]
    """Names and values of any JSON; a name that is there already gets the new value."""
    at: float


@dataclass(frozen=True, slots=True)
class PriorStudy:
    """A copy of what another study observed, so that this journal says all that its decisions rest on."""

    source: str
    """The name of the other study; empty if it was in memory."""
    configs: list[dict[str, Any]]
    """Its configurations, as those of this study's space."""
    observed: list[list[Any]]
    """[index among ``configs``, budget, loss] of each observation; lower is better, whatever the direction was."""
    at: float
    left_out: int = 0
    """How many of its trials with a value are not among them: some value lies outside of this study's space, or there were
    too many of them."""


@dataclass(frozen=True, slots=True)
class Reshaped:
    space: dict[str, Any]
    """The space from here on."""
    fill: dict[str, Any]
    """What new parameters were in the trials so far, which did not know them."""
    at: float
    author: str = ""
    """Who did it, where somebody said so: a person, a program."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Held:
    state: str
    """``pause``: programs start nothing until ``go``; ``stop``: they end once what runs has ended."""
    at: float
    author: str = ""
    """Who did it, where somebody said so: a person, a program."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Environment:
    """Versions, kernels and the machine that decisions from here on may have been made with."""

    parts: dict[str, str]
    """As in ``core/environment.py``, with the machine's name."""
    at: float


Event = (
    Created
    | Enqueued
    | Asked
    | Started
    | Reported
    | Completed
    | Failed
    | Lost
    | Added
    | Annotated
    | PriorStudy
    | Reshaped
    | Held
    | Environment
)

CLAIMS = (Asked, Started, Added, Reshaped)
"""Events that two programs must not both append: they take a trial's number, start a run of a trial, or change the space, in
which a trial that is asked for at the same time would have to be decided again."""


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


KINDS: dict[str, type[Any]] = {_snake(cls.__name__): cls for cls in get_args(Event)}
_NAMES: dict[type[Any], str] = {cls: name for name, cls in KINDS.items()}


def kind_of(event: Event) -> str:
    """The event's name in the table above."""
    return _NAMES[type(event)]
