"""What the folds of a cross-validated search gave: told to its study, and read from there when the search is resumed;
and a resource that an estimator may get more or less of: a parameter, or samples to train with."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xstar.core.checks import whole_number
from xstar.errors import InvalidArgument, StudyMismatch
from xstar.integrations.distributions import Candidates
from xstar.journal.trial import State, Trial, Verdict
from xstar.space import Space
from xstar.study import Study

Fold = dict[str, Any]
"""What one fit gave: test_scores (a number or one per scorer), perhaps train_scores, fit_time, score_time, fit_error."""

KEPT = ("test_scores", "train_scores", "fit_time", "score_time", "fit_error")
FAILURES = re.compile(r"-{80}\n(\d+) fits failed with the following error:\n")
"""How scikit-learn lists errors where all fits of a call failed."""


@dataclass
class Search:
    """What one call of ``fit`` keeps while it runs."""

    candidates: Candidates
    ladder: Ladder | None
    splits: list[tuple[Any, Any]]
    """Of each fold, the indices to train with and those to test with: the same for every candidate."""
    data: str | None
    """A hash of the data; a named study remembers it."""
    folds: str | None
    """The same of the splits."""
    seed: int | None
    context: Any = None
    """scikit-learn's callback context of the search, from 1.9 on."""
    rows: dict[int, tuple[dict[str, Any], list[Fold]]] = field(default_factory=dict)
    """Trial → its parameters and the folds of its last evaluation; a fold that failed has no scores."""
    amounts: dict[int, int] = field(default_factory=dict)
    """Trial → how much of the resource it got."""
    evaluating: dict[int, dict[str, Any]] = field(default_factory=dict)
    """The trials of this call of ``evaluate_candidates`` → their parameters."""
    fits: int = 0
    """How many were begun: scikit-learn's callbacks tell fits apart by number."""
    fresh: bool = False
    """Something was evaluated in this run."""
    table: dict[str, Any] = field(default_factory=dict)
    """``cv_results_``: scikit-learn is handed this object with every candidate, and it is filled when the search is over."""

    def subcontext(self, *, task_name: str, task_id: int) -> Any:
        """What ``evaluate_candidates`` asks of a callback context; it counts from 0 in every call."""
        return self.context.subcontext(task_name=task_name, task_id=self.fits + task_id)

    def record(self, out: list[Fold]) -> None:
        """Keep what a call of ``evaluate_candidates`` found, one fold of one trial after the other."""
        count = len(self.splits)
        for place, (number, params) in enumerate(self.evaluating.items()):
            folds = out[place * count : (place + 1) * count]
            self.rows[number] = (params, [{key: fold[key] for key in KEPT if key in fold} for fold in folds])

    def record_failure(self, error: ValueError) -> None:
        """The same where every fit of the call failed: then scikit-learn raises their errors, with how often each came."""
        _, *listed = FAILURES.split(str(error))
        texts = [text for count, text in zip(listed[::2], listed[1::2], strict=True) for _ in range(int(count))]
        self.record([{"fit_error": text.strip()} for text in texts])

    def scored(self) -> list[int]:
        """The trials of which a fold has scores."""
        return [number for number, (_, folds) in self.rows.items() if any("test_scores" in fold for fold in folds)]

    def restore(self, study: Study) -> None:
        """The rows of earlier runs, from what :meth:`tell` noted."""
        for trial in study.refresh().trials:
            noted = trial.attrs.get("cv")
            if noted is None:
                continue
            for what, given, stored, remedy in (
                ("data", self.data, noted["data"], ""),
                ("cv", len(self.splits), len(noted["folds"]), ""),
                ("folds", self.folds, noted["splits"], "Give the splitter a random_state. "),
            ):
                if given != stored:
                    raise StudyMismatch(
                        f"study {study.name!r} exists and was made with other {what} ({stored} stored, {given} given): its "
                        f"scores cannot be compared with new ones. {remedy}Choose another study name, or delete the stored "
                        "study first."
                    )
            params = self.candidates.params(trial.config)
            if self.ladder is not None:
                self.amounts[trial.number] = noted["amount"]
                params |= self.ladder.as_params(noted["amount"])
            self.rows[trial.number] = (params, [_numbers(fold) for fold in noted["folds"]])

    def tell(self, study: Study, trial: Trial, target: int, metric: str | list[str] | None) -> bool:
        """Record what the folds gave, the mean of each score that counts; returns whether the trial goes on at once."""
        _, folds = self.rows[trial.number]
        noted = {
            "folds": [_plain(fold) for fold in folds],
            "data": self.data,
            "splits": self.folds,
            "amount": self.amounts.get(trial.number),
        }
        study.annotate(trial, {"cv": noted})
        if all("test_scores" not in fold for fold in folds):
            study.fail(trial, folds[0]["fit_error"])
            return False
        scores = [fold["test_scores"] for fold in folds]
        chosen = {"score": metric} if not isinstance(metric, list) else {name: name for name in metric}
        values = {
            objective: float(np.mean([each if name is None else each[name] for each in scores]))
            for objective, name in chosen.items()
        }
        if not all(map(math.isfinite, values.values())):
            study.fail(trial, f"the scores of the folds are {scores}", "nan")
            return False
        if self.ladder is None:
            study.tell(trial, values)
            return False
        verdict = study.report(trial, values, target)
        return verdict is Verdict.CONTINUE and trial.state is State.RUNNING


