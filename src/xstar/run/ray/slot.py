"""One slot on the cluster, from the driver's side: an actor and the worker process behind it."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from enum import Enum
from typing import Any

import cloudpickle

from xstar.run.pool import Worker, death, exit_code
from xstar.run.ray.cluster import Node


class Stage(Enum):
    """What the answer that is awaited from an actor is about."""

    LOOK = "look"  # what its node is like
    START = "start"  # its worker process is being started
    SERVE = "serve"  # messages of its worker


class Slot(Worker):
    """Messages wait in ``outbox`` and travel with the next call of ``exchange``, which returns when the worker has spoken.

    A call for each message costs about a millisecond of the driver; this way a short trial needs two or three.
    """

    def __init__(self, number: int, node: Node, actor: Any, since: float) -> None:
        super().__init__()
        self.number = number
        """``trial.worker`` of its trials."""
        self.node = node
        self.actor = actor
        self.since = since
        """When it was asked for."""
        self.stage = Stage.LOOK
        self.answer: Any = None
        """What Ray will give us next of this actor; ``None``: nothing was asked."""
        self.lost: str | None = None
        """Why the actor is gone."""
        self.code: int | None = None
        """The exit code of its worker process."""
        self._generation = 0
        self._outbox: list[bytes] = []
        self._inbox: list[bytes] = []
        self._last_words = ""

    def look(self, token: str | None) -> None:
        """Ask what the node is like."""
        self.stage, self.answer = Stage.LOOK, self.actor.look.remote(token)

    def start(self, *arguments: Any) -> None:
        """Start a worker process, in the place of an earlier one."""
        self._generation += 1
        self._outbox, self._inbox, self._last_words = [], [], ""
        self.job, self.stop, self.ready, self.begun, self.code = None, None, False, False, None
        self.deadline = float("inf")
        self.stage, self.answer = Stage.START, self.actor.start.remote(self._generation, *arguments)

    def listen(self) -> None:
        """Hand over what was to be sent, and wait for messages, unless someone does already."""
        if self.answer is None:
            frames, self._outbox = self._outbox, []
            self.stage, self.answer = Stage.SERVE, self.actor.exchange.remote(self._generation, frames)

    def take(self, answer: tuple[list[bytes], str | None, str]) -> None:
        """What ``exchange`` returned."""
        frames, ended, self._last_words = answer
        self.code = None if ended is None else exit_code(ended)
        self._inbox += frames

    def send(self, message: tuple[Any, ...]) -> None:
        frame = cloudpickle.dumps(message)
        if self.answer is None:
            self._outbox.append(frame)
        else:
            self.actor.tell.remote(self._generation, [frame])

    def messages(self) -> Iterator[Any]:
        frames, self._inbox = self._inbox, []
        for frame in frames:
            yield pickle.loads(frame)

    def gone(self) -> bool:
        return self.lost is not None or self.code is not None

    def how_it_died(self) -> str:
        if self.lost is not None:
            return f"its slot on node {self.node.name} is gone: {self.lost}"
        assert self.code is not None
        return f"on node {self.node.name}, {death(self.code, self._last_words)}"

    def may_live(self) -> bool:
        return self.lost is not None

    def end(self) -> None:
        """Forget it; whoever made the actor ends it."""
        self.answer = None
