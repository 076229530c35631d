"""``SearchCV`` is to its users what ``RandomizedSearchCV`` is, and goes on where a dead program stopped."""

from __future__ import annotations

import math
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

import xstar as xs
from xstar.errors import InvalidArgument, InvalidSpace, StudyMismatch
from xstar.integrations.distributions import Candidates
from xstar.space.conditions import OneOf

sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")

import joblib  # noqa: E402
from sklearn import config_context  # noqa: E402
from sklearn.base import BaseEstimator, ClassifierMixin, clone  # noqa: E402
from sklearn.datasets import load_iris  # noqa: E402
from sklearn.exceptions import UnsetMetadataPassedError  # noqa: E402
from sklearn.linear_model import LogisticRegression, Ridge  # noqa: E402
from sklearn.metrics import make_scorer, recall_score  # noqa: E402
from sklearn.model_selection import GroupKFold, RandomizedSearchCV, ShuffleSplit, cross_val_score  # noqa: E402
from sklearn.pipeline import Pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from xstar.integrations.cv_folds import interleaved  # noqa: E402
from xstar.integrations.sklearn import SearchCV  # noqa: E402

X, y = load_iris(return_X_y=True)
DEPTHS = {"max_depth": stats.randint(1, 6), "min_samples_leaf": stats.randint(1, 20)}


def tree() -> Any:
    return DecisionTreeClassifier(random_state=0)


KNOWN = {"check_supervised_y_2d": "no DataConversionWarning: scikit-learn lists it for its own searches, too"}


