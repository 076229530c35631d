"""The program itself, as the shell starts it: worker processes, Ctrl-C, the example."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import xstar as xs
from tests.cli.conftest import Write
from tests.modules import module_of
from tests.run.cases import Recorder
from tests.waiting import PATIENCE, hear
from xstar.core.goals import read_goals
from xstar.journal.trial import Job
from xstar.run import run_job

ROOT = Path(__file__).parents[2]
XSTAR = [sys.executable, "-c", "from xstar.cli.main import app; app(prog_name='xstar')"]
WAIT = PATIENCE  # seconds that no step takes, whatever else the machine does

FILE = """
    import os
    from pathlib import Path
    import xstar as xs
    from helper import scale          # a module beside the file: workers find it, too

    FACTOR = 2.0                      # and what the file itself defines goes with the objective
    space = xs.Space(x=xs.Float(0, 1))
    settings = {"metric": "loss", "max_budget": 4, "workers": 2, "method": "random", "seed": 1}

    def train(trial):
        print("hello from", trial.number)
        for epoch in trial.epochs():
            WAIT
            yield {"loss": scale(trial["x"]) * FACTOR, "threads": float(os.environ["OMP_NUM_THREADS"])}
"""


def search(wait: str = "pass") -> str:
    """The file, with what the objective does in each epoch."""
    return FILE.replace("WAIT", f"from tests.waiting import appears; {wait}")


def start(*words: str, **options: object) -> subprocess.Popen[str]:
    env = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
    env |= {"TERM": "xterm", "COLUMNS": "100", "LINES": "30"}
    env["PYTHONPATH"] = os.pathsep.join(map(str, (ROOT, *sys.path)))
    return subprocess.Popen([*XSTAR, *words], env=env, text=True, **options)  # type: ignore[call-overload]


def test_workers_need_not_find_the_file(write: Write, tmp_path: Path) -> None:
    write("def scale(x):\n    return x\n", "helper.py")
    program = start("run", str(write(search())), "--trials", "4", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    output, errors = program.communicate(timeout=WAIT)
    assert program.returncode == 0, errors
    assert "all 4 trials are done" in output
    assert "\x1b" not in output
    with xs.Study.open("search", tmp_path / "xstar.db") as study:
        assert [trial.value for trial in study.history.trials] == [2 * trial["x"] for trial in study.history.trials]
        cores = len(os.sched_getaffinity(0))
        assert study.best.metrics["threads"] == max(1, cores // 2)
        assert (study.files.of(0) / "stdout.txt").read_text() == "hello from 0\n"


def test_ctrl_c_ends_running_trials_at_their_next_report(write: Write, tmp_path: Path) -> None:
    write("def scale(x):\n    return x\n", "helper.py")
    go = tmp_path / "go"
    file = write(search(f"(trial.number == 0 or epoch == 1) or appears(Path({str(go)!r}))"))
    program = start("run", str(file), "--trials", "1000", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    hear(program.stdout, "trial ")
    program.send_signal(signal.SIGINT)
    hear(program.stderr, "press it again")
    go.touch()
    output, errors = program.communicate(timeout=WAIT)
    assert program.returncode == 130, errors
    assert "search: interrupted; the same command goes on with it" in output
    with xs.Study.open("search", tmp_path / "xstar.db") as study:
        left = [trial for trial in study.history.trials if trial.state is not xs.State.COMPLETE]
        assert {trial.state for trial in left} <= {xs.State.WAITING}
        assert all(trial.reason == "interrupted by the user" and trial.budget < 4 for trial in left)
        assert len(study.history.trials) < 1000


# ---------------------------------------------------------------- the example


def test_the_example_runs(tmp_path: Path) -> None:
    words = ["--workers", "2", "--trials", "2", "--max-budget", "2"]
    program = start("run", str(ROOT / "examples" / "digits.py"), *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    output, errors = program.communicate(timeout=WAIT)
    assert program.returncode == 0, errors
    assert "digits: all 2 trials are done" in output
    with xs.Study.open("digits", tmp_path / "xstar.db") as study:
        assert study.metric == "error"
        assert set(study.best.metrics) == {"error", "accuracy"}
        assert list(study.files.of(0).glob("checkpoint/*")) == [study.files.of(0) / "checkpoint" / "model.pickle"]


def test_the_example_resumes_where_it_stopped(tmp_path: Path) -> None:
    digits = module_of(ROOT / "examples" / "digits.py")
    config = {
        "lr": 0.01,
        "batch": 64,
        "units": 16,
        "activation": "relu",
        "alpha": 1e-4,
        "solver": "sgd",
        "momentum": 0.9,
    }
    assert digits.space.parse(config) == config

    def train(folder: str, begin: int, end: int) -> list[object]:
        job = Job(0, config, 0, begin, end, end, str(tmp_path / folder))
        channel = Recorder()
        run_job(digits.objective, read_goals("error", None), job, channel)
        return list(channel.reports)

    assert train("two", 0, 2) + train("two", 2, 4) == train("one", 0, 4)
