"""The cluster as the driver sees it: connecting, nodes and what fits on them, which get slots, and the actors of one driver."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import sys
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xstar.core.processes import machine, started
from xstar.core.version import VERSION
from xstar.core.words import short_config
from xstar.errors import InvalidArgument, MissingExtra
from xstar.run.ray.relay import relay_class
from xstar.run.ray.settings import Ray

log = logging.getLogger("xstar")

SMALLEST = 1e-4
"""Ray counts resources in ten-thousandths."""


@dataclass(frozen=True, slots=True)
class Node:
    """A living node."""

    id: str
    name: str
    resources: Mapping[str, float]

    def room(self, needs: Mapping[str, float]) -> int:
        """How many slots fit on it if nothing else runs there."""
        fitting = math.inf
        for name, need in needs.items():
            if need == 0:
                continue
            has = self.resources.get(name, 0.0)
            if name == "GPU" and need < 1:  # a slot has a part of one GPU, never of two
                fitting = min(fitting, int(has) * int(1 / need + SMALLEST))
            else:
                fitting = min(fitting, int(has / need + SMALLEST))
        return sys.maxsize if fitting == math.inf else int(fitting)


def import_ray() -> Any:
    """The package, or an error that says how to install it."""
    try:
        import ray
    except ImportError:
        raise MissingExtra(
            "xs.Ray(…) needs ray, which is not installed: pip install '.[ray]' in a checkout of xstar"
        ) from None
    return ray


def connect(address: str) -> tuple[Any, bool]:
    """Ray, connected to the cluster; and whether it was connected here, and is to be disconnected at the end."""
    ray = import_ray()
    if ray.is_initialized():
        return ray, False
    try:
        ray.init(
            address=address,
            log_to_driver=False,
            logging_level=logging.ERROR,
            include_dashboard=False if address == "local" else None,
        )
    except (ConnectionError, ValueError, RuntimeError) as error:
        remedy = "start one by `ray start --head`; address='local' starts one for this search alone"
        raise InvalidArgument("address", f"must be that of a running Ray cluster ({error})", address, remedy) from None
    return ray, True


def check_room(nodes: list[Node], needs: Mapping[str, float]) -> None:
    """Refuse a slot that is larger than every node."""
    if any(node.room(needs) for node in nodes):
        return
    shown = {name: need for name, need in needs.items() if need}
    has = "; ".join(
        f"{node.name}: {short_config({name: node.resources.get(name, 0.0) for name in shown})}" for node in nodes
    )
    rule = f"a slot needs {short_config(shown)}, more than any node of the cluster has"
    raise InvalidArgument("executor", rule, f"nodes={has or 'none'}", "ask for less, or add larger nodes")


class Token:
    """A file in the study's folder, by which a node shows that it sees the folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f".visible-{uuid.uuid4().hex}"
        self.path.touch()

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


def unfit(node: Node, seen: Mapping[str, Any], folder: Path) -> str | None:
    """Why a node that was looked at cannot run trials; ``None``: it can."""
    from importlib.metadata import version  # at use: it takes 14 ms to import

    if seen["xstar"] is None:
        return f"node {node.name} has no xstar: install it there, or pass it in Ray's runtime_env"
    own = {"python": "{}.{}".format(*sys.version_info[:2]), "xstar": VERSION, "cloudpickle": version("cloudpickle")}
    for package, here in own.items():
        there = seen[package]
        alike = there == here if package != "cloudpickle" else (there or "").split(".")[0] == here.split(".")[0]
        if not alike:
            return (
                f"node {node.name} has {package} {there or 'not installed'}, this program has {here}: "
                "what is pickled here could not be read there; install the same version on all nodes"
            )
    if not seen["sees"]:
        return (
            f"node {node.name} does not see the study's folder {folder}, where checkpoints and output are kept: pass "
            "directory=… on a disk that all nodes share, or keep checkpoints elsewhere by xs.Ray(checkpoints='s3://…') or "
            "xs.Ray(checkpoints='objects')"
        )
    return None


LOOK_SECONDS = 2.0
"""Between two looks at the cluster's nodes."""


class Nodes:
    """What is known of the nodes besides what Ray says."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._until: dict[str, float] = {}
        """Node → until when it gets no slots."""
        self._failures: Counter[str] = Counter()
        """Node → how often in a row an actor did not start there."""

    def living(self) -> dict[str, Node]:
        """All nodes of the cluster now, by id."""
        rows = sorted((row for row in self._ray.nodes() if row["Alive"]), key=lambda row: row["NodeID"])
        names = [f"{row['NodeManagerHostname']} ({row['NodeID'][:8]})" for row in rows]
        return {
            row["NodeID"]: Node(row["NodeID"], name, row["Resources"]) for row, name in zip(rows, names, strict=True)
        }

    def usable(self, nodes: Iterable[Node], now: float) -> list[Node]:
        """Those that may get a slot."""
        return [node for node in nodes if not self.is_avoided(node, now)]

    def is_avoided(self, node: Node, now: float) -> bool:
        """Whether it is left alone, for a while or for good."""
        return now < self._until.get(node.id, 0.0)

    def leave_alone(self, node: Node, until: float = math.inf) -> None:
        """No slots there until then."""
        self._until[node.id] = until

    def failed(self, node: Node, now: float) -> int:
        """An actor did not start there: left alone for longer each time. Returns how often in a row."""
        self._failures[node.id] += 1
        self.leave_alone(node, now + LOOK_SECONDS * 2 ** self._failures[node.id])
        return self._failures[node.id]

    def succeeded(self, node: Node) -> None:
        """A worker was started there."""
        self._failures.pop(node.id, None)
        self._until.pop(node.id, None)


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


NAMESPACE = "xstar"


class Actors:
    """Makes and ends actors for the slots of a study."""

    def __init__(self, ray: Any, settings: Ray, folder: Path) -> None:
        self._ray = ray
        self._settings = settings
        self._study = folder.name
        self._relay = ray.remote(relay_class())

    def make(self, node: Node) -> Any:
        """An actor on this node; Ray starts it when there is room."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        settings, process = self._settings, os.getpid()
        return self._relay.options(
            num_cpus=settings.cpus,
            num_gpus=settings.gpus,
            resources=dict(settings.resources or {}),
            max_concurrency=4,  # exchange, tell and end, and one to spare
            max_restarts=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node.id, soft=False),
            namespace=NAMESPACE,
            name="|".join([self._study, machine(), str(process), started(process) or "", uuid.uuid4().hex[:12]]),
        ).remote()

    def end(self, actor: Any, slot: int) -> None:
        """Kill an actor, and the worker process behind it."""
        try:
            self._ray.kill(actor)
        except Exception as error:  # it is dead already, or Ray is: either way it runs nothing any more
            log.debug("the actor of slot %d was not ended: %s", slot, error)

    def end_those_of_dead_drivers(self) -> None:
        """Whoever ran this study on this machine and was killed may have left actors that Ray has yet to end."""
        for row in self._ray.util.list_named_actors(all_namespaces=True):
            if row["namespace"] != NAMESPACE:
                continue
            study, where, process, start, _ = row["name"].rsplit("|", 4)
            if study == self._study and where == machine() and started(int(process)) != start:
                with contextlib.suppress(ValueError):  # it is gone by now
                    self._ray.kill(self._ray.get_actor(row["name"], namespace=NAMESPACE))