@parametrize_with_checks(
    [SearchCV(LogisticRegression(), {"C": xs.Float(0.1, 10, log=True)}, n_iter=2, cv=2, random_state=0)]
)
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of estimators that are made to fail
        check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [SearchCV(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, n_iter=2, cv=2, random_state=0)],
    expected_failed_checks=lambda estimator: KNOWN,
)
def test_scikit_learns_own_checks_of_a_regressor(estimator: Any, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def test_the_same_candidates_get_the_same_scores() -> None:
    """The table of results has the columns of scikit-learn's, and for the same parameters the same numbers."""
    options: dict[str, Any] = {
        "cv": 3,
        "return_train_score": True,
        "scoring": ["accuracy", "f1_macro"],
        "refit": "accuracy",
    }
    space = {"max_depth": [1, 2, 3], "criterion": ["gini", "entropy"]}
    ours = SearchCV(tree(), space, n_iter=6, random_state=0, **options).fit(X, y).cv_results_
    theirs = RandomizedSearchCV(tree(), space, n_iter=6, random_state=0, **options).fit(X, y).cv_results_
    assert set(ours) == {*theirs, "trial"}
    mine = [ours["params"].index(params) for params in theirs["params"]]  # all six, each once
    for key, column in theirs.items():
        if key != "params" and "time" not in key and not key.startswith("param_"):
            assert_allclose(ours[key][mine], column, err_msg=key)


def test_it_is_repeatable_and_refits_the_best() -> None:
    first, second = (SearchCV(tree(), DEPTHS, n_iter=8, cv=3, random_state=5).fit(X, y) for _ in range(2))
    assert first.cv_results_["params"] == second.cv_results_["params"]
    assert first.best_score_ == first.cv_results_["mean_test_score"].max()
    assert_allclose(first.best_score_, cross_val_score(tree().set_params(**first.best_params_), X, y, cv=3).mean())
    assert first.best_estimator_.get_params()["max_depth"] == first.best_params_["max_depth"]
    assert first.score(X, y) == (first.predict(X) == y).mean()
    assert pickle.loads(pickle.dumps(first)).best_params_ == first.best_params_


def test_a_pipeline_with_nested_names_conditions_and_steps_to_choose() -> None:
    pipe = Pipeline([("scale", StandardScaler()), ("clf", LogisticRegression())])
    space = {
        "clf": [LogisticRegression(max_iter=500), tree()],
        "scale": ["passthrough", StandardScaler()],
        "clf__random_state": xs.Int(0, 3),
    }
    search = SearchCV(pipe, space, n_iter=10, cv=2, random_state=1).fit(X, y)
    tried = {type(params["clf"]) for params in search.cv_results_["params"]}
    assert tried == {LogisticRegression, DecisionTreeClassifier}
    assert isinstance(search.best_estimator_["clf"], type(search.best_params_["clf"]))
    conditional = xs.Space(
        splitter=xs.Choice(["best", "random"]), max_features=xs.Int(1, 4, when={"splitter": "random"})
    )
    table = SearchCV(tree(), conditional, n_iter=8, cv=2, random_state=1).fit(X, y).cv_results_
    assert list(table["param_max_features"].mask) == [params["splitter"] == "best" for params in table["params"]]


def test_parameters_of_one_of_several_estimators(tmp_path: Path) -> None:
    pipe = Pipeline([("clf", LogisticRegression())])
    steps = [LogisticRegression(max_iter=500), tree(), DecisionTreeClassifier(max_depth=1), "passthrough"]
    space = {
        "clf__C": xs.Float(0.1, 10, log=True, when={"clf": "LogisticRegression"}),
        "clf": steps[:3],
        "clf__min_samples_leaf": xs.Int(1, 20, when={"clf": "DecisionTreeClassifier"}),
        "clf__splitter": xs.Choice(["best", "random"], when={"clf": "DecisionTreeClassifier(max_depth=1)"}),
    }
    kept: dict[str, Any] = {"n_iter": 12, "cv": 2, "random_state": 1, "study": "s", "storage": tmp_path / "x.db"}
    search = SearchCV(pipe, space, **kept).fit(X, y)
    depths = set()
    for params in search.cv_results_["params"]:
        is_tree = isinstance(params["clf"], DecisionTreeClassifier)
        assert ("clf__C" in params) is not is_tree
        assert ("clf__min_samples_leaf" in params) is is_tree
        assert ("clf__splitter" in params) is (is_tree and params["clf"].max_depth == 1)
        depths.add(params["clf"].max_depth if is_tree else "none")
    assert depths == {"none", None, 1}
    assert clone(search).fit(X, y).best_params_.keys() == search.best_params_.keys()
    made = Candidates({"clf": steps, "clf__C": xs.Float(0.1, 10, when={"clf": ["LogisticRegression", "passthrough"]})})
    assert made.space["clf__C"].when == {"clf": OneOf(("LogisticRegression(max_iter=500)", "passthrough"))}
    twice = Candidates({"clf": [tree(), tree()], "clf__C": xs.Float(0.1, 10, when={"clf": "DecisionTreeClassifier"})})
    assert twice.space["clf"].to_json()["options"] == [f"{place}: {tree()}" for place in range(2)]
    assert twice.space["clf__C"].when == {"clf": OneOf((f"0: {tree()}", f"1: {tree()}"))}


def test_groups_and_any_splitter() -> None:
    groups = np.arange(len(y)) % 5
    search = SearchCV(tree(), DEPTHS, n_iter=2, cv=GroupKFold(5), random_state=0).fit(X, y, groups=groups)
    assert search.n_splits_ == 5
    assert SearchCV(tree(), DEPTHS, n_iter=2, cv=ShuffleSplit(2, random_state=0)).fit(X, y).n_splits_ == 2


def test_metadata_is_routed() -> None:
    weights = np.linspace(0.5, 1.5, len(y))
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(recall_score, average="macro").set_score_request(sample_weight=True)
        model = tree().set_fit_request(sample_weight=True)
        search = SearchCV(model, DEPTHS, n_iter=2, cv=GroupKFold(3), scoring=scorer, random_state=0)
        search.fit(X, y, sample_weight=weights, groups=np.arange(len(y)) % 3)
        plain = SearchCV(tree().set_fit_request(sample_weight=False), DEPTHS, cv=2)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            plain.fit(X, y, sample_weight=weights)
    assert search.best_score_ > 0.8


def test_which_of_several_scores_counts(tmp_path: Path) -> None:
    scoring = ["accuracy", "neg_log_loss"]
    search = SearchCV(tree(), DEPTHS, n_iter=4, cv=2, scoring=scoring, refit=False, metric="neg_log_loss").fit(X, y)
    assert search.metric_ == "neg_log_loss"
    assert not hasattr(search, "best_estimator_")
    chosen = SearchCV(tree(), DEPTHS, n_iter=4, cv=2, scoring=scoring, refit=lambda table: 2).fit(X, y)
    assert chosen.best_index_ == 2
    kept: dict[str, Any] = {"cv": 2, "study": "s", "storage": tmp_path / "x.db"}
    for metric in ("recall", ["accuracy", "recall"]):
        with pytest.raises(InvalidArgument, match="metric: must be one of accuracy, neg_log_loss, but got 'recall'"):
            SearchCV(tree(), DEPTHS, scoring=scoring, refit="accuracy", metric=metric, **kept).fit(X, y)
    with pytest.raises(InvalidArgument, match="metric: must be one of score, but got 'accuracy'"):
        SearchCV(tree(), DEPTHS, metric=["accuracy", "score"], **kept).fit(X, y)
    assert list(tmp_path.iterdir()) == []


def leaves(model: Any, X: Any, y: Any) -> int:
    return -int(model.get_n_leaves())


def simplest(table: Any) -> int:
    """The smallest tree within five points of the most accurate one."""
    good = table["mean_test_accuracy"] >= table["mean_test_accuracy"].max() - 0.05
    return int(np.where(good, table["mean_test_simple"], -np.inf).argmax())


SCORES: dict[str, Any] = {
    "scoring": {"accuracy": "accuracy", "simple": leaves},
    "metric": ["accuracy", "simple"],
    "cv": 3,
}


@pytest.mark.parametrize("refit", ["accuracy", "simple", simplest, False])
def test_several_scores_are_searched_for_their_front(refit: Any, tmp_path: Path) -> None:
    kept: dict[str, Any] = {"study": "front", "storage": tmp_path / "x.db", "refit": refit, **SCORES}
    search = SearchCV(tree(), DEPTHS, n_iter=8, random_state=0, **kept).fit(X, y)
    table = search.cv_results_
    scores = np.column_stack([table["mean_test_accuracy"], table["mean_test_simple"]])
    found = scores[search.front_]
    assert (np.diff(found, axis=0) * [-1, 1] > 0).all()  # the most accurate first, each of the others simpler
    assert {tuple(row) for row in found} == {
        tuple(row) for row in scores if not ((scores >= row).all(axis=1) & (scores > row).any(axis=1)).any()
    }
    if refit:
        expected = refit(table) if callable(refit) else table[f"mean_test_{refit}"].argmax()
        assert search.best_index_ == expected
        assert search.best_estimator_.get_params()["max_depth"] == search.best_params_["max_depth"]
    again = SearchCV(tree(), DEPTHS, n_iter=8, random_state=0, **kept).fit(X, y)  # a finished study
    assert again.front_.tolist() == search.front_.tolist()
    assert again.cv_results_["params"] == table["params"]
    with xs.Study.open("front", tmp_path / "x.db") as study:
        assert study.history.goals.goal == "maximize accuracy, maximize simple"


def test_several_scores_with_a_resource() -> None:
    search = SearchCV(
        tree(), DEPTHS, n_iter=9, resource="n_samples", min_resources=30, random_state=0, refit="accuracy", **SCORES
    ).fit(X, y)
    got = search.cv_results_["n_resources"]
    assert set(got[search.front_]) == {got.max()}
    assert got.min() < got.max()


def test_more_jobs_than_folds_try_several_candidates_at_once() -> None:
    search = SearchCV(tree(), DEPTHS, n_iter=5, cv=2, n_jobs=4, random_state=0)
    with joblib.parallel_config(backend="threading"):
        search.fit(X, y)
    assert len(search.cv_results_["params"]) == 5


class Fragile(ClassifierMixin, BaseEstimator):
    """Fails for some parameters; counts its fits; interrupts at a given one."""

    fits = 0
    interrupt = math.inf

    def __init__(self, a: float = 0.0, amount: int = 1) -> None:
        self.a, self.amount = a, amount

    def fit(self, X: Any, y: Any) -> Fragile:
        Fragile.fits += 1
        if Fragile.fits == Fragile.interrupt:
            raise KeyboardInterrupt
        if self.a < 0:
            raise RuntimeError("a must not be negative")
        self.classes_ = np.unique(y)
        return self

    def score(self, X: Any, y: Any) -> float:
        return 1.0 - abs(self.a - 0.3) - 1.0 / self.amount

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X))


