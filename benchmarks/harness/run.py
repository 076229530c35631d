"""The one loop over runs. A run that is on record is not repeated, so a command may be ended and given again.

Tasks run in the order of their list, lower seeds first as a rule: an unfinished comparison is a comparison with fewer seeds.
After ``--limit-minutes`` nothing more is begun.
Each process computes with one BLAS thread and is started afresh, not forked, so that libraries see the setting. A failed run is
told and counted; the others go on.
"""

from __future__ import annotations

import math
import multiprocessing
import sys
import time
import traceback
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from benchmarks.harness import machine
from benchmarks.harness.records import Found, Record, Store, Task
from benchmarks.harness.variants import Run, carried_out, label

OURS = "xstar"


@dataclass(frozen=True)
class Libraries:
    """Which distribution a method comes from, and which others its records name."""

    of: Mapping[str, str] = field(default_factory=dict)
    """Method → distribution; a method that is not named here is ours."""
    also: tuple[str, ...] = ()

    def library(self, task: Task) -> str:
        return self.of.get(task.method, OURS)

    def ours(self, task: Task) -> bool:
        return self.library(task) == OURS

    def made(self, task: Task, options: Namespace) -> dict[str, Any]:
        """Where a run comes from; that of a checkout beside this one names its commit."""
        made = machine.provenance((self.library(task), *self.also))
        return made if "@" not in task.method else {**made, "commit": label(options.baseline)}

    def current(self, record: Record) -> bool:
        """Whether the record is of the version that is installed, or nothing is installed that could renew it."""
        library = self.library(record.task)
        return machine.installed(library) in (None, record.made["versions"].get(library))


@dataclass(frozen=True)
class Loop:
    """How runs are made: by what, in how many processes (0: in this one), and whether each has a process of its own."""

    run: Run
    libraries: Libraries
    processes: int = 1
    fresh: bool = False
    minutes: float = math.inf
    """After these, nothing more is begun."""

    def missing(self, tasks: Sequence[Task], known: Mapping[Task, Record]) -> list[Task]:
        return [task for task in tasks if task not in known or not self.libraries.current(known[task])]

    def complete(self, tasks: Sequence[Task], options: Namespace, store: Store | None) -> tuple[list[Record], int]:
        """Run the tasks and append their records to the store, if there is one. Returns the records and how many failed."""
        self._check(tasks)
        machine.one_thread()
        made: dict[tuple[str, str], dict[str, Any]] = {}
        records: list[Record] = []
        count = 0
        for count, (task, outcome) in enumerate(self._outcomes(tasks, options), 1):
            if isinstance(outcome, str):
                _say(f"{count} of {len(tasks)}: {task} failed\n{outcome}")
                continue
            found, seconds = outcome
            key = self.libraries.library(task), task.method.partition("@")[2]
            if key not in made:
                made[key] = self.libraries.made(task, options)
            record = Record(task, found, made[key])
            record = Record.parse(record.line())  # what is reported is what is kept
            if store is not None:
                store.append(record)
            records.append(record)
            _say(f"{count} of {len(tasks)}: {task}: {summary(record.found)}, {seconds:.1f} s")
        if count < len(tasks):
            _say(f"{len(tasks) - count} of {len(tasks)} were not begun in {self.minutes:g} minutes")
        return records, count - len(records)

    def _check(self, tasks: Sequence[Task]) -> None:
        absent = {self.libraries.library(task) for task in tasks} - {OURS}
        if absent := {name for name in absent if machine.installed(name) is None}:
            raise SystemExit(
                f"not installed: {', '.join(sorted(absent))}. `make bench-peers` makes .venv-peers with all peers; or leave "
                "the methods of these libraries out (--methods, --peers). --table-only shows what is on record."
            )

    def _outcomes(self, tasks: Sequence[Task], options: Namespace) -> Iterator[tuple[Task, tuple[Found, float] | str]]:
        end = time.monotonic() + 60 * self.minutes
        waiting = iter(tasks)
        if not self.processes:
            for task in waiting:
                if time.monotonic() > end:
                    return
                try:
                    yield task, timed(self.run, task, options)
                except Exception:
                    yield task, traceback.format_exc()
            return
        context, once = multiprocessing.get_context("spawn"), 1 if self.fresh else None
        with ProcessPoolExecutor(self.processes, context, max_tasks_per_child=once) as pool:
            running: dict[Future[tuple[Found, float]], Task] = {}
            try:
                while True:
                    while len(running) < self.processes and time.monotonic() <= end and (task := next(waiting, None)):
                        running[pool.submit(timed, self.run, task, options)] = task
                    if not running:
                        return
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        yield running.pop(future), _outcome(future)
            except BaseException:  # Ctrl-C: what has not begun is not begun
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def timed(run: Run, task: Task, options: Namespace) -> tuple[Found, float]:
    begun = time.perf_counter()
    found = carried_out(run, task, options)
    return found, time.perf_counter() - begun


def _outcome(future: Future[tuple[Found, float]]) -> tuple[Found, float] | str:
    try:
        return future.result()
    except SystemExit as error:  # a peer that cannot be imported
        return str(error)
    except Exception:  # one library's failure is no reason to lose the other runs
        return traceback.format_exc()


def summary(found: Found) -> str:
    """The last incumbent, and numbers that stand alone."""
    parts = [f"best {found['best'][-1][1]:.6g}"] if found.get("best") else []
    parts += [f"{name} {value:.4g}" for name, value in found.items() if isinstance(value, float | int)]
    return ", ".join(parts) or "done"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
