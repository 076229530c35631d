"""What must hold of a study whose programs are killed, checked from outside: by its journal and by what was acknowledged."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import xstar as xs
from xstar.journal import History, events as ev
from xstar.look.audit import audit_events
from xstar.storage import SqlStorage
from xstar.storage.leases import LeaseHolder
from xstar.study.settings import Settings

Run = tuple[int, int]
"""A trial and an attempt at it."""


@dataclass
class Watch:
    """A journal that is read along, and the file of what programs acknowledged."""

    storage: str
    name: str
    acknowledged: Path

    def __post_init__(self) -> None:
        self._database = SqlStorage(self.storage)
        self._journal = self._database.open(self.name)
        self.events: list[ev.Event] = []
        self.lines = 0
        """How many reports were acknowledged."""
        self.audits = self.decisions = 0
        self._file = 0
        self._told: dict[tuple[int, int, float], int] = {}  # (trial, budget, value) → the first attempt that said so
        self._ended: dict[Run, ev.Event] = {}
        self._read_new()
        created = self.events[0]
        assert isinstance(created, ev.Created)
        self.searcher, self.scheduler = Settings().parts(created)

    def holders(self) -> dict[Run, int]:
        """The runs that hold a lease, and the process that holds it."""
        query = "SELECT trial, attempt, holder FROM xstar_leases WHERE study = ?"
        found = self._database.database.read(lambda database: database.rows(query, (self._journal.study,)))
        held = {}
        for trial, attempt, holder in found:
            known = LeaseHolder.parse(holder)
            assert known is not None
            held[trial, attempt] = known.process
        return held

    def end_of(self, run: Run) -> ev.Event | None:
        """The event that ended a run before it was done: it was lost, or it failed."""
        self._read_new()
        return self._ended.get(run)

    def over(self, run: Run) -> bool:
        """Whether a run has ended in any way."""
        self._read_new()
        return run in self._ended or run not in self.holders()

    def check(self) -> None:
        """Nothing that was acknowledged is missing, nothing ran twice at once, every decision can be made again."""
        with self.acknowledged.open("rb") as file:
            file.seek(self._file)
            new = file.read()  # before the journal is read: what is in here is in there
        whole = new.rpartition(b"\n")[0]
        self._read_new()
        for line in whole.splitlines():
            trial, attempt, budget, value = json.loads(line)
            # A resumed run without a checkpoint repeats epochs that are on record; those repeats are not recorded again.
            first = self._told.get((trial, budget, value), attempt + 1)
            assert first <= attempt, f"acknowledged, but not in the journal: {line.decode()}"
            self.lines += 1
        self._file += len(whole) + 1 if whole else 0
        self._nothing_ran_twice()
        result = audit_events(self.events, self.scheduler, self.searcher)
        assert result.findings == [], result.findings
        self.audits, self.decisions = self.audits + 1, self.decisions + result.decisions

    def check_end(self, total: int) -> History:
        """The search is over: all trials are there, none is stuck."""
        history = self._nothing_ran_twice()
        assert len(history.trials) == total
        assert history.count(xs.State.RUNNING, xs.State.WAITING) == 0
        assert self.holders() == {}
        for trial in history.trials:
            if trial.state in (xs.State.COMPLETE, xs.State.PAUSED):
                full = self.scheduler.max_budget
                last = full if trial.state is xs.State.COMPLETE else trial.budget
                assert last is not None
                assert [reading.budget for reading in trial.reports] == list(range(1, last + 1))
                assert last in (*history.levels, full), "a trial pauses at rungs only"
            else:
                assert trial.runs.crashes == 2 or trial.runs.lost > 5, trial.reason
        return history

    def close(self) -> None:
        self._database.close()

    def _nothing_ran_twice(self) -> History:
        history = History(self.scheduler.rungs)
        for event in self.events:
            if isinstance(event, ev.Started):
                trial = history.trials[event.trial]
                assert trial.state in (xs.State.PAUSED, xs.State.WAITING), f"trial {trial.number} was run twice at once"
                assert event.attempt == trial.attempt + 1
            history.fold(event)
        return history

    def _read_new(self) -> None:
        for event in self._journal.read(len(self.events)):
            self.events.append(event)
            if isinstance(event, ev.Reported):
                told = (event.trial, event.budget, event.metrics["value"])
                # A run that was taken over may report later than the one that took it over.
                self._told[told] = min(event.attempt, self._told.get(told, event.attempt))
            elif isinstance(event, ev.Lost | ev.Failed):
                self._ended.setdefault((event.trial, event.attempt), event)