@pytest.fixture(autouse=True)
def _counters() -> None:
    Fragile.fits, Fragile.interrupt = 0, math.inf


@pytest.mark.filterwarnings("ignore")
def test_a_candidate_that_fails_is_a_row_of_nan() -> None:
    search = SearchCV(Fragile(), {"a": xs.Float(-1, 1)}, n_iter=8, cv=2, random_state=0).fit(X, y)
    failed = np.array([params["a"] < 0 for params in search.cv_results_["params"]])
    assert 0 < failed.sum() < 8
    assert list(np.isnan(search.cv_results_["mean_test_score"])) == list(failed)
    assert search.best_params_["a"] >= 0
    with pytest.raises(ValueError, match=r"All the 4 fits failed(.|\n)*must not be negative"):
        SearchCV(Fragile(), {"a": xs.Float(-1, -0.5)}, n_iter=2, cv=2).fit(X, y)
    with pytest.raises(RuntimeError, match="must not be negative"):
        SearchCV(Fragile(), {"a": xs.Float(-1, -0.5)}, n_iter=2, error_score="raise").fit(X, y)


def test_candidates_that_fail_first_and_last_have_rows_and_are_told_of_once(tmp_path: Path) -> None:
    values = [-1.0, 0.5, 0.25, -2.0]
    options: dict[str, Any] = {"n_iter": 4, "cv": 2, "method": "grid", "study": "s", "storage": tmp_path / "xstar.db"}
    for fits in (9, 3):  # the second time it is finished
        Fragile.fits = 0
        with pytest.warns() as told:
            search = SearchCV(Fragile(), {"a": values}, **options).fit(X, y)
        assert sorted(each.category.__name__ for each in told) == ["FitFailedWarning", "UserWarning"]
        assert "4 fits failed out of a total of 8" in "".join(str(each.message) for each in told)
        assert [params["a"] for params in search.cv_results_["params"]] == values
        assert list(np.isnan(search.cv_results_["mean_test_score"])) == [value < 0 for value in values]
        assert Fragile.fits == fits
    with xs.Study.open("s", tmp_path / "xstar.db") as study:
        assert "RuntimeError: a must not be negative" in str(study.trials[0].reason)


