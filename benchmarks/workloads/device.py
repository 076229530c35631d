"""What processes on a shared GPU need: to run a trial again that the GPU broke, to wait without a core, to launch few kernels.

Errors of the GPU itself are nobody's result: the trial is run again, in a new process.

A server for shared GPUs (MPS) that was not ready once made 31 of 60 networks fail at their first line, and the search took them
for networks that cannot be trained.
"""

from __future__ import annotations

import faulthandler
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

MACHINE = re.compile(
    r"CUDA error|CUDA-capable|CUDA driver|No CUDA GPUs|cudaErr|CUBLAS_STATUS_NOT_INITIALIZED|CUDNN_STATUS_EXECUTION_FAILED|"
    r"\bMPS\b|NVML"
)
"""What such errors say. A network that needs too much memory says otherwise, and is a failure of its own."""
PAUSE = 5.0
"""Seconds before the process ends, so that a device that is not ready is not asked all the time."""
MOMENTUM = 0.9
PATIENCE = 300.0
"""Seconds without progress after which a process is stuck. Of 46 networks that 12 processes trained at once, 4 never came to an
end, with the GPU idle; the longest time before a first step was half a minute. With 50 processes on 16 cores it was longer, and
100 seconds ended trainings that were slow only: whoever ends one that computes breaks all that share the GPU by MPS."""
POLL = 0.002
"""Seconds between two looks at the GPU of a process that waits for it. Trainings that slept on an event instead, until the
driver should wake them, were found stuck there."""
RETRIES = 20
"""How often a search shall run a trial again whose process ended: `retries` of `xs.minimize`."""


def of_the_machine(text: str | None) -> bool:
    """Whether an error is the device's and not that of what was trained."""
    return text is not None and MACHINE.search(text) is not None


@contextmanager
def device_errors(patience: float | None = None) -> Iterator[None]:
    """Around what a worker process trains: an error of the device ends the process, and so do ``patience`` seconds in which
    ``Pace`` saw no progress (twice as many before the first step, as algorithms may have to be tried and compiled).

    After such an error a process cannot use the device any more. A trial whose process ended is lost, not failed: it is run
    again (``RETRIES``). The reason has what the process wrote last: of one that was stuck, where it was.
    """
    Pace.patience = patience
    still_here(None if patience is None else 2.0 * patience)
    try:
        yield
    except RuntimeError as error:
        if not of_the_machine(str(error)):
            raise
        print(f"the device failed, the trial is run again: {error}", file=sys.stderr, flush=True)
        time.sleep(PAUSE)
        os._exit(os.EX_TEMPFAIL)
    finally:
        Pace.patience = None
        if patience is not None:
            faulthandler.cancel_dump_traceback_later()


def still_here(patience: float | None) -> None:
    """From now on it takes so many seconds until the process is taken for stuck."""
    if patience is not None:
        faulthandler.dump_traceback_later(patience, exit=True, file=2)  # not sys.stderr: a worker redirects the file


class Pace:
    """Keeps the host at most one call of ``keep`` ahead of the GPU, and lets it sleep while it waits.

    A host that runs ahead until the queue of the GPU is full waits there in a loop, with a core of its own.
    """

    patience: ClassVar[float | None] = None
    """Of ``device_errors``, while it watches."""

    def __init__(self, device: str) -> None:
        self.on_gpu = device.startswith("cuda")
        self.last: Any = None

    def keep(self) -> None:
        still_here(self.patience)
        if not self.on_gpu:
            return
        import torch

        before, self.last = self.last, torch.cuda.Event()
        self.last.record()
        while before is not None and not before.query():
            time.sleep(POLL)


def captured(one: Callable[[], None], several: Callable[[], None], restore: Callable[[], None]) -> Callable[[], None]:
    """``several`` steps as a CUDA graph, after three of ``one`` to warm up. ``restore`` undoes what these steps changed."""
    import torch

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            one()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        several()
    restore()
    replay: Callable[[], None] = graph.replay
    return replay


def descend(params: Sequence[Any], gradients: Sequence[Any], speed: Sequence[Any], rate: Any, decay: float) -> None:
    """Nesterov's momentum, in place: v ← μ v + g, W ← W − r (g + μ v); ``decay`` W is added to g before.

    One kernel that reads three arrays and writes two. As six operations of ``_foreach_`` it moved 17, most of a step of small
    networks. It takes gradients that lie in memory like their weights; ``rate`` is a tensor, which a CUDA graph can keep.
    """
    import torch

    torch._fused_sgd_(
        [param.detach() for param in params],
        list(gradients),
        list(speed),
        weight_decay=decay,
        momentum=MOMENTUM,
        lr=rate,
        dampening=0.0,
        nesterov=True,
        maximize=False,
        is_first_step=False,
    )
