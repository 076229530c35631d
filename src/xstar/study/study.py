"""In what order? The study asks, records and judges; it is the only one that appends to the journal.

Every change is *decide, append, fold*: the decision is made from the history, appended, and only then folded and acted on. What
other programs appended meanwhile is folded first; the decision stands all the same, because it says what it had seen. Only an
event that takes a trial's number or starts a run is conditional: no other program may have appended one meanwhile.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from xstar.core.checks import check_attrs
from xstar.core.clock import stopwatch, wall_clock
from xstar.core.goals import known_functions
from xstar.core.randomness import Streams
from xstar.core.words import shortened
from xstar.errors import InvalidArgument, InvalidReport, StudyExists, UnknownTrial
from xstar.journal import History, Journal, MemoryJournal, events as ev
from xstar.journal.known import KnownObjectives
from xstar.journal.messages import MEMORIES
from xstar.journal.trial import Done, State, Trial, Verdict, number_of
from xstar.space import Space
from xstar.storage import check_there, open_storage
from xstar.storage.files import Folders
from xstar.study.decisions import STARTS, Policy, Start, is_late
from xstar.study.keywords import initialised_by
from xstar.study.ledger import Leases, Ledger
from xstar.study.limits import NO_LIMITS, Limits
from xstar.study.settings import Settings
from xstar.study.shown import Shown
from xstar.study.tradeoffs import no_best, no_value
from xstar.study.user_events import STOPPED, added, enqueued, held, narrowed, widened

if TYPE_CHECKING:
    from xstar.storage import SqlStorage

FAILURES = ("exception", "nan", "timeout", "killed", "infeasible", *MEMORIES)


class Study(Shown):
    """A search: ask for a trial, report on it, tell its value.

    Without ``study``, its name, it lives in memory. With a name it is durable: created in ``storage`` (a path or URL, default
    ``xstar.db``) or, if it exists there, resumed — and refused if it is a different study by the same name.

    >>> import xstar as xs
    >>> study = xs.Study(xs.Space(x=xs.Float(-1, 1)), seed=1)
    >>> for _ in range(20):
    ...     trial = study.ask()
    ...     study.tell(trial, trial["x"] ** 2)
    >>> study.best.value < 0.1
    True
    """

    @initialised_by(Settings)
    def __init__(self, settings: Settings) -> None:
        self._open(settings)

    @classmethod
    def _of(
        cls,
        settings: Settings,
        *,
        program: Mapping[str, Any] | None = None,
        clock: Callable[[], float] = wall_clock,
    ) -> Study:
        """The study that settings describe; a new one gets a note of the ``program`` that begins it, for others that join."""
        study = cls.__new__(cls)
        study._open(settings, program, clock)
        return study

    def _open(
        self,
        settings: Settings,
        program: Mapping[str, Any] | None = None,
        clock: Callable[[], float] = wall_clock,
    ) -> None:
        self.storage: SqlStorage | None = None
        journal: Journal
        name, exists = settings.study, False
        if name is None:
            journal = MemoryJournal(settings.begin(clock(), program))
        else:
            self.storage = open_storage(settings.storage)
            exists = self.storage.exists(name)
            if not exists:
                try:
                    self.storage.create(name, settings.begin(clock(), program))
                except StudyExists:  # another process came first: then it is theirs that we resume
                    exists = True
            journal = self.storage.open(name)
        self._setup(journal, settings, clock, exists)

    @classmethod
    def open(cls, study: str, storage: str | os.PathLike[str] | None = None, **options: Any) -> Study:
        """The existing study of this name, as it is stored. Raises :class:`~xstar.errors.UnknownStudy` if there is none."""
        check_there(study, storage)
        database = open_storage(storage)
        database.open(study)
        database.close()
        return cls(study=study, storage=storage, **options)

    @classmethod
    def from_journal(cls, journal: Journal) -> Study:
        """A study over a journal of your own, which begins with a ``created`` event."""
        study = cls.__new__(cls)
        study.storage = None
        study._setup(journal, Settings(), wall_clock, False)
        return study

    def _setup(self, journal: Journal, settings: Settings, clock: Callable[[], float], exists: bool) -> None:
        self.name = settings.study
        self.journal = journal
        self.clock = clock
        events = iter(journal.read(0))
        created = next(events)
        assert isinstance(created, ev.Created)
        self.searcher, self.scheduler = settings.parts(created)
        history = History(self.scheduler.rungs)
        history.extend([created])
        self.goals = history.goals
        """What is minimised or maximised."""
        history.known_objectives = KnownObjectives.of(self.goals, known_functions(settings.metric))
        self._ledger = Ledger(journal, history, events)
        if exists:
            settings.check(self.history)
        self._policy = Policy(self.scheduler, self.searcher, Streams(created.seed))
        self.metric, self.direction = created.metric, created.direction
        self.seed = created.seed
        database = self.storage.database.path if self.storage else None
        self.files = Folders.of_study(created, settings.directory, database, self.name is None)
        self.ended: str | None = None
        """Why the last ``ask`` gave nothing and none will; ``None``: it may give something later."""
        self.stopwatch = stopwatch(clock)
        """What the limit ``seconds`` is measured with: never set back or forward."""
        self._begun_at = self.stopwatch()
        self.leases = Leases(self._ledger, journal, clock, self.stopwatch)
        self.leases.reclaim()

    # ------------------------------------------------------------ ask

    def ask(self, limits: Limits = NO_LIMITS) -> Trial | None:
        """The next trial to run, or ``None``: wait, or — if ``study.ended`` says why — done."""
        with self._ledger.lock:
            self.leases.reclaim_if_due()
            event = self._ledger.reserve(self._next, limits)
            if event is None:
                return None
            trial = self.history.trials[event.trial]
            self.leases.take(trial)
            return trial

    def _next(self, limits: Limits) -> Start | None:
        history, full = self._ledger.history, None
        if limits is not NO_LIMITS:
            self.ended = limits.over(history, self.stopwatch() - self._begun_at)
            if self.ended is not None:
                return None
            full = limits.full(history)
        if history.hold != "go":
            self.ended = STOPPED if history.hold == "stop" else None
            return None
        self._policy.by = self._ledger.environment
        start = self._policy.start(history, self.clock(), full)
        if isinstance(start, STARTS):
            return start
        waits = "the scheduler waits, but nothing runs that it could wait for"
        self.ended = None if history.running else start.reason if isinstance(start, Done) else waits
        return None

    # ------------------------------------------------------------ report, tell, fail

    def report(
        self, trial: Trial | int, metrics: Any, budget: int | None = None, *, attempt: int | None = None
    ) -> Verdict:
        """Record metrics at a budget (default: one more than the last) and hear what the trial shall do."""
        parsed = self.goals.parse(metrics)
        with self._ledger.lock:
            known = self._known(trial)
            return self._record(known, parsed | dict(known.known), budget, attempt, final=False)

    def tell(self, trial: Trial | int, value: Any) -> None:
        """Record the final value (or metrics) of a trial: it is complete."""
        parsed = self.goals.parse(value)
        with self._ledger.lock:
            known = self._known(trial)
            parsed |= known.known
            if known.state is State.COMPLETE and known.metrics == parsed:
                return  # its last report, at full budget, already said so
            self._record(known, parsed, None, None, final=True)

    def _record(
        self, trial: Trial, metrics: dict[str, float], budget: int | None, attempt: int | None, *, final: bool
    ) -> Verdict:
        run = self.leases.attempt(trial) if attempt is None else attempt
        event = self._ledger.settle(self._answer, trial, run, metrics, budget, final, attempt is None)
        if event is None:
            return Verdict.CONTINUE
        if trial.state is not State.RUNNING or run != trial.attempt:
            self.leases.forget(trial.number, run)
        if isinstance(event, ev.Failed) or run != trial.attempt or trial.state is State.WAITING:  # the run was given up
            return Verdict.STOP
        if trial.state.over and not event.final:  # someone else ended it meanwhile
            return Verdict.STOP
        return event.verdict

    def _answer(
        self, trial: Trial, run: int, metrics: dict[str, float], budget: int | None, final: bool, strict: bool
    ) -> ev.Reported | ev.Failed | None:
        # An executor may report late; for a caller who owns the loop it is a mistake, unless the trial was lost meanwhile.
        if strict and trial.runs.lost == 0 and is_late(trial, run):
            what, found = f"trial {trial.number}", f"state={trial.state.value}"
            raise InvalidReport(what, "must be running to take a report", found, "ask for a new trial")
        now, self._policy.by = self.clock(), self._ledger.environment
        return self._policy.answer(self.history, trial, run, metrics, budget, now, final=final, strict=strict)

    def complete(self, trial: Trial | int, *, pruned: bool = False, attempt: int | None = None) -> None:
        """The objective returned without a further value; its last report stands.

        ``pruned``: something other than the scheduler ended it early, so it is stopped and not complete.
        """

        def event(known: Trial, run: int) -> ev.Event:
            if not known.reports and not pruned:
                reason = f"it ended without reporting {self.metric!r}"
                return ev.Failed(known.number, "exception", reason, self.clock(), run)
            return ev.Completed(known.number, self.clock(), run, pruned)

        self._end(trial, attempt, event)

    def fail(
        self,
        trial: Trial | int,
        reason: str,
        kind: str = "exception",
        *,
        attempt: int | None = None,
        may_live: bool = False,
    ) -> None:
        """Record that a run ended without a result. ``killed`` runs are tried again (``retries`` times).

        ``may_live``: its worker is out of reach rather than dead; the next attempt gets a directory of its own.
        """
        if kind not in FAILURES:
            raise InvalidArgument("kind", f"must be one of {', '.join(FAILURES)}", kind)
        text = shortened(str(reason))
        self._end(trial, attempt, lambda known, run: ev.Failed(known.number, kind, text, self.clock(), run, may_live))

    def _end(self, trial: Trial | int, attempt: int | None, event: Callable[[Trial, int], ev.Event]) -> None:
        with self._ledger.lock:
            known = self._known(trial)
            run = self.leases.attempt(known) if attempt is None else attempt
            self._ledger.settle(lambda: None if is_late(known, run) else event(known, run))
            self.leases.forget(known.number, run)

    # ------------------------------------------------------------ by a user

    def add(self, config: Mapping[str, Any], value: Any, budget: int | None = None) -> Trial:
        """Record an observation made elsewhere (by default at full budget).

        It counts as a complete trial, but neither towards ``trials=`` nor at the rungs of a scheduler.
        """
        at = budget or self.scheduler.max_budget or 1
        event = self._ledger.reserve(lambda: added(self.history, config, value, at, self.clock()))
        return self.history.trials[event.trial]

    def enqueue(self, config: Mapping[str, Any], *, author: str = "", reason: str = "") -> None:
        """Have a configuration tried before the searcher is asked again; the searcher completes what it leaves open.

        ``author`` and ``reason`` are kept with the event, here and in what follows.
        """
        self._ledger.settle(lambda: enqueued(self.refresh(), config, self.clock(), (author, reason)))

    def widen(self, space: Space, fill: Mapping[str, Any] | None = None, *, author: str = "", reason: str = "") -> None:
        """Search a wider space from now on; ``fill`` says what new parameters were in the trials so far."""
        self._ledger.reserve(lambda: widened(self.history, space, fill, self.clock(), (author, reason)))

    def narrow(self, changes: Mapping[str, Any], *, author: str = "", reason: str = "") -> None:
        """Search a part of the space from now on: ``{"lr": [1e-4, 1e-2], "optimizer": ["adam"], "layers": 3}``.

        A shorter range, some of the options, or a value at which a parameter is frozen. Trials outside stay on record, and
        searchers no longer learn from them.
        """
        self._ledger.reserve(lambda: narrowed(self.history, changes, self.clock(), (author, reason)))

    def pause(self, *, author: str = "", reason: str = "") -> None:
        """Have no program start a trial until :meth:`resume`; what runs goes on."""
        self._hold("pause", author, reason)

    def stop(self, *, author: str = "", reason: str = "") -> None:
        """End the programs that work on the study, once the trials they run have ended. Running one again resumes it."""
        self._hold("stop", author, reason)

    def resume(self, *, author: str = "", reason: str = "") -> None:
        """Let a study that was paused or stopped go on."""
        self._hold("go", author, reason)

    def _hold(self, state: str, author: str, reason: str) -> None:
        self._ledger.settle(lambda: held(self.refresh(), state, self.clock(), (author, reason)))

    def annotate(self, trial: Trial | int, attrs: Mapping[str, Any]) -> None:
        """Note something about a trial: names and values of any JSON, beside its metrics. It changes no decision."""
        noted = check_attrs(attrs)
        number = self._known(trial).number
        self._ledger.settle(lambda: ev.Annotated(number, noted, self.clock()))

    # ------------------------------------------------------------ look

    @property
    def history(self) -> History:
        """What happened, as far as this object knows."""
        return self._ledger.history

    @property
    def space(self) -> Space:
        """What may be tried."""
        return self.history.space

    @property
    def best(self) -> Trial:
        """The complete trial with the best value; before any is complete, the best at the highest budget reached."""
        with self._ledger.lock:
            self._ledger.catch_up()
            if self.goals.several:
                raise no_best(self.goals)
            if self.history.best is None:
                raise no_value(self.history)
            return self.history.best

    @property
    def front(self) -> list[Trial]:
        """The best trade-offs of several objectives: complete, feasible trials that no other dominates, the best in the first
        objective first. With one objective, the best trial."""
        with self._ledger.lock:
            self._ledger.catch_up()
            return self.history.front

    @property
    def trials(self) -> list[Trial]:
        """All trials so far, in the order of their numbers."""
        return list(self.refresh().trials)

    def refresh(self) -> History:
        """The history with everything that others appended."""
        with self._ledger.lock:
            self._ledger.catch_up()
            return self.history

    def close(self) -> None:
        """Stop the heartbeat, give up what still runs here, let go of the database."""
        try:
            if self.leases.attempts:
                self.leases.release("the study was closed while it ran")
        finally:  # also when the database is gone
            self.leases.close()
            if self.storage is not None:
                self.storage.close()
            self.files.close()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _known(self, trial: Trial | int) -> Trial:
        number = number_of(trial)
        if not 0 <= number < len(self.history.trials) and not 0 <= number < len(self.refresh().trials):
            raise UnknownTrial.numbered(number, len(self.history.trials))
        return self.history.trials[number]

    def _begin(self) -> None:
        """A search begins: the limit ``seconds`` counts from now, and a study that was stopped goes on."""
        self._begun_at = self.stopwatch()
        if self.refresh().hold == "stop":
            self.resume()