@pytest.mark.filterwarnings("ignore")
def test_ctrl_c_loses_nothing(tmp_path: Path) -> None:
    options: dict[str, Any] = {"n_iter": 8, "cv": 2, "random_state": 3}
    space = {"a": xs.Float(-0.2, 1)}
    whole = SearchCV(Fragile(), space, **options).fit(X, y)
    named = SearchCV(Fragile(), space, study="fragile", storage=tmp_path / "xstar.db", **options)
    Fragile.fits, Fragile.interrupt = 0, 10  # in trial 4
    with pytest.raises(KeyboardInterrupt):
        named.fit(X, y)
    Fragile.fits, Fragile.interrupt = 0, math.inf
    named.fit(X, y)
    assert Fragile.fits == 2 * (8 - 4) + 1  # the trials that were left, and the refit
    for key in ("mean_test_score", "split1_test_score", "rank_test_score", "param_a"):
        assert_allclose(named.cv_results_[key].astype(float), whole.cv_results_[key].astype(float))
    Fragile.fits = 0
    assert clone(named).fit(X, y).best_params_ == whole.best_params_
    assert Fragile.fits == 2 + 1  # a finished search looks at its best once more
    with pytest.raises(StudyMismatch, match="other data"):
        clone(named).fit(X[:100], y[:100])
    with pytest.raises(StudyMismatch, match="other data"):
        clone(named).fit(X, (y + 1) % 3)
    with pytest.raises(StudyMismatch, match=r"other cv \(2 stored, 3 given\)"):
        clone(named).set_params(cv=3).fit(X, y)
    with pytest.raises(StudyMismatch, match=r"other folds .* random_state"):
        clone(named).set_params(cv=ShuffleSplit(2, random_state=1)).fit(X, y)


EQUAL = {"max_leaf_nodes": [1000, 2000, 3000, 4000]}


