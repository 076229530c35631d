"""The processes of one distributed training, as ``torch.distributed`` numbers them. Only rank 0 speaks for a trial.

torch is never imported here: who has not imported it trains in one process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def group() -> Any | None:
    """``torch.distributed``, where it is initialised with more than one process."""
    module = sys.modules.get("torch.distributed")
    if module is None or not module.is_available() or not module.is_initialized() or module.get_world_size() == 1:
        return None
    return module


def leads() -> bool:
    """Whether this process is rank 0, or the only one."""
    found = group()
    return found is None or found.get_rank() == 0


def agree(group: Any, step: Callable[[], T]) -> T | None:
    """Take the step on rank 0; every rank gets its result, or ``None`` where rank 0 raised. All ranks have to call it."""
    said: list[T | None] = [None]
    try:
        if group.get_rank() == 0:
            said[0] = step()
    finally:  # also when the step raised: the other ranks wait
        group.broadcast_object_list(said, src=0)
    return said[0]
