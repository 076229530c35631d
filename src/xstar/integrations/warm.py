"""A scikit-learn estimator that goes on from its own fit with less of a resource: ``warm_start=True`` in a search.

Cross-validation clones its estimator for every fit, so what ``warm_start`` would go on from is lost. ``Warm`` keeps each fitted
estimator in a folder, found by its parameters and its data, and goes on from it when the same candidate is fitted on the same
fold with more of the resource.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from xstar.errors import InvalidArgument
from xstar.integrations import missing

try:
    import joblib
    from sklearn.base import BaseEstimator
except ImportError as error:
    raise missing("sklearn", "scikit-learn") from error

TOTAL = "n_estimators"
ADDED = "max_iter"
"""Iterations of one call of ``fit``, which a warm start adds to earlier ones; of histogram boosting they are a total, too."""


def goes_on(estimator: Any, resource: str) -> bool:
    """Whether an estimator has ``warm_start=True`` where it has the resource; what warm start means there has to be known."""
    step, separator, name = resource.rpartition("__")
    known = estimator.get_params()
    if not known.get(f"{step}{separator}warm_start", False):
        return False
    if name not in (TOTAL, ADDED):
        rule = f"must be {TOTAL} or {ADDED} with warm_start=True"
        raise InvalidArgument(
            "resource", rule, resource, "leave warm_start out: then a promoted candidate is fitted anew"
        )
    return True


class Warm(BaseEstimator):
    """The estimator of a search, while it searches."""

    def __init__(self, estimator: Any, resource: str, folder: str) -> None:
        self.estimator = estimator
        self.resource = resource
        self.folder = folder

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Those of the estimator within; to be cloned, its own."""
        if deep:
            return dict(self.estimator.get_params())
        return {"estimator": self.estimator, "resource": self.resource, "folder": self.folder}

    def set_params(self, **params: Any) -> Warm:
        """Of the estimator within."""
        self.estimator.set_params(**params)
        return self

    def fit(self, X: Any, y: Any = None, **params: Any) -> Warm:
        """Go on from the last fit of these parameters on these data, or begin."""
        known = self.estimator.get_params()
        amount = known[self.resource]
        others = {name: value for name, value in known.items() if name != self.resource and not _holds(value)}
        path = Path(self.folder) / f"{joblib.hash((others, X, y, params))}.joblib"
        done, fitted = joblib.load(path) if path.exists() else (0, None)
        if fitted is None or done > amount:
            self.estimator.fit(X, y, **params)
        else:
            self.estimator = fitted
            if done < amount:
                fitted.set_params(**{self.resource: amount - done if self._adds(fitted) else amount})
                fitted.fit(X, y, **params)
                fitted.set_params(**{self.resource: amount})
        new = path.with_suffix(f".{os.getpid()}.new")
        joblib.dump((amount, self.estimator), new)
        new.rename(path)
        return self

    def _adds(self, fitted: Any) -> bool:
        """Whether a further fit adds its iterations to those there are."""
        step, _, name = self.resource.rpartition("__")
        owner = fitted.get_params()[step] if step else fitted
        return name == ADDED and "HistGradientBoosting" not in type(owner).__name__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "estimator":
            raise AttributeError(name)
        return getattr(self.estimator, name)

    def __sklearn_tags__(self) -> Any:
        return self.estimator.__sklearn_tags__()

    def get_metadata_routing(self) -> Any:
        return self.estimator.get_metadata_routing()


def _holds(value: Any) -> bool:
    """Whether a parameter is an estimator, whose own parameters are listed beside it, or the steps of a pipeline."""
    return hasattr(value, "get_params") or isinstance(value, list)
