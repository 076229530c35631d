"""The one-liner: ``xs.minimize(objective, space, …)``.

The signature of :func:`minimize` is the one list of a search's options. :func:`maximize` has it by a decorator, the
options of ``xstar run`` and a file's ``settings`` are derived from it (``cli/options.py``), and so are the
arguments of what a search is made of: each of them takes the options that its own signature names (:func:`taken`).
To add an option, add it to the signature and to the docstring, where its first paragraph is also its help in ``xstar run``,
and give a parameter of that name to whoever uses it.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xstar.core import entry_points
from xstar.core.checks import check_path
from xstar.core.goals import Goals, Metric
from xstar.core.keywords import called_like, checked_keywords
from xstar.core.values import as_float
from xstar.errors import InvalidArgument, ObjectiveError
from xstar.journal.trial import State
from xstar.look.progress import check_progress, show_progress
from xstar.run import Executor, InlineExecutor, Objective, ProcessExecutor, check_objective, check_workers
from xstar.run.programs import Command
from xstar.run.ray import EXECUTORS, Ray, chosen, import_ray
from xstar.schedulers import Scheduler
from xstar.searchers import Searcher
from xstar.space import Space
from xstar.storage.files import DEFAULT_CHECKPOINTS, Folders, check_kept
from xstar.study import FIRST_FAILURES, Limits, Study
from xstar.study.loop import UNKNOWN_LENGTH, Watch, both, log, run
from xstar.study.methods import check_end, check_target, with_option
from xstar.study.result import Result
from xstar.study.settings import Constraints, Settings
from xstar.study.tradeoffs import last_failure

INTERRUPTED = "interrupted; the same call with the study's name goes on with it"
"""The ``reason`` of the result that a ``KeyboardInterrupt`` carries."""


@checked_keywords(with_option)
def minimize(
    objective: Objective,
    space: Space,
    *,
    trials: int | None = None,
    seconds: float | None = None,
    target: float | None = None,
    patience: int | None = None,
    max_failures: int | None = FIRST_FAILURES,
    metric: Metric | None = None,
    best: str | None = None,
    constraints: Constraints | None = None,
    method: str | None = None,
    searcher: Searcher | None = None,
    scheduler: Scheduler | None = None,
    max_budget: int | None = None,
    seed: int | None = None,
    warm_start: str | Study | Sequence[str | Study] | None = None,
    study: str | None = None,
    storage: str | os.PathLike[str] | None = None,
    directory: str | os.PathLike[str] | None = None,
    checkpoints: int | None = DEFAULT_CHECKPOINTS,
    workers: int = 1,
    timeout: float | None = None,
    cores: int | None = None,
    gpus: float | None = None,
    executor: str | Ray | None = None,
    retries: int | None = None,
    grace: float = 0.0,
    progress: bool | None = None,
    watch: Watch | None = None,
) -> Result:
    """Find the configuration of ``space`` for which ``objective`` is lowest.

    A search needs an end: ``trials``, ``seconds``, ``target`` or ``patience``, or a finite space. What is left out of a
    study that exists stays as it was stored.

    Ctrl-C raises ``KeyboardInterrupt``, with what was found so far in its attribute ``result``. Running trials end at their
    next report before, or at once if it is pressed again.

    Parameters
    ----------
    objective
        A function of one trial: ``trial["lr"]`` reads a parameter. It returns a number or a dictionary of metrics, or
        yields one per epoch, or hands it to ``trial.report``. Or a program: ``xs.Command("./train.sh {lr}")``.
    space
        What may be tried.
    trials
        Total trials, earlier runs included.
    seconds
        Wall-clock time of this run.
    target
        Stop when a trial is this good.
    patience
        Stop after this many trials in a row without a new best.
    max_failures
        Stop with an error when this many trials have failed before any has succeeded.

        A typing error should not cost the whole budget. So does a search that ends without any value because trials failed.
        ``None`` switches both off.
    metric
        Which metric counts, if the objective gives several; or the metrics that count, up to five.

        The only number of a dictionary counts without being named. Several are a list of names, or names and directions:
        ``{"accuracy": "max", "latency": ("min", 40)}``, where beyond a threshold nothing is of interest. Such a search
        looks for the best trade-offs, ``result.front``. ``xs.Known(function)`` in the place of a direction is an objective that
        the configuration alone decides.
    best
        Which report of a trial is its value when the best trial is chosen: last or lowest.

        By default, the last one. ``"lowest"`` is the best one, so the highest with ``xs.maximize``. It changes ``best``,
        ``trial.value``, ``target``, ``patience`` and whose checkpoints are kept; schedulers and searchers compare and learn
        from the reports at each budget, whatever it says.
    constraints
        Bounds of other metrics. A trial that ends beyond one is infeasible: never the best, but learned from.

        E.g. ``{"latency": 50.0, "accuracy": xs.at_least(0.9)}``: a number is the largest allowed value. A configuration that
        cannot be evaluated at all raises ``xs.Infeasible``.
    method
        How to search, by name. By default what suits the space and the budget.

        That is ``mobster`` with ``max_budget`` (``mobster-stop`` for an objective of Optuna), else ``auto``, or ``pbil`` for
        many switches; the choice and its reason are shown first and stay in the journal.
    searcher
        How to choose configurations, in the place of the method's searcher.
    scheduler
        How to allot budgets, in the place of the method's scheduler.
    max_budget
        Epochs of a full training: what trial.epochs() counts to.
    seed
        Makes the search repeatable.
    warm_start
        A study whose observations a new one begins with: of a related problem, or of another space.

        The name of one in the same storage, a :class:`Study`, or a list of these. Parameters that it did not have are
        taken to be at the median of their prior; trials with a value outside of this space are left out. What is brought
        along is copied into the journal; it counts as no trial and is never the best.
    study
        The study's name: it is stored under this name, or resumed if it exists.

        Without a name it lives in memory.
    storage
        Where studies are kept: a SQLite file, or a PostgreSQL URL.

        By default, the file ``xstar.db``. A URL may leave its password to ``PGPASSWORD`` or ``~/.pgpass``.
    directory
        Where trials keep checkpoints and output.

        By default, a folder beside the storage. A study that exists has them where it was created.
    checkpoints
        How many of the best trials keep their checkpoint when the search no longer needs it.

        ``None``: all of them.
    workers
        Trials at a time.

        One worker without ``timeout`` and ``cores`` runs in this process, otherwise there are worker processes.
    timeout
        Seconds that one run of a trial may take.
    cores
        Cores of each worker: how many threads its numerical libraries start.

        By default, the workers share the cores of the machine evenly, unless ``OMP_NUM_THREADS`` and its like say otherwise.
    gpus
        GPUs of each worker: 1, 2, …, or a fraction, as 0.5 for two workers on one; 0 for none.

        Each worker process then sees only its own, and ``trial.device`` names the first. By default, every worker sees all.
    executor
        Where trials run: ``local``, on this machine, or ``ray``, on a Ray cluster.

        ``xs.Ray(…)`` says more about the cluster. By name, it is the cluster that this machine is part of, with ``cores`` and
        ``gpus`` for each trial, and at most ``workers`` trials at a time if that is more than one.
    retries
        How often a trial whose worker died is run again.

        By default, once.
    grace
        Seconds that running trials have to report once more when the program is told to terminate (SIGTERM).

        A trial is handed back as soon as it has reported, with what it saved, and another program that shares the study may go
        on with it at once. A trial that does not report in time is ended, and run again from its last checkpoint. By default,
        and when the signal comes again, all are ended at once.
    progress
        Whether to show how the search goes.

        A table on a terminal and in a notebook. Elsewhere, a line per trial that ends or pauses: through the logger ``xstar``,
        or on standard error where logging is not set up for it. ``False`` shows nothing; ``True`` writes lines for a search
        within a search, too.
    watch
        Called with the study after every change.
    """
    return _search("minimize", locals())


@called_like(minimize, with_option)
def maximize(**arguments: Any) -> Result:
    """Find the configuration of ``space`` for which ``objective`` is highest; all else as in :func:`minimize`."""
    return _search("maximize", arguments)


if minimize.__doc__ and maximize.__doc__:  # there are none under `python -OO`
    maximize.__doc__ += minimize.__doc__[minimize.__doc__.index("\n") :]


def options() -> dict[str, inspect.Parameter]:
    """The keywords of :func:`minimize`: name → type and default."""
    parameters = inspect.signature(minimize).parameters.values()
    return {parameter.name: parameter for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}


def taken(by: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the arguments that a function or a class has a parameter for."""
    return {name: arguments[name] for name in inspect.signature(by).parameters if name in arguments}


