"""What it costs to look: the first paint of a large study in the dashboard, beside optuna-dashboard with an equal study.

    python -m benchmarks.dashboard [--trials 100000] [--reports 10] [--rounds 3] [--write]

Processor time of the server, its start left out, until it has given the answers that a study's page is first painted from:
the page, its scripts, the study at a glance, the best so far and the first trials; of optuna-dashboard the page, its script and
the study with its trials, which its page waits for. xstar's page shows the study as far as its journal was read by then;
``whole`` is the processor time until all of it was read and drawn again. Both storages are SQLite files with the same trials
and reports. The browser's own time is not in these figures.
"""

from __future__ import annotations

import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.harness.experiment import Experiment, Part, main
from benchmarks.harness.machine import ROOT
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import Results, table
from benchmarks.harness.run import Libraries
from benchmarks.workloads.large_study import PROGRAM, make_optuna, make_xstar, most_memory, processor_time

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
PAGES = (0, 1, 50)


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument("--reports", type=int, default=10, help="of each trial")
    parser.add_argument("--busy", type=int, default=300, help="trials of the search beside open pages")
    parser.add_argument("--rounds", type=int, default=3, help="rounds; each measures both")


def tasks(options: Namespace) -> list[Task]:
    sizes = {"trials": options.trials, "reports": options.reports}
    return [
        Task.of(round_, "first paint", method, **sizes) for round_ in range(options.rounds) for method in (OURS, PEER)
    ]


def run(task: Task, options: Namespace) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.db"
        (make_xstar if task.method == OURS else make_optuna)(path, task["trials"], task["reports"])
        port = _free_port()
        words = ["dashboard", "--storage", str(path)] if task.method == OURS else [f"sqlite:///{path}"]
        command = [sys.executable, "-c", SERVERS[task.method], *words, "--port", str(port)]
        environment = {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"}
        with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
            try:
                return _measured(task.method, f"http://127.0.0.1:{port}", server)
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


def report(results: Results, options: Namespace) -> Iterator[str]:
    rows = []
    median = {}
    for method in (OURS, PEER):
        found = [record.found for record in results.of("first paint", method)]
        if found:
            median[method] = {key: statistics.median(each[key] for each in found) for key in found[0]}
            mine = median[method]
            memory, sent = mine["memory"] / 1e6, mine["sent"] / 1e6
            rows.append(
                (method, f"{mine['paint']:.2f} s", f"{mine['whole']:.1f} s", f"{memory:,.0f} MB", f"{sent:.1f} MB")
            )
    yield f"{options.trials:,} trials with {options.reports} reports each, medians of {options.rounds} rounds."
    yield ""
    yield from table(["", "first paint", "whole study", "memory at most", "sent"], rows)
    if len(median) == 2:
        yield ""
        yield f"xstar / optuna-dashboard, first paint: {median[OURS]['paint'] / median[PEER]['paint']:.3f}; " + (
            f"whole study: {median[OURS]['whole'] / median[PEER]['whole']:.3f}."
        )


# ---------------------------------------------------------------- open pages beside a search


def beside_tasks(options: Namespace) -> list[Task]:
    sizes = {"trials": options.busy}
    return [
        Task.of(round_, "open pages", f"{pages} pages", **sizes) for round_ in range(options.rounds) for pages in PAGES
    ]


def run_beside(task: Task, options: Namespace) -> Found:
    """The processor time of a search, and of the server, while so many pages of it are open (``workloads/open_pages.py``)."""
    pages = int(task.method.split()[0])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "busy.db"
        environment = {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"}
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(path), "1"], env=environment, check=True, stdout=subprocess.DEVNULL
        )
        port = _free_port()
        command = [sys.executable, "-c", SERVERS[OURS], "dashboard", "--storage", str(path), "--port", str(port)]
        with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
            try:
                _wait_for(f"http://127.0.0.1:{port}", server)
                return _beside(task, server, [str(path), str(port), str(pages)], environment)
            finally:
                server.kill()


def _beside(task: Task, server: subprocess.Popen[bytes], where: list[str], environment: dict[str, str]) -> Found:
    path, port, pages = where
    client = [sys.executable, "-m", "benchmarks.workloads.open_pages", port, "busy", pages]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(client, env=environment, **pipes) as looking:
        assert looking.stdout is not None
        looking.stdout.readline()
        before, begun = processor_time(server.pid), time.monotonic()
        search = [sys.executable, "-c", PROGRAM, path, str(task["trials"])]
        made = subprocess.run(search, env=environment, check=True, capture_output=True, text=True)
        serving, took = processor_time(server.pid) - before, time.monotonic() - begun
        told, _ = looking.communicate("")
    news, answers, refusals = map(int, told.split())
    found = {"seconds": float(made.stdout.split()[-1]), "serving": serving, "took": took}
    counts = {"news": news, "answers": answers, "refusals": refusals}
    return {**{name: significant(value) for name, value in found.items()}, **counts}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def report_beside(results: Results, options: Namespace) -> Iterator[str]:
    rows = []
    for pages in PAGES:
        found = [record.found for record in results.of("open pages", f"{pages} pages")]
        if found:
            seconds = [each["seconds"] for each in found]
            share = statistics.median(each["serving"] / each["took"] for each in found)
            spread = f"{min(seconds):.2f} to {max(seconds):.2f} s"
            counts = (f"{statistics.median(each[name] for each in found):,.0f}" for name in ("news", "answers"))
            rows.append((str(pages), f"{statistics.median(seconds):.2f} s", spread, f"{share:.1%} of a core", *counts))
    yield f"Processor time of a search with {options.busy} trials of up to 27 epochs, its workers included, and of the server."
    yield "A page follows the stream of news and draws four plots and its table again, every three seconds while there is news."
    yield ""
    yield from table(["open pages", "search, median", "all rounds", "server", "messages", "answers"], rows)


EXPERIMENT = Experiment(
    name="dashboard",
    title="What it costs to look at a large study",
    result="dashboard.md",
    description=__doc__,
    parts={
        "paint": Part("First paint", tasks, run, report, Libraries({PEER: PEER})),
        "beside": Part("A search of four workers beside open pages", beside_tasks, run_beside, report_beside),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
