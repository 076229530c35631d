"""One BLAS thread while a model decides.

Our matrices are small, where threads cost more than they bring; and a result that does not depend on how many cores a machine
has is one that an audit on another machine can recompute to the last bit.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    import scipy.linalg.lapack  # noqa: F401  SciPy brings a BLAS of its own, which has to be loaded to be found

    return ThreadpoolController()


def single_threaded() -> AbstractContextManager[Any]:
    """``with single_threaded():`` — BLAS uses one thread."""
    made: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return made
