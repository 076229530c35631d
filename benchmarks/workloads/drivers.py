"""Processes ("drivers") that share one study through one database: each asks and tells in a loop and trains nothing.

"commits" is the database's own rate: as many processes that do nothing but insert an event's row and raise a counter in one
transaction; a trial needs two of them. Optuna searches with its RandomSampler, and beside our GP with its GPSampler where torch
is installed, else its TPESampler.

The clock starts when every driver is warm. With random search that takes a few trials of the study. A study with a model begins
with ``KNOWN`` observations, the same for both libraries, and each driver first makes a small search of its own in memory: then
its imports and first fits are over, and all numbers of drivers are measured on models of the same size.
"""

from __future__ import annotations

import importlib.util
import multiprocessing as mp
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.workloads.bare_commits import Step, step_of_commits

WARM_UP = 6
"""Steps before the clock starts: 64 programs on few cores need seconds for what happens once (imports, prepared statements)."""
KNOWN = 30
"""Observations that a study with a model begins with."""
PRIVATE = 14
"""Trials of a driver's own search in memory before the clock starts: the first twelve of ours and the first ten of Optuna's
are not suggested by a model."""
PRELOADED = ["benchmarks.workloads.drivers", "psycopg", "xstar.storage", "xstar.searchers", "optuna", "sqlalchemy.pool"]
PRELOADED += ["xstar.searchers.gp.fit", "xstar.searchers.model_based.decision"]
PRELOADED += ["torch"] if importlib.util.find_spec("torch") is not None else []


@dataclass(frozen=True)
class Tally:
    """What one driver did."""

    trials: int
    worst: float
    processor: float
    """Seconds of processor time."""
    appends: int = 0
    conflicts: int = 0


@dataclass(frozen=True)
class Figures:
    """What all drivers of one run did."""

    rate: float
    worst: float
    least: float
    most: float
    conflicts: float
    processor: float
    """Seconds of processor time per trial, of all drivers together and without the server."""


# ---------------------------------------------------------------- what a driver does


def observation(number: int) -> tuple[dict[str, Any], float]:
    """One of the observations that a study with a model begins with."""
    lr, batch, a, b = np.random.default_rng(number).random(4).tolist()
    config = {"lr": 1e-4 * 1000**lr, "batch": round(8 * 16**batch), "a": a, "b": b}
    return config, value_of(config)


def value_of(config: Any) -> float:
    return float(config["lr"] + config["a"] * config["b"])


def step_of_xstar(url: str, name: str, method: str, trials: int | None) -> tuple[Step, dict[str, int]]:
    import xstar as xs
    from xstar.errors import JournalConflict

    space = xs.Space(
        lr=xs.Float(1e-4, 1e-1, log=True), batch=xs.Int(8, 128, log=True), a=xs.Float(0, 1), b=xs.Float(0, 1)
    )
    if trials is not None:
        private = xs.Study(space, method=method, seed=0)
        for _ in range(PRIVATE):
            private.tell(trial := private.ask(), value_of(trial))
    study = xs.Study(space, name=name, storage=url, method=method, seed=0)
    counts = {"appends": 0, "conflicts": 0}

    def counted(append: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*arguments: Any, **options: Any) -> Any:
            counts["appends"] += 1
            try:
                return append(*arguments, **options)
            except JournalConflict:
                counts["conflicts"] += 1
                raise

        return counting

    journal: Any = study.journal
    for name_of in ("append", "put"):
        setattr(journal, name_of, counted(getattr(journal, name_of)))
    limits = xs.Limits(trials=trials)

    def step() -> bool:
        trial = study.ask(limits)
        if trial is None:
            return False
        study.tell(trial, value_of(trial))
        return True

    return step, counts


def known_to_xstar(url: str, name: str) -> None:
    import xstar as xs

    with xs.Study.open(name, storage=url) as study:
        for number in range(KNOWN):
            study.add(*observation(number))


