"""A large study in a storage, of xstar or of Optuna: equal trials, equal reports; and processor time and memory of a process.

Written straight into the tables: asking for a hundred thousand trials one by one takes longer than looking at them.
"""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from benchmarks.harness.machine import ROOT
from benchmarks.harness.records import Found, significant

PARAMETERS = ("lr", "momentum", "dropout")


def values(trials: int, reports: int) -> tuple[np.ndarray, np.ndarray]:
    """The parameters (trials, 3) and the learning curves (trials, reports)."""
    rng = np.random.default_rng(0)
    X = rng.random((trials, len(PARAMETERS)))
    level = ((X - 0.3) ** 2).sum(axis=1)[:, None]
    return X, level + np.exp(-np.arange(1, reports + 1) / 4) + 0.01 * rng.standard_normal((trials, reports))


def make_xstar(path: Path, trials: int, reports: int) -> None:
    import xstar as xs
    from xstar.journal import events as ev
    from xstar.storage import SqlStorage

    X, curves = values(trials, reports)
    space = xs.Space({name: xs.Float(0, 1) for name in PARAMETERS})
    events = list(xs.Study(space, method="random", max_budget=reports, metric="loss", seed=1).journal.read(0))
    begun = events[0].at
    for number, (x, curve) in enumerate(zip(X.tolist(), curves.tolist(), strict=True)):
        at = begun + number
        events.append(ev.Asked(number, dict(zip(PARAMETERS, x, strict=True)), "random", 1, at, reports))
        for epoch, loss in enumerate(curve, start=1):
            last = epoch == reports
            events.append(ev.Reported(number, epoch, {"loss": loss}, at + epoch / 20, final=last, seen=len(events)))
    storage = SqlStorage(path)
    storage.create("large", events)
    storage.close()


def make_optuna(path: Path, trials: int, reports: int) -> None:
    """One trial through Optuna, which makes the tables; the others as rows of the same form."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(storage=f"sqlite:///{path}", study_name="large")
    trial = study.ask({name: optuna.distributions.FloatDistribution(0, 1) for name in PARAMETERS})
    trial.report(1.0, 1)
    study.tell(trial, 1.0)
    X, curves = values(trials, reports)
    with sqlite3.connect(path) as base:
        (form,) = base.execute("SELECT distribution_json FROM trial_params LIMIT 1").fetchone()
        begun = datetime(2026, 1, 1)
        ids = range(2, trials + 1)
        moments = [str(begun + timedelta(seconds=number)) for number in ids]
        rows = [(key, key - 1, 1, "COMPLETE", at, at) for key, at in zip(ids, moments, strict=True)]
        columns = "trial_id, number, study_id, state, datetime_start, datetime_complete"
        base.executemany(f"INSERT INTO trials ({columns}) VALUES (?, ?, ?, ?, ?, ?)", rows)
        params = [(key, n, v, form) for key in ids for n, v in zip(PARAMETERS, X[key - 1].tolist(), strict=True)]
        columns = "trial_id, param_name, param_value, distribution_json"
        base.executemany(f"INSERT INTO trial_params ({columns}) VALUES (?, ?, ?, ?)", params)
        ends = [(key, 0, float(curves[key - 1, -1]), "FINITE") for key in ids]
        base.executemany("INSERT INTO trial_values (trial_id, objective, value, value_type) VALUES (?, ?, ?, ?)", ends)
        curve = [(key, step, v, "FINITE") for key in ids for step, v in enumerate(curves[key - 1].tolist(), start=1)]
        columns = "trial_id, step, intermediate_value, intermediate_value_type"
        base.executemany(f"INSERT INTO trial_intermediate_values ({columns}) VALUES (?, ?, ?, ?)", curve)


def processor_time(process: int) -> float:
    """Seconds, user and system, that a process has taken so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def most_memory(process: int) -> int:
    """Bytes of memory that a process has had at most."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


# ---------------------------------------------------------------- the first paint

OURS, PEER = "xstar", "optuna-dashboard"
SERVERS = {
    OURS: "from xstar.cli.entry import main; main()",
    PEER: "import sys; from optuna_dashboard._cli import main; main()",
}
FIRST = {
    OURS: ["/study/large", "/static/app.js", "/static/plotly.js", "/api/studies/large", "/api/about",
           "/api/studies/large/trials?size=50", "/api/studies/large/plots/history"],
    PEER: ["/dashboard/studies/1", "/static/bundle.js", "/api/meta", "/api/studies/1?after=0"],
}  # fmt: skip
PATIENCE = 1800


def first_paint(method: str, trials: int, reports: int) -> Found:
    """Processor time of the server until it has answered what a page is first painted from, and until all of it is read."""
    with tempfile.TemporaryDirectory() as folder:
        path, port = Path(folder) / "large.db", _free_port()
        (make_xstar if method == OURS else make_optuna)(path, trials, reports)
        words = ["dashboard", "--storage", str(path)] if method == OURS else [f"sqlite:///{path}"]
        command = [sys.executable, "-c", SERVERS[method], *words, "--port", str(port)]
        environment = {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"}
        with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
            try:
                return _measured(method, f"http://127.0.0.1:{port}", server)
            finally:
                server.kill()


def _measured(method: str, base: str, server: subprocess.Popen[bytes]) -> Found:
    _wait_for(base, server)
    before = processor_time(server.pid)
    sent = sum(len(_get(base + address)) for address in FIRST[method])
    found: Found = {"paint": significant(processor_time(server.pid) - before), "sent": sent}
    if method == OURS:
        while (card := json.loads(_get(f"{base}/api/studies/large")))["seen"] < card["total"]:
            time.sleep(0.5)
        _get(f"{base}/api/studies/large/plots/history")
    found["whole"] = significant(processor_time(server.pid) - before)
    found["memory"] = most_memory(server.pid)
    return found


def _wait_for(base: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(PATIENCE):
        if server.poll() is not None:
            raise RuntimeError(f"the server ended with {server.returncode}")
        try:
            _get(f"{base}/favicon.ico")
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.2)
        else:
            return


def _get(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
        return bytes(answer.read())


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
