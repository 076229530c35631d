"""What the pages are told about a study: plain JSON, made of its history and of what its trials printed.

An objective owns its folder and may put anything there: a link to a password file, a device, a pipe. So a log is opened without
following links, has to be a regular file, and its folder has to lie where the study's files belong.
"""

from __future__ import annotations

import math
import os
import stat
from typing import Any

from xstar.core.environment import host_of
from xstar.core.reasons import last_line
from xstar.core.words import outline, short
from xstar.errors import InvalidArgument, StorageError
from xstar.journal import History
from xstar.journal.trial import State, Trial
from xstar.look.plots.figure import plain
from xstar.look.plots.networks import graph_of
from xstar.look.plots.source import thinned
from xstar.storage.files import Folders
from xstar.study.naming import described

LONGEST = 120
"""Characters of a value in a table: an architecture written out would hide all else."""
MOST_FRONT = 50
"""Trials of the front that come with every summary; the plot has them all."""
MOST_REPORTS = 1000
MOST_FILES = 200


def summary(name: str, history: History, total: int | None = None) -> dict[str, Any]:
    """A study at a glance."""
    created, best, front = history.created, history.best, history.front if history.goals.several else []
    made = {
        "name": name,
        "metric": created.metric,
        "objectives": list(history.goals.metrics),
        "goal": history.goals.goal,
        "direction": created.direction,
        "method": described(created),
        "searcher": created.searcher.get("name"),
        "why": created.why,
        "seed": created.seed,
        "version": created.version,
        "created": created.at,
        "latest": latest(history),
        "counts": {state.value: history.count(state) for state in State if history.count(state)},
        "trials": len(history.trials),
        "queued": len(history.queue),
        "hold": history.hold,
        "epochs": epochs(history),
        "rungs": list(history.levels),
        "constraints": [str(bound) for bound in history.bounds],
        "parameters": {key: short_repr(given) for key, given in history.space.parameters.items()},
        "best": None if best is None else row(best),
        "front": {"count": len(front), "trials": [row(each) for each in front[:MOST_FRONT]]},
        "seen": history.seen,
        "total": max(history.seen, total or 0),
    }
    return plain(made)  # type: ignore[no-any-return]


def latest(history: History) -> float:
    """When something last happened, as far as the last trials tell."""
    recent = history.trials[-50:] + [history.trials[number] for number in history.ended[-50:]]
    recent += list(history.running.values())[:200]
    times = [trial.reports[-1].at if trial.reports else trial.asked_at for trial in recent]
    return max([history.created.at, *times])


def epochs(history: History) -> int:
    """The epochs that all trials together trained: counted once per trial that is over."""
    known = history.memo.get(_Epochs) or history.memo.put(_Epochs())
    return known.upto(history)


class _Epochs:
    """A sum that grows with the trials that end."""

    def __init__(self) -> None:
        self._ended = self._sum = 0

    def upto(self, history: History) -> int:
        for number in history.ended[self._ended :]:
            self._sum += history.trials[number].budget
        self._ended = len(history.ended)
        live = (*history.running.values(), *history.waiting.values(), *history.paused.values())
        return self._sum + sum(trial.budget for trial in live)


def short_repr(given: object) -> str:
    """A parameter as it would be written, not without end."""
    text = repr(given)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def row(trial: Trial) -> dict[str, Any]:
    """A trial as a row of the table."""
    made = {
        "number": trial.number,
        "state": trial.state.value,
        "value": None if trial.losses is None or len(trial.losses) > 1 else trial.value,
        "values": trial.values,
        "budget": trial.budget,
        "target": trial.target,
        "bracket": trial.bracket,
        "seconds": trial.seconds,
        "began": trial.asked_at,
        "origin": _cut(str(trial.origin)),
        "reason": _cut(last_line(trial.reason)) if trial.reason else "",
        "config": {name: _shown(value) for name, value in trial.config.items()},
    }
    return plain(made)  # type: ignore[no-any-return]


def _shown(value: Any) -> Any:
    if isinstance(value, bool | int) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    graph = graph_of(value)
    if graph is not None:
        return f"{len(graph.layers)} layers, mass {graph.mass:,.4g}"
    return _cut(short(value))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def whole(history: History, trial: Trial, folders: Folders) -> dict[str, Any]:
    """All there is to know about one trial."""
    reports = [trial.reports[place] for place in thinned(len(trial.reports), MOST_REPORTS)]
    made = {
        **row(trial),
        "config": outline(history.space.dump(trial.config)),
        "origin": str(trial.origin),
        "seen": trial.seen,
        "host": host_of(history.environments, trial.by),
        "reason": trial.reason or "",
        "attempt": trial.attempt,
        "crashes": trial.crashes,
        "lost": trial.times_lost,
        "attrs": outline(dict(trial.attrs)),
        "objectives": list(history.goals.metrics),
        "reports": [{"budget": each.budget, "metrics": dict(each.metrics), "at": each.at} for each in reports],
        "reported": len(trial.reports),
        "networks": [name for name, value in trial.config.items() if graph_of(value) is not None],
        "files": files(folders, trial),
        "rungs": list(history.levels),
    }
    return plain(made)  # type: ignore[no-any-return]


def files(folders: Folders, trial: Trial) -> list[dict[str, Any]]:
    """Names and sizes of what the trial left in its folder; links are not followed."""
    folder = folders.of(trial)
    found: list[dict[str, Any]] = []
    if folder.is_dir():
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                found.append({"name": path.relative_to(folder).as_posix(), "bytes": path.stat().st_size})
            if len(found) == MOST_FILES:
                break
    return found


STREAMS = {"stdout": "stdout.txt", "stderr": "stderr.txt"}
MOST_BYTES = 65_536
"""Of one answer: the end of a log, or what follows a place in it."""


def printed(folders: Folders, trial: Trial, stream: str, offset: int | None) -> dict[str, Any]:
    """Text of a log from ``offset`` on, or its end; ``next`` is the offset to go on from."""
    if stream not in STREAMS:
        raise InvalidArgument("stream", f"must be one of {', '.join(STREAMS)}", stream)
    folder = folders.of(trial)
    root = os.path.realpath(folders.folder.parent)
    if not os.path.realpath(folder).startswith(os.path.join(root, "")):
        raise StorageError(f"the folder of trial {trial.number} leads out of the study's files by a link")
    try:
        file = os.open(folder / STREAMS[stream], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return {"text": "", "offset": 0, "next": 0, "size": 0, "missing": True}
    except OSError as error:
        raise StorageError(f"the {stream} of trial {trial.number} cannot be read: {error.strerror}") from None
    try:
        about = os.fstat(file)
        if not stat.S_ISREG(about.st_mode):
            raise StorageError(f"the {stream} of trial {trial.number} is not a regular file")
        start = max(0, about.st_size - MOST_BYTES) if offset is None else min(max(0, offset), about.st_size)
        data = os.pread(file, MOST_BYTES, start)
    finally:
        os.close(file)
    text = data.decode("utf-8", errors="replace")
    return {"text": text, "offset": start, "next": start + len(data), "size": about.st_size, "missing": False}
