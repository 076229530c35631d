"""A study as it is read: its history and its events, now or after any earlier event.

``Study`` is for those who take part: opening one declares dead programs' trials lost, which is an event. A view only reads.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from xstar.core.checks import nearest
from xstar.core.goals import Goal
from xstar.errors import InvalidArgument, UnknownTrial
from xstar.journal import Event, History, Readable
from xstar.journal.events import Created
from xstar.journal.known import KnownObjectives
from xstar.journal.trial import Trial
from xstar.look.audit import Audit, Progress, audit_events, audit_in_parallel
from xstar.storage import SqlStorage
from xstar.storage.files import Folders
from xstar.study import Study, open_storage
from xstar.study.naming import rungs_of
from xstar.study.settings import Settings


@dataclass(frozen=True)
class StudyView:
    """A study after ``history.seen`` events; plots, reports and exports take it for a study."""

    name: str | None
    history: History
    events: Readable
    """The journal, which may have more events by now."""

    @classmethod
    def of(cls, name: str | None, journal: Readable, upto: int | None = None) -> StudyView:
        """The view after ``upto`` events of a journal; ``None``: after all."""
        events = islice(iter(journal.read(0)), upto)
        first = next(events)
        assert isinstance(first, Created)
        history = History(rungs_of(first))
        history.fold(first)
        history.extend(events)
        return cls(name, history, journal)

    def at(self, event: int) -> StudyView:
        """The study as it was after its first ``event`` events."""
        if event < 1:
            raise InvalidArgument("at", "must be at least 1: the first event creates the study", event)
        return self if event >= self.history.seen else StudyView.of(self.name, self.events, event)

    def extended(self, event: int) -> StudyView:
        """This view, once it has folded what follows up to ``event`` events."""
        self.history.extend(islice(iter(self.events.read(self.history.seen)), event - self.history.seen))
        return self

    def refresh(self) -> History:
        """The history, once it has folded all that is new."""
        self.history.extend(self.events.read(self.history.seen))
        return self.history

    def read(self, since: int) -> Iterator[Event]:
        """The events that the history has seen, from number ``since`` on."""
        return islice(iter(self.events.read(since)), max(0, self.history.seen - since))

    @property
    def journal(self) -> Readable:
        return self

    @property
    def created(self) -> Created:
        return self.history.created

    def trial(self, number: int) -> Trial:
        trials = self.history.trials
        if not 0 <= number < len(trials):
            has = f"trials 0 to {len(trials) - 1}" if trials else "no trials yet"
            raise UnknownTrial(f"study {self.name!r} has no trial {number}; it has {has}")
        return trials[number]

    def of_metric(self, metric: str) -> StudyView:
        """The study as if it had searched for another of its metrics, which all reports have to have."""
        reports = [set(report.metrics) for trial in self.history.trials for report in trial.reports]
        common = set.intersection(*reports) if reports else set()
        if metric not in common:
            rule = f"must be in all reports of the study, as {', '.join(sorted(common)) or 'none'}"
            raise InvalidArgument("metric", rule, metric, nearest(metric, common))
        first, *events = self.read(0)
        assert isinstance(first, Created)
        history = History(self.history.levels)
        history.extend([replace(first, objectives=[Goal(metric).to_json()]), *events])
        return StudyView(self.name, history, self.events)

    def files(self, directory: str | os.PathLike[str] | None) -> Folders:
        """The folders of a stored study's trials."""
        stored: Any = self.events
        return Folders.of_study(self.created, directory, stored.database.path)

    def audit(
        self, progress: Progress | None = None, jobs: int | None = None, known: KnownObjectives | None = None
    ) -> Audit:
        """Every decision, made again; with functions of known objectives, which other processes are not handed, on one core."""
        searcher, scheduler = Settings().parts(self.created)
        events = list(self.events.read(0))
        if known is not None:
            return audit_events(events, scheduler, searcher, progress, known=known)
        return audit_in_parallel(events, scheduler, searcher, jobs, progress)


@contextmanager
def existing(storage: str | os.PathLike[str]) -> Iterator[SqlStorage]:
    """The storage, if it is there."""
    place = open_storage(storage, make=False)
    try:
        yield place
    finally:
        place.close()


@contextmanager
def look(name: str, storage: str | os.PathLike[str]) -> Iterator[StudyView]:
    """A view of the study ``name``."""
    with existing(storage) as place:
        yield StudyView.of(name, place.open(name))


@contextmanager
def opened(name: str, storage: str | os.PathLike[str]) -> Iterator[Study]:
    """The study ``name`` itself, to act on; it is made by nobody here."""
    with existing(storage):
        pass
    with Study.open(name, storage) as study:
        yield study