@dataclass(frozen=True, slots=True)
class Search:
    """A search that is ready to run: its arguments are checked, its study is open, its workers are there."""

    study: Study
    limits: Limits
    executor: Executor
    checkpoints: int | None
    grace: float

    @classmethod
    def prepare(cls, direction: str | None, arguments: Mapping[str, Any]) -> Search:
        """The search that the arguments of :func:`minimize` describe; ``direction=None``: as stored.

        All that can be checked is checked before the study is made: a mistake leaves nothing behind.
        """
        arguments = {name: parameter.default for name, parameter in options().items()} | {**arguments}
        arguments["resumable"] = resumable(arguments["objective"])
        limits = Limits(**taken(Limits, arguments))
        settings = Settings(direction=direction, **taken(Settings, arguments))
        check_end(limits, arguments["space"], settings.chosen().searcher)
        check_target(limits, settings.metric)
        if settings.max_budget is None and settings.scheduler is None and yields(arguments["objective"]):
            log.info("%s", UNKNOWN_LENGTH)  # as a warning when a trial shows that it is so
        _check_surroundings(arguments)
        if isinstance(arguments["objective"], Command):
            named = settings.metric if isinstance(settings.metric, str) else None
            arguments = {**arguments, "objective": arguments["objective"].fitted(arguments["space"], named)}
        study = Study(direction=direction, **taken(Study, arguments))
        try:
            check_target(limits, study.goals.metrics)  # of a stored study, too
            executor = make_executor(**taken(make_executor, arguments) | {"goals": study.goals, "files": study.files})
        except BaseException:
            study.close()
            raise
        return cls(study, limits, executor, arguments["checkpoints"], float(arguments["grace"]))

    def run(self, watch: Watch | None, progress: bool | None = False) -> str:
        """Run it until it ends; returns why it did. The study stays open."""
        try:
            with show_progress(self.study, self.limits, progress) as displays:
                for display in displays:
                    watch = both(display, watch)
                reason = run(self.study, self.executor, self.limits, watch, self.checkpoints, self.grace)
                for display in displays:
                    display.finish(reason)
                return reason
        finally:
            self.executor.close()


