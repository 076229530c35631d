"""Studies over budgets whose trials report a loss for each epoch."""

from __future__ import annotations

from collections.abc import Callable

import xstar as xs
from tests.searchers.cases import SQUARE
from xstar.journal.trial import State, Trial
from xstar.schedulers import ASHA, StoppingASHA
from xstar.searchers import GP

EPOCHS = 27


def honest(trial: Trial, epoch: int) -> float:
    return float((trial["x"] - 0.3) ** 2 + (trial["y"] - 0.6) ** 2 + 1.0 / epoch)


def small(searcher: GP, seed: int = 3, scheduler: ASHA | StoppingASHA | None = None) -> xs.Study:
    return xs.Study(SQUARE, searcher=searcher, scheduler=scheduler or ASHA(EPOCHS), seed=seed)


def searched(study: xs.Study, trials: int, loss: Callable[[Trial, int], float]) -> xs.Study:
    while len(study.history.trials) < trials:
        trial = study.ask()
        assert trial is not None
        while trial.state is State.RUNNING:
            study.report(trial, loss(trial, trial.budget + 1))
    return study
