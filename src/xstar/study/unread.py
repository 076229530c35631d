"""A trial that this program runs and that its history does not hold yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xstar.trial import Trial


class UnreadTrial(Trial):
    """Shows what ``look`` finds: the trial as it began, then its row in the history, which is read for it."""

    __slots__ = ("_look",)

    def __init__(self, number: int, look: Callable[[int], Trial]) -> None:
        # All other slots stay empty, so that Python asks ``__getattr__`` for them.
        self.number = number
        self._look = look

    def __getattr__(self, name: str) -> Any:
        if name == "_look":  # while it is copied
            raise AttributeError(name)
        return getattr(self._look(self.number), name)

    def __eq__(self, other: object) -> bool:
        return other is self or (isinstance(other, Trial) and other is self._look(self.number))

    __hash__ = Trial.__hash__

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._look(self.number).__reduce_ex__(protocol)
