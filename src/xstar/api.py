"""The one-liner: ``xs.minimize(objective, space, …)``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict, Unpack

from xstar.errors import InvalidArgument
from xstar.executors import Executor, InlineExecutor, Objective, ProcessExecutor
from xstar.files import DEFAULT_CHECKPOINTS
from xstar.loop import Watch, run
from xstar.schedulers import Scheduler
from xstar.searchers import Searcher
from xstar.space import Space
from xstar.study import FIRST_FAILURES, Limits, Study
from xstar.study.methods import check_end, resolve
from xstar.trial import Trial


@dataclass(frozen=True, slots=True)
class Result:
    """What a search found."""

    study: Study
    reason: str
    """Why it ended."""

    @property
    def best(self) -> Trial:
        """The best trial."""
        return self.study.best


class Options(TypedDict, total=False):
    """The keyword arguments of :func:`minimize` and :func:`maximize`."""

    trials: int | None
    seconds: float | None
    target: float | None
    patience: int | None
    max_failures: int | None
    workers: int
    timeout: float | None
    metric: str | None
    method: str | None
    searcher: Searcher | None
    scheduler: Scheduler | None
    max_budget: int | None
    study: str | None
    storage: str | os.PathLike[str] | None
    directory: str | os.PathLike[str] | None
    seed: int | None
    retries: int | None
    watch: Watch | None
    checkpoints: int | None
    constraints: Mapping[str, float] | None


_OF_THE_STUDY = (
    "storage",
    "directory",
    "method",
    "searcher",
    "scheduler",
    "max_budget",
    "metric",
    "seed",
    "retries",
    "constraints",
)


def minimize(objective: Objective, space: Space, **options: Unpack[Options]) -> Result:
    """Find the configuration of ``space`` for which ``objective`` is lowest.

    Parameters (all but the first two by keyword)
    ----------
    objective
        A function of one trial: ``trial["lr"]`` reads a parameter. It returns a number or a dictionary of metrics, or
        yields one per epoch.
    trials, seconds, target, patience
        When to stop; at least one of them, or a finite space with a method that exhausts it. ``trials`` is the total of
        the study, not "additional".
    max_failures
        The search ends with an ``ObjectiveError`` when the first trials, this many (default 5), all raise the same exception on
        the same line: a typing error should not cost the whole budget. ``None`` switches it off.
    workers, timeout
        Trials at a time, and the seconds one may take. One worker without a time limit runs in this process, otherwise in
        worker processes.
    metric
        Which of the metrics to minimise, when the objective gives a dictionary.
    constraints
        The largest allowed value of other metrics, ``{"latency": 50.0}``. A trial that ends above one is infeasible: it is
        never the best, and searchers learn from it. (A configuration that cannot be evaluated at all raises
        ``xs.Infeasible``.)
    method, searcher, scheduler, max_budget
        How to search: a method's name, or its two parts.
    study, storage, directory
        A name makes the study durable (in ``xstar.db``, or where ``storage`` says) and resumes it if it exists.
    checkpoints
        How many of the best trials keep their checkpoint when it is no longer needed for the search (``None``: all).
    seed, retries
        Makes the search repeatable; how often a trial whose worker died is run again (default once).
    watch
        Called with the study after every change.
    """
    return _search("minimize", objective, space, options)


def maximize(objective: Objective, space: Space, **options: Unpack[Options]) -> Result:
    """Find the configuration of ``space`` for which ``objective`` is highest; all else as in :func:`minimize`."""
    return _search("maximize", objective, space, options)


def _search(direction: str, objective: Objective, space: Space, options: Options) -> Result:
    if unknown := sorted(set(options) - set(Options.__annotations__)):
        raise InvalidArgument(
            unknown[0],
            f"is no option of xs.{direction}",
            f"{unknown[0]}=…",
            f"there are {', '.join(Options.__annotations__)}",
        )
    limits = Limits(
        options.get("trials"),
        options.get("seconds"),
        options.get("target"),
        options.get("patience"),
        options.get("max_failures", FIRST_FAILURES),
    )
    chosen = resolve(
        options.get("method"), options.get("searcher"), options.get("scheduler"), options.get("max_budget")
    )
    check_end(limits, space, chosen[0])  # before the study is made
    study = Study(
        space,
        name=options.get("study"),
        direction=direction,
        **{name: options.get(name) for name in _OF_THE_STUDY},  # type: ignore[arg-type]
    )
    executor = make_executor(objective, study.metric, options.get("workers", 1), options.get("timeout"))
    try:
        ending = run(study, executor, limits, options.get("watch"), options.get("checkpoints", DEFAULT_CHECKPOINTS))
    finally:
        executor.close()
    return Result(study, ending.reason)


def make_executor(objective: Objective, metric: str, workers: int, timeout: float | None) -> Executor:
    """This process for one worker without a time limit, worker processes otherwise."""
    if workers == 1 and timeout is None:
        return InlineExecutor(objective, metric)
    return ProcessExecutor(objective, metric, workers, timeout)