def test_every_candidate_has_the_same_folds_whether_the_splitter_has_a_seed_or_not(tmp_path: Path) -> None:
    """Models that are equal have one score, before and after the search is resumed."""
    named: dict[str, Any] = {"study": "folds", "storage": tmp_path / "xstar.db"}
    for given in ({}, named):
        SearchCV(tree(), EQUAL, n_iter=2, cv=ShuffleSplit(2, test_size=0.5), **given).fit(X, y)
        search = SearchCV(tree(), EQUAL, n_iter=4, cv=ShuffleSplit(2, test_size=0.5), **given).fit(X, y)
        assert len(set(search.cv_results_["mean_test_score"])) == 1


class Once:
    """A splitter that yields its folds once, as one of a stream does; none: it has no folds at all."""

    def __init__(self, folds: int) -> None:
        self.folds = iter(ShuffleSplit(folds, random_state=0).split(X) if folds else ())
        self.count = folds

    def get_n_splits(self, *given: Any, **named: Any) -> int:
        return self.count

    def split(self, *given: Any, **named: Any) -> Any:
        return self.folds


def test_a_splitter_that_yields_once_and_one_without_folds(tmp_path: Path) -> None:
    search = SearchCV(tree(), [DEPTHS], n_iter=3, cv=Once(2)).fit(X, y)  # a list of one dictionary
    assert len(search.cv_results_["params"]) == 3
    for empty in (Once(0), iter(())):
        with pytest.raises(ValueError, match="CV iterator empty"):
            SearchCV(tree(), DEPTHS, cv=empty, study="empty", storage=tmp_path / "xstar.db").fit(X, y)
    assert list(tmp_path.iterdir()) == []


class Hooks:
    """A callback of scikit-learn's: which tasks began and ended, and of which kind."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.ended: list[str] = []

    def setup(self, estimator: Any, context: Any) -> None:
        """As the protocol has it."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """The same."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.began.append(context.task_name)

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        self.ended.append(context.task_name)


@pytest.mark.skipif(not hasattr(SearchCV, "set_callbacks"), reason="callbacks came with scikit-learn 1.9")
def test_callbacks_are_called(tmp_path: Path) -> None:
    hooks = Hooks()
    given: dict[str, Any] = {"study": "hooks", "storage": tmp_path / "xstar.db"}
    SearchCV(tree(), DEPTHS, n_iter=3, cv=2, random_state=0).set_callbacks(hooks).fit(X, y)
    each = ["fit", "search", *["candidate-split-evaluation"] * 6, "refit-with-best-params"]
    assert hooks.began == each
    assert sorted(hooks.ended) == sorted(each)
    for n_iter in (1, 3, 3):  # resumed, and finished
        hooks = Hooks()
        SearchCV(tree(), DEPTHS, n_iter=n_iter, cv=2, random_state=0, **given).set_callbacks(hooks).fit(X, y)
    assert hooks.began == [*each[:4], each[-1]]


def test_bad_candidates_get_little_of_the_resource() -> None:
    search = SearchCV(
        Fragile(), {"a": xs.Float(0, 1)}, resource="amount", max_resources=9, n_iter=15, cv=2, random_state=0
    )
    search.fit(X, y)
    given = search.cv_results_["n_resources"]
    assert set(given) == {1, 3, 9}
    assert [params["amount"] for params in search.cv_results_["params"]] == list(given)
    assert search.best_params_["amount"] == 9
    full = [abs(p["a"] - 0.3) for p in search.cv_results_["params"] if p["amount"] == 9]
    assert abs(search.best_params_["a"] - 0.3) == min(full)
    assert sum(given) < 0.7 * 15 * 9


def test_what_is_refitted_got_the_most_of_the_resource_even_where_less_scores_better() -> None:
    def score(model: Any, X: Any, y: Any) -> float:
        return float(model.a - model.amount)

    search = SearchCV(
        Fragile(), {"a": xs.Float(0, 1)}, resource="amount", max_resources=9, n_iter=12, cv=2, scoring=score
    )
    table = search.set_params(random_state=0).fit(X, y).cv_results_
    assert set(table["n_resources"]) == {1, 3, 9}
    assert search.best_params_["amount"] == 9
    assert search.best_score_ == table["mean_test_score"][table["n_resources"] == 9].max()
    assert search.best_score_ < table["mean_test_score"].max()


