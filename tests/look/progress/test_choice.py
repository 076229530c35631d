"""Who gets a display: people who can see one; scripts, pipes and logs only when they ask."""

from __future__ import annotations

import io
import logging
import os
import pty
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.waiting import PATIENCE
from xstar.look.progress import show_progress
from xstar.look.progress.choice import in_notebook
from xstar.look.progress.lines import LogProgress
from xstar.look.progress.terminal import LiveProgress
from xstar.study import Limits

SEARCH = """
import sys
from pathlib import Path
import xstar as xs
from tests.waiting import appears

WAIT = sys.argv[1] == "wait"

def objective(trial):
    print("printed by trial", trial.number)
    for epoch in trial.epochs():
        if WAIT and epoch == 3:
            appears(Path(__file__).with_name("go"))
        yield trial["x"] / epoch

space = xs.Space(x=xs.Float(0, 1))
result = xs.minimize(objective, space, method="random", trials=4, max_budget=3, seed=1, **eval(sys.argv[2]))
print("the end:", result.reason)
"""

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (Path(__file__).parents[3], *sys.path)))}
"""In which a program in another folder finds ``tests``."""

HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"


class Terminal:
    """A program with one or both of its outputs on a terminal of 100 columns."""

    def __init__(self, folder: Path, *words: str, stdout: Any = None) -> None:
        (folder / "search.py").write_text(SEARCH)
        self._ours, theirs = pty.openpty()
        environment = {**ENVIRONMENT, "TERM": "xterm", "COLUMNS": "100", "LINES": "30"}
        command = [sys.executable, str(folder / "search.py"), *words]
        self.program = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs if stdout is None else stdout,
            stderr=theirs,
            cwd=folder,
            env=environment,
        )
        os.close(theirs)
        self.seen = ""
        self._new = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                text = os.read(self._ours, 65536)
            except OSError:  # Linux says so when the other side is closed
                text = b""
            with self._new:
                self.seen += text.decode(errors="replace")
                self._new.notify_all()
            if not text:
                break

    def wait_for(self, text: str, times: int = 1) -> None:
        with self._new:
            found = self._new.wait_for(lambda: self.seen.count(text) >= times, timeout=PATIENCE)
        if not found:
            self.program.kill()
            raise AssertionError(self.seen)

    def wait(self) -> str:
        self.program.wait(timeout=PATIENCE)
        self._reader.join(timeout=PATIENCE)
        os.close(self._ours)
        return self.seen


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "search.py").write_text(SEARCH)
    command = [sys.executable, str(folder / "search.py"), *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True, env=ENVIRONMENT)


def test_a_terminal_has_a_table(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "wait", "{}")
    terminal.wait_for("█")  # the curve of a running trial
    (tmp_path / "go").touch()
    text = terminal.wait()
    assert "4 of 4" in text
    assert "all 4 trials are done" in text
    assert "new best" in text
    assert "printed by trial 3" in text
    assert text.rindex(SHOW) > text.rindex(HIDE)
    assert text.rindex("the end") > text.rindex(SHOW)


def test_a_terminal_has_none_if_it_is_not_wanted(tmp_path: Path) -> None:
    text = Terminal(tmp_path, "go", "{'progress': False}").wait()
    lines = [*(f"printed by trial {number}" for number in range(4)), "the end: all 4 trials are done"]
    assert text.splitlines() == lines


def test_what_a_script_prints_may_go_to_a_file_meanwhile(tmp_path: Path) -> None:
    with (tmp_path / "out.txt").open("w") as file:
        text = Terminal(tmp_path, "go", "{}", stdout=file).wait()
    assert "4 of 4" in text
    assert "printed" not in text
    lines = (tmp_path / "out.txt").read_text().splitlines()
    assert lines == [*(f"printed by trial {number}" for number in range(4)), "the end: all 4 trials are done"]


def test_a_redirected_script_writes_a_line_per_trial_unless_it_shall_not(tmp_path: Path) -> None:
    silent = run(tmp_path, "go", "{'progress': False}")
    assert silent.stderr == ""
    done = run(tmp_path, "go", "{}")
    assert done.stdout == silent.stdout
    lines = done.stderr.splitlines()
    assert [line.split(" value=")[0][len("2026-11-19 04:15:04 ") :] for line in lines] == [
        *(f"trial {number} complete" for number in range(4)),
        "all 4 trials are done",
    ]


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_twice_leaves_the_terminal_as_it_was(tmp_path: Path, workers: int) -> None:
    terminal = Terminal(tmp_path, "wait", f"{{'workers': {workers}}}")
    terminal.wait_for("2/3")
    terminal.program.send_signal(signal.SIGINT)
    terminal.wait_for("press it again to end them now")
    terminal.program.send_signal(signal.SIGINT)
    text = terminal.wait()
    assert "KeyboardInterrupt" in text
    assert text.rindex(SHOW) > text.rindex(HIDE)
    assert text.rindex("Traceback") > text.rindex(SHOW), "the table is gone before Python says what happened"


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_search_within_a_search_leaves_the_screen_to_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Screen())
    monkeypatch.setenv("TERM", "xterm")
    study = xs.Study(xs.Space(x=xs.Float(0, 1)))
    for _ in range(2):  # the screen is given back
        with show_progress(study, Limits(), None) as outer:
            assert [type(each) for each in outer] == [LiveProgress]
            with show_progress(study, Limits(), None) as inner:
                assert inner == []
            with show_progress(study, Limits(), True) as inner:
                assert [type(each) for each in inner] == [LogProgress]


def test_messages_go_to_the_display_unless_logging_is_set_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    log, study = logging.getLogger("xstar"), xs.Study(xs.Space(x=xs.Float(0, 1)))
    for configured in (True, False):
        caplog.clear()
        file = io.StringIO()
        monkeypatch.setattr(sys, "stderr", file)
        monkeypatch.setattr(log, "propagate", configured)  # the root logger of a test has a handler, caplog's
        with show_progress(study, Limits(), True):
            log.warning("a word")
        assert ("a word" in caplog.messages) == configured
        assert ("a word" in file.getvalue()) != configured
        assert log.propagate == configured
        assert log.handlers == []


def test_this_is_no_notebook() -> None:
    assert not in_notebook()
