"""Which runs their programs have left: they died, or gave no sign of life for too long."""

from __future__ import annotations

from collections.abc import Callable

from xstar.journal import LeasedJournal
from xstar.journal import events as ev
from xstar.study.ledger import Ledger
from xstar.trial import State, Trial


def abandoned(ledger: Ledger, journal: LeasedJournal, clock: Callable[[], float]) -> list[tuple[int, str, int]]:
    """Trial, reason and attempt of each; the history holds what there is when this returns something."""
    if ledger.is_behind and not journal.abandoned(clock(), None):
        return []  # all leases are alive: no reason to read what was left unread
    ledger.catch_up()
    # Noted before the leases are read: a run that someone starts in between is none of those found dead.
    runs = {number: trial.attempt for number, trial in ledger.history.running.items()}
    found = journal.abandoned(clock(), runs)
    # A lease comes and goes with its run: a run without one has ended since, or is nobody's.
    ledger.catch_up()
    return [(number, reason, runs[number]) for number, reason in found]


def lost(trial: Trial, reason: str, at: float, run: int, released: bool) -> ev.Lost | None:
    """That a run is given up, if the trial is still in it."""
    runs = trial.state is State.RUNNING and trial.attempt == run
    return ev.Lost(trial.number, reason, at, run, released) if runs else None
