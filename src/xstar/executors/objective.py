"""Running a user's objective: the trial object it is handed, and its return value or its yields turned into metrics.

An objective is any callable of one argument that

* returns a number or a dictionary of metrics, or
* is a generator that yields one of these per unit of budget (say, per epoch).
"""

from __future__ import annotations

import inspect
import logging
import os
import traceback
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, cast

from xstar.core.metrics import parse_metrics
from xstar.errors import Infeasible, InvalidReport, MissingMetric, ObjectiveError, ProgramFailed
from xstar.trial import Config, Job, no_epochs, shortened

Objective = Callable[[Any], Any]

UNFINISHED = (".new", ".tmp", ".part")
"""Endings of files on their way to becoming a checkpoint. A run killed before its rename leaves one: it is no checkpoint."""

log = logging.getLogger("xstar")
_told: set[str] = set()
_returning: set[int] = set()  # by their id, objectives that returned: the next time one is called we know it beforehand


class RunningTrial:
    """What an objective is handed: the configuration, the epochs to train and a place for checkpoints."""

    def __init__(self, job: Job) -> None:
        self.number = job.trial
        self._config = job.config
        self.attempt = job.attempt
        """0 for the first run; higher after a promotion or a crash."""
        self._folder = Path(job.directory) / "checkpoint" if job.directory else None
        self.resumed = job.attempt > 0 and self._saved()
        """An earlier run left a checkpoint: load it before training on."""
        self.start = job.start if self.resumed else 0
        """Epochs that earlier runs reported (0 without a checkpoint: training begins anew)."""
        self.stop = job.stop
        """The run goes on to this epoch before anyone decides about it."""
        self._full = job.full
        self._streams = False

    def __getitem__(self, name: str) -> Any:
        return self._config[name]

    @property
    def config(self) -> Config:
        """The configuration, as a dictionary of your own: change it as you like, the trial keeps what was tried."""
        return self._config.copy()

    def _saved(self) -> bool:
        if self._folder is None or not self._folder.is_dir():
            return False
        return any(not entry.name.endswith(UNFINISHED) for entry in self._folder.iterdir())

    def go_on(self, done: int) -> int:
        """Begin the part of the run after ``done`` epochs; returns where it ends. (For executors.)"""
        self.resumed = self._saved()
        self.start = done if self.resumed else 0
        return self.stop or done + 1

    @property
    def checkpoint(self) -> Path:
        """A directory of this trial's own, which survives pauses, crashes and moves between workers."""
        if self._folder is None:
            raise ObjectiveError("this executor gives trials no directory, so there is no trial.checkpoint")
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder

    def epochs(self, done: int | None = None) -> range:
        """The epochs to train, the next one first; ``done`` is how many the checkpoint contains, if it is known.

        A checkpoint that is behind the reports (it is saved every tenth epoch, say) makes the range begin earlier; what is
        reported again is ignored. One that is ahead (it was saved, then the program died) does not make it begin later:
        an epoch that was trained but not reported has to be evaluated. So: ``if epoch > done:`` train, then evaluate.

        An objective that yields is handed all that are left and is closed at a ``yield`` when it shall go no further; one
        that returns is handed only those of this run, and is called again if it may go on.
        """
        last = self._full if self._streams else self.stop
        if last is None:
            raise no_epochs()
        if done is not None:
            self.start = min(self.start, done)
        return range(self.start + 1, last + 1)

    def __repr__(self) -> str:
        return f"RunningTrial({self.number}, config={self._config})"


def check_objective(objective: Objective) -> None:
    """Refuse what can never be run."""
    if not callable(objective):
        raise ObjectiveError(f"the objective must be a function of one argument (the trial), but is {objective!r}")
    if inspect.iscoroutinefunction(objective) or inspect.isasyncgenfunction(objective):
        raise ObjectiveError(f"the objective {objective.__name__} is async; write a plain function or generator")


Warn = Callable[[str, str], None]
"""Says something to the user, once: takes a key, by which a repetition is known, and the text."""


