"""What is said when a study does not have what it is asked for."""

from __future__ import annotations

from xstar.core.reasons import last_line
from xstar.errors import NoValue, UnknownTrial
from xstar.journal import History
from xstar.trial import Trial


def number_of(trial: Trial | int) -> int:
    """The number of a trial that may be given as such."""
    return trial.number if isinstance(trial, Trial) else trial


def no_value(history: History) -> NoValue:
    """There is no best trial: the last failure often says why."""
    reasons = [trial.reason for trial in history.trials if trial.reason]
    last = f"; the last failure: {last_line(reasons[-1])}" if reasons else ""
    return NoValue(f"no trial has a value yet ({len(history.trials)} trials so far){last}")


def unknown_trial(history: History, number: int) -> UnknownTrial:
    """There is no trial of that number."""
    has = f"trials 0 to {len(history.trials) - 1}" if history.trials else "no trials yet"
    return UnknownTrial(f"there is no trial {number}; the study has {has}")
