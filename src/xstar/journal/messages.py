"""The records that pass between scheduler, searcher, study and executors: what to do next, what to run, what came back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

Config = dict[str, Any]
Metrics = Mapping[str, float]


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
    alone: str | None = None
    """The memory (``GPU_MEMORY``, ``MACHINE_MEMORY``) of which it was out beside others: this time no other run shares it."""


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


GPU_MEMORY = "gpu_memory"
MACHINE_MEMORY = "memory"
MEMORIES = (GPU_MEMORY, MACHINE_MEMORY)
"""Failures for want of memory: the configuration is infeasible, unless other runs had a part of it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The run ended without a result and its worker is free (or was replaced)."""

    trial: int
    attempt: int
    kind: str
    """``exception``, ``report`` (what it reports is no number, or not the watched metric), ``disk`` (it is full, which is not
    the configuration's fault), ``timeout``, ``killed``, ``infeasible``, ``memory`` or ``gpu_memory``."""
    reason: str
    may_live: bool = False
    """It is out of reach rather than dead, and may go on writing files."""
    beside: bool = False
    """Other runs shared the memory that it was out of: it is to be run once more, alone."""


Outcome = Report | Noted | Finished | Failure
