"""A program that the crash test kills: one search over a shared SQLite study, acknowledging every report in a file.

Usage: program.py DATABASE ACKNOWLEDGED TRIALS WORKERS METHOD
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import xstar as xs
from xstar.api import make_executor
from xstar.loop import run

SPACE = xs.Space(x=xs.Float(-1, 1), n=xs.Int(1, 50))
EPOCHS = 4


def objective(trial: Any) -> Iterator[float]:
    saved = trial.checkpoint / "epoch.txt"
    done = int(saved.read_text()) if trial.resumed else 0
    assert done >= trial.start, "what was reported was saved before"
    for epoch in trial.epochs():
        if epoch > done:  # saved before it is reported, so after a crash the checkpoint may be ahead
            time.sleep(0.01)
            new = saved.with_suffix(".new")
            new.write_text(str(epoch))
            new.rename(saved)  # a checkpoint is whole or absent
        yield trial["x"] ** 2 + trial["n"] / epoch


def main() -> None:
    database, acknowledged, trials, workers, method = sys.argv[1:]
    study = xs.Study(SPACE, name="crash", storage=database, method=method, max_budget=EPOCHS, seed=3)
    record = study.report
    log = os.open(acknowledged, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def report(trial: Any, metrics: Any, budget: int | None = None, *, attempt: int | None = None) -> xs.Verdict:
        verdict = record(trial, metrics, budget, attempt=attempt)
        # One write call of one short line: killed before it, nothing was acknowledged; after it, all of it was.
        os.write(log, (json.dumps([trial, attempt, budget, metrics["value"]]) + "\n").encode())
        return verdict

    study.report = report  # type: ignore[method-assign]
    executor = make_executor(objective, study.metric, int(workers), 60.0)
    try:
        run(study, executor, xs.Limits(trials=int(trials)))
    finally:
        executor.close()
        study.close()


if __name__ == "__main__":
    main()
