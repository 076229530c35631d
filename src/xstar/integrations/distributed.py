"""``Distributed``: an objective that trains one trial in several processes, as ``torchrun`` would start them.

The search runs in one process. For each run of a trial it becomes rank 0 of a new group and starts the other ranks, each with
a copy of the trial; they end with the run. So launchers that start the *script* again (Lightning's own for ``strategy="ddp"``)
are not needed: they would start the search again, too.
"""

from __future__ import annotations

import multiprocessing
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import cloudpickle

from xstar.core.checks import whole_number
from xstar.errors import ObjectiveError, Pruned
from xstar.integrations import missing

try:
    import torch.distributed as dist
except ImportError as error:
    raise missing("distributed", "torch") from error

LEAVING_SECONDS = 60.0
"""Seconds that a rank may take to end after rank 0 has; it has nothing left to do but to clean up."""
HOST = "127.0.0.1"


class Distributed:
    """``xs.minimize(Distributed(objective, processes=2), …)``: every process calls the objective with its copy of the trial.

    The objective initialises the process group from the environment (``MASTER_ADDR``, ``RANK``, …), as Lightning's,
    Accelerate's and torch's own entry points do where ``torchrun`` started them. All ranks report; that of rank 0
    counts and all end alike. The objective has to be picklable by cloudpickle: what it closes over is copied into
    each process.
    """

    def __init__(self, objective: Callable[[Any], Any], processes: int = 2) -> None:
        self._objective = objective
        self._processes = whole_number("processes", processes, least=1)

    def __call__(self, trial: Any) -> Any:
        before = dict(os.environ)
        others = self._started(trial)
        os.environ.update(self._ranked(0, others.port))
        try:
            others.wait_until_ready()
            made = self._objective(trial)
        except Pruned:  # and so are they
            self._leave(before)
            others.end(LEAVING_SECONDS)
            raise
        except BaseException:  # they wait for rank 0 in vain
            self._leave(before)
            others.end(0.0)
            raise
        self._leave(before)
        if wrong := others.end(LEAVING_SECONDS):
            raise ObjectiveError("; ".join(wrong))
        return made

    def _leave(self, before: dict[str, str]) -> None:
        """Leave the group, and the environment as it was."""
        if dist.is_available() and dist.is_initialized():
            dist.destroy_process_group()
        for name in self._ranked(0, 0):
            os.environ.pop(name, None)
            if name in before:
                os.environ[name] = before[name]

    def _started(self, trial: Any) -> _Others:
        others = _Others(cloudpickle.dumps((self._objective, trial)), _free_port())
        for rank in range(1, self._processes):
            os.environ.update(self._ranked(rank, others.port))  # libraries read their rank when they are imported
            others.start(rank)
        return others

    def _ranked(self, rank: int, port: int) -> dict[str, str]:
        """The variables that ``torchrun`` sets."""
        count = str(self._processes)
        own = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count}
        where = {"MASTER_ADDR": HOST, "MASTER_PORT": str(port), "TORCHELASTIC_RUN_ID": "xstar", "GROUP_RANK": "0"}
        return {**own, **where}


class _Others:
    """The ranks from 1 on."""

    def __init__(self, payload: bytes, port: int) -> None:
        self._payload, self.port = payload, port
        self._context = multiprocessing.get_context("spawn")
        self._running: list[tuple[int, Any, Any]] = []

    def start(self, rank: int) -> None:
        ours, theirs = self._context.Pipe(duplex=False)
        process = self._context.Process(target=_run, args=(self._payload, theirs), daemon=True)
        process.start()
        theirs.close()
        self._running.append((rank, process, ours))

    def wait_until_ready(self) -> None:
        """Before rank 0 joins the group, where it would wait half an hour for a rank that could not even be imported."""
        for rank, process, pipe in self._running:
            with suppress(EOFError):
                pipe.recv()
                continue
            process.join(LEAVING_SECONDS)
            raise ObjectiveError(
                f"rank {rank} ended before the objective was called, with exit code {process.exitcode}"
            )

    def end(self, patience: float) -> list[str]:
        """Wait for the others and end those that do not; returns what went wrong with each."""
        wrong = []
        for rank, process, pipe in self._running:
            process.join(patience)
            if process.is_alive():
                process.kill()
                process.join()
                wrong.append(f"rank {rank} did not end")
            elif process.exitcode != 0:
                wrong.append(f"rank {rank} ended with exit code {process.exitcode}")
            pipe.close()
        return wrong


def _run(payload: bytes, ready: Any) -> None:
    """What another rank does."""
    objective, trial = cloudpickle.loads(payload)
    ready.send(None)
    ready.close()
    try:
        with suppress(Pruned):  # as rank 0 is
            objective(trial)
    finally:
        if dist.is_available() and dist.is_initialized():
            dist.destroy_process_group()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
