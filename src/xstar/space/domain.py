"""Domain: what any other kind of value has to offer to be a parameter (an architecture, a tree, a permutation).

A domain knows how to sample, check, change and store its values. It has no bounds and no columns in the unit cube:
searchers that understand it (NASBOT, evolution) go through ``mutate`` or through the values themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from xstar.core import entry_points
from xstar.errors import InvalidSpace
from xstar.space.values import Json


@runtime_checkable
class Domain(Protocol):
    """A parameter of a kind of its own. Values are hashable and immutable; equal values are the same point."""

    @property
    def kind(self) -> str:
        """The name under which ``register_domain`` knows how to rebuild it."""

    @property
    def when(self) -> Mapping[str, Any] | None:
        """The conditions under which the parameter takes part; None: always."""

    def sample(self, rng: np.random.Generator) -> Hashable:
        """A value at random."""

    def contains(self, value: object) -> bool:
        """Whether this is one of the domain's values."""

    def mutate(self, value: Any, rng: np.random.Generator) -> Hashable:
        """A value close to ``value``."""

    def dump(self, value: Any) -> Json:
        """The JSON form of a value."""

    def parse(self, data: Json) -> Hashable:
        """The value with this JSON form: ``parse(dump(value)) == value``."""

    def to_json(self) -> Json:
        """The domain itself as a JSON object; the space adds ``kind`` and ``when``."""


#: The kinds of ``parameters.py``, which no domain may take the name of.
BUILT_IN = ("float", "int", "choice", "ordinal", "bool", "bits", "constant")

_REGISTERED: dict[str, Callable[[Json], Domain]] = {}


def register_domain(kind: str, from_json: Callable[[Json], Domain]) -> None:
    """Let ``Space.from_json`` rebuild domains of this kind from what their ``to_json`` wrote.

    ``from_json`` gets that object with ``"kind"`` and, where the domain has conditions, ``"when"`` added; pass the
    latter through ``when_from_json``. Registering a kind again replaces the function, so modules can be reloaded.
    """
    if not isinstance(kind, str) or not kind or kind in BUILT_IN:
        remedy = "choose another name, for instance with the package in front of it"
        raise InvalidSpace("kind", f"must be a name other than {', '.join(BUILT_IN)}", kind, remedy)
    _REGISTERED[kind] = from_json


def domain_kinds() -> list[str]:
    """The kinds that are registered."""
    return sorted(_REGISTERED)


def domain_from_json(kind: str, data: Json) -> Domain:
    if kind not in _REGISTERED and (found := entry_points.load("xstar.domains", kind)) is not None:
        register_domain(kind, found)
    if kind not in _REGISTERED:
        remedy = "import the package that defines it before the space is read"
        raise InvalidSpace("kind", f"must be a known kind (domains: {sorted(_REGISTERED)})", kind, remedy)
    return _REGISTERED[kind](data)
