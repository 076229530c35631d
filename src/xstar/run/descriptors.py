"""Whether an objective has left this process its file descriptors: it may have closed them, or used all of them up."""

from __future__ import annotations

import os

from xstar.errors import ObjectiveError


def identity(file: int) -> tuple[int, int] | None:
    """Which file a descriptor leads to; ``None`` if it is closed. Its number may be another file's by now."""
    try:
        status = os.fstat(file)
    except OSError:
        return None
    return status.st_dev, status.st_ino


class Witness:
    """A pair of descriptors of our own, by which it is noticed before anything of the search is written to the wrong file."""

    def __init__(self) -> None:
        self._files: tuple[int, ...] = os.pipe()
        self._identities = [identity(file) for file in self._files]

    def check(self, trial: int) -> None:
        """Raise an error if the objective of this trial closed them, or has left no more to open."""
        if [identity(file) for file in self._files] != self._identities:
            self._files = ()  # the numbers are others' now
            raise ObjectiveError(
                f"the objective of trial {trial} closed file descriptors of this process that are not its own "
                "(os.closerange, say); have it close what it opened, or pass workers=2: then it closes those of a worker"
            )
        try:
            os.close(os.dup(self._files[0]))
        except OSError as error:
            self.close()  # two to end the search with
            raise ObjectiveError(
                f"the objective of trial {trial} has left this process no file to open ({error.strerror}); have it close "
                "what it opens, or raise the limit (ulimit -n)"
            ) from None

    def close(self) -> None:
        """Give them back."""
        files, self._files = self._files, ()
        for file in files:
            os.close(file)
