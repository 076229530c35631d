"""When a surrogate is fitted, and what is kept of a fit.

Hyperparameters are a function of the observations up to a count of a fixed schedule, and of nothing else. Resuming or auditing
a study therefore reproduces the same numbers, and all programs that share a study need the same ones. Fitting them takes longer
than the rest of a suggestion, so the first program to need them leaves them in the cache of the study (``journal/memo.py``),
where they are found by a digest of everything that they are computed from, the environment (``core/environment.py``) included:
unlike machines find other digits. What is in the cache is no event: without it, each program fits them again and finds the same
numbers, as an audit does.

With 16 programs in turn on 4 parameters, trials 129 to 192 (``benchmarks/sharing.py``), a suggestion takes 59 to 89 ms when
each program fits for itself, and 19 to 21 ms with one program.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import sha256

import numpy as np

from xstar.core.environment import environment
from xstar.journal import History
from xstar.models.kernels import Array
from xstar.models.surrogate import Surrogate

FIRST = 2
"""A surrogate is fitted from this many observations on."""
GROWTH = 10
"""A refit happens when the data have grown by a tenth, and after every observation up to 20."""
MOST_NEW = 100
"""A refit happens after this many new observations at the latest. They are rows below a Cholesky factor of at most 500
rows, and at 100,000 trials a tenth would be 10,000 of them."""
LONGEST_NAME = 200


def last_refit(count: int, growth: int = GROWTH, most_new: int | None = MOST_NEW) -> int:
    """Return the largest count of the schedule that is at most ``count``.

    >>> [last_refit(count) for count in (2, 19, 21, 23, 24)]
    [2, 19, 20, 22, 24]
    """
    at = FIRST
    steady = float("inf") if most_new is None else growth * most_new
    while at < steady and (after := at + max(1, at // growth)) <= count:
        at = after
    if most_new is not None and at >= steady:
        at += (count - at) // most_new * most_new
    return at


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


def thetas(
    history: History,
    name: str,
    made_from: Sequence[object],
    surrogate: Surrogate,
    compute: Callable[[], Sequence[Array]],
) -> list[Array]:
    """Return ``compute()``, hyperparameters of a surrogate that are a function of ``made_from`` and of its priors."""
    priors = surrogate.priors
    given = (*made_from, type(surrogate).__name__, surrogate.names, priors)
    found = cached(history, name, given, lambda: np.array(compute()))
    low, high = np.array([prior.low for prior in priors]), np.array([prior.high for prior in priors])
    if found.ndim != 2 or found.shape[1] != len(priors) or not ((low <= found) & (found <= high)).all():
        return list(compute())  # not what this function has left there
    return list(found)


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
