"""``xstar work`` programs on one PostgreSQL study, and as many Optuna programs, with the same objective and server.

Every program is one that a user would start: it joins the study, trains one trial at a time, and leaves when the study has its
trials. The objective sleeps, and notes when it begins and ends.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

from benchmarks.harness.records import Found, significant
from benchmarks.workloads.bare_commits import server

TRAIN = """
    import os, sys, time
    NAMES = ("a", "b", "c", "d")

    def train(values):
        begun = time.time()
        time.sleep(SECONDS)
        with open(f"FOLDER/{os.getpid()}.spans", "a") as file:
            file.write(f"{begun} {time.time()}\\n")
        return sum((value - 0.3) ** 2 for value in values)
"""
XSTAR = """
    import xstar as xs
    space = xs.Space(**{name: xs.Float(0, 1) for name in NAMES})

    def objective(trial):
        return train([trial[name] for name in NAMES])
"""
OPTUNA = """
    import warnings
    import optuna
    from sqlalchemy.pool import NullPool

    def objective(trial):
        return train([trial.suggest_float(name, 0, 1) for name in NAMES])

    url, name, trials, sampler, seed = sys.argv[1:]
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    storage = optuna.storages.RDBStorage(url, engine_kwargs={"poolclass": NullPool})
    sampler = getattr(optuna.samplers, sampler)(seed=int(seed))
    study = optuna.create_study(study_name=name, storage=storage, sampler=sampler, load_if_exists=True)
    done = optuna.study.MaxTrialsCallback(int(trials), states=(optuna.trial.TrialState.COMPLETE,))
    study.optimize(objective, callbacks=[done])
"""


def measure(method: str, programs: int, trials: int, seconds: float) -> Found:
    """Trials per second, and the share of the programs' time in which they trained."""
    name = f"{method}-{uuid.uuid4().hex[:8]}"
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        text = textwrap.dedent(TRAIN) + textwrap.dedent(XSTAR if method == "xstar" else OPTUNA)
        file = folder / "search.py"
        file.write_text(text.replace("SECONDS", str(seconds)).replace("FOLDER", made), encoding="utf-8")
        if method == "xstar":
            run_xstar(folder, name, programs, trials)
        else:
            run_optuna(folder, name, method, programs, trials)
        lines = [line for path in folder.glob("*.spans") for line in path.read_text().splitlines()]
    return summary([(float(begun), float(ended)) for begun, ended in map(str.split, lines)], programs)


def summary(spans: Sequence[tuple[float, float]], programs: int) -> Found:
    """Of (begun, ended): counted once every program has begun two trials, and until the last trial has begun."""
    begun = sorted(start for start, _ in spans)
    warm = begun[min(2 * programs, len(begun) // 2) :]
    rate = (len(warm) - 1) / (warm[-1] - warm[0])
    busy = sum(max(0.0, min(end, warm[-1]) - max(start, warm[0])) for start, end in spans)
    return {
        "rate": significant(rate),
        "busy": significant(busy / (programs * (warm[-1] - warm[0]))),
        "span": significant(statistics.median(end - start for start, end in spans)),
        "trials": len(spans),
    }


def run_xstar(folder: Path, name: str, programs: int, trials: int) -> None:
    file, url = f"{folder / 'search.py'}:objective", server()
    common = ["--trials", str(trials), "--storage", "env:STUDIES", "--directory", str(folder / "files")]
    program = [sys.executable, "-c", "from xstar.cli.main import app; app()"]
    first = subprocess.Popen(
        [*program, "run", file, "--study", name, "--method", "gp", "--seed", "0", *common], **_silent(folder)
    )
    _wait_for(name, url, first)
    others = [subprocess.Popen([*program, "work", name, file, *common], **_silent(folder)) for _ in range(programs - 1)]
    _finish([first, *others], folder)


def run_optuna(folder: Path, name: str, sampler: str, programs: int, trials: int) -> None:
    import optuna

    address = server().replace("postgresql://", "postgresql+psycopg://")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    optuna.create_study(study_name=name, storage=address)
    words = [sys.executable, str(folder / "search.py"), address, name, str(trials), sampler]
    _finish([subprocess.Popen([*words, str(seed)], **_silent(folder)) for seed in range(programs)], folder)


def _silent(folder: Path) -> dict[str, object]:
    output = (folder / "output.txt").open("ab")
    environment = os.environ | {
        "STUDIES": server(),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }
    return {"stdout": output, "stderr": output, "env": environment, "cwd": str(folder)}


def _wait_for(name: str, url: str, first: subprocess.Popen[bytes]) -> None:
    """Until the study is there to be joined."""
    from xstar.storage import SqlStorage

    place = SqlStorage(url)
    while not place.exists(name) and first.poll() is None:
        time.sleep(0.05)
    place.close()


def _finish(programs: Sequence[subprocess.Popen[bytes]], folder: Path) -> None:
    try:
        codes = [program.wait(600) for program in programs]
    finally:
        for program in programs:
            program.kill()
            program.wait()
    if any(codes):
        raise RuntimeError(f"exit codes {json.dumps(codes)}: {(folder / 'output.txt').read_text()[-3000:]}")
