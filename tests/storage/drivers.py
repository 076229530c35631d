"""Programs that share a study, in a file that imports little: each process that a test starts reads it."""

from __future__ import annotations

from typing import Any

import xstar as xs
from xstar.schedulers import ASHA, FIFO, Hyperband, Scheduler
from xstar.searchers.gp.searcher import GP
from xstar.searchers.grid import Grid
from xstar.searchers.random import Random

SPACE = xs.Space(x=xs.Float(0, 1), n=xs.Int(1, 40))
SEARCHES: dict[str, tuple[Any, Scheduler, int]] = {
    "random": (Random(), FIFO(), 60),
    "grid": (Grid(6), FIFO(), 36),
    "asha": (Random(), ASHA(9), 60),
    "hyperband": (Random(), Hyperband(9), 60),
    "gp": (GP(initial=6), FIFO(), 24),
}


def drive(storage: str, name: str, start: Any, results: Any) -> None:
    """One program, in each of the searches: asks until nothing is left, and reports up to the target of each run."""
    for search, (_, _, trials) in SEARCHES.items():
        study = xs.Study(study=f"{name}-{search}", storage=storage)
        start.wait()
        results.put((search, runs(study, trials)))
        study.close()


def runs(study: xs.Study, trials: int) -> list[tuple[int, int]]:
    """What was run here: trials and attempts."""
    ran: list[tuple[int, int]] = []
    while True:
        trial = study.ask(xs.Limits(trials=trials))
        if trial is None:
            if study.ended is not None:
                return ran
            continue
        ran.append((trial.number, trial.attempt))
        if trial.target is None:
            study.tell(trial, trial["x"] * trial["n"])
            continue
        for epoch in trial.epochs():
            if study.report(trial, trial["x"] * trial["n"] / epoch) is not xs.Verdict.CONTINUE:
                break