def step_of_optuna(url: str, name: str, method: str, trials: int | None) -> tuple[Step, dict[str, int]]:
    import optuna
    from sqlalchemy.pool import NullPool

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    url = url.replace("postgresql://", "postgresql+psycopg://") if "://" in url else f"sqlite:///{url}"
    # Its pools would keep more connections than the server takes from 64 drivers.
    options = {"connect_args": {"timeout": 60}} if url.startswith("sqlite") else {"poolclass": NullPool}
    samplers, torch = optuna.samplers, importlib.util.find_spec("torch") is not None
    kind: Any = samplers.RandomSampler if method == "random" else samplers.GPSampler if torch else samplers.TPESampler
    if trials is not None:
        private = optuna.create_study(sampler=kind(seed=os.getpid()))
        for _ in range(PRIVATE):
            trial = private.ask(_in_optuna())
            private.tell(trial, value_of(trial.params))
    storage = optuna.storages.RDBStorage(url, engine_kwargs=options)
    # A sampler knows one study only.
    sampler = kind(seed=os.getpid())
    study = optuna.create_study(study_name=name, storage=storage, sampler=sampler, load_if_exists=True)

    def step() -> bool:
        trial = study.ask()
        if trials is not None and trial.number >= KNOWN + trials:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            return False
        trial.suggest_float("lr", 1e-4, 1e-1, log=True)
        trial.suggest_int("batch", 8, 128, log=True)
        trial.suggest_float("a", 0, 1)
        trial.suggest_float("b", 0, 1)
        study.tell(trial, value_of(trial.params))
        return True

    return step, {}


def _in_optuna() -> dict[str, Any]:
    from optuna.distributions import FloatDistribution, IntDistribution

    lr, batch = FloatDistribution(1e-4, 1e-1, log=True), IntDistribution(8, 128, log=True)
    return {"lr": lr, "batch": batch, "a": FloatDistribution(0, 1), "b": FloatDistribution(0, 1)}


def known_to_optuna(url: str, name: str) -> None:
    import optuna

    url = url.replace("postgresql://", "postgresql+psycopg://") if "://" in url else f"sqlite:///{url}"
    study = optuna.load_study(study_name=name, storage=url)
    for number in range(KNOWN):
        config, value = observation(number)
        study.add_trial(optuna.create_trial(params=config, distributions=_in_optuna(), value=value))


STEPS = {"xstar": step_of_xstar, "optuna": step_of_optuna, "commits": step_of_commits}
KNOWS = {"xstar": known_to_xstar, "optuna": known_to_optuna}


def drive(what: str, run: tuple[str, str, str, int | None], seconds: float, start: Any, results: Any) -> None:
    """The life of one driver."""
    step, counts = STEPS[what](*run)
    if run[3] is None:
        for _ in range(1 if what == "optuna" else WARM_UP):
            step()
    counts.update(dict.fromkeys(counts, 0))
    start.wait(900)
    done, worst, now = 0, 0.0, time.perf_counter()
    end, begun = now + seconds, time.process_time()
    while now < end and step():
        before, now = now, time.perf_counter()
        done, worst = done + 1, max(worst, now - before)
    results.put(Tally(done, worst, time.process_time() - begun, **counts))


# ---------------------------------------------------------------- one figure


def measure(what: str, drivers: int, run: tuple[str, str, str, int | None], seconds: float) -> Figures:
    """So many drivers for so many seconds, or until the study has its trials."""
    context = mp.get_context("forkserver")  # each a program of its own, and none imports what all need
    context.set_forkserver_preload(PRELOADED)
    STEPS[what](*run)  # makes the study
    if run[3] is not None:
        KNOWS[what](*run[:2])
    start, results = context.Barrier(drivers + 1), context.Queue()
    processes = [context.Process(target=drive, args=(what, run, seconds, start, results)) for _ in range(drivers)]
    for process in processes:
        process.start()
    start.wait(900)  # a driver that failed breaks the barrier
    begun = time.perf_counter()
    tallies: list[Tally] = [results.get(timeout=900) for _ in processes]
    spent = time.perf_counter() - begun
    for process in processes:
        process.join()
    trials = [tally.trials for tally in tallies]
    mean = max(sum(trials) / drivers, 1e-9)
    return Figures(
        sum(trials) / spent,
        max(tally.worst for tally in tallies),
        min(trials) / mean,
        max(trials) / mean,
        sum(tally.conflicts for tally in tallies) / max(1, sum(tally.appends for tally in tallies)),
        sum(tally.processor for tally in tallies) / max(1, sum(trials)),
    )
