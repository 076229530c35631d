"""Joining a study from elsewhere, leaving it, and jobs of a batch system that do both."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.cli.conftest import Cli, Write
from tests.waiting import appears, gone, hear, until
from xstar.look.audit import audit

FILE = """
    from pathlib import Path
    import xstar as xs
    from tests.waiting import appears
    space = xs.Space(x=xs.Float(0, 1))
    settings = {"trials": 4, "method": "random", "max_budget": 20, "seed": 3}

    def train(trial):
        state = trial.checkpoint / "epoch"
        done = int(state.read_text()) if state.exists() else 0
        for epoch in range(done + 1, 21):
            with (Path(__file__).parent / f"epochs-{trial.number}").open("a") as file:
                print(epoch, file=file)
            if epoch == 3:
                (Path(__file__).parent / f"begun-{trial.number}").touch()
                appears(Path(__file__).parent / "go")
            state.write_text(str(epoch))
            yield trial["x"] / epoch
"""

ROOT = Path(__file__).parents[2]

SBATCH = """
    #!/bin/sh
    # Runs the jobs of an array here, one beside the other.
    last=$(sed -n 's/^#SBATCH --array=0-//p' "$2")
    for task in $(seq 0 "$last"); do
        SLURM_ARRAY_TASK_ID=$task bash "$2" > "job-$task.log" 2>&1 &
        echo $! >> pids
    done
    echo 4711
