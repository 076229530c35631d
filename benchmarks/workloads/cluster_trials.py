"""Trials on a Ray cluster of two raylets on this machine, by xstar and by Ray Tune: the same objective, the same slots.

The objective notes when it begins and ends, in a file of its process. A slot is a process in both libraries (Ray Tune reuses
its actors), so the time between an end and the next beginning in one process is what a slot stood empty.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import xstar as xs
from benchmarks.harness.machine import peer
from benchmarks.harness.records import Found, significant

EPOCHS = 3
OBJECT_STORE = 100_000_000
Tell = Callable[[float], None]


@contextlib.contextmanager
def cluster(slots: int) -> Iterator[None]:
    """A head and a second node, which share the slots; this process is the driver."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray = peer("ray")
    utilities = peer("ray.cluster_utils", "ray")
    folder = tempfile.mkdtemp(prefix="ray-")
    options = {"num_cpus": slots // 2, "object_store_memory": OBJECT_STORE}
    made = utilities.Cluster(
        initialize_head=True, head_node_args={**options, "include_dashboard": False, "temp_dir": folder}
    )
    try:
        made.add_node(**{**options, "num_cpus": slots - slots // 2})
        ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
        yield
    finally:
        ray.shutdown()
        made.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


def train(x: float, epochs: int, seconds: float, folder: str, tell: Tell) -> None:
    """One trial: so many epochs of so many seconds, and a report after each."""
    begun = time.time()
    for epoch in range(epochs):
        if seconds:
            time.sleep(seconds)
        if epoch < epochs - 1:
            tell(x * x / (epoch + 1))
    with open(os.path.join(folder, str(os.getpid())), "a", encoding="utf-8") as file:
        file.write(f"{begun} {time.time()}\n")
    tell(x * x / epochs)


def run_xstar(trials: int, slots: int, epochs: int, seconds: float, folder: str) -> None:
    def objective(trial: Any) -> None:
        train(trial["x"], epochs, seconds, folder, trial.report)

    result = xs.minimize(
        objective, xs.Space(x=xs.Float(-1, 1)), trials=trials, method="random", max_budget=epochs, seed=0,
        executor=xs.Ray(slots=slots), progress=False,
    )  # fmt: skip
    assert result.study.history.count(xs.State.COMPLETE) == trials


def run_tune(trials: int, slots: int, epochs: int, seconds: float, folder: str) -> None:
    tune = peer("ray.tune", "ray[tune]")

    def objective(config: dict[str, float]) -> None:
        train(config["x"], epochs, seconds, folder, lambda value: tune.report({"value": value}))

    os.environ["RAY_AIR_NEW_OUTPUT"] = "0"
    tuner = tune.Tuner(
        tune.with_resources(objective, {"cpu": 1}),
        param_space={"x": tune.uniform(-1, 1)},
        tune_config=tune.TuneConfig(
            metric="value", mode="min", num_samples=trials, max_concurrent_trials=slots, reuse_actors=True
        ),
        run_config=tune.RunConfig(storage_path=str(Path(folder, "tune")), verbose=0),
    )
    assert tuner.fit().num_terminated == trials


LIBRARIES = {"xstar": run_xstar, "ray-tune": run_tune}


def measure(library: str, trials: int, slots: int, epochs: int, seconds: float) -> Found:
    """Trials per second once every slot has had two, and the median time that a slot stood empty."""
    with tempfile.TemporaryDirectory() as folder, cluster(slots):
        LIBRARIES[library](trials, slots, epochs, seconds, folder)
        runs = [
            sorted(tuple(map(float, line.split())) for line in path.read_text().splitlines())
            for path in Path(folder).iterdir()
            if path.is_file()
        ]
    ends = sorted(end for process in runs for _, end in process)
    gaps = [after[0] - before[1] for process in runs for before, after in pairwise(process[1:])]
    spans = [end - begun for process in runs for begun, end in process]
    assert len(ends) == trials
    warm = ends[min(2 * slots, trials // 2) :]
    return {
        "rate": significant((len(warm) - 1) / (warm[-1] - warm[0])) if len(warm) > 1 else None,
        "gap": significant(statistics.median(gaps)) if gaps else None,
        "span": significant(statistics.median(spans)),
        "processes": len(runs),
    }
