"""Which nodes of the cluster get slots, and how many: those that live, can run trials, and do not fail to start workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from xstar.executors.ray.cluster import Node, living_nodes

LOOK_SECONDS = 2.0
"""Between two looks at the cluster's nodes."""


class Nodes:
    """What is known of the nodes besides what Ray says."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._unfit: set[str] = set()
        self._failures: dict[str, tuple[int, float]] = {}
        """Node → how often in a row an actor did not start there, and until when it is left alone."""

    def living(self) -> dict[str, Node]:
        """All nodes of the cluster now, by id."""
        return {node.id: node for node in living_nodes(self._ray)}

    def usable(self, nodes: Iterable[Node], now: float) -> list[Node]:
        """Those that may get a slot."""
        return [node for node in nodes if node.id not in self._unfit and not self.is_avoided(node, now)]

    def exclude(self, node: Node) -> bool:
        """It cannot run trials. Returns whether that is new."""
        new = node.id not in self._unfit
        self._unfit.add(node.id)
        return new

    def is_avoided(self, node: Node, now: float) -> bool:
        """Whether it is left alone for a while."""
        return now < self._failures.get(node.id, (0, 0.0))[1]

    def leave_alone(self, node: Node, until: float) -> None:
        """No slots there until then."""
        self._failures[node.id] = (0, until)

    def failed(self, node: Node, now: float) -> int:
        """An actor did not start there: left alone for longer each time. Returns how often in a row."""
        times = self._failures.get(node.id, (0, 0.0))[0] + 1
        self._failures[node.id] = (times, now + LOOK_SECONDS * 2**times)
        return times

    def succeeded(self, node: Node) -> None:
        """A worker was started there."""
        self._failures.pop(node.id, None)


def spread(
    nodes: list[Node], taken: Iterable[str], missing: int, limit: int, needs: Mapping[str, float]
) -> Iterator[Node]:
    """Where ``missing`` more slots go, the emptiest node first, as long as there is room.

    ``taken`` has the id of the node of every slot that there is; no node gets more than ``limit``.
    """
    has = {node.id: 0 for node in nodes}
    for node_id in taken:
        if node_id in has:
            has[node_id] += 1
    for _ in range(missing):
        room = [node for node in nodes if has[node.id] < min(node.room(needs), limit)]
        if not room:
            return
        node = min(room, key=lambda node: (has[node.id], node.id))
        has[node.id] += 1
        yield node
