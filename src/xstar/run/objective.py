"""A user's objective, from outside: what can be run, how an exception that ended a run is described, and what it may do to this
process.

An objective is any callable of one argument, the trial, that

* returns a number or a dictionary of metrics, or
* is a generator that yields one of these per unit of budget (say, per epoch), or
* hands them to ``trial.report``, once per unit of budget.
"""

from __future__ import annotations

import contextlib
import errno
import inspect
import io
import os
import platform
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from xstar.core.words import last_line, shortened
from xstar.errors import Infeasible, InvalidReport, ObjectiveError, ProgramFailed
from xstar.journal.trial import Job
from xstar.run.memory import exhausted, exhausted_by_words, with_config

Objective = Callable[[Any], Any]


def check_objective(objective: Objective) -> None:
    """Refuse what can never be run."""
    if not callable(objective):
        raise ObjectiveError(f"the objective must be a function of one argument (the trial), but is {objective!r}")
    if (counted := _arguments(objective)) is not None:
        raise ObjectiveError(f"the objective must be a function of one argument (the trial), but {counted}")
    if inspect.iscoroutinefunction(objective) or inspect.isasyncgenfunction(objective):
        raise ObjectiveError(f"the objective {objective.__name__} is async; write a plain function or generator")


def _arguments(objective: Objective) -> str | None:
    """What keeps an objective from being called with the trial alone, where that can be seen before the call."""
    if hasattr(objective, "__signature__"):  # what a decorator says of it need not be how it is called
        return None
    try:
        signature = inspect.signature(objective, follow_wrapped=False)
    except (TypeError, ValueError):  # of some that are written in C nothing is known
        return None
    try:
        signature.bind(None)
    except TypeError as error:
        return (
            f"{getattr(objective, '__name__', type(objective).__name__)}{signature} is called in another way ({error})"
        )
    return None


def describe(error: BaseException, job: Job) -> tuple[str, str]:
    """(kind, reason) of an exception that ended a run; the reason ends with the line that names the error."""
    if isinstance(error, Infeasible):
        return "infeasible", shortened(str(error)) or "infeasible"
    if isinstance(error, InvalidReport):
        return "report", shortened(str(error))
    if isinstance(error, ProgramFailed):  # where in our code it was noticed helps nobody
        kind, reason = error.kind, str(error)
        if kind == "exception" and (memory := exhausted_by_words(last_line(reason))) is not None:
            kind, reason = memory, with_config(memory, reason, job.config)
        return kind, shortened(reason)
    trace = "".join(traceback.format_exception(error)).strip()
    if (memory := exhausted(error)) is not None:
        return memory, shortened(with_config(memory, trace, job.config))
    if (full := full_disk(error, job.directory)) is not None:
        return "disk", shortened(f"{trace}\n{full}")
    return "exception", shortened(trace)


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


class Streams:
    """``sys.stdout`` and ``sys.stderr`` as they were before an objective, which may close them or put others in their place."""

    def __init__(self) -> None:
        self._kept = [(name, getattr(sys, name)) for name in ("stdout", "stderr")]
        self._files = [(stream, *found) for _, stream in self._kept if (found := _file(stream)) is not None]

    def reopen(self) -> None:
        """Open those that were closed, as the same objects: log handlers and displays hold them, too."""
        for stream, number, how in self._files:
            if stream.closed:
                stream.__init__(open(number, "wb", closefd=False), **how)  # noqa: SIM115

    def put_back(self) -> None:
        """Print what is left in them and in what stands in their place, and put them back."""
        for name, stream in self._kept:
            there: list[Any] = [getattr(sys, name, None), stream]
            for each in there:
                with contextlib.suppress(Exception):  # closed, None, or anything of the objective's own
                    each.flush()
            setattr(sys, name, stream)
        self.reopen()


def _file(stream: Any) -> tuple[int, dict[str, Any]] | None:
    """The descriptor, which closing the stream leaves open, and how to write to it; ``None``: of another kind of stream."""
    if not isinstance(stream, io.TextIOWrapper) or stream.closed:
        return None
    raw = getattr(stream.buffer, "raw", stream.buffer)
    if getattr(raw, "closefd", True):
        return None
    names = ("encoding", "errors", "line_buffering", "write_through")
    return stream.fileno(), {name: getattr(stream, name) for name in names}


FULL = (errno.ENOSPC, errno.EDQUOT)


def full_disk(error: BaseException, directory: str | None) -> str | None:
    """A sentence, if ``error`` or what led to it is a disk without room; ``directory`` is the trial's own."""
    found = _cause(error)
    if found is None:
        return None
    # An error of `write` knows no name. Then it is the fullest of the places that a trial writes to.
    named = [os.fsdecode(found.filename)] if isinstance(found.filename, str | bytes) else []
    places = named or [each for each in (directory, os.getcwd(), tempfile.gettempdir()) if each is not None]
    free, folder = min((shutil.disk_usage(each).free, str(each)) for each in map(_existing, places))
    limit = "the quota is used up" if found.errno == errno.EDQUOT else "the disk is full"
    return (
        f"{limit} on {platform.node()}: {free / 1e6:,.1f} MB are left in {folder}; make room there, or keep checkpoints on "
        "another disk (directory=…)"
    )


def _cause(error: BaseException | None) -> OSError | None:
    seen = 0
    while error is not None and seen < 100:  # a chain may be a circle
        if isinstance(error, OSError) and error.errno in FULL:
            return error
        error, seen = error.__cause__ or error.__context__, seen + 1
    return None


def _existing(place: str) -> Path:
    """The folder itself, or the nearest one above it that is there."""
    path = Path(place).absolute()
    while not path.is_dir() and path != path.parent:
        path = path.parent
    return path
