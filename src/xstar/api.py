"""The one-liner: ``xs.minimize(objective, space, …)``.

Its keywords are the fields of :class:`Options`, each with its type, its default and, in a docstring, its meaning: in
``Limits``, in ``Settings`` (which are those of ``xs.Study``, too) or here. ``help()`` shows them, ``xstar run`` has an option
for each, and so has a file's ``settings`` (``cli/options.py``). Options *are* limits and settings: nothing is copied.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, get_type_hints

from xstar.errors import InvalidArgument, ObjectiveError
from xstar.journal.trial import State
from xstar.look.progress import check_progress, show_progress
from xstar.run import Executor, Objective, check_objective
from xstar.run.programs import Command
from xstar.run.ray import chosen
from xstar.run.settings import ExecutorSettings
from xstar.space import Space
from xstar.storage.files import DEFAULT_CHECKPOINTS, check_kept
from xstar.study import Limits, Study
from xstar.study.keywords import explained, takes
from xstar.study.loop import UNKNOWN_LENGTH, Watch, both, log, run
from xstar.study.methods import check_end, check_target
from xstar.study.result import Result
from xstar.study.settings import Settings
from xstar.study.tradeoffs import last_failure

INTERRUPTED = "interrupted; the same call with the study's name goes on with it"
"""The ``reason`` of the result that a ``KeyboardInterrupt`` carries."""


@dataclass(frozen=True)
class _Task:
    """What is searched for; a dataclass of its own, so that the objective is the first argument.

    Parameters
    ----------
    objective
        A function of one trial: ``trial["lr"]`` reads a parameter. It returns a number or a dictionary of metrics, or
        yields one per epoch, or hands it to ``trial.report``. Or a program: ``xs.Command("./train.sh {lr}")``.
    """

    objective: Objective


@dataclass(frozen=True, kw_only=True)
class Options(Settings, Limits, _Task):
    """The options of a search, checked.

    Parameters
    ----------
    checkpoints
        How many of the best trials keep their checkpoint when the search no longer needs it.

        ``None``: all of them.
    workers
        Trials at a time.

        More than one run in worker processes on this machine, as with ``executor=xs.Processes(workers)``.
    executor
        Where trials run: ``local``, on this machine, or ``ray``, on a Ray cluster.

        ``xs.Processes(workers, cores=…, gpus=…, timeout=…)`` and ``xs.Ray(…)`` say more about either. ``"ray"`` is the cluster
        that this machine is part of, and at most ``workers`` trials at a time if that is more than one.
    progress
        Whether to show how the search goes.

        A table on a terminal and in a notebook. Elsewhere, a line per trial that ends or pauses: through the logger ``xstar``,
        or on standard error where logging is not set up for it. ``False`` shows nothing; ``True`` writes lines for a search
        within a search, too.
    watch
        Called with the study after every change.
    """

    space: Space = field(kw_only=False)
    checkpoints: int | None = DEFAULT_CHECKPOINTS
    workers: int = 1
    executor: str | ExecutorSettings | None = None
    progress: bool | None = None
    watch: Watch | None = None
    retries: int | None = field(default=None, init=False)
    """Those of the executor."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "retries", self.where.retries)
        Limits.__post_init__(self)
        Settings.__post_init__(self)
        check_objective(self.objective)
        if self.checkpoints is not None:
            check_kept(self.checkpoints)
        check_progress(self.progress)
        if self.watch is not None and not callable(self.watch):
            raise InvalidArgument("watch", "must be a function of one argument (the study)", self.watch)

    @cached_property
    def where(self) -> ExecutorSettings:
        """What ``workers`` and ``executor`` mean."""
        return chosen(self.executor, self.workers)

    @property
    def resumable(self) -> bool:
        """Whether runs may go on from a checkpoint; an objective that cannot keep any says so by its ``resumable``."""
        return getattr(self.objective, "resumable", True) is not False

    def start(self, program: Mapping[str, Any] | None = None) -> Search:
        """The search, ready to run. All that can be checked is checked before the study is made: a mistake leaves nothing."""
        check_end(self, self.space, self.chosen.searcher)
        check_target(self, self.metric)
        if self.max_budget is None and self.scheduler is None and yields(self.objective):
            log.info("%s", UNKNOWN_LENGTH)  # as a warning when a trial shows that it is so
        self.where.check()
        objective = self.objective
        if isinstance(objective, Command):
            objective = objective.fitted(self.space, self.metric if isinstance(self.metric, str) else None)
        study = Study._of(self, program=program)
        try:
            check_target(self, study.goals.metrics)  # of a stored study, too
            executor = self.where.make(objective, study.goals, study.files.folder)
            study.files.store = getattr(executor, "store", None)
        except BaseException:
            study.close()
            raise
        return Search(study, executor, self)


