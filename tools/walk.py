"""The walk of one suggestion: through how many files and functions of ours `ask` goes.

    python tools/walk.py [METHOD …] [--trials N] [--list]

A search of METHOD (default: gp mobster nasbot) runs to N trials (default: 30) with cheap losses; then one more ``ask`` is
followed by ``sys.setprofile``, imports excluded. Lambdas and comprehensions belong to the function they stand in. *returns*
are jumps to a file already seen, in the order of first calls; *ms* is the median time of an ``ask`` by a model, without the
profiler. ``--list`` names the functions, file by file.
"""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from types import FrameType
from typing import Any

import xstar as xs
from xstar.journal.trial import New

HERE = str(Path(xs.__file__).parent)
NUMBERS = xs.Space(x=xs.Float(0.0, 1.0), y=xs.Float(1e-4, 1.0, log=True))
NETWORKS = xs.Space(net=xs.nets.MLP(inputs=8, outputs=2), lr=xs.Float(1e-3, 1.0, log=True))


def loss_of(trial: xs.Trial) -> float:
    if "net" in trial.config:
        return 0.1 * len(trial["net"].layers) + (trial["lr"] - 0.1) ** 2
    made: float = (trial["x"] - 0.3) ** 2 + trial["y"]
    return made


def searched(method: str, trials: int) -> tuple[xs.Study, list[float]]:
    """A study of so many trials, and the seconds that each ``ask`` of a model took."""
    over_budgets = {"max_budget": 27} if method.startswith(("mobster", "boca")) else {}
    study = xs.Study(NETWORKS if "nasbot" in method else NUMBERS, method=method, seed=1, **over_budgets)
    seconds = []
    while len(study.history.trials) < trials:
        begun = time.perf_counter()
        trial = study.ask()
        if trial is not None and trial.attempt == 0 and "initial" not in trial.origin:
            seconds.append(time.perf_counter() - begun)
        _tell(study, trial)
    while study.history.paused and _promotes(study):
        _tell(study, study.ask())
    return study, seconds


def _promotes(study: xs.Study) -> bool:
    return not isinstance(study.scheduler.next(study.history), New)


def _tell(study: xs.Study, trial: xs.Trial | None) -> None:
    assert trial is not None
    if trial.target is None:
        study.tell(trial, loss_of(trial))
    else:
        study.report(trial, loss_of(trial) + 1.0 / trial.target, budget=trial.target)


def walked(study: xs.Study) -> list[tuple[str, str]]:
    """File and function of every first call during one ``ask``."""
    calls: dict[tuple[str, str], None] = {}

    def note(frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(HERE) and code.co_name[0] != "<":
            calls.setdefault((code.co_filename[len(HERE) + 1 :], f"{code.co_qualname}:{code.co_firstlineno}"))

    sys.setprofile(note)
    try:
        study.ask()
    finally:
        sys.setprofile(None)
    return list(calls)


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*", default=["gp", "mobster", "nasbot"])
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    for method in given.methods:
        study, seconds = searched(method, given.trials)
        calls = walked(study)
        files = list(dict.fromkeys(path for path, _ in calls))
        seen, last, returns = set(), "", 0
        for path, _ in calls:
            returns += path != last and path in seen
            seen.add(path)
            last = path
        middle = sorted(seconds)[len(seconds) // 2]
        sys.stdout.write(
            f"{method:14} {len(files):3} files {len(calls):4} functions {returns:4} returns {1e3 * middle:7.2f} ms\n"
        )
        if given.list:
            for path in files:
                sys.stdout.write(f"  {path}: {', '.join(name for own, name in calls if own == path)}")


if __name__ == "__main__":
    main()
