"""Random search of four parameters whose objective costs next to nothing: what is left is the library's own time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import xstar as xs
from benchmarks.harness.peers import quiet_optuna

SPACE = xs.Space(
    lr=xs.Float(1e-4, 1e-1, log=True),
    batch=xs.Int(8, 128, log=True),
    optimizer=xs.Choice(["sgd", "adam"]),
    momentum=xs.Float(0, 1),
)


def new_study(storage: Path | None) -> xs.Study:
    study = partial(xs.Study, SPACE, method="random", seed=0)
    return study() if storage is None else study(study="overhead", storage=storage)


def ask_and_tell(study: xs.Study, trials: int) -> None:
    for _ in range(trials):
        trial = study.ask()
        assert trial is not None
        study.tell(trial, trial["lr"] + trial["momentum"])


def xstar_trials(trials: int, storage: Path | None, clock: Callable[[], float]) -> float:
    """Seconds per trial."""
    study = new_study(storage)
    start = clock()
    ask_and_tell(study, trials)
    seconds = clock() - start
    assert len(study.history.trials) == trials
    study.close()
    return seconds / trials


def optuna_trials(trials: int, storage: Path | None, clock: Callable[[], float]) -> float:
    """Seconds per trial."""
    optuna = quiet_optuna()
    url = None if storage is None else f"sqlite:///{storage}"
    study = optuna.create_study(storage=url, sampler=optuna.samplers.RandomSampler(seed=0))
    start = clock()
    for _ in range(trials):
        trial = study.ask()
        lr = trial.suggest_float("lr", 1e-4, 1e-1, log=True)
        trial.suggest_int("batch", 8, 128, log=True)
        trial.suggest_categorical("optimizer", ["sgd", "adam"])
        study.tell(trial, lr + trial.suggest_float("momentum", 0, 1))
    return (clock() - start) / trials