@dataclass(frozen=True, kw_only=True)
class Minimized(Options):
    """The keywords of :func:`minimize`: its name says the direction."""

    direction: str | None = field(default="minimize", init=False)


@dataclass(frozen=True, kw_only=True)
class Maximized(Options):
    """The same of :func:`maximize`."""

    direction: str | None = field(default="maximize", init=False)


@dataclass(frozen=True, slots=True)
class Search:
    """A search that is ready to run: its options are checked, its study is open, its workers are there."""

    study: Study
    executor: Executor
    options: Options

    def run(self, watch: Watch | None, progress: bool | None = False) -> str:
        """Run it until it ends; returns why it did. The study stays open."""
        study, options = self.study, self.options
        try:
            with show_progress(study, options, progress) as displays:
                for display in displays:
                    watch = both(display, watch)
                reason = run(study, self.executor, options, watch, options.checkpoints, options.where.grace)
                for display in displays:
                    display.finish(reason)
                return reason
        finally:
            self.executor.close()


def yields(objective: Objective) -> bool:
    """Whether it can be seen before its first call that an objective yields: functions, methods, partials, callable objects."""
    own_call = getattr(type(objective), "__call__", None)  # noqa: B004
    return inspect.isgeneratorfunction(objective) or inspect.isgeneratorfunction(own_call)


@takes(Minimized)
def minimize(options: Minimized) -> Result:
    """Find the configuration of ``space`` for which ``objective`` is lowest.

    A search needs an end: ``trials``, ``seconds``, ``target`` or ``patience``, or a finite space. What is left out of a
    study that exists stays as it was stored.

    Ctrl-C raises ``KeyboardInterrupt``, with what was found so far in its attribute ``result``. Running trials end at their
    next report before, or at once if it is pressed again.
    """
    return _result(options)


@takes(Maximized)
def maximize(options: Maximized) -> Result:
    """Find the configuration of ``space`` for which ``objective`` is highest; all else as in :func:`minimize`."""
    return _result(options)


def _result(options: Options) -> Result:
    search = options.start()
    try:
        result = Result(search.study, search.run(options.watch, options.progress))
    except KeyboardInterrupt as error:
        error.result = Result(search.study, INTERRUPTED)  # type: ignore[attr-defined]
        raise
    history = search.study.history
    if not history.has_value and history.count(State.FAILED) and options.max_failures is not None:
        raise ObjectiveError(f"{result.reason}, and none has a value: {last_failure(history)}")
    return result


HINTS = get_type_hints(Options, localns={"WarmStart": str | Study | Sequence[str | Study]})
"""The type of each option; ``WarmStart`` is a name that only type checkers import."""


def _document(*functions: Callable[..., Any]) -> None:
    """Have ``help()`` show what the dataclasses say: types without quotes, and what each option means."""
    texts = explained(Options)
    for function in functions:
        signature = inspect.signature(function)
        known = [each.replace(annotation=HINTS[each.name]) for each in signature.parameters.values()]
        function.__signature__ = signature.replace(parameters=known, return_annotation=Result)  # type: ignore[attr-defined]
        function.__annotations__ = {**{each.name: each.annotation for each in known}, "return": Result}
        if function.__doc__:  # there is none under `python -OO`
            entries = "\n".join(f"{each.name}\n{texts[each.name]}" for each in known)
            function.__doc__ = f"{inspect.cleandoc(function.__doc__)}\n\nParameters\n----------\n{entries}\n"


_document(minimize, maximize)
