"""``xs.Ray``: which cluster, and what each of its slots has. Nothing here imports Ray."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xstar.core import entry_points
from xstar.core.checks import unwrap, whole_number
from xstar.core.goals import Goals
from xstar.errors import InvalidArgument
from xstar.run.contract import Executor
from xstar.run.devices import check_gpus
from xstar.run.objective import Objective
from xstar.run.settings import EXECUTORS, ExecutorSettings, Offered, Processes

SHARED, OBJECTS = "shared", "objects"
OWN_NAMES = {"workers": "slots", "cores": "cpus"}
"""What a setting of worker processes is called by Ray."""


@dataclass(frozen=True)
class Ray(ExecutorSettings):
    """Run trials on a Ray cluster: ``xs.minimize(…, executor=xs.Ray(cpus=2, gpus=1))``.

    A slot runs one trial at a time and is one Ray actor, which is kept for many trials. There are as many as the cluster has
    room for, more when nodes join and fewer when they leave. ``timeout``, ``retries`` and ``grace`` are those of
    ``xs.Processes``.
    """

    address: str = "auto"
    """The cluster; ``"auto"``: the one that this machine is part of, or that ``RAY_ADDRESS`` names; ``"local"``: a new one."""
    cpus: float = 1
    """CPUs of each slot, as Ray counts them."""
    gpus: float = 0
    """GPUs of each slot: a whole number, or a fraction such as 0.5 for two slots on one."""
    resources: Mapping[str, float] | None = None
    """Custom resources of each slot, as Ray counts them."""
    slots: int | None = None
    """At most so many slots; ``None``: as many as there is room for."""
    checkpoints: str = SHARED
    """Where checkpoints are kept: ``"shared"``, the study's directory, which all nodes have to see; a URL that fsspec opens,
    such as ``"s3://bucket/folder"``; or ``"objects"``: they travel through Ray to the directory on the driver's machine."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.address, str) or not self.address:
            raise InvalidArgument(
                "address", "must be the address of a Ray cluster", self.address, "e.g. 'auto', '10.0.0.1:6379'"
            )
        if self.address.startswith("ray://"):
            remedy = "run the search on a node of the cluster, e.g. by `ray job submit`"
            raise InvalidArgument(
                "address", "must not be one of Ray Client, which cannot wait for many slots", self.address, remedy
            )
        object.__setattr__(self, "cpus", _amount("cpus", self.cpus))
        object.__setattr__(self, "gpus", check_gpus(self.gpus))
        if self.resources is not None:
            if not isinstance(self.resources, Mapping) or not all(isinstance(name, str) for name in self.resources):
                raise InvalidArgument("resources", "must be a dictionary of numbers", self.resources, "e.g. {'tpu': 1}")
            if wrong := {"CPU", "GPU"} & set(self.resources):
                raise InvalidArgument("resources", "must not name CPU or GPU", sorted(wrong), "pass cpus=… and gpus=…")
            found = {name: _amount(f"resources[{name!r}]", amount) for name, amount in self.resources.items()}
            object.__setattr__(self, "resources", found)
        if self.slots is not None:
            object.__setattr__(self, "slots", whole_number("slots", self.slots, least=1))
        if not any(self.needs.values()) and self.slots is None:
            remedy = "pass cpus=…, gpus=… or resources=…, or say how many slots=… there shall be"
            raise InvalidArgument("cpus", "must be above 0 if a slot needs nothing else", self.cpus, remedy)
        if not isinstance(self.checkpoints, str) or (
            self.checkpoints not in (SHARED, OBJECTS) and "://" not in self.checkpoints
        ):
            rule = f"must be {SHARED!r}, {OBJECTS!r} or a URL"
            raise InvalidArgument("checkpoints", rule, self.checkpoints, "e.g. 's3://bucket/folder'")

    def check(self) -> None:
        from xstar.run.ray.cluster import import_ray  # which needs this file

        import_ray()

    def make(self, objective: Objective, goals: Goals, folder: Path) -> Executor:
        from xstar.run.ray.executor import RayExecutor  # at use: Ray

        return RayExecutor(objective, goals, self, folder, self.timeout)

    @property
    def needs(self) -> dict[str, float]:
        """What each slot takes of a node's resources."""
        return {"CPU": self.cpus, "GPU": self.gpus, **(self.resources or {})}


def _amount(name: str, value: object) -> float:
    number = unwrap(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number < float("inf"):
        raise InvalidArgument(name, "must be a number of at least 0", value)
    return float(number)


def chosen(executor: object, workers: int = 1, **own: Any) -> ExecutorSettings:
    """What ``executor=`` means beside ``workers=`` and, from a command line or a file, other settings of an executor."""
    if executor is None or executor == "local":
        return Processes(workers, **own)
    if isinstance(executor, ExecutorSettings):
        for name, value in {**({} if workers == 1 else {"workers": workers}), **own}.items():
            theirs = f"xs.{type(executor).__name__}"
            remedy = f"executor={theirs}({OWN_NAMES.get(name, name) if isinstance(executor, Ray) else name}={value})"
            raise InvalidArgument(
                name, f"must be left out beside executor={theirs}(…), which says it itself", value, remedy
            )
        return executor
    if executor == "ray":
        named = {OWN_NAMES.get(name, name): value for name, value in own.items() if value is not None}
        return Ray(slots=None if workers == 1 else workers, **named)
    if isinstance(executor, str) and executor in (point.name for point in entry_points.offered(EXECUTORS)):
        return Offered(executor, workers, **{name: own[name] for name in own if name not in ("cores", "gpus")})
    rule = "must be xs.Processes(…), xs.Ray(…), 'local', 'ray', or one that an installed package offers"
    raise InvalidArgument("executor", rule, executor)
