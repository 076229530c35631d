"""A program that the crash tests kill: one search over a shared study, acknowledging every report in a file.

Usage: program.py STORAGE ACKNOWLEDGED TRIALS WORKERS METHOD [NAME] [SECONDS PER EPOCH] [LEASE] [EXECUTOR] [OBJECTIVES]

EXECUTOR is ``inline``, ``processes`` or the address of a Ray cluster, OBJECTIVES 1 or 2.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import xstar as xs
from xstar.storage import sql
from xstar.study.loop import run

SPACE = xs.Space(x=xs.Float(-1, 1), n=xs.Int(1, 50))
EPOCHS = 4
METRICS = ("value", "size")


def make_study(storage: str, name: str, method: str, objectives: int = 1) -> xs.Study:
    """The study that all programs of a test share."""
    folder = Path.cwd() / "files"  # a server has no folder of its own to put them beside
    return xs.Study(
        SPACE,
        study=name,
        storage=storage,
        method=method,
        max_budget=EPOCHS,
        seed=3,
        directory=folder,
        metric=METRICS[:objectives],
    )


def make_objective(seconds: float) -> Callable[[Any], Iterator[dict[str, float]]]:
    def objective(trial: Any) -> Iterator[dict[str, float]]:
        saved = trial.checkpoint / "epoch.txt"
        done = int(saved.read_text()) if trial.resumed else 0
        assert done >= trial.start, "what was reported was saved before"
        for epoch in trial.epochs():
            if epoch > done:  # saved before it is reported, so after a crash the checkpoint may be ahead
                time.sleep(seconds)
                new = saved.with_suffix(".new")
                new.write_text(str(epoch))
                new.rename(saved)  # a checkpoint is whole or absent
            yield {"value": trial["x"] ** 2 + trial["n"] / epoch, "size": -trial["n"]}

    return objective


def main() -> None:
    storage, acknowledged, trials, workers, method, *rest = sys.argv[1:]
    name, seconds, lease, where, objectives = [*rest, *("crash", "0.01", "60", "processes", "1")[len(rest) :]]
    sql.LEASE_SECONDS = float(lease)
    study = make_study(storage, name, method, int(objectives))
    record = study.report
    log = os.open(acknowledged, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def report(trial: Any, metrics: Any, budget: int | None = None, *, attempt: int | None = None) -> xs.Verdict:
        verdict = record(trial, metrics, budget, attempt=attempt)
        # One write call of one short line: killed before it, nothing was acknowledged; after it, all of it was.
        os.write(log, (json.dumps([trial, attempt, budget, metrics["value"]]) + "\n").encode())
        return verdict

    study.report = report  # type: ignore[method-assign]
    count = int(workers) if where == "processes" else 1
    local = xs.Processes(count, timeout=None if where == "inline" else 60.0)
    here = where in ("inline", "processes")
    settings = local if here else xs.Ray(address=where, slots=int(workers), timeout=60.0)
    executor = settings.make(make_objective(float(seconds)), study.goals, study.files.folder)
    study.files.store = getattr(executor, "store", None)
    try:
        run(study, executor, xs.Limits(trials=int(trials)))
    finally:
        executor.close()
        study.close()


if __name__ == "__main__":
    main()
