"""What a trial costs besides its training: ask + tell of random search, beside Optuna in the same run.

    python -m benchmarks.overhead [--trials 10000] [--growth 100000] [--rounds 3]

Prints the time per trial of both libraries in memory and in SQLite with their ratio; xstar's time per trial at 1,000,
10,000 and 100,000 trials, in memory and in SQLite; and the memory per trial. Both libraries search the same four
parameters with their random sampler and default settings of their storage. Rounds alternate between the libraries so that
a busy machine slows both down alike; medians are reported. In memory the time is that of the processor, since both libraries
compute on one core and the machine may be shared; in SQLite it is the time on the wall, since both wait for the disk.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import xstar as xs
from benchmarks.machine import describe_machine

SPACE = xs.Space(
    lr=xs.Float(1e-4, 1e-1, log=True),
    batch=xs.Int(8, 128, log=True),
    optimizer=xs.Choice(["sgd", "adam"]),
    momentum=xs.Float(0, 1),
)


def value(lr: float, momentum: float) -> float:
    return lr + momentum


def clock_for(storage: Path | None) -> Callable[[], float]:
    return time.process_time if storage is None else time.perf_counter


def run_xstar(trials: int, storage: Path | None) -> float:
    """Seconds per trial."""
    clock = clock_for(storage)
    study = xs.Study(SPACE, seed=0) if storage is None else xs.Study(SPACE, seed=0, name="overhead", storage=storage)
    start = clock()
    for _ in range(trials):
        trial = study.ask()
        assert trial is not None
        study.tell(trial, value(trial["lr"], trial["momentum"]))
    seconds = clock() - start
    assert len(study.history.trials) == trials
    study.close()
    return seconds / trials


def run_optuna(trials: int, storage: Path | None) -> float:
    """Seconds per trial."""
    clock = clock_for(storage)
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        storage=None if storage is None else f"sqlite:///{storage}", sampler=optuna.samplers.RandomSampler(seed=0)
    )
    start = clock()
    for _ in range(trials):
        trial = study.ask()
        lr = trial.suggest_float("lr", 1e-4, 1e-1, log=True)
        trial.suggest_int("batch", 8, 128, log=True)
        trial.suggest_categorical("optimizer", ["sgd", "adam"])
        study.tell(trial, value(lr, trial.suggest_float("momentum", 0, 1)))
    return (clock() - start) / trials


def median_of(runs: list[float]) -> float:
    return statistics.median(runs)


def compare(where: str, trials: dict[str, int], rounds: int, folder: Path) -> None:
    times: dict[str, list[float]] = {"xstar": [], "optuna": []}
    runners: dict[str, Callable[[int, Path | None], float]] = {"xstar": run_xstar, "optuna": run_optuna}
    for round_ in range(rounds):
        for name, runner in runners.items():
            storage = folder / f"{name}-{round_}.db" if where == "SQLite" else None
            gc.collect()
            times[name].append(runner(trials[name], storage))
    ours, theirs = median_of(times["xstar"]), median_of(times["optuna"])
    print(
        f"{where:<10} xstar {ours * 1e6:9.1f} µs/trial ({trials['xstar']:,} trials)   "
        f"Optuna {theirs * 1e6:9.1f} µs/trial ({trials['optuna']:,} trials)   ratio {theirs / ours:6.1f}×"
    )


def growth(where: str, largest: int, folder: Path) -> None:
    """Time of the last tenth of the trials at each size: what the next trial costs once the study is that large."""
    study = (
        xs.Study(SPACE, seed=0)
        if where == "in memory"
        else xs.Study(SPACE, seed=0, name="growth", storage=folder / "growth.db")
    )
    clock = time.process_time if where == "in memory" else time.perf_counter
    marks, times, done = [n for n in (1_000, 10_000, 100_000, 1_000_000) if n <= largest], [], 0
    for mark in marks:
        for phase in (mark - mark // 10, mark):
            start = clock()
            for _ in range(phase - done):
                trial = study.ask()
                assert trial is not None
                study.tell(trial, value(trial["lr"], trial["momentum"]))
            seconds, count, done = clock() - start, phase - done, phase
        times.append(seconds / count)
    study.close()
    line = "   ".join(f"{mark:,}: {t * 1e6:.1f} µs" for mark, t in zip(marks, times, strict=True))
    print(f"{where:<10} time per trial at {line}   largest/smallest {max(times) / min(times):.2f}×")


def memory(trials: int) -> None:
    gc.collect()
    tracemalloc.start()
    study = xs.Study(SPACE, seed=0)
    for _ in range(trials):
        trial = study.ask()
        assert trial is not None
        study.tell(trial, value(trial["lr"], trial["momentum"]))
    gc.collect()
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"{'memory':<10} {used / trials:,.0f} bytes per trial at {trials:,} trials")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=10_000, help="trials per run")
    parser.add_argument(
        "--optuna-sqlite-trials",
        type=int,
        default=10_000,
        help="Optuna in SQLite takes 40 ms a trial: 10,000 are 7 minutes",
    )
    parser.add_argument("--growth", type=int, default=100_000, help="largest study of the growth table")
    parser.add_argument("--rounds", type=int, default=5, help="rounds in memory; SQLite runs once")
    options = parser.parse_args()
    print(describe_machine("optuna"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compare("in memory", {"xstar": options.trials, "optuna": options.trials}, options.rounds, folder)
        compare("SQLite", {"xstar": options.trials, "optuna": options.optuna_sqlite_trials}, 1, folder)
        growth("in memory", options.growth, folder)
        growth("SQLite", options.growth, folder)
    memory(options.growth)


if __name__ == "__main__":
    main()
