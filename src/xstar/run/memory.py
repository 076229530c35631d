"""Out of memory, of a GPU or of the machine: told by the names and words of the libraries, none of which is imported."""

from __future__ import annotations

import errno
import gc
import re
import sys
from collections.abc import Mapping
from typing import Any

from xstar.core.words import last_line, short_config
from xstar.journal.messages import GPU_MEMORY, MACHINE_MEMORY

_GPU = re.compile(
    r"(CUDA|HIP|MPS|XPU|GPU)\b.{0,300}out[ _]of[ _]memory|out[ _]of[ _]memory.{0,100}(CUDA|GPU)|cudaErrorMemoryAllocation"
    r"|CU(BLAS|DNN)_STATUS_ALLOC_FAILED|RESOURCE_EXHAUSTED: Out of memory|\bOOM when allocating"
    r"|\b(torch|cupy)\S*\.OutOfMemoryError",
    re.DOTALL,
)
"""torch ("CUDA out of memory", "CUDA error: out of memory"), JAX ("RESOURCE_EXHAUSTED"), TensorFlow ("OOM when allocating")."""

_MACHINE = re.compile(r"^(\S*\.)?_?(Array)?MemoryError\b|\bstd::bad_alloc\b|DefaultCPUAllocator: can't allocate memory")

NAMES = {GPU_MEMORY: "GPU memory", MACHINE_MEMORY: "memory"}


def exhausted(error: BaseException) -> str | None:
    """Which memory an exception, or the one that it was raised from, was out of."""
    seen = 0
    found: BaseException | None = error
    while found is not None and seen < 100:  # a chain may be a circle
        kind = exhausted_by_words(f"{type(found).__module__}.{type(found).__qualname__}: {found}")
        if kind is None and (isinstance(found, MemoryError) or getattr(found, "errno", None) == errno.ENOMEM):
            kind = MACHINE_MEMORY
        if kind is not None:
            return kind
        found, seen = found.__cause__, seen + 1
    return None


def exhausted_by_words(text: str) -> str | None:
    """The same of the line with which a traceback ends."""
    if _GPU.search(text):
        return GPU_MEMORY
    return MACHINE_MEMORY if _MACHINE.search(text) else None


def with_config(kind: str, reason: str, config: Mapping[str, Any]) -> str:
    """The reason of such a failure, ending with the line that is shown."""
    return f"{reason}\nout of {NAMES[kind]} with {short_config(config)} ({last_line(reason)})"


def give_back() -> None:
    """Let other processes have the GPU memory that a run has left in torch's cache."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        gc.collect()
        torch.cuda.empty_cache()
