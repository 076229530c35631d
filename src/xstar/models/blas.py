"""Limit BLAS to one thread while a model makes a decision.

The matrices here are small, and threads cost more than they save. With one thread the result does not depend on the
number of cores, so an audit on another machine can reproduce it bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _libraries() -> list[Any]:
    """Return a ``LibController`` of each BLAS."""
    import scipy.linalg.lapack  # noqa: F401  SciPy has its own BLAS; only loaded libraries are found

    return [each for each in ThreadpoolController().lib_controllers if each.user_api == "blas"]


@contextmanager
def single_threaded() -> Iterator[None]:
    """Let BLAS use one thread. ``ThreadpoolController.limit`` does the same, and takes 70 µs of each decision."""
    several = [(each, count) for each in _libraries() if (count := each.get_num_threads()) != 1]
    for each, _ in several:
        each.set_num_threads(1)
    try:
        yield
    finally:
        for each, count in several:
            each.set_num_threads(count)
