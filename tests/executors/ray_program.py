"""A driver that the chaos test kills: one search on a Ray cluster.

Usage: ray_program.py ADDRESS FOLDER TRIALS METHOD SLOTS
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import xstar as xs

SPACE = xs.Space(x=xs.Float(-1, 1), n=xs.Int(1, 50))
EPOCHS = 9


def make_objective(folder: Path) -> Any:
    """An objective that notes when a run begins and ends in a file for each trial."""

    def objective(trial: Any) -> Iterator[float]:
        file = os.open(folder / f"{trial.number}.txt", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        stat = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        mine = f"{os.getpid()}:{stat[19]}:{trial.attempt}"
        os.write(file, f"begin {mine} {time.time()}\n".encode())
        saved = trial.checkpoint / "epoch.txt"
        done = int(saved.read_text()) if trial.resumed else 0
        assert done >= trial.start, "what was reported was saved before"
        try:
            for epoch in trial.epochs():
                if epoch > done:  # saved before it is reported, so after a crash the checkpoint may be ahead
                    new = saved.with_suffix(".new")
                    new.write_text(str(epoch))
                    new.rename(saved)
                os.write(file, f"epoch {mine} {time.time()}\n".encode())
                yield trial["x"] ** 2 + trial["n"] / epoch
        finally:
            os.close(file)

    return objective


def main() -> None:
    address, folder, trials, method, slots = sys.argv[1:]
    place = Path(folder)
    result = xs.minimize(
        make_objective(place / "runs"), SPACE, trials=int(trials), method=method, max_budget=EPOCHS, seed=3,
        study="chaos", storage=place / "chaos.db", retries=50, progress=False,
        executor=xs.Ray(address=address, slots=int(slots)),
    )  # fmt: skip
    result.study.close()


if __name__ == "__main__":
    main()