def _plain(given: Any) -> Any:
    """A fold as JSON, which has no NaN."""
    if isinstance(given, dict):
        return {name: _plain(value) for name, value in given.items()}
    if given is None or isinstance(given, str):
        return given
    return float(given) if math.isfinite(given) else None


def _numbers(noted: Any) -> Any:
    """What :func:`_plain` was given."""
    if isinstance(noted, dict):
        return {name: value if name == "fit_error" else _numbers(value) for name, value in noted.items()}
    return math.nan if noted is None else noted


SAMPLES = "n_samples"


@dataclass(frozen=True)
class Ladder:
    """A resource in units of a budget: budget ``b`` is ``b × least``, and the last one is ``most``."""

    resource: str
    least: int
    most: int
    order: Any = None
    """For samples: all of them, in an order of which every beginning has its share of each class."""

    @property
    def full(self) -> int:
        return math.ceil(self.most / self.least)

    def amount(self, budget: int) -> int:
        return min(budget * self.least, self.most)

    def as_params(self, amount: int) -> dict[str, Any]:
        return {} if self.resource == SAMPLES else {self.resource: amount}

    @classmethod
    def of(cls, search: Any, space: Space, X: Any, y: Any, folds: int) -> Ladder:
        """What a ``SearchCV`` asks for, checked."""
        from sklearn.base import is_classifier

        name = search.resource
        assert name is not None
        known = search.estimator.get_params()
        if name != SAMPLES and (name in space or name not in known):
            rule = f"must be {SAMPLES!r} or a parameter of the estimator that is not searched"
            raise InvalidArgument("resource", rule, name, f"its parameters: {', '.join(sorted(known))}")
        order, least = None, 1
        most = known.get(name)
        if name == SAMPLES:
            labels = y if y is not None and is_classifier(search.estimator) else None
            # Two of each class in every fold, as in scikit-learn's halving search.
            least = 2 * folds * (1 if labels is None else len(np.unique(labels)))
            most = X.shape[0] if hasattr(X, "shape") else len(X)
            order = interleaved(labels, most)
        least = least if search.min_resources is None else search.min_resources
        most = most if search.max_resources is None else search.max_resources
        least = whole_number("min_resources", least, least=1)
        most = whole_number("max_resources", most, least=least + 1, remedy=f"how much {name} a full fit has")
        return cls(name, least, most, order)


@dataclass(frozen=True)
class Folds:
    """A splitter that gives the same folds whenever it is asked."""

    splits: list[tuple[Any, Any]]
    order: Any = None
    share: float = 1.0
    """Of the training sets, the first in ``order``; the test sets are whole, so that scores compare."""

    def split(self, X: Any, y: Any = None, **params: Any) -> Any:
        if self.order is None:
            yield from self.splits
            return
        place = np.empty(len(self.order), dtype=int)
        place[self.order] = np.arange(len(self.order))
        for train, test in self.splits:
            first = np.argsort(place[train], kind="stable")[: max(1, math.ceil(self.share * len(train)))]
            yield np.asarray(train)[np.sort(first)], test


def interleaved(labels: Any, count: int) -> Any:
    """A random order of the samples; of each class, every beginning has its share. The same for the same labels."""
    rng = np.random.default_rng(0)
    shuffled = rng.permutation(count)
    if labels is None or np.ndim(labels) != 1:
        return shuffled
    shares = np.empty(count)
    _, classes = np.unique(np.asarray(labels)[shuffled], return_inverse=True)
    for label in range(classes.max() + 1):
        mine = np.flatnonzero(classes == label)
        shares[mine] = (np.arange(len(mine)) + 0.5) / len(mine)
    return shuffled[np.argsort(shares, kind="stable")]