def yields(objective: Objective) -> bool:
    """Whether it can be seen before its first call that an objective yields: functions, methods, partials, callable objects."""
    own_call = getattr(type(objective), "__call__", None)  # noqa: B004
    return inspect.isgeneratorfunction(objective) or inspect.isgeneratorfunction(own_call)


def resumable(objective: Objective) -> bool:
    """Whether runs of an objective may go on from a checkpoint; one that cannot keep any says so by its ``resumable``."""
    return getattr(objective, "resumable", True) is not False


def _check_surroundings(arguments: Mapping[str, Any]) -> None:
    """Refuse what the study does not check, or checks too late."""
    check_objective(arguments["objective"])
    if chosen(**taken(chosen, arguments)) is None:
        check_workers(**taken(check_workers, arguments))
    else:
        check_workers(1, arguments["timeout"])
        import_ray()
    if arguments["checkpoints"] is not None:
        check_kept(arguments["checkpoints"])
    check_path("storage", arguments["storage"], "e.g. storage='xstar.db'")
    if arguments["storage"] is not None and arguments["study"] is None:
        raise InvalidArgument("study", "a stored study needs a name", None, "e.g. study='digits', or leave out storage")
    check_path("directory", arguments["directory"], "e.g. directory='runs'")
    check_progress(arguments["progress"])
    if (grace := as_float(arguments["grace"])) is None or grace < 0:
        raise InvalidArgument("grace", "must be a number of seconds, 0 or more", arguments["grace"], "e.g. grace=20")
    watch = arguments["watch"]
    if watch is not None and not callable(watch):
        raise InvalidArgument("watch", "must be a function of one argument (the study)", watch)


def _search(direction: str, arguments: Mapping[str, Any]) -> Result:
    search = Search.prepare(direction, arguments)
    try:
        result = Result(search.study, search.run(arguments["watch"], arguments["progress"]))
    except KeyboardInterrupt as error:
        error.result = Result(search.study, INTERRUPTED)  # type: ignore[attr-defined]
        raise
    history = search.study.history
    if not history.has_value and history.count(State.FAILED) and search.limits.max_failures is not None:
        raise ObjectiveError(f"{result.reason}, and none has a value: {last_failure(history)}")
    return result


def make_executor(
    objective: Objective,
    goals: Goals,
    workers: int,
    timeout: float | None,
    cores: int | None = None,
    gpus: float | None = None,
    executor: str | Ray | None = None,
    files: Folders | None = None,
) -> Executor:
    """This process for one worker with neither a time limit nor cores of its own, else worker processes, or a cluster."""
    cluster = chosen(executor, workers, cores, gpus)
    if isinstance(executor, str) and (offered := entry_points.load(EXECUTORS, executor)) is not None:
        made_elsewhere: Executor = offered(objective, goals, workers)
        return made_elsewhere
    if cluster is not None:
        from xstar.run.ray.executor import RayExecutor

        assert files is not None
        made = RayExecutor(objective, goals, cluster, files.folder, timeout)
        files.store = made.store
        return made
    if workers == 1 and timeout is None and cores is None:
        return InlineExecutor(objective, goals, *check_workers(workers, timeout, cores, gpus))
    return ProcessExecutor(objective, goals, workers, timeout, cores, gpus)