def test_a_resumed_search_over_a_resource_is_the_same(tmp_path: Path) -> None:
    options: dict[str, Any] = {"resource": "amount", "max_resources": 9, "n_iter": 9, "cv": 2, "random_state": 0}
    space = {"a": xs.Float(0, 1)}
    whole = SearchCV(Fragile(), space, **options).fit(X, y)
    named = SearchCV(Fragile(), space, study="ladder", storage=tmp_path / "xstar.db", **options)
    Fragile.fits, Fragile.interrupt = 0, 12
    with pytest.raises(KeyboardInterrupt):
        named.fit(X, y)
    Fragile.interrupt = math.inf
    named.fit(X, y)
    assert list(named.cv_results_["n_resources"]) == list(whole.cv_results_["n_resources"])
    assert_allclose(named.cv_results_["mean_test_score"], whole.cv_results_["mean_test_score"])


def test_samples_as_the_resource() -> None:
    search = SearchCV(tree(), DEPTHS, resource="n_samples", min_resources=15, n_iter=12, cv=3, random_state=0).fit(X, y)
    given = set(search.cv_results_["n_resources"])
    assert given <= {15, 45, 135, 150}
    assert len(given) > 1
    assert "n_samples" not in search.best_params_


def test_every_beginning_has_its_share_of_each_class() -> None:
    labels = np.repeat([0, 1, 2], [80, 16, 4])
    order = interleaved(labels, 100)
    assert sorted(order) == list(range(100))
    for count in (25, 50, 75):
        assert_allclose(np.bincount(labels[order[:count]], minlength=3), np.array([80, 16, 4]) * count / 100, atol=1.01)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (stats.uniform(1, 3), xs.Float(1, 4)),
        (stats.loguniform(1e-3, 10), xs.Float(1e-3, 10, log=True)),
        (stats.loguniform(1, 10, scale=2), xs.Float(2, 20, log=True)),
        (stats.randint(2, 9), xs.Int(2, 8)),
        (stats.randint(2, 9, loc=1), xs.Int(3, 9)),
        ([1, 3, 10], xs.Ordinal([1, 3, 10])),
        (["a", None], xs.Choice(["a", None])),
        (np.array([3, 1, 2]), xs.Choice([3, 1, 2])),
    ],
)
def test_what_is_converted(given: Any, expected: Any) -> None:
    assert Candidates({"p": given}).space == xs.Space(p=expected)


@pytest.mark.parametrize(
    ("space", "says"),
    [
        ({"p": stats.norm(0, 1)}, "p: must be a distribution that xstar has, too, but got norm; uniform, loguniform"),
        ({"p": stats.loguniform(1, 10, loc=2)}, "but got loguniform; uniform"),
        (
            [{"p": [1]}, {"p": [2]}],
            "must be an xs.Space or a dictionary, but got 'list'; of a list of dictionaries make one",
        ),
        ({"p": 3}, r"p: must be a parameter of xstar, a list or a SciPy distribution, but got 3; .*write \[3\]"),
        (
            {"p": [tree()], "q": xs.Float(0, 1, when={"p": "Tree"})},
            r"q: when\['p'\] must name options, 'DecisionTreeClassifier\(random_state=0\)', or their classes, but got 'Tree'",
        ),
    ],
)
def test_what_is_refused(space: Any, says: str) -> None:
    with pytest.raises(InvalidSpace, match=says):
        SearchCV(tree(), space).fit(X, y)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"resource": "trees"}, "resource: must be 'n_samples' or a parameter of the estimator"),
        ({"resource": "max_depth"}, "that is not searched"),
        ({"resource": "max_leaf_nodes"}, "max_resources: must be"),
        ({"n_iter": 0}, "n_iter: must be"),
        ({"method": "magic"}, "method: must be one of"),
    ],
)
def test_bad_arguments_are_named(options: Any, says: str) -> None:
    with pytest.raises(InvalidArgument, match=says):
        SearchCV(tree(), DEPTHS, **options).fit(X, y)