def warn_once(key: str, text: str) -> None:
    """A warning in the log, the first time in this process."""
    if key not in _told:
        _told.add(key)
        log.warning("%s", text)


def drive(
    objective: Objective, trial: RunningTrial, job: Job, metric: str, warn: Warn = warn_once
) -> Generator[tuple[int, dict[str, float]], None, None]:
    """Run one job, yielding (budget, metrics) per report; between two of them ``trial.stop`` may be raised.

    Closing it closes the objective at its last ``yield``.
    """
    repeats = job.start if not trial.resumed else 0
    if repeats and id(objective) in _returning:
        _warn_of_return(job.trial, repeats, warn)
    result: Any = objective(trial)
    if inspect.isgenerator(result):
        trial._streams = True  # before its first line runs
        if repeats:
            again = f"trial {job.trial} has no checkpoint, so {_epochs(repeats)} trained again"
            warn("checkpoint", f"{again}; save to trial.checkpoint to avoid this")
        yield from _stream(cast("Generator[Any, Any, Any]", result), trial, job.start, metric)
        return
    _returning.add(id(objective))
    if repeats:
        _warn_of_return(job.trial, repeats, warn)
    budget = trial.stop or job.start + 1
    yield budget, parse_metrics(result, metric)
    while trial.stop is not None and trial.stop > budget:
        done, budget = budget, trial.go_on(budget)
        if not trial.resumed:
            _warn_of_return(job.trial, done, warn)
        yield budget, parse_metrics(objective(trial), metric)


def _warn_of_return(trial: int, done: int, warn: Warn) -> None:
    """A trial shall go on, its objective returns, and there is no checkpoint to go on from."""
    warn(
        "returns",
        f"trial {trial} shall train on, but its objective returns instead of yielding and saved no checkpoint, so it is called "
        f"again and {_epochs(done)} trained again. Yield once per epoch of trial.epochs(); or save to trial.checkpoint, and "
        "load that when trial.resumed is true; or choose a method that trains each trial once, such as method='gp'",
    )


def _epochs(count: int) -> str:
    return "1 finished epoch is" if count == 1 else f"its {count} finished epochs are"


def _stream(
    result: Generator[Any, Any, Any], trial: RunningTrial, reported: int, metric: str
) -> Generator[tuple[int, dict[str, float]], None, None]:
    count = budget = 0
    try:
        for given in result:
            count += 1
            budget = trial.start + count  # the objective has settled where it begins by now
            if trial.stop is not None and budget > trial.stop:
                return  # the objective trains longer than it was asked to
            metrics = parse_metrics(given, metric)
            if budget > reported:
                yield budget, metrics
    finally:
        result.close()
    if count == 0 and reported == 0:
        raise InvalidReport(
            "objective", "a generator must yield at least one value", "no value", "yield once per epoch"
        )


def describe(error: BaseException) -> tuple[str, str]:
    """(kind, reason) of an exception that ended a run; the reason ends with the line that names the error."""
    if isinstance(error, Infeasible):
        return "infeasible", shortened(str(error)) or "infeasible"
    if isinstance(error, MissingMetric):
        return "metric", shortened(str(error))
    if isinstance(error, ProgramFailed):  # where in our code it was noticed helps nobody
        return error.kind, shortened(str(error))
    return "exception", shortened("".join(traceback.format_exception(error)).strip())


def leave_if_forked(owner: int, error: BaseException | None = None) -> None:
    """End this process if it is not ``owner`` but a fork of it, made by the objective, that came back from there.

    It must not go on in our place: what it reports would be taken for another trial's, and in the main program's own process
    it would carry on the search a second time.
    """
    if os.getpid() == owner:
        return
    if isinstance(error, SystemExit) and (error.code is None or isinstance(error.code, int)):
        os._exit(error.code or 0)  # what a forked process ought to do: sys.exit(), which we caught
    os.write(2, b"xstar: a process that the objective forked came back from it and is ended; let it call os._exit()\n")
    os._exit(1)
