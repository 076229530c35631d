"""Asking for trials where there must be one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import xstar as xs


def ask(study: xs.Study, *limits: xs.Limits) -> xs.Trial:
    """The next trial."""
    trial = study.ask(*limits)
    assert trial is not None
    return trial


def run_trials(study: xs.Study, trials: int, value: Callable[[xs.Trial], Any]) -> None:
    """So many trials, one after the other, each told its value."""
    for _ in range(trials):
        trial = ask(study)
        study.tell(trial, value(trial))
