"""The actors of one driver: made on a node, ended, and recognised by name when the driver that made them is dead."""

from __future__ import annotations

import contextlib
import logging
import os
import uuid
from pathlib import Path
from typing import Any

from xstar.core.processes import machine, started
from xstar.executors.ray.cluster import Node
from xstar.executors.ray.relay import relay_class
from xstar.executors.ray.settings import Ray

log = logging.getLogger("xstar")

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
