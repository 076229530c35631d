"""A pytest plugin: ``SearchCV`` in place of ``GridSearchCV`` and ``RandomizedSearchCV``, by their names and parameters."""

from __future__ import annotations

import inspect
from typing import Any

from sklearn import model_selection

from xstar.integrations.sklearn import SearchCV


def replacement(original: Any, space: str, **ours: Any) -> type:
    """A ``SearchCV`` with the name and the parameters of one of scikit-learn's searches."""
    signature = inspect.signature(original.__init__)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        given = signature.bind(self, *args, **kwargs)
        given.apply_defaults()
        options = {name: value for name, value in given.arguments.items() if name not in ("self", space)}
        SearchCV.__init__(self, space=None, **ours, **options)
        setattr(self, space, given.arguments[space])

    def fit(self: Any, X: Any, y: Any = None, **params: Any) -> Any:
        self.space = getattr(self, space)
        return SearchCV.fit(self, X, y, **params)

    vars(__init__)["__signature__"] = signature  # where scikit-learn looks for the names of parameters
    own = {"__init__": __init__, "fit": fit, "__module__": __name__}
    return type(original.__name__, (SearchCV,), own)


GridSearchCV = replacement(model_selection.GridSearchCV, "param_grid", method="grid", n_iter=10**6)
RandomizedSearchCV = replacement(model_selection.RandomizedSearchCV, "param_distributions", method="random")
vars(model_selection).update(GridSearchCV=GridSearchCV, RandomizedSearchCV=RandomizedSearchCV)
