"""What searchers and schedulers have computed from a history, kept so that it need not be computed again.

A value is found by its type and a key, so what comes out has the type that went in:

    history.memo.put(Refit(…), settings, "loss")
    history.memo.get(Refit, settings, "loss")      # a Refit, or None

Two kinds of values are kept. A *result* is never changed; whoever needs a newer one puts it in its place. A *fold* (of type
:class:`Fold`) follows the history: ``memo.fold`` brings it up to date, at the cost of what is new. Everything kept here may be
dropped at any time without changing an answer: :func:`xstar.testing.check_searcher` empties the memo before every suggestion.

Programs that share a study also have a cache in common, for what takes long to compute and little to write down: the first one
to need the hyperparameters of a surrogate leaves them there. They are found by a digest of everything that they are computed
from, the environment (``core/environment.py``) included: unlike machines find other digits. What is in the cache is no event:
without it, each program computes the same numbers again, as an audit does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from xstar.core.environment import environment

if TYPE_CHECKING:
    from xstar.journal.history import History

T = TypeVar("T")
Array = NDArray[np.float64]
LONGEST_NAME = 200


class Fold(Protocol):
    """A summary of a history that grows with it."""

    def catch_up(self, history: History) -> None:
        """Take in what the history has gained since the last call."""


F = TypeVar("F", bound=Fold)


class SharedCache(Protocol):
    """Where programs that share a study leave results for each other: one text under each name, and what it was made from."""

    def read_cache(self, name: str, key: str) -> str | None:
        """The text under ``name``, if it was made from ``key``."""

    def write_cache(self, name: str, key: str, text: str) -> None:
        """Leave a text under ``name``, in place of the one that is there."""


class Memo:
    """Values by type and key."""

    def __init__(self) -> None:
        self._kept: dict[tuple[type[Any], tuple[Hashable, ...]], Any] = {}
        self.shared: SharedCache | None = None
        """That of the study, if it is shared. An audit has none, and computes everything itself."""

    def get(self, kind: type[T], *key: Hashable) -> T | None:
        """The value of this type that was put under ``key``, if it is still there."""
        found: T | None = self._kept.get((kind, key))
        return found

    def put(self, value: T, *key: Hashable) -> T:
        """Keep ``value`` in place of the one of its type under ``key``."""
        self._kept[type(value), key] = value
        return value

    def fold(self, kind: type[F], history: History, *key: Hashable) -> F:
        """The fold of this type under ``key``, made by ``kind()`` if there is none, brought up to date."""
        kept = self.get(kind, *key) or self.put(kind(), *key)
        kept.catch_up(history)
        return kept

    def clear(self) -> None:
        """Drop everything."""
        self._kept.clear()


def cached(history: History, name: str, made_from: Sequence[object], compute: Callable[[], Array]) -> Array:
    """Return ``compute()``, a matrix of numbers that is a function of ``made_from``: arrays, and what ``repr`` tells apart."""
    cache = history.memo.shared
    if cache is None:
        return compute()
    name, key = name[:LONGEST_NAME], _digest((sorted(environment().items()), history.seed, name, *made_from))
    text = cache.read_cache(name, key)
    found = None if text is None else _parsed(text)
    if found is None:
        found = compute()
        cache.write_cache(name, key, json.dumps(found.tolist()))  # digits enough to read the same numbers back
    return found


def _digest(parts: Sequence[object]) -> str:
    made = sha256()
    for part in parts:
        made.update(part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
        made.update(b"\0")
    return made.hexdigest()


def _parsed(text: str) -> Array | None:
    try:
        found = np.array(json.loads(text), dtype=np.float64)
    except (ValueError, TypeError, RecursionError):
        return None
    return found if np.isfinite(found).all() else None
