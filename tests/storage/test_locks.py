"""Locks beside a SQLite file: one holder at a time, given back by the dead, not waited for without an end."""

from __future__ import annotations

import multiprocessing as mp
import os
import select
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import PATIENCE
from xstar.storage.locks import ByteLock, Queue

CONTEXT = mp.get_context("spawn")
PROGRAMS, TIMES = 4, 100
FOR_EVER = 1000.0
"""Longer than a test may take."""


def queue(folder: Path) -> Queue:
    return Queue(folder / "turns", folder / "wake")


def count(folder: Path, woken: bool) -> None:
    """Raise the number in a file, in two steps that only the lock keeps together."""
    if not woken:
        select.__dict__.pop("EPOLLEXCLUSIVE", None)
    lock, place = queue(folder), folder / "number"
    for _ in range(TIMES):
        lock.wait(FOR_EVER)
        number = int(place.read_text())
        place.write_text(str(number + 1))
        lock.free()
    lock.close()


@pytest.mark.parametrize("woken", [True, False])
def test_one_program_at_a_time_is_at_the_head_of_the_queue(tmp_path: Path, woken: bool) -> None:
    (tmp_path / "number").write_text("0")
    programs = [CONTEXT.Process(target=count, args=(tmp_path, woken)) for _ in range(PROGRAMS)]
    for program in programs:
        program.start()
    for program in programs:
        program.join()
        assert program.exitcode == 0
    assert (tmp_path / "number").read_text() == str(PROGRAMS * TIMES)


def hold(lock: Queue | ByteLock, held: Any) -> None:
    lock.wait(FOR_EVER)
    held.set()
    signal.pause()


@pytest.mark.parametrize("kind", ["queue", "byte"])
def test_a_dead_holder_is_not_waited_for_and_a_living_one_not_for_ever(tmp_path: Path, kind: str) -> None:
    lock = queue(tmp_path) if kind == "queue" else ByteLock(tmp_path / "turns", 7)
    held = CONTEXT.Event()
    other = CONTEXT.Process(target=hold, args=(lock, held))
    other.start()
    assert held.wait(PATIENCE)
    lock.wait(0.05)  # returns without the lock, since its holder lives
    assert other.pid is not None
    os.kill(other.pid, signal.SIGKILL)
    other.join()
    lock.wait(FOR_EVER)
    lock.free()
    lock.close()


def test_a_folder_that_cannot_be_written_to_has_no_locks(tmp_path: Path) -> None:
    lock = queue(tmp_path / "nowhere")
    lock.wait(FOR_EVER)
    lock.free()
    lock.close()
