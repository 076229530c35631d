"""Limit BLAS to one thread while a model makes a decision.

The matrices here are small, and threads cost more than they save. With one thread the result does not depend on the
number of cores, so an audit on another machine can reproduce it bit for bit.

The limit of most libraries is one for the whole process. Programs may decide in several threads, about one study in turn or
about several at once: the first decision sets the limit, and the last one that is under way takes it back.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

Counts = list[tuple[Any, int]]
"""Libraries and the threads that each had."""


@lru_cache(maxsize=1)
def _libraries() -> list[Any]:
    """Return a ``LibController`` of each BLAS."""
    import scipy.linalg.lapack  # noqa: F401  SciPy has its own BLAS; only loaded libraries are found

    return [each for each in ThreadpoolController().lib_controllers if each.user_api == "blas"]


class _Limit:
    """The limit of the whole process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._decisions = 0
        self._before: Counts = []

    def begin(self) -> None:
        with self._lock:
            if self._decisions == 0:
                self._before = _limited([each for each in _libraries() if not _is_per_thread(each)])
            self._decisions += 1

    def end(self) -> None:
        with self._lock:
            self._decisions -= 1
            if self._decisions == 0:
                _set(self._before)


_LIMIT = _Limit()


@contextmanager
def single_threaded() -> Iterator[None]:
    """Let BLAS use one thread. ``ThreadpoolController.limit`` does the same, and takes 70 µs of each decision."""
    own = _limited([each for each in _libraries() if _is_per_thread(each)])
    _LIMIT.begin()
    try:
        yield
    finally:
        _LIMIT.end()
        _set(own)


def _is_per_thread(library: Any) -> bool:
    return getattr(library, "threading_layer", None) == "openmp"


def _limited(libraries: list[Any]) -> Counts:
    """Limit those that use several threads; return how many they used."""
    several = [(each, count) for each in libraries if (count := each.get_num_threads()) != 1]
    _set([(each, 1) for each, _ in several])
    return several


def _set(counts: Counts) -> None:
    for each, count in counts:
        # Since threadpoolctl 3.8 only the thread that set a limit first can set another, and all others do so in vain.
        if (release := getattr(each, "clear_controlling_thread", None)) is not None:
            release(force=True)
        each.set_num_threads(count)
        if release is not None:
            release(force=True)
