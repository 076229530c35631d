"""Parts that are chosen by name and written to the journal as data: searchers and schedulers.

A part is a frozen dataclass; its data form is its name and its fields, so that a study can be opened again, and audited,
by a process that knows nothing but the journal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Generic, TypeVar

from xstar.core import entry_points
from xstar.errors import InvalidArgument, XstarError

T = TypeVar("T")

Data = Mapping[str, Any]
"""The data form of a part: its name and its settings."""


class Registry(Generic[T]):
    """Names ↔ classes of one role."""

    def __init__(self, role: str) -> None:
        self.role = role
        self.group = f"xstar.{role}s"
        """The entry points of packages that offer such parts."""
        self._classes: dict[str, Any] = {}

    def register(self, name: str, cls: type[Any]) -> None:
        """Make ``cls`` known under ``name``. A study written with it can be opened wherever it is registered."""
        if not is_dataclass(cls):
            raise InvalidArgument(
                self.role, "must be a dataclass, so that its settings can be written down", cls.__name__
            )
        self._classes[name] = cls

    def names(self) -> list[str]:
        """The names that are known, those of installed packages included."""
        return sorted({*self._classes, *(point.name for point in entry_points.offered(self.group))})

    def get(self, name: str) -> Any | None:
        """The class of this name: registered, or offered by an installed package; ``None`` if there is none."""
        if name not in self._classes and (found := entry_points.load(self.group, name)) is not None:
            self.register(name, found)
        return self._classes.get(name)

    def dump(self, part: T) -> dict[str, Any]:
        """The data form: ``{"name": …, field: value, …}``; of an unregistered class only that it is one."""
        if type(part) not in self._classes.values() and (offered := entry_points.name_of(self.group, type(part))):
            self.register(offered, type(part))
        for name, cls in self._classes.items():
            if cls is type(part):  # not isinstance: a subclass has settings of its own
                return {
                    "name": name,
                    **{f.name: _plain(getattr(part, f.name)) for f in fields(self._classes[name]) if f.init},
                }
        return {"name": "custom", "class": type(part).__qualname__}

    def completed(self, data: Data) -> dict[str, Any]:
        """The data form with the defaults of the settings that it does not have."""
        cls = self.get(str(data.get("name")))
        known = fields(cls) if cls is not None else ()
        return {**{f.name: _plain(f.default) for f in known if f.init and f.default is not MISSING}, **data}

    def changed(self, data: Data) -> dict[str, Any]:
        """The settings that differ from their defaults."""
        usual = self.completed({"name": data.get("name")})
        return {key: value for key, value in data.items() if key not in usual or usual[key] != value}

    def load(self, data: Data) -> T:
        """The part that ``data`` describes."""
        settings = self.completed(data)
        name = settings.pop("name", None)
        if name == "custom":
            raise InvalidArgument(
                self.role,
                "is of a class of your own, which the journal cannot rebuild",
                data.get("class"),
                f"pass {self.role}=… again, or register the class with xstar.{self.role}s.{self.role.upper()}S.register",
            )
        cls = self.get(str(name))
        if cls is None:
            raise InvalidArgument(
                self.role, f"must be one of {', '.join(self.names())}", name, "or register its class first"
            )
        known = {f.name for f in fields(cls) if f.init}
        if unknown := sorted(set(settings) - known):
            raise InvalidArgument(f"{self.role} {name}", f"takes {sorted(known) or 'no settings'}", unknown)
        try:
            part: T = cls(**settings)
        except XstarError:
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            rule = f"must have settings that make one ({type(error).__name__}: {error})"
            raise InvalidArgument(f"{self.role} {name}", rule, settings, "was the stored study edited?") from error
        return part


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
