"""Answers that many pages share: each is made once, however many ask for it, and at the same time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable


class _Answer:
    """One answer; whoever asks first makes it while the others wait for it."""

    __slots__ = ("lock", "made")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.made: bytes | None = None


class Shared:
    """The latest ``most`` answers, by question."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.made = 0
        """How many were made."""
        self._lock = threading.Lock()
        self._answers: OrderedDict[Hashable, _Answer] = OrderedDict()

    def get(self, question: Hashable, make: Callable[[], bytes]) -> bytes:
        """The answer, made now if there is none. One that could not be made is tried again by the next who asks."""
        with self._lock:
            answer = self._answers.get(question)
            if answer is None:
                answer = self._answers[question] = _Answer()
            self._answers.move_to_end(question)
            while len(self._answers) > self.most:
                self._answers.popitem(last=False)
        with answer.lock:
            if answer.made is None:
                answer.made = make()
                self.made += 1
            return answer.made

    def known(self, question: Hashable) -> bytes | None:
        """The answer if it is made already; never waits."""
        answer = self._answers.get(question)
        return None if answer is None else answer.made
