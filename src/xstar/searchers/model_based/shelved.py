"""Hyperparameters that another program of the study has fitted already.

Hyperparameters are a function of the observations up to a count of the schedule (``schedule.py``), so all programs that share a
study need the same ones, and fitting them takes longer than the rest of a suggestion. The first program to need them leaves
them on the shelf of the study (``journal/memo.py``); the others take them from there. They are found by a digest of everything
that they are computed from, the environment (``core/environment.py``) included: unlike machines find other digits. What is on
the shelf is no event: without it, each program fits them again and finds the same numbers, as an audit does.

Measured with 16 programs in turn on 4 parameters, trials 129 to 192 (``benchmarks/sharing.py`` has the searches): a suggestion
took 59 to 89 ms when each program fitted for itself, and 19 to 21 ms with one program.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from xstar.core.environment import environment
from xstar.journal import History, Shelf
from xstar.models.kernels import Array
from xstar.models.surrogate import Surrogate

LONGEST_NAME = 200


def shelved(history: History, name: str, made_from: Sequence[object], compute: Callable[[], Array]) -> Array:
    """Return ``compute()``, a matrix of numbers that is a function of ``made_from``: arrays, and what ``repr`` tells apart."""
    shelf = history.memo.shelf
    if shelf is None:
        return compute()
    name, key = name[:LONGEST_NAME], _digest((sorted(environment().items()), history.seed, name, *made_from))
    text = shelf.borrow(name, key)
    found = None if text is None else _parsed(text)
    if found is None:
        found = compute()
        shelf.lend(name, key, json.dumps(found.tolist()))  # digits enough to read the same numbers back
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
    found = shelved(history, name, given, lambda: np.array(compute()))
    low, high = np.array([prior.low for prior in priors]), np.array([prior.high for prior in priors])
    if found.ndim != 2 or found.shape[1] != len(priors) or not ((low <= found) & (found <= high)).all():
        return list(compute())  # not what this function has left there
    return list(found)


class NotShelved(LookupError):
    """Nobody has computed it yet."""


@contextmanager
def only_borrowed(history: History) -> Iterator[None]:
    """Have :class:`NotShelved` raised where something would have to be computed that other programs would have to, too.

    A program that waits for its turn does not fit what the one whose turn it is is fitting.
    """
    memo = history.memo
    kept = memo.shelf
    if kept is not None:
        memo.shelf = _OnlyBorrowing(kept)
    try:
        yield
    finally:
        memo.shelf = kept


@dataclass(frozen=True)
class _OnlyBorrowing:
    shelf: Shelf

    def borrow(self, name: str, key: str) -> str:
        text = self.shelf.borrow(name, key)
        if text is None:
            raise NotShelved(name)
        return text

    def lend(self, name: str, key: str, text: str) -> None:
        raise NotShelved(name)  # what was there could not be read


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
