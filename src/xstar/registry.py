"""What other packages add to xstar, and how a class is made known by name.

``xs.registry.offered()`` lists what is installed. Searchers so offered can be named where ours can (``method=…``), and a study
that was stored with them is opened wherever their package is installed.
"""

from __future__ import annotations

from dataclasses import dataclass

from xstar.core import entry_points
from xstar.schedulers import SCHEDULERS as schedulers
from xstar.searchers import SEARCHERS as searchers
from xstar.space import register_domain as register_domain

__all__ = ["Offer", "offered", "register_domain", "schedulers", "searchers"]


@dataclass(frozen=True)
class Offer:
    """One entry point of an installed package."""

    group: str
    """``xstar.searchers``, ``xstar.schedulers``, ``xstar.run`` or ``xstar.domains``."""
    name: str
    value: str
    """Where it is: ``package.module:Name``."""
    package: str
    """The distribution that has it, with its version."""


def offered() -> list[Offer]:
    """What installed packages offer; nothing is imported for it."""
    return [
        Offer(group, point.name, point.value, f"{point.dist.name} {point.dist.version}" if point.dist else "")
        for group in entry_points.GROUPS
        for point in entry_points.offered(group)
    ]
