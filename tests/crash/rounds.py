"""One study, the programs that share it, and the hand that kills them.

A kill *hits work* if the journal or the programs show it: a run of a trial was cut off (it is recorded as lost, or as killed),
or programs that were running trials lost the server. Kills that come too late or too early for that are counted apart.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.crash.acts import Acts
from tests.crash.journal import Run, Watch
from tests.crash.processes import Watched, children, kill, kill_child, parent_of, started_by
from tests.crash.server import Server
from tests.waiting import until
from xstar.journal import events as ev
from xstar.journal.trial import State
from xstar.run.orphans import RECORD

PROGRAM = Path(__file__).with_name("program.py")
PROGRAMS, WORKERS = 2, 2
ENDLESS = 1_000_000
"""Trials that the programs to be killed are told to run: they never come to an end by themselves."""
LEASE = 4.0
"""Seconds, in place of a minute: so long a stopped program is waited for."""
STOPPED = 5 * LEASE
"""Seconds after which a stopped program goes on though nobody took its trials over: stopped in the middle of a commit, it locks
a SQLite file for all."""
MORE = 8
"""Trials that are left to the programs that bring the study to its end."""
LOST_SERVER = "cannot be used"
"""What a program logs when an outage begins."""
EPOCH = {"random": 0.08, "asha": 0.08, "mobster": 0.25}
"""Seconds of training per epoch. MOBSTER has a slower objective: every check makes all its decisions again, at 10 to 30 ms."""


@dataclass
class Tally:
    """What was done and found."""

    kills: Counter[str] = field(default_factory=Counter)
    hits: Counter[str] = field(default_factory=Counter)
    acts: Counter[str] = field(default_factory=Counter)
    """What was done to the storage after kills (``Acts``)."""
    cut_off: int = 0
    """Runs of trials that kills cut off."""
    trials: int = 0
    acknowledged: int = 0
    """Reports that were acknowledged, each of which was found in the journal."""
    audits: int = 0
    decisions: int = 0
    """Decisions that these audits made again."""

    def add(self, other: Tally) -> None:
        self.kills += other.kills
        self.hits += other.hits
        self.acts += other.acts
        for name in ("cut_off", "trials", "acknowledged", "audits", "decisions"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def to_json(self) -> dict[str, Any]:
        return {
            name: dict(sorted(value.items())) if isinstance(value, Counter) else value
            for name, value in vars(self).items()
        }


class Round:
    """One study in ``folder``, or on ``server``, from its first program to its last."""

    def __init__(
        self,
        folder: Path,
        method: str,
        server: Server | None,
        dice: random.Random,
        executor: str = "processes",
        core_types: Sequence[str] = (),
        objectives: int = 1,
        acting: float = 0.25,
    ) -> None:
        """``acting`` is the probability of an act after a kill; 1 means every act after every kill."""
        self.folder, self.method, self.server, self.dice = folder, method, server, dice
        self.executor, self.core_types, self.objectives = executor, core_types, objectives
        self.storage = server.url if server is not None else str(folder / "crash.db")
        self.name, self.acting = f"{folder.name}-{method}", acting
        self._acts = Acts(self.storage, self.name, folder)
        self.acknowledged = folder / "acknowledged.txt"
        self.acknowledged.touch()
        self.tally = Tally()
        self.mark = f"XSTAR_TEST={folder}"
        self._programs: list[subprocess.Popen[bytes]] = []
        self._cut_off: list[tuple[subprocess.Popen[bytes], list[Run]]] = []  # by whose successor they must be noticed
        self._logs = 0
        self._refill()
        self._watch = self._when_created()

    def run(self, kinds: Sequence[str]) -> Tally:
        """Kill once for each of ``kinds``, check after each kill, and bring the study to its end."""
        try:
            for kind in kinds:
                time.sleep(self.dice.uniform(0.0, 0.3))
                hit = getattr(self, f"_kill_{kind}")()
                self.tally.kills[kind] += 1
                self.tally.hits[kind] += hit
                self._watch.check()
                self._check_cut_off()
                self._act()
            self._finish()
        finally:
            for program in self._programs:
                program.kill()
                program.wait()
            self._watch.close()
        return self.tally

    def _act(self) -> None:
        if self.acting < 1 and self.dice.random() >= self.acting:
            return
        for act in self._acts.kinds if self.acting >= 1 else [self.dice.choice(self._acts.kinds)]:
            getattr(self._acts, act)()
            self.tally.acts[act] += 1

    # ------------------------------------------------------------ programs

    def _start(self, trials: int) -> subprocess.Popen[bytes]:
        self._logs += 1
        given = [self.storage, self.acknowledged, trials, WORKERS, self.method, self.name, EPOCH[self.method]]
        given += [LEASE, self.executor, self.objectives]
        environment = {**os.environ, "XSTAR_TEST": str(self.folder), "PYTHONPATH": os.pathsep.join(sys.path)}
        if self.core_types:
            environment["OPENBLAS_CORETYPE"] = self.dice.choice(self.core_types)
        with (self.folder / f"log-{self._logs}.txt").open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-P", str(PROGRAM), *map(str, given)], stderr=log, cwd=self.folder, env=environment
            )

    def _refill(self) -> None:
        while len(self._programs) < PROGRAMS:
            self._programs.append(self._start(ENDLESS))

    def _when_created(self) -> Watch:
        from xstar.storage import SqlStorage

        def created() -> bool:
            storage = SqlStorage(self.storage)
            try:
                return storage.exists(self.name)
            finally:
                storage.close()

        until(created, f"a program makes the study; {self._last_words()}")
        return Watch(self.storage, self.name, self.acknowledged)

    def _last_words(self) -> str:
        return "\n".join(log.read_text()[-2000:] for log in sorted(self.folder.glob("log-*.txt")))

    def _alive(self) -> bool:
        """Whether no program ended that nobody killed."""
        dead = [program.returncode for program in self._programs if program.poll() is not None]
        assert not dead, f"a program ended by itself with {dead}: {self._last_words()}"
        return True

    def _at_work(self, least: int = 1) -> subprocess.Popen[bytes]:
        """One of the programs that run trials, as soon as ``least`` of them do."""
        found: list[subprocess.Popen[bytes]] = []

        def look() -> bool:
            busy = set(self._watch.holders().values())
            found[:] = [program for program in self._programs if program.pid in busy]
            return self._alive() and len(found) >= least

        until(look, f"{least} programs run trials")
        return self.dice.choice(found)

    # ------------------------------------------------------------ kills: each says whether it hit work

    def _kill_program(self, *, with_workers: bool = False) -> bool:
        victim = self._at_work()
        time.sleep(self.dice.uniform(0.0, 0.1))
        supervisors = children(victim.pid)
        workers = [worker for supervisor in supervisors for worker in children(supervisor)]
        watched = Watched([*supervisors, *workers])
        victim.kill()
        if with_workers:
            for worker in workers:
                kill(worker, lambda it: parent_of(it) in supervisors)
        victim.wait()
        self._programs.remove(victim)
        cut_off = [run for run, holder in self._watch.holders().items() if holder == victim.pid]
        self.tally.cut_off += len(cut_off)
        until(lambda: not watched.alive(), "the workers of a killed program end")
        self._refill()
        self._cut_off.append((self._programs[-1], cut_off))
        return bool(cut_off)

    def _kill_stop(self) -> bool:
        """Stop a program until others have taken its trials over, then let it go on."""
        victim = self._at_work(PROGRAMS)
        victim.send_signal(signal.SIGSTOP)
        try:
            runs = [run for run, holder in self._watch.holders().items() if holder == victim.pid]
            end = time.monotonic() + STOPPED
            while not all(self._watch.over(run) for run in runs) and time.monotonic() < end:
                assert self._alive()
                time.sleep(0.05)
            lost = [run for run in runs if isinstance(found := self._watch.end_of(run), ev.Lost) and found.may_live]
            if lost:  # both write files for a while
                time.sleep(self.dice.uniform(0.0, 2 * EPOCH[self.method]))
        finally:
            victim.send_signal(signal.SIGCONT)
        self.tally.cut_off += len(lost)
        return bool(lost)

    def _check_cut_off(self) -> None:
        """A program that goes to work has noticed before what dead ones were running."""
        busy = set(self._watch.holders().values())
        for successor, runs in [each for each in self._cut_off if each[0].pid in busy]:
            for run in runs:
                # Lost, or done: a server carries out what a program had sent when it was killed, a last report, too.
                assert self._watch.over(run), f"{run} is stuck: its program is dead"
            self._cut_off.remove((successor, runs))

    def _kill_group(self) -> bool:
        return self._kill_program(with_workers=True)

    def _kill_worker(self) -> bool:
        found: list[tuple[int, int, Run]] = []  # its supervisor, program, what it runs

        def look() -> bool:
            found[:] = self._workers_at_work()
            return self._alive() and bool(found)

        until(look, "a worker runs a trial")
        supervisor, program, run = self.dice.choice(found)
        workers = children(supervisor)
        if workers and self.dice.random() < 0.5:
            kill_child(self.dice.choice(workers), supervisor)
        else:
            kill_child(supervisor, program)
        until(lambda: self._alive() and self._watch.over(run), f"the end of {run}, whose worker was killed")
        end = self._watch.end_of(run)
        hit = isinstance(end, ev.Failed) and end.kind == "killed"
        self.tally.cut_off += hit
        return hit

    def _workers_at_work(self) -> list[tuple[int, int, Run]]:
        runs = {trial: (attempt, holder) for (trial, attempt), holder in self._watch.holders().items()}
        found = []
        for record in (self.folder / "files").glob(f"*/*/{RECORD}"):
            try:
                pid = int(record.read_text().split("|")[1])
            except (OSError, IndexError):  # the run ended meanwhile, or begins
                continue
            trial = int(record.parent.name.partition("-")[0])
            parent = parent_of(pid)  # the program, or on Ray an actor
            if trial in runs and parent is not None and (self.executor != "processes" or parent == runs[trial][1]):
                found.append((pid, parent, (trial, runs[trial][0])))
        return found

    def _kill_server(self) -> bool:
        assert self.server is not None
        before = self._outages_begin()
        self.server.kill()
        time.sleep(self.dice.uniform(0.0, 0.5))
        self.server.start()
        return self._work_goes_on(before)

    def _kill_connection(self) -> bool:
        assert self.server is not None
        before = self._outages_begin()
        return self.server.kill_connection(self.dice) and self._work_goes_on(before)

    def _outages_begin(self) -> tuple[int, int]:
        self._at_work(PROGRAMS)  # all: one that never reached a server does not wait for it
        time.sleep(self.dice.uniform(0.0, 0.1))
        return self._outages(), len(self._watch.holders())

    def _work_goes_on(self, before: tuple[int, int]) -> bool:
        told = self.acknowledged.stat().st_size
        until(lambda: self._alive() and self.acknowledged.stat().st_size > told, "reports after the server is back")
        outages, runs = before
        return runs > 0 and self._outages() > outages

    def _outages(self) -> int:
        return sum(log.read_text().count(LOST_SERVER) for log in self.folder.glob("log-*.txt"))

    # ------------------------------------------------------------ the end

    def _finish(self) -> None:
        for program in self._programs:
            program.kill()
            program.wait()
        self._watch.check()
        total = sum(isinstance(event, ev.Asked) for event in self._watch.events) + MORE
        self._programs = [self._start(total) for _ in range(PROGRAMS)]
        for program in self._programs:
            assert program.wait(timeout=300) == 0, self._last_words()
        self._watch.check()
        history = self._watch.check_end(total)
        until(lambda: not started_by(self.mark, "supervisor.py"), "all workers end")
        assert history.count(State.COMPLETE) > 0, "some trials have a result"
        self.tally.trials = total
        self.tally.acknowledged = self._watch.lines
        self.tally.audits, self.tally.decisions = self._watch.audits, self._watch.decisions
