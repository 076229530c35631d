"""``sys.stdout`` and ``sys.stderr`` as they were before an objective, which may close them or put others in their place."""

from __future__ import annotations

import contextlib
import io
import sys
from typing import Any


class Streams:
    """The two streams of this process."""

    def __init__(self) -> None:
        self._kept = [(name, getattr(sys, name)) for name in ("stdout", "stderr")]
        self._files = [(stream, *found) for _, stream in self._kept if (found := _file(stream)) is not None]

    def reopen(self) -> None:
        """Open those that were closed, as the same objects: log handlers and displays hold them, too."""
        for stream, number, how in self._files:
            if stream.closed:
                stream.__init__(open(number, "wb", closefd=False), **how)  # noqa: SIM115

    def put_back(self) -> None:
        """Print what is left in them and in what stands in their place, and put them back."""
        for name, stream in self._kept:
            there: list[Any] = [getattr(sys, name, None), stream]
            for each in there:
                with contextlib.suppress(Exception):  # closed, None, or anything of the objective's own
                    each.flush()
            setattr(sys, name, stream)
        self.reopen()


def _file(stream: Any) -> tuple[int, dict[str, Any]] | None:
    """The descriptor, which closing the stream leaves open, and how to write to it; ``None``: of another kind of stream."""
    if not isinstance(stream, io.TextIOWrapper) or stream.closed:
        return None
    raw = getattr(stream.buffer, "raw", stream.buffer)
    if getattr(raw, "closefd", True):
        return None
    names = ("encoding", "errors", "line_buffering", "write_through")
    return stream.fileno(), {name: getattr(stream, name) for name in names}
