"""``SearchCV``: a drop-in for scikit-learn's ``RandomizedSearchCV`` that learns from what it tried, and that can be resumed.

scikit-learn's own ``BaseSearchCV`` does all that its searches have in common: scorers, splitters, metadata routing, parallel
fits, refitting and prediction. What is left is which candidates to fit, and how much of each: that is asked of a study.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np

from xstar.core.checks import whole_number
from xstar.errors import InvalidArgument
from xstar.integrations import missing
from xstar.integrations.cv_folds import Fold, Folds, Ladder, Search
from xstar.integrations.distributions import Candidates
from xstar.journal.trial import Trial
from xstar.study import Limits, Study

try:
    import joblib
    from sklearn.exceptions import FitFailedWarning
    from sklearn.model_selection._search import BaseSearchCV
    from sklearn.model_selection._validation import _warn_or_raise_about_fit_failures
    from sklearn.utils import check_random_state
except ImportError as error:
    raise missing("sklearn", "scikit-learn") from error


class SearchCV(BaseSearchCV):
    """Search the parameters of an estimator by cross-validation, as ``RandomizedSearchCV`` does.

    Parameters
    ----------
    estimator
        What to tune: an estimator or a pipeline.
    space
        An ``xs.Space``, or what ``RandomizedSearchCV`` takes: names (``clf__C``) with lists, SciPy distributions or parameters
        of xstar.
    n_iter
        How many candidates to try in total, earlier runs of a named study included.
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As in ``RandomizedSearchCV``. Fits of one candidate run in parallel; with more jobs than folds, so do candidates.
    random_state
        Makes the search repeatable.
    method
        How to search, as in ``xs.minimize``. By default a Gaussian process; with ``resource``, MOBSTER.
    metric
        Which of several scores the search goes by: that of ``refit`` by default, or else the first. A list: it searches for the
        best trade-offs of these, higher is better, and ``front_`` has their rows of ``cv_results_``; ``refit`` names the score
        whose best is refitted, or is a function of ``cv_results_`` that returns a row.
    resource
        What a candidate may get more or less of: a parameter as ``n_estimators`` or ``clf__max_iter``, or ``"n_samples"``. Bad
        candidates end with little of it; one that gets more is fitted anew.
    min_resources, max_resources
        The least and the most of it. By default 1, or a few samples of each class; all samples, or the estimator's own value.
    study, storage
        A name makes the search durable: after a crash or Ctrl-C, call ``fit`` again.
    """

    def __init__(
        self,
        estimator: Any,
        space: Any,
        *,
        n_iter: int = 10,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = math.nan,
        return_train_score: bool = False,
        method: str | None = None,
        metric: str | Sequence[str] | None = None,
        resource: str | None = None,
        min_resources: int | None = None,
        max_resources: int | None = None,
        study: str | None = None,
        storage: Any = None,
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.space = space
        self.n_iter = n_iter
        self.random_state = random_state
        self.method = method
        self.metric = metric
        self.resource = resource
        self.min_resources = min_resources
        self.max_resources = max_resources
        self.study = study
        self.storage = storage

    def fit(self, X: Any, y: Any = None, **params: Any) -> SearchCV:
        """Search, and refit the best on all of the data."""
        self._metadata = params
        try:
            super().fit(X, y, **params)
        finally:
            self.__dict__.pop("_search", None)
            del self._metadata
        return self

    # ------------------------------------------------------------ what BaseSearchCV.fit calls, in this order

    def _check_input_parameters(self, X: Any, y: Any, split_params: Any) -> None:
        whole_number("n_iter", self.n_iter, least=1)
        candidates = Candidates(self.space)
        if not callable(self.scoring):  # before a study is stored with a name that no score has
            plain = self.scoring is None or isinstance(self.scoring, str)
            self._watched(None if plain else dict.fromkeys(self.scoring))
        seed, data, splitter = self._seed(), None, self._checked_cv_orig
        if self.study is not None:
            data = joblib.hash((X, y, self._metadata))
            if getattr(splitter, "random_state", seed) is None:
                # Unseeded, it would draw other folds when the study is resumed.
                splitter = copy(splitter)
                splitter.random_state = int(data[:8], 16)
        splits = list(splitter.split(X, y, **split_params))
        ladder = None if self.resource is None else Ladder.of(self, candidates.space, X, y, len(splits))
        self._search = Search(candidates, ladder, splits, data, data and joblib.hash(splits), seed)

    def _run_search(self, evaluate_candidates: Callable[..., Any], *, callback_ctx: Any = None) -> None:
        search, task = self._search, None
        if not search.splits or len(search.splits) != self.n_splits_:
            evaluate_candidates([], Folds(search.splits))  # scikit-learn says what is wrong with the splitter
        if callback_ctx is not None:
            most = None if self.study or search.ladder else self.n_iter * self.n_splits_
            task = callback_ctx.subcontext("search", max_subtasks=most, sequential_subtasks=False)
            search.context = task.call_on_fit_task_begin(estimator=self)
        at_once = math.ceil(joblib.effective_n_jobs(self.n_jobs) / self.n_splits_)
        with self._open(search) as study:
            search.restore(study)
            running: list[Trial] = []
            while True:
                while len(running) < at_once and (trial := study.ask(Limits(trials=self.n_iter))) is not None:
                    running.append(trial)
                if not running:
                    break
                # Trials of one round may have different targets: those at the lowest go first, and are asked about again.
                target = min(trial.target or 0 for trial in running)
                group = [trial for trial in running if (trial.target or 0) == target]
                self._evaluate(group, target, evaluate_candidates)
                went_on = {
                    trial.number for trial in group if search.tell(study, trial, target, getattr(self, "metric_", None))
                }
                running = [trial for trial in running if trial not in group or trial.number in went_on]
            history = study.refresh()
            if not search.fresh and (scored := search.scored()):
                # BaseSearchCV reads the kind of score from a fit of this run.
                best = study.front[0] if history.has_value else history.trials[scored[0]]
                self._evaluate([best], best.budget if search.ladder else 0, evaluate_candidates)
            self._fill(search)
            if study.goals.several:
                rows = sorted(search.rows)
                self.front_ = np.array([rows.index(trial.number) for trial in study.front])
        if task is not None:
            task.call_on_fit_task_end(estimator=self)

    def _evaluate(self, trials: Sequence[Trial], target: int, evaluate_candidates: Callable[..., Any]) -> None:
        search, folds = self._search, Folds(self._search.splits)
        params = [search.candidates.params(trial.config) for trial in trials]
        if (ladder := search.ladder) is not None:
            amount = ladder.amount(target)
            search.amounts.update({trial.number: amount for trial in trials})
            if ladder.order is not None:
                folds = Folds(search.splits, ladder.order, min(1.0, amount / len(ladder.order)))
            params = [{**each, **ladder.as_params(amount)} for each in params]
        search.evaluating = {trial.number: each for trial, each in zip(trials, params, strict=True)}
        callbacks = {} if search.context is None else {"callback_ctx": search}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FitFailedWarning)  # said once, when the search is over
                evaluate_candidates(params, folds, **callbacks)
        except ValueError as error:
            # One call is one candidate here: that all of its fits failed is no reason to end the search.
            if self.error_score == "raise" or "fits failed with" not in str(error):
                raise
            search.record_failure(error)
        search.fits += len(params) * len(search.splits)

    def _format_results(self, params: Any, folds: int, out: list[Fold], more: Any = None) -> dict[str, Any]:
        """Called for every candidate, with the fits of all so far; those of this call are recorded."""
        search = self._search
        fresh = out[-folds * len(search.evaluating) :]
        search.record(fresh)
        search.fresh = True
        if not hasattr(self, "metric_"):
            self.metric_ = self._watched(fresh[0]["test_scores"])
        return search.table

    def _fill(self, search: Search) -> None:
        """Make ``cv_results_``: a row per trial, those of earlier runs included."""
        trials = sorted(search.rows)
        every = [fold for number in trials for fold in search.rows[number][1]]
        _warn_or_raise_about_fit_failures([{"fit_error": None, **fold} for fold in every], self.error_score)
        scores = next(fold["test_scores"] for fold in every if "test_scores" in fold)
        failed = dict.fromkeys(scores, self.error_score) if isinstance(scores, dict) else self.error_score
        blank = {"test_scores": failed, "train_scores": failed, "fit_time": math.nan, "score_time": math.nan}
        kept = [{key: fold.get(key, blank[key]) for key in blank} for fold in every]
        more: dict[str, Any] = {"trial": trials}
        if search.ladder is not None:
            more["n_resources"] = [search.amounts[number] for number in trials]
        params = [search.rows[number][0] for number in trials]
        search.table.update(super()._format_results(params, len(search.splits), kept, more))

    @staticmethod
    def _select_best_index(refit: Any, refit_metric: str, results: dict[str, Any]) -> int:
        if callable(refit) or "n_resources" not in results:
            return int(BaseSearchCV._select_best_index(refit, refit_metric, results))
        # A score with few samples or trees is not comparable: the best of those that got the most.
        most = results["n_resources"] == results["n_resources"].max()
        return int(np.where(most, results[f"rank_test_{refit_metric}"], np.inf).argmin())

    # ------------------------------------------------------------ the study

    def _open(self, search: Search) -> Study:
        for fitted in ("metric_", "front_"):
            self.__dict__.pop(fitted, None)
        return Study(
            search.candidates.space,
            study=self.study,
            storage=self.storage,
            method=self.method,
            max_budget=None if search.ladder is None else search.ladder.full,
            metric="score" if isinstance(self.metric, str | None) else list(self.metric),
            direction="maximize",
            seed=search.seed,
        )

    def _seed(self) -> int | None:
        if self.random_state is None or isinstance(self.random_state, int):
            return self.random_state
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _watched(self, scores: Any) -> str | list[str] | None:
        """The name of the score that counts, or the names of those that do; ``None`` where there is one only."""
        known = list(scores) if isinstance(scores, dict) else ["score"]
        if isinstance(self.metric, str | None):
            if not isinstance(scores, dict):
                return None
            if self.metric is None and callable(self.scoring):
                self._check_refit_for_multimetric(scores)
            names = [self.metric or (self.refit if isinstance(self.refit, str) else known[0])]
        else:
            names = list(self.metric)
        if unknown := [each for each in names if each not in known]:
            raise InvalidArgument("metric", f"must be one of {', '.join(known)}", unknown[0])
        return names[0] if isinstance(self.metric, str | None) else names
