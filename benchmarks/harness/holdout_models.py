"""Models of scikit-learn on the data that come with it: a loss is the mean over three folds, which depend on the seed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

import xstar as xs
from benchmarks.harness.cases import Case
from benchmarks.harness.machine import peer

Config = Mapping[str, Any]
FOLDS = 3
ROWS = 400
"""The rows of a data set that models are trained on, at most: a trial should not take much longer than a suggestion."""


@cache
def _data(name: str, seed: int) -> tuple[Any, Any]:
    sets = peer("sklearn.datasets", "scikit-learn")
    X, y = getattr(sets, f"load_{name}")(return_X_y=True)
    places = np.random.default_rng([seed, 7]).permutation(len(X))[:ROWS]
    return X[places], y[places]


def _score(model: Any, name: str, seed: int, scoring: str) -> float:
    selection = peer("sklearn.model_selection", "scikit-learn")
    X, y = _data(name, seed)
    kind = selection.KFold if scoring == "neg_mean_squared_error" else selection.StratifiedKFold
    folds = kind(FOLDS, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return -float(np.mean(selection.cross_val_score(model, X, y, cv=folds, scoring=scoring, error_score="raise")))


def _scaled(model: Any) -> Any:
    return peer("sklearn.pipeline", "scikit-learn").make_pipeline(
        peer("sklearn.preprocessing", "scikit-learn").StandardScaler(), model
    )


SVM = xs.Space(
    C=xs.Float(1e-3, 1e4, log=True),
    kernel=xs.Choice(["rbf", "poly", "sigmoid", "linear"]),
    gamma=xs.Float(1e-6, 1e2, log=True, when={"kernel": ["rbf", "poly", "sigmoid"]}),
    degree=xs.Int(2, 5, when={"kernel": "poly"}),
    coef0=xs.Float(0.0, 2.0, when={"kernel": ["poly", "sigmoid"]}),
)


def svm(config: Config, seed: int) -> float:
    model = peer("sklearn.svm", "scikit-learn").SVC(**config, random_state=0, max_iter=20_000)
    return _score(_scaled(model), "breast_cancer", seed, "accuracy")


BOOSTING = xs.Space(
    learning_rate=xs.Float(1e-3, 1.0, log=True),
    n_estimators=xs.Int(5, 60, log=True),
    max_depth=xs.Int(1, 7),
    subsample=xs.Float(0.3, 1.0),
    min_samples_leaf=xs.Int(1, 40, log=True),
    max_features=xs.Float(0.1, 1.0),
)


def boosting(config: Config, seed: int) -> float:
    model = peer("sklearn.ensemble", "scikit-learn").GradientBoostingRegressor(**config, random_state=seed)
    return _score(model, "diabetes", seed, "neg_mean_squared_error")


PIPELINE = xs.Space(
    model=xs.Choice(["tree", "neighbours", "logistic"]),
    max_depth=xs.Int(1, 20, when={"model": "tree"}),
    min_samples_leaf=xs.Int(1, 30, log=True, when={"model": "tree"}),
    criterion=xs.Choice(["gini", "entropy"], when={"model": "tree"}),
    n_neighbors=xs.Int(1, 40, when={"model": "neighbours"}),
    p=xs.Float(1.0, 5.0, when={"model": "neighbours"}),
    weights=xs.Choice(["uniform", "distance"], when={"model": "neighbours"}),
    C=xs.Float(1e-5, 1e3, log=True, when={"model": "logistic"}),
)


def pipeline(config: Config, seed: int) -> float:
    rest = {name: value for name, value in config.items() if name != "model"}
    match config["model"]:
        case "tree":
            model = peer("sklearn.tree", "scikit-learn").DecisionTreeClassifier(**rest, random_state=0)
        case "neighbours":
            model = peer("sklearn.neighbors", "scikit-learn").KNeighborsClassifier(**rest)
        case _:
            model = peer("sklearn.linear_model", "scikit-learn").LogisticRegression(**rest, max_iter=200)
    return _score(_scaled(model), "digits", seed, "neg_log_loss")


FACTORS = xs.Space(
    alpha=xs.Float(1e-6, 1e3, log=True),
    kernel=xs.Choice(["rbf", "laplacian"]),
    gamma=xs.Float(1e-6, 1e2, log=True),
)


def ridge(config: Config, seed: int) -> float:
    model = peer("sklearn.kernel_ridge", "scikit-learn").KernelRidge(**config)
    return _score(_scaled(model), "diabetes", seed, "neg_mean_squared_error")


MODELS: Mapping[str, tuple[xs.Space, Callable[[Config, int], float]]] = {
    "svm": (SVM, svm),
    "boosting": (BOOSTING, boosting),
    "pipeline": (PIPELINE, pipeline),
    "kernel-ridge": (FACTORS, ridge),
}


def case_of(name: str, seed: int) -> Case:
    space, trained = MODELS[name]
    return Case("models", space, lambda config: trained(config, seed))
