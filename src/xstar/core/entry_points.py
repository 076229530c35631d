"""What installed packages offer under an entry point of ours: searchers, schedulers, executors and domains, found by name.

A package says so in its ``pyproject.toml``::

    [project.entry-points."xstar.searchers"]
    one-change = "my_package:OneChange"

Nothing is imported before its name is asked for.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from xstar.errors import InvalidArgument

GROUPS = ("xstar.searchers", "xstar.schedulers", "xstar.executors", "xstar.domains")


def offered(group: str) -> list[EntryPoint]:
    """The entry points of a group, by name."""
    return sorted(entry_points(group=group), key=lambda point: point.name)


def load(group: str, name: str) -> Any | None:
    """What is offered under this name; ``None`` if nothing is."""
    for point in offered(group):
        if point.name == name:
            return _loaded(group, point)
    return None


def name_of(group: str, cls: type) -> str | None:
    """The name under which a class is offered; ``None`` if it is not."""
    for point in offered(group):
        if point.value == f"{cls.__module__}:{cls.__qualname__}":
            return point.name
    return None


def _loaded(group: str, point: EntryPoint) -> Any:
    try:
        return point.load()
    except Exception as error:  # whatever the import of another package raises
        package = point.dist.name if point.dist is not None else "a package"
        rule = f"the entry point of {package} in {group} must lead to something that can be imported ({error})"
        raise InvalidArgument(point.name, rule, point.value, f"upgrade or remove {package}") from error
