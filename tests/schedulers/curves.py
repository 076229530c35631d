"""Studies whose trials report the losses of a table."""

from __future__ import annotations

import xstar as xs
from xstar.schedulers import ASHA, StoppingASHA
from xstar.trial import State

SPACE = xs.Space(x=xs.Float(0, 1))
EPOCHS = 9


def trained(scheduler: ASHA | StoppingASHA, curves: list[list[float]], asked: int) -> xs.Study:
    """A study in which trial n reports the losses of ``curves[n % len(curves)]``, one per epoch."""
    study = xs.Study(SPACE, scheduler=scheduler, method="random", seed=1)
    for _ in range(asked):
        train_next(study, curves)
    return study


def train_next(study: xs.Study, curves: list[list[float]]) -> None:
    """Ask for a trial and train it until it pauses or ends."""
    trial = study.ask()
    assert trial is not None
    while trial.state is State.RUNNING:
        study.report(trial, curves[trial.number % len(curves)][trial.budget])


def falling(end: float, start: float = 1.0) -> list[float]:
    return [end + (start - end) / (epoch + 1) for epoch in range(EPOCHS)]
