"""``SearchCV`` with ``warm_start=True``: promoted candidates go on from their last fit on the same fold."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.base import BaseEstimator, RegressorMixin  # noqa: E402
from sklearn.datasets import load_iris, make_regression  # noqa: E402
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier  # noqa: E402
from sklearn.neural_network import MLPClassifier  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

import xstar as xs  # noqa: E402
from xstar.errors import InvalidArgument  # noqa: E402
from xstar.integrations.sklearn import SearchCV  # noqa: E402
from xstar.integrations.warm import Warm  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
X, Y = load_iris(return_X_y=True)
OPTIONS: dict[str, Any] = {"n_iter": 9, "cv": 3, "random_state": 0, "method": "asha"}


class Stepping(RegressorMixin, BaseEstimator):
    """Descends towards a constant, ``max_iter`` steps per fit, and tells how many it made."""

    made: list[int] = []  # noqa: RUF012

    def __init__(self, rate: float = 0.1, max_iter: int = 9, warm_start: bool = False) -> None:
        self.rate, self.max_iter, self.warm_start = rate, max_iter, warm_start

    def fit(self, X: Any, y: Any) -> Stepping:
        self.n_features_in_ = X.shape[1]
        if not (self.warm_start and hasattr(self, "level_")):
            self.level_, self.steps_ = 0.0, 0
        for _ in range(self.max_iter):
            self.level_ += self.rate * (float(np.mean(y)) - self.level_)
        self.steps_ += self.max_iter
        Stepping.made.append(self.max_iter)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.level_)


def searched(warm: bool) -> tuple[SearchCV, list[int]]:
    Stepping.made.clear()
    data, target = make_regression(30, 2, random_state=0)
    search = SearchCV(
        Stepping(warm_start=warm), {"rate": xs.Float(0.01, 0.5)}, resource="max_iter", max_resources=9, **OPTIONS
    )
    search.fit(data, target + 50)
    return search, list(Stepping.made)


def test_only_the_steps_that_are_new_are_made() -> None:
    (warm, few), (cold, many) = searched(True), searched(False)
    np.testing.assert_allclose(warm.cv_results_["mean_test_score"], cold.cv_results_["mean_test_score"])
    assert warm.best_params_ == cold.best_params_
    amounts = warm.cv_results_["n_resources"]
    assert set(amounts) == {1, 3, 9}
    assert sum(few) == 3 * amounts.sum() + 9  # three folds, and the refit
    assert set(few) == {1, 2, 6, 9}  # 1, 1 + 2, 1 + 2 + 6, and the refit at once
    assert sum(many) > sum(few)
    assert isinstance(warm.best_estimator_, Stepping)
    assert isinstance(warm.estimator, Stepping)
    assert warm.best_estimator_.steps_ == 9


@pytest.mark.parametrize(
    ("estimator", "space", "resource"),
    [
        (RandomForestClassifier, {"max_depth": xs.Int(1, 8)}, "n_estimators"),
        (HistGradientBoostingClassifier, {"learning_rate": xs.Float(0.01, 1.0)}, "max_iter"),
    ],
)
def test_ensembles_come_out_the_same(estimator: Any, space: Any, resource: str) -> None:
    made = [
        SearchCV(estimator(random_state=0, warm_start=warm), space, resource=resource, max_resources=9, **OPTIONS)
        for warm in (True, False)
    ]
    two = Y < 2  # classes: boosting has one tree per class and iteration
    first, second = (search.fit(X[two], Y[two]) for search in made)
    np.testing.assert_allclose(first.cv_results_["mean_test_score"], second.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(first.predict(X), second.predict(X))


def test_a_step_of_a_pipeline_and_several_jobs() -> None:
    network = make_pipeline(StandardScaler(), MLPClassifier((4,), random_state=0, warm_start=True))
    space = {"mlpclassifier__learning_rate_init": xs.Float(1e-3, 1e-1, log=True)}
    given = {**OPTIONS, "resource": "mlpclassifier__max_iter", "max_resources": 9, "scoring": "neg_log_loss"}
    with joblib.parallel_backend("threading"):
        search = SearchCV(network, space, n_jobs=2, **given).fit(X, Y)
    assert search.best_estimator_[-1].n_iter_ == 9
    alone = SearchCV(network, space, n_jobs=1, **given).fit(X, Y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])


def test_a_resource_that_warm_start_is_not_known_for_is_refused() -> None:
    forest = RandomForestClassifier(3, warm_start=True, max_depth=9)
    with pytest.raises(InvalidArgument, match="resource: must be n_estimators or max_iter with warm_start=True"):
        SearchCV(forest, {"min_samples_leaf": xs.Int(1, 9)}, resource="max_depth", **OPTIONS).fit(X, Y)
    search = SearchCV(forest, {"min_samples_leaf": xs.Int(1, 9)}, resource="n_samples", **OPTIONS)
    assert search.fit(X, Y).estimator is forest


def test_less_of_the_resource_is_fitted_anew(tmp_path: Any) -> None:
    for amount in (6, 2, 6, 6):
        made = Warm(RandomForestClassifier(amount, random_state=0, warm_start=True), "n_estimators", str(tmp_path))
        assert len(made.fit(X, Y).estimators_) == amount
    other = Warm(RandomForestClassifier(9, max_depth=1, warm_start=True), "n_estimators", str(tmp_path)).fit(X, Y)
    assert {tree.get_depth() for tree in other.estimators_} == {1}
