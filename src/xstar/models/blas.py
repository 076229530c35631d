"""Limit BLAS to one thread while a model makes a decision.

The matrices here are small, and threads cost more than they save. With one thread the result does not depend on the
number of cores, so an audit on another machine can reproduce it bit for bit.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    import scipy.linalg.lapack  # noqa: F401  SciPy has its own BLAS; only loaded libraries are found

    return ThreadpoolController()


def single_threaded() -> AbstractContextManager[Any]:
    """Return a context manager in which BLAS uses one thread."""
    made: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return made
