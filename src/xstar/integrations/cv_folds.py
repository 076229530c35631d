"""What the folds of a cross-validated search gave: told to its study, and read from there when the search is resumed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xstar.errors import StudyMismatch
from xstar.integrations.distributions import Candidates
from xstar.integrations.resources import Ladder
from xstar.study import Study
from xstar.trial import State, Trial, Verdict

Fold = dict[str, Any]
"""What one fit gave: test_scores (a number or one per scorer), perhaps train_scores, fit_time, score_time."""

KEPT = ("test_scores", "train_scores", "fit_time", "score_time")


@dataclass
class Search:
    """What one call of ``fit`` keeps while it runs."""

    candidates: Candidates
    ladder: Ladder | None
    data: str | None
    """A hash of the data; a named study remembers it."""
    seed: int | None
    rows: dict[int, tuple[dict[str, Any], list[Fold] | None]] = field(default_factory=dict)
    """Trial → its parameters and the folds of its last evaluation; ``None``: all of them failed."""
    amounts: dict[int, int] = field(default_factory=dict)
    """Trial → how much of the resource it got."""
    under_way: dict[int, dict[str, Any]] = field(default_factory=dict)
    fresh: bool = False
    """Something was evaluated in this run."""
    last_failure: ValueError | None = None

    def restore(self, study: Study, n_splits: int) -> None:
        """The rows of earlier runs, from what :meth:`tell` noted."""
        for trial in study.refresh().trials:
            noted = trial.attrs.get("cv")
            if noted is None:
                continue
            folds = noted["folds"]
            for what, here, there in (("data", self.data, noted["data"]), ("cv", n_splits, folds and len(folds))):
                if here != there and there is not None:
                    raise StudyMismatch(
                        f"study {study.name!r} exists and was made with other {what} ({there} there, {here} here): its scores "
                        "cannot be compared with new ones. Choose another study name, or delete the stored study first."
                    )
            params = self.candidates.params(trial.config)
            if self.ladder is not None:
                self.amounts[trial.number] = noted["amount"]
                params |= self.ladder.as_params(noted["amount"])
            self.rows[trial.number] = (params, folds and [_numbers(fold) for fold in folds])

    def tell(self, study: Study, trial: Trial, target: int, metric: str | None) -> bool:
        """Record what the folds gave; returns whether the trial goes on at once."""
        _, folds = self.rows[trial.number]
        noted = {
            "folds": folds and [_plain(fold) for fold in folds],
            "data": self.data,
            "amount": self.amounts.get(trial.number),
        }
        study.annotate(trial, {"cv": noted})
        if folds is None:
            study.fail(trial, str(self.last_failure).strip())
            return False
        scores = [fold["test_scores"] if metric is None else fold["test_scores"][metric] for fold in folds]
        value = float(np.mean(scores))
        if not math.isfinite(value):
            study.fail(trial, f"the scores of the folds are {scores}", "nan")
            return False
        if self.ladder is None:
            study.tell(trial, value)
            return False
        verdict = study.report(trial, value, target)
        return verdict is Verdict.CONTINUE and trial.state is State.RUNNING


def _plain(given: Any) -> Any:
    """The numbers of a fold as JSON, which has no NaN."""
    if isinstance(given, dict):
        return {name: _plain(value) for name, value in given.items()}
    return float(given) if math.isfinite(given) else None


def _numbers(noted: Any) -> Any:
    """What :func:`_plain` was given."""
    if isinstance(noted, dict):
        return {name: _numbers(value) for name, value in noted.items()}
    return math.nan if noted is None else noted
