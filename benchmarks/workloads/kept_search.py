"""Searches that train for real and take several calls: the study is kept in a file and goes on with the next call."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

import xstar as xs
from benchmarks.workloads.device import RETRIES, of_the_machine
from xstar.errors import UnknownStudy
from xstar.inspect.exchange import export_events, import_events
from xstar.trial import Trial

KEEP = 30.0
"""Seconds between two writings of a study that is under way."""
SHORTEST = 30.0
"""Seconds below which no search is taken up."""


def search(
    objective: Callable[[Any], Any], space: xs.Space, file: Path, until: float, *, trials: int, metric: str, **how: Any
) -> tuple[list[Trial], Trial]:
    """Bring a search to its end: its trials and the best of them. Ends with a message if the time does not suffice.

    ``until`` is a time of ``time.time``; ``how`` are further arguments of ``xs.minimize``.
    """
    left, name = until - time.time(), file.stem
    if left < SHORTEST:
        raise SystemExit("no time is left: call again")
    with TemporaryDirectory() as folder, kept(file, name, Path(folder) / "xstar.db") as storage:
        begins = {} if file.exists() else {"retries": RETRIES}  # one that goes on keeps its own
        given = {**begins, "progress": False, "seconds": left, **how}
        xs.minimize(objective, space, metric=metric, trials=trials, study=name, storage=storage, **given)
        study = xs.Study.open(name, storage)
        done = [trial for trial in study.trials if trial.state.over]
        if len(done) < trials:
            raise SystemExit(f"{name} has {len(done)} of {trials} evaluations: call again to go on")
        if broken := sum(of_the_machine(trial.reason) for trial in done):
            raise SystemExit(f"{name}: the device failed in {broken} trials: delete the study, it is searched anew")
        return done, study.best


@contextmanager
def kept(file: Path, name: str, storage: Path) -> Iterator[Path]:
    """A storage with the study as it was left in the file, which has it as it is now every ``KEEP`` seconds and at the end.

    A machine that is taken away in the middle of a call costs half a minute of a search, not all of it.
    """
    if file.exists():
        import_events(file.read_text(encoding="utf-8").splitlines(), name, storage)
    file.parent.mkdir(parents=True, exist_ok=True)
    ended = Event()

    def keep() -> None:
        while not ended.wait(KEEP):
            with suppress(UnknownStudy):  # not begun yet
                write(file, name, storage)

    keeper = Thread(target=keep, daemon=True)
    keeper.start()
    try:
        yield storage
    finally:
        ended.set()
        keeper.join()
        write(file, name, storage)


def write(file: Path, name: str, storage: Path) -> None:
    """The study as ``xstar export`` writes it; the file is whole at any moment."""
    new = file.with_suffix(".new")
    new.write_text("".join(f"{line}\n" for line in export_events(xs.Study.open(name, storage))), encoding="utf-8")
    new.replace(file)


def reported(file: Path) -> list[dict[str, float]]:
    """The metrics of a study's trials, in the order in which they came in."""
    events = [json.loads(line)["event"] for line in file.read_text(encoding="utf-8").splitlines()]
    return [event["metrics"] for event in events if "metrics" in event]


def trained(file: Path) -> list[tuple[dict[str, Any], dict[str, float]]]:
    """The configurations of a study's trials that reported, and what they reported."""
    events = [json.loads(line)["event"] for line in file.read_text(encoding="utf-8").splitlines()]
    configs = {event["trial"]: event["config"] for event in events if "config" in event}
    return [(configs[event["trial"]], event["metrics"]) for event in events if "metrics" in event]


def under_way(folder: Path, ended: set[str], metric: str) -> list[tuple[str, str, str, str]]:
    """Of studies that were not brought to their end: name, evaluations, the best, and its test error."""
    found = []
    for file in sorted(folder.glob("*.jsonl")):
        reports = reported(file)
        if file.stem in ended or not reports:
            continue
        best = min(reports, key=lambda metrics: float(metrics[metric]))
        found.append((file.stem, str(len(reports)), f"{best[metric]:.4g}", f"{best['test']:.4g}"))
    return found
