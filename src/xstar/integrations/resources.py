"""A resource that a scikit-learn estimator may get more or less of: a parameter, or samples to train with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from xstar.core.checks import whole_number
from xstar.errors import InvalidArgument
from xstar.space import Space

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

    def subsampled(self, cv: Any, amount: int) -> Subsampled:
        return Subsampled(cv, self.order, amount)


@dataclass(frozen=True)
class Subsampled:
    """A splitter whose training sets have their share of ``amount`` samples; the test sets are whole, so scores compare."""

    cv: Any
    order: Any
    amount: int

    def split(self, X: Any, y: Any = None, **params: Any) -> Any:
        share = min(1.0, self.amount / len(self.order))
        place = np.empty(len(self.order), dtype=int)
        place[self.order] = np.arange(len(self.order))
        for train, test in self.cv.split(X, y, **params):
            first = np.argsort(place[train], kind="stable")[: max(1, math.ceil(share * len(train)))]
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