"""


def xstar(*words: str, **options: Any) -> subprocess.Popen[str]:
    program = [sys.executable, "-c", "from xstar.cli.main import app; app()", *words]
    return subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


@pytest.fixture(autouse=True)
def _tests_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the files that programs run, which stand in other folders."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (ROOT, *sys.path))))


def checked(folder: Path, storage: str, name: str, trials: int) -> None:
    """All trials are complete, and no epoch was trained twice."""
    with xs.Study.open(name, storage, directory=folder / "xstar-files") as study:
        assert [trial.state for trial in study.history.trials] == [xs.State.COMPLETE] * trials
        assert audit(study).findings == []
    for number in range(trials):
        epochs = [int(line) for line in (folder / f"epochs-{number}").read_text().split()]
        assert epochs == list(range(1, 21)), number


def test_a_study_knows_its_program(cli: Cli, write: Write, tmp_path: Path) -> None:
    path = write(FILE)
    (tmp_path / "go").touch()
    cli("run", f"{path}:train", "--trials", "1", "--study", "s", "--patience", "7")
    with xs.Study.open("s") as study:
        assert study.history.created.program == {
            "file": str(tmp_path / path),
            "objective": "train",
            "options": {"trials": 1, "patience": 7},
        }
    assert "all 1 trials are done" in cli("work", "s").output
    assert "all 3 trials are done" in cli("work", "s", "--trials", "3").output
    with xs.Study.open("s") as study:
        assert len(study.history.trials) == 3


def test_preempted_its_trials_are_taken_over(write: Write, tmp_path: Path, postgres: str, name: str) -> None:
    path = write(FILE)
    environment = os.environ | {"XSTAR_STORAGE": postgres}
    words = ("--study", name, "--workers", "2", "--grace", "600")
    with xstar("run", str(path), *words, env=environment) as first:
        for number in range(2):
            appears(tmp_path / f"begun-{number}")
        with xstar("work", name, cwd="/", env=environment) as second:  # another folder, as on another machine
            first.send_signal(signal.SIGTERM)
            hear(first.stdout, "told to terminate")
            (tmp_path / "go").touch()
            said = first.communicate()[0]
            assert first.returncode == 143, said
            said = second.communicate()[0]
            assert second.returncode == 0, said
    checked(tmp_path, postgres, name, 4)


def test_what_is_missing_is_named(cli: Cli, write: Write, tmp_path: Path) -> None:
    assert "there is no storage" in cli("work", "s", code=2).stderr
    xs.Study(xs.Space(x=xs.Float(0, 1)), study="plain").close()
    assert "was not begun by `xstar run`" in cli("work", "plain", code=2).stderr
    path = write(FILE)
    (tmp_path / "go").touch()
    cli("run", str(path), "--study", "s", "--trials", "1")
    path.rename("moved.py")
    wrong = cli("work", "s", code=2).stderr
    assert "must be on this machine" in wrong
    assert str(tmp_path / path) in wrong
    assert "all 2 trials are done" in cli("work", "s", "moved.py", "--trials", "2").output


def test_a_folder_that_this_machine_does_not_see_is_named(
    cli: Cli, write: Write, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(FILE)
    with xstar("run", str(path), "--study", "s", "--storage", "s.db") as running:
        appears(tmp_path / "begun-0")
        running.send_signal(signal.SIGTERM)
        running.communicate()
    (tmp_path / "go").touch()
    output = cli("work", "s", "--storage", "s.db", "--directory", str(tmp_path / "other"))
    assert "trials that were begun elsewhere start over here" in " ".join(output.output.split())


# --- Slurm -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def sbatch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in that runs the jobs on this machine."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "sbatch"
    script.write_text(textwrap.dedent(SBATCH).lstrip())
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    return script


@pytest.mark.usefixtures("sbatch")
def test_an_array_of_jobs(
    cli: Cli, write: Write, tmp_path: Path, postgres: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(FILE)
    (tmp_path / "go").touch()
    monkeypatch.setenv("XSTAR_STORAGE", postgres)
    words = ("--array", "3", "--workers", "1", "--time", "1:00:00", "--sbatch=--partition=gpu", "--trials", "6")
    output = cli("slurm", name, str(path), *words).output
    assert "4711" in output
    script = (tmp_path / f"xstar-{name}.sbatch").read_text()
    assert postgres not in script
    for line in ("--array=0-2", "--time=1:00:00", "--signal=B:TERM@30", "--partition=gpu", "--requeue"):
        assert f"#SBATCH {line}\n" in script
    with xs.Study.open(name, postgres, directory=tmp_path / "xstar-files") as study:
        until(
            lambda: study.refresh().count(xs.State.COMPLETE) == 6,
            lambda: [log.read_text() for log in tmp_path.glob("job-*.log")],
        )
    assert all(gone(int(pid)) for pid in (tmp_path / "pids").read_text().split())
    checked(tmp_path, postgres, name, 6)


def test_a_script_without_submitting(cli: Cli, write: Write, postgres: str, name: str) -> None:
    path = write(FILE)
    url = postgres.replace("postgres:@", "postgres@")
    words = ("--storage", url, "--no-submit", "--array", "2", "--workers", "4", "--checkpoints", "all")
    output = cli("slurm", name, str(path), *words, "--memory", "16G", "--script", "job.sh").output
    assert "sbatch job.sh" in output
    script = Path("job.sh").read_text()
    assert "#SBATCH --cpus-per-task=4\n" in script
    assert "#SBATCH --mem=16G\n" in script
    last = script.splitlines()[-1]
    assert last.startswith("exec ")
    assert f"work {name} --checkpoints=all --workers=4" in last


def test_a_script_has_what_the_settings_of_the_file_say(cli: Cli, write: Write, postgres: str, name: str) -> None:
    url = postgres.replace("postgres:@", "postgres@")
    path = write(f"{FILE}\n    settings |= {{'storage': {url!r}, 'workers': 3}}\n")
    cli("slurm", name, str(path), "--no-submit", "--script", "job.sh")
    script = Path("job.sh").read_text()
    assert "#SBATCH --cpus-per-task=3\n" in script
    assert shlex.split(script.splitlines()[-1])[-3:] == ["work", name, f"--storage={url}"]
    assert not Path("xstar.db").exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "must be a PostgreSQL URL: machines cannot share a SQLite file"),
        (("--storage", "xstar.db"), "must be a PostgreSQL URL"),
        (("--storage", "postgresql://me:secret@server/x"), "must not have a password on the command line"),
        (("--storage", "postgresql://me@server/x", "--array", "0"), "--array"),
        (("--storage", "postgresql://me@server/x", "--time", "soon"), "--time"),
    ],
)
def test_wrong_jobs_are_refused(cli: Cli, write: Write, words: tuple[str, ...], expected: str) -> None:
    said = cli("slurm", "s", str(write(FILE)), *words, code=2).stderr
    assert expected in said
    assert "secret" not in said


def test_without_sbatch_the_script_is_there(
    cli: Cli, write: Write, postgres: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(FILE)
    monkeypatch.setenv("XSTAR_STORAGE", postgres)
    monkeypatch.setenv("PATH", "")
    assert "there is no sbatch on this machine" in cli("slurm", name, str(path), "--script", "job.sh", code=2).stderr
    assert Path("job.sh").is_file()
