"""The cluster as the driver sees it: connecting, nodes and what fits on them, nodes that cannot run trials."""

from __future__ import annotations

import logging
import math
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xstar.core.version import VERSION
from xstar.core.words import short_config
from xstar.errors import InvalidArgument, MissingExtra, ObjectiveError

log = logging.getLogger("xstar")

CLOCKS_APART = 60.0
"""Seconds between two clocks above which the user hears of it: leases and events carry the wall clock."""

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


def living_nodes(ray: Any) -> list[Node]:
    """The nodes of the cluster now."""
    found = [
        Node(row["NodeID"], f"{row['NodeManagerHostname']} ({row['NodeID'][:8]})", row["Resources"])
        for row in ray.nodes()
        if row["Alive"]
    ]
    return sorted(found, key=lambda node: node.id)


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


def check_clock(node: Node, apart: float) -> None:
    """Say so if a node's clock is minutes apart from this one."""
    if abs(apart) > CLOCKS_APART:
        way = "ahead of" if apart > 0 else "behind"
        log.warning(
            "the clock of node %s is %.0f s %s this machine's: times in its output and in leases of programs there cannot be "
            "compared; synchronise the clocks (NTP)", node.name, abs(apart), way,
        )  # fmt: skip


def refuse(reason: str) -> ObjectiveError:
    """The error for a node that cannot run trials, at the start of a search."""
    return ObjectiveError(f"the search cannot run on this cluster: {reason}")
