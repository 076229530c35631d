"""Looking at a study without touching it.

``Study`` is for those who take part: opening one declares dead programs' trials lost, which is an event. A view only reads,
and refuses a storage that is not there instead of making one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from xstar.core.checks import nearest
from xstar.core.goals import Goal
from xstar.core.known import KnownObjectives
from xstar.errors import InvalidArgument, UnknownTrial
from xstar.journal import History
from xstar.journal.events import Created
from xstar.journal.trial import Trial
from xstar.look.audit import Audit, Progress, audit_events, audit_in_parallel
from xstar.look.plots.source import Snapshot
from xstar.run.clock import stopwatch, wall_clock
from xstar.storage import SqlJournal, SqlStorage
from xstar.storage.files import Folders
from xstar.study import Study, open_storage
from xstar.study.naming import rungs_of
from xstar.study.settings import Settings


class StudyView:
    """What the journal of one study says; :func:`~xstar.look.exchange.export_events` and its like take it for a study."""

    def __init__(self, journal: SqlJournal) -> None:
        self.name = journal.name
        self.clock = wall_clock
        self.stopwatch = stopwatch(wall_clock)
        self.journal = journal
        events = iter(journal.read(0))
        first = next(events)
        assert isinstance(first, Created)
        self.history = History(rungs_of(first))
        self.history.fold(first)
        self.history.extend(events)

    @property
    def created(self) -> Created:
        return self.history.created

    @property
    def metric(self) -> str:
        return self.created.metric

    def refresh(self) -> History:
        self.history.extend(self.journal.read(self.history.seen))
        return self.history

    def trial(self, number: int) -> Trial:
        trials = self.history.trials
        if not 0 <= number < len(trials):
            has = f"trials 0 to {len(trials) - 1}" if trials else "no trials yet"
            raise UnknownTrial(f"study {self.name!r} has no trial {number}; it has {has}")
        return trials[number]

    def of_metric(self, metric: str) -> Snapshot:
        """The study as if it had searched for another of its metrics, which all reports have to have."""
        reports = [set(report.metrics) for trial in self.history.trials for report in trial.reports]
        common = set.intersection(*reports) if reports else set()
        if metric not in common:
            rule = f"must be in all reports of the study, as {', '.join(sorted(common)) or 'none'}"
            raise InvalidArgument("metric", rule, metric, nearest(metric, common))
        first, *events = self.journal.read(0)
        assert isinstance(first, Created)
        history = History(self.history.levels)
        history.extend([replace(first, objectives=[Goal(metric).to_json()]), *events])
        return Snapshot(self.name, history, self.journal)

    def files(self, directory: str | os.PathLike[str] | None) -> Folders:
        """The folders of the study's trials."""
        return Folders.of_study(self.created, directory, self.journal.database.path)

    def audit(
        self, progress: Progress | None = None, jobs: int | None = None, known: KnownObjectives | None = None
    ) -> Audit:
        """Every decision, made again; with functions of known objectives, which other processes are not handed, on one core."""
        searcher, scheduler = Settings().parts(self.created)
        events = list(self.journal.read(0))
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
        yield StudyView(place.open(name))


@contextmanager
def opened(name: str, storage: str | os.PathLike[str]) -> Iterator[Study]:
    """The study ``name`` itself, to act on; it is made by nobody here."""
    with existing(storage):
        pass
    with Study.open(name, storage) as study:
        yield study
