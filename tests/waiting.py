"""Waiting for what other processes and threads do: by what can be seen of it, never for a time that should be enough."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

PATIENCE = 200.0
"""Seconds after which something will never happen: on a busy machine a program takes many to start."""


def until(what: Callable[[], object], why: object = "", seconds: float = PATIENCE) -> None:
    """Return as soon as ``what()`` is true."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, f"waited {seconds:g} s in vain: {why() if callable(why) else why}"
        time.sleep(0.01)


def appears(path: Path) -> None:
    """Return as soon as there is such a file. For objectives, too: they wait for a file that the test makes."""
    until(path.exists, path)


def text_of(path: Path) -> str:
    """The file's text, as soon as it ends with a whole line."""
    until(lambda: path.exists() and path.read_text().endswith("\n"), path)
    return path.read_text().strip()


def hear(stream: IO[str] | None, words: str) -> None:
    """Read lines until one has these words: then a signal has been noticed, and the next one is another."""
    assert stream is not None
    lines = []
    while line := stream.readline():
        lines.append(line)
        if words in line:
            return
    raise AssertionError(f"nobody said {words!r}: {lines}")


def gone(pid: int) -> bool:
    """Whether a process is dead, or nobody's child any more and about to be; waited for."""

    def dead() -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
        except OSError:
            return True

    until(dead, f"process {pid} still runs")
    return True


@contextmanager
def program(text: str, *words: object, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A Python program that finds ``tests`` as we do, with pipes from its outputs. It is killed if it is still there."""
    path = os.pathsep.join(map(str, (Path(__file__).parents[1], *sys.path)))
    given: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    given["env"] = {**os.environ, "PYTHONPATH": path}
    with subprocess.Popen([sys.executable, "-c", text, *map(str, words)], text=True, **given) as running:
        try:
            yield running
        finally:
            running.kill()
